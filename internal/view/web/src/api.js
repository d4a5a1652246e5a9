// Asks the server, or in a static copy the data that came with it. Answers never change, so each is asked for once.
const known = new Map(); // the least used first
const most = 40 << 20; // bytes that are remembered; a tile of the time line takes as much again for its colours
let size = 0;

// generation counts the profiles that a run which goes on has left so far; what was answered of an older one is out of date.
let generation = 0;
export const generationNow = () => generation;
export function renew(to) {
  if (to === generation) return;
  generation = to;
  known.clear();
  size = 0;
}

// remember counts what came, and forgets what was not used for longest.
function remember(key, entry, bytes) {
  if (known.get(key) !== entry) return; // it came too late
  entry.bytes = bytes;
  size += bytes;
  for (const [k, e] of known) {
    if (size <= most) return;
    if (k === key || e.bytes === undefined) continue; // still under way
    known.delete(k);
    size -= e.bytes;
  }
}

// escape writes a parameter as Go's url.Values.Encode does, so that a static copy is found under the same name.
const escape = (s) => encodeURIComponent(s).replace(/[!'()*]/g, (c) => "%" + c.charCodeAt(0).toString(16).toUpperCase()).replace(/%20/g, "+");

const address = (name, params) =>
  name + "?" + Object.keys(params).filter((k) => params[k] !== undefined && params[k] !== "").sort().map((k) => escape(k) + "=" + escape(params[k])).join("&");

export const isStatic = () => Boolean(window.limeData);

function fromCopy(key, binary) {
  const text = window.limeData[key];
  if (text === undefined) throw new Error("This is not in the static copy; 'lime view' with the profile shows it.");
  if (!binary) return text;
  const raw = atob(text);
  return Uint8Array.from(raw, (c) => c.charCodeAt(0)).buffer;
}

async function fetched(key, binary) {
  if (isStatic()) return fromCopy(key, binary);
  let response;
  try {
    response = await fetch("api/" + key, { credentials: "same-origin" });
  } catch {
    throw new Error("lime view does not answer any more. Start it again, and open the address that it prints.");
  }
  if (!response.ok) {
    let text = response.statusText;
    try { text = (await response.json()).error; } catch { /* no JSON: keep the status */ }
    throw new Error(text);
  }
  return binary ? response.arrayBuffer() : response.json();
}

// weight is about how much memory an answer takes: that of objects is guessed by their text.
const weight = (v) => (v instanceof ArrayBuffer ? v.byteLength : 2 * JSON.stringify(v).length);

function asked(name, params, binary) {
  const key = address(name, params);
  let entry = known.get(key);
  if (entry) known.delete(key); // and to the end
  else {
    entry = { value: undefined, error: undefined };
    entry.promise = fetched(key, binary).then((v) => { entry.value = v; remember(key, entry, weight(v)); return v; }, (e) => { entry.error = e; if (known.get(key) === entry) known.delete(key); throw e; });
  }
  known.set(key, entry);
  return entry;
}

// ask returns a promise of an object.
export const ask = (name, params = {}) => asked(name, params, false).promise;

// tile returns a promise of bytes; have returns them if they are there, and asks for them otherwise.
export function have(name, params, arrived) {
  const e = asked(name, params, true);
  if (e.value) return e.value;
  if (!e.waiting) {
    e.waiting = new Set();
    e.promise.then(() => e.waiting.forEach((f) => f()), () => {});
  }
  e.waiting.add(arrived);
  return undefined;
}

// peek returns bytes if they are there, and asks nobody.
export const peek = (name, params) => known.get(address(name, params))?.value;

// post asks for something to be done.
export async function post(name, params = {}) {
  const response = await fetch("api/" + address(name, params), { method: "POST", credentials: "same-origin" });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

// fresh asks for what changes.
export const fresh = (name, params = {}) => fetched(address(name, params), false);
