// Small parts that all views share.
import { h } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import htm from "htm";
import { ask, generationNow } from "./api.js";
import { short } from "./format.js";

export const html = htm.bind(h);

// useAsk asks the server and returns { value, error }; while an answer is under way the old one stays.
export function useAsk(name, params, when = true) {
  const [state, setState] = useState({});
  const key = JSON.stringify([name, params, when, generationNow()]);
  useEffect(() => {
    if (!when) return undefined;
    let here = true;
    setState((s) => ({ value: s.value, busy: true, of: s.of }));
    ask(name, params).then((value) => here && setState({ value, of: key }), (error) => here && setState({ error, of: key }));
    return () => { here = false; };
  }, [key]);
  return state;
}

// Asked shows what has been asked for, or why not.
export function Asked({ state, children, what = "" }) {
  if (state.error) return html`<p class="say warn" role="alert"><b>Not to be shown:</b> ${state.error.message}</p>`;
  if (state.value === undefined) return html`<p class="loading" role="status">Reading${what ? " " + what : ""}…</p>`;
  return children(state.value);
}

export const Meter = ({ share, less }) =>
  html`<span class="meter" aria-hidden="true"><i class=${less ? "less" : ""} style=${{ width: Math.min(100, Math.abs(share) * 100) + "%" }}></i></span>`;

export const Say = ({ list }) =>
  list.map((v) => html`<p class="say ${v.severity}">${v.severity === "warn" && html`<b>Caution: </b>`}${v.text}</p>`);

// useWidth returns a ref and the width of its element in CSS pixels.
export function useWidth() {
  const ref = useRef(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const look = () => ref.current && setWidth(Math.floor(ref.current.clientWidth));
    look();
    const o = new ResizeObserver(look);
    if (ref.current) o.observe(ref.current);
    return () => o.disconnect();
  }, []);
  return [ref, width];
}

const between = 80; // ms between two drawings while tiles arrive: hundreds come one by one, and each drawing looks at all

// useArrived returns a function to call when something came: the component is drawn again soon, once for all that came meanwhile.
export function useArrived() {
  const [, again] = useState(0);
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  return useRef(() => { timer.current = timer.current || setTimeout(() => { timer.current = 0; again((n) => n + 1); }, between); }).current;
}

// useDark is true while the dark colours are shown.
export function useDark() {
  const query = matchMedia("(prefers-color-scheme: dark)");
  const [dark, setDark] = useState(query.matches);
  useEffect(() => {
    const f = () => setDark(query.matches);
    query.addEventListener("change", f);
    return () => query.removeEventListener("change", f);
  }, []);
  return dark;
}

// colour reads a colour of the style sheet as [r, g, b].
export function colour(name) {
  const text = getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const n = parseInt(text.slice(1), 16);
  return text.length === 7 ? [n >> 16, (n >> 8) & 255, n & 255] : [128, 128, 128];
}
export const rgb = ([r, g, b]) => `rgb(${r},${g},${b})`;
export const mix = (a, b, t) => a.map((v, i) => Math.round(v + (b[i] - v) * t));

// fit makes a canvas sharp and empty: one pixel of it is one of the screen. Returns the ratio.
export function fit(canvas, width, height) {
  const ratio = Math.max(1, Math.round(devicePixelRatio || 1));
  if (canvas.width !== width * ratio || canvas.height !== height * ratio) {
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
  }
  const g = canvas.getContext("2d");
  g.setTransform(1, 0, 0, 1, 0, 0);
  g.clearRect(0, 0, canvas.width, canvas.height);
  return ratio;
}

// Bars draws a bar a thread, with what it waited on top. Where there are more threads than pixels, a pixel is the most of its threads.
export function Bars({ title, values, waits, names, unit, kind = "work", height = 96, onPick, picked, range = true }) {
  const [box, width] = useWidth();
  const canvas = useRef(null);
  const dark = useDark();
  const [tip, setTip] = useState("");
  const print = (x) => (unit === undefined ? short("", x) : short(unit, x));
  const top = values.reduce((m, v, i) => Math.max(m, v + (waits ? waits[i] : 0)), 0) || 1;
  const step = Math.max(1, Math.min(40, Math.floor(width / Math.max(1, values.length))));
  const columns = Math.min(values.length, Math.max(1, width));
  const at = (column) => Math.floor((column * values.length) / columns);
  useLayoutEffect(() => {
    if (!width || !canvas.current) return;
    const r = fit(canvas.current, width, height);
    const g = canvas.current.getContext("2d");
    const work = rgb(colour(kind)), wait = rgb(colour("wait")), mark = rgb(colour("focus"));
    const gap = step >= 4 ? 1 : 0;
    for (let c = 0; c < columns; c++) {
      let v = 0, w = 0;
      for (let i = at(c); i < Math.max(at(c) + 1, at(c + 1)); i++) {
        if (values[i] >= v) { v = values[i]; w = waits ? waits[i] : 0; }
      }
      const x = c * step * r, wide = (step - gap) * r, tall = Math.round((v / top) * height * r);
      g.fillStyle = wait;
      const more = Math.round((w / top) * height * r);
      g.fillRect(x, height * r - tall - more, wide, more);
      g.fillStyle = picked !== undefined && at(c) === picked ? mark : work;
      g.fillRect(x, height * r - tall, wide, tall);
    }
  }, [values, waits, width, dark, picked, height]);
  const find = (e) => Math.min(values.length - 1, at(Math.floor(e.offsetX / step)));
  const lo = Math.min(...values), hi = Math.max(...values);
  return html`<figure>
    <figcaption><span><i class="key ${kind}"></i><b>${title}</b>${waits && html` <i class="key wait"></i>wait`}</span>
      <span>${tip || (range && values.length > 0 && (lo === hi ? print(lo) + " in each" : `${print(lo)} to ${print(hi)}`))}</span></figcaption>
    <div class="canvas" ref=${box}><canvas ref=${canvas} role="img" height=${height} aria-label=${`${title}, ${values.length} values from ${print(lo)} to ${print(hi)}`}
      onMouseMove=${(e) => { const i = find(e); if (i >= 0) setTip(`${names ? names(i) : "thread " + i}: ${print(values[i])}${waits ? ", waits " + print(waits[i]) : ""}`); }}
      onMouseLeave=${() => setTip("")} onClick=${(e) => onPick && onPick(find(e))}></canvas></div></figure>`;
}

// Source draws lines of text, the marked ones on the colour of causes.
export const Snippet = ({ lines, label }) =>
  lines.length > 0 && html`<div class="src" tabindex="0" role="region" aria-label=${label}><table><tbody>
    ${lines.map((l) => html`<tr class=${l.mark ? "hit" : ""}><td class="no">${l.line}</td><td>${l.text}${l.mark && html`<span class="sr"> (the cause)</span>`}</td></tr>`)}
  </tbody></table></div>`;

export const Choice = ({ label, value, options, onChange }) =>
  html`<label class="choice"><span>${label}</span><select value=${value} onChange=${(e) => onChange(e.target.value)}>
    ${options.map(([v, text]) => html`<option value=${v} selected=${String(v) === String(value)}>${text}</option>`)}</select></label>`;

export const Toggle = ({ on, onClick, children, title }) => html`<button type="button" aria-pressed=${String(Boolean(on))} onClick=${onClick} title=${title}>${children}</button>`;
