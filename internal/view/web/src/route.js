// The page's address: #view?key=value says all that is shown, so that it can be sent as a link.
import { useEffect, useState } from "preact/hooks";

export function parse(hash) {
  const text = hash.replace(/^#/, "");
  const at = text.indexOf("?");
  const view = at < 0 ? text : text.slice(0, at);
  const params = {};
  for (const [k, v] of new URLSearchParams(at < 0 ? "" : text.slice(at + 1))) params[k] = v;
  return { view: view || "overview", params };
}

export function link(view, params = {}) {
  const q = new URLSearchParams();
  const here = parse(location.hash).params; // the run beside stays, wherever one goes, and so does the rank
  params = { vs: here.vs, r: here.r, ...params };
  for (const k of Object.keys(params)) if (params[k] !== undefined && params[k] !== "" && params[k] !== null) q.set(k, params[k]);
  const text = q.toString();
  return "#" + view + (text ? "?" + text : "");
}

let tell = () => {};

// go shows another address; quietly leaves no entry in the history.
export function go(view, params, quietly) {
  const to = link(view, params);
  if (to === location.hash) return;
  if (quietly) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  tell();
}

// set changes parameters of the address.
export function set(changes, quietly) {
  const { view, params } = parse(location.hash);
  go(view, { ...params, ...changes }, quietly);
}

export function useRoute() {
  const [route, setRoute] = useState(() => parse(location.hash));
  useEffect(() => {
    tell = () => setRoute(parse(location.hash));
    addEventListener("hashchange", tell);
    addEventListener("popstate", tell);
    return () => { removeEventListener("hashchange", tell); removeEventListener("popstate", tell); };
  }, []);
  return route;
}
