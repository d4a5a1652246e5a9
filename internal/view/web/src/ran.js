// What ran when: functions in the lanes of the time line, at the chosen depth of the call path.
import { useEffect, useState } from "preact/hooks";
import { ask, isStatic } from "./api.js";
import { Asked, Choice, html, useAsk } from "./parts.js";
import { pct, short } from "./format.js";
import { rankAsked } from "./rank.js";
import { link, set } from "./route.js";

const golden = 137.508; // degrees: neighbours in the order by time get colours far from each other

// functionColour is the colour of a function by its number, as [r, g, b].
const cache = new Map();
export function functionColour(id, dark) {
  const key = id * 2 + (dark ? 1 : 0);
  if (!cache.has(key)) {
    const h = (200 + id * golden) % 360, s = 0.42 + 0.12 * (id % 3), l = (dark ? 0.46 : 0.62) + 0.05 * ((id >> 1) % 3);
    const a = s * Math.min(l, 1 - l), f = (n) => { const k = (n + h / 30) % 12; return Math.round(255 * (l - a * Math.max(-1, Math.min(k - 3, 9 - k, 1)))); };
    cache.set(key, [f(0), f(8), f(4)]);
  }
  return cache.get(key);
}

// depthOf reads the depth from the address: undefined is work and waits, 0 the innermost function.
export const depthOf = (info, params) => (info.traces && !isStatic() && params.d !== undefined && Number(params.d) >= 0 ? Math.trunc(Number(params.d)) : undefined);

// useNames asks for the functions' names and how deep the call paths are.
export const useNames = (info, p) => useAsk("rannames", { p }, info.traces && !isStatic()).value || { names: [], deep: 0, every: 1 };

const mostDepths = 30; // in the list; deeper ones are reached by "innermost"

export function Depth({ info, names, depth }) {
  if (!info.traces || isStatic()) return null;
  const options = [["", "work and waits"], ["0", "what ran: innermost"], ...Array.from({ length: Math.min(names.deep, mostDepths) }, (_, i) => [String(i + 1), `what ran: level ${i + 1}${i === 0 ? ", outermost" : ""}`])];
  return html`<${Choice} label="Show" value=${depth === undefined ? "" : String(depth)} options=${options} onChange=${(v) => set({ d: v === "" ? undefined : v }, true)} />`;
}

// stepDepth is the next depth, or the one before: off, innermost, outermost and inwards.
export function stepDepth(depth, deep, by) {
  const at = (depth === undefined ? 0 : depth + 1) + by, all = Math.min(deep, mostDepths) + 2;
  const next = (at + all) % all;
  return next === 0 ? undefined : String(next - 1);
}

// Moment says on which call path a thread was.
export function Moment({ p, info, t, at }) {
  const state = useAsk("moment", { p, t, at }, info.traces && !isStatic());
  if (!info.traces || isStatic()) return null;
  return html`<${Asked} state=${state} what="the call path">${(m) => html`<p class="picked" role="status"><b>Thread ${t} at ${short(info.clock_unit, at)}</b>: ${m.known ? html`<span class="at">${m.calls.join(" > ")}</span> <span class="soft">(a sample at ${short(info.clock_unit, m.at)})</span>` : "no sample says what ran."}
    ${" "}<button type="button" onClick=${() => set({ m: undefined })}>clear</button></p>`}<//>`;
}

const rest = 200; // ms for which the pointer stands still before the call path is asked for

// usePointed is the call path where the pointer rests.
export function usePointed(p, info, on) {
  const [spot, setSpot] = useState(null), [calls, setCalls] = useState("");
  useEffect(() => {
    setCalls("");
    if (!spot || !on) return undefined;
    let here = true;
    const timer = setTimeout(() => ask("moment", { p, t: spot.t, at: spot.at }).then((m) => here && setCalls(m.known ? m.calls.join(" > ") : "")).catch(() => {}), rest);
    return () => { here = false; clearTimeout(timer); };
  }, [spot && spot.t, spot && spot.at, on, p]);
  return [calls, setSpot];
}

// Functions lists what ran in a stretch of time.
export function Functions({ p, info, rank, range, names }) {
  const on = info.traces && !isStatic();
  const state = useAsk("paths", { p, r: rankAsked(rank), v: "flat", ...range }, on);
  if (!on) return null;
  return html`<${Asked} state=${state} what="the functions">${(v) => {
    const rows = v.rows.filter((r) => r.parent < 0 && !r.loop).sort((a, b) => b.own[0] - a.own[0]).slice(0, 8), all = v.total[0] || 1;
    return html`<div class="scroll"><table><caption>Functions at work, by samples${names.every > 1 ? ` (one of ${names.every} was kept: --trace-budget)` : ""}</caption><thead><tr><th scope="col">Function</th><th scope="col" class="num">itself</th><th scope="col" class="num">with its calls</th></tr></thead>
      <tbody>${rows.map((r) => html`<tr><td class="at">${r.name}</td><td class="num">${pct(r.own[0] / all)}</td><td class="num soft">${pct(r.all[0] / all)}</td></tr>`)}</tbody></table>
      <p><a href=${link("paths", { p, ...range })}>Call paths of this stretch</a></p></div>`;
  }}<//>`;
}
