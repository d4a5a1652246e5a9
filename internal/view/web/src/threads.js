// A metric over all threads: sorted, beside the time, and how its values are spread. Threads that stand out can be picked and followed.
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Asked, Bars, Choice, colour, fit, html, rgb, useAsk, useDark, useWidth } from "./parts.js";
import { short } from "./format.js";
import { link, set } from "./route.js";
import { BesideThreads } from "./beside.js";
import { ofRank, rankOf } from "./rank.js";
import { colourOf, metrics, unitOf } from "./section.js";

const median = (list) => { const s = [...list].sort((a, b) => a - b); return s.length ? (s[(s.length - 1) >> 1] + s[s.length >> 1]) / 2 : 0; };

// only is the figures of the threads that are shown.
function only(v, shown) {
  const keep = v.thread.map((t) => shown(t)), of = (list) => list.filter((_, i) => keep[i]);
  return { ...v, thread: of(v.thread), name: of(v.name), value: of(v.value), time: of(v.time) };
}

// outliers are the threads furthest from the median, in units of the median distance from it.
export function outliers(values) {
  const mid = median(values), spread = median(values.map((v) => Math.abs(v - mid))) || Math.abs(mid) * 0.01 || 1;
  return values.map((v, i) => ({ i, v, far: (v - mid) / spread })).sort((a, b) => Math.abs(b.far) - Math.abs(a.far)).slice(0, 8).filter((x) => x.v !== mid);
}

function Scatter({ x, y, xName, yName, xUnit, yUnit, threads, picked, onPick }) {
  const [box, width] = useWidth();
  const canvas = useRef(null);
  const dark = useDark();
  const [tip, setTip] = useState("");
  const height = 220, pad = 8;
  const mx = Math.max(...x, 1e-300), my = Math.max(...y, 1e-300);
  const at = (i) => [pad + (x[i] / mx) * (width - 2 * pad), height - pad - (y[i] / my) * (height - 2 * pad)];
  useLayoutEffect(() => {
    if (!width || !canvas.current) return;
    const r = fit(canvas.current, width, height);
    const g = canvas.current.getContext("2d");
    g.scale(r, r);
    const dot = (i, how) => { const [a, b] = at(i); g.fillStyle = how; g.fillRect(Math.round(a) - 2, Math.round(b) - 2, 5, 5); };
    g.globalAlpha = x.length > 200 ? 0.5 : 0.8;
    for (let i = 0; i < x.length; i++) dot(i, rgb(colour("count")));
    g.globalAlpha = 1;
    if (picked >= 0) { const [a, b] = at(picked); g.fillStyle = rgb(colour("focus")); g.fillRect(Math.round(a) - 4, Math.round(b) - 4, 9, 9); }
  }, [x, y, width, dark, picked]);
  const near = (e) => { let best = -1, d = 400; for (let i = 0; i < x.length; i++) { const [a, b] = at(i); const q = (a - e.offsetX) ** 2 + (b - e.offsetY) ** 2; if (q < d) { d = q; best = i; } } return best; };
  return html`<figure><figcaption><span><i class="key count"></i><b>${yName}</b> (up) beside <b>${xName}</b> (right)</span><span>${tip}</span></figcaption>
    <div class="canvas" ref=${box}><canvas ref=${canvas} height=${height} role="img" aria-label=${`${yName} beside ${xName} for ${x.length} threads`}
      onMouseMove=${(e) => { const i = near(e); setTip(i < 0 ? "" : `thread ${threads[i]}: ${short(xUnit, x[i])}, ${short(yUnit, y[i])}`); }} onMouseLeave=${() => setTip("")} onClick=${(e) => { const i = near(e); if (i >= 0) onPick(i); }}></canvas></div>
    <div class="axis" aria-hidden="true"><span>0</span><span>${short(xUnit, mx)}</span></div></figure>`;
}

function histogram(values, n) {
  const lo = Math.min(...values), hi = Math.max(...values), out = new Array(n).fill(0);
  for (const v of values) out[hi > lo ? Math.min(n - 1, Math.floor(((v - lo) / (hi - lo)) * n)) : 0]++;
  return { lo, hi, out };
}

export function Threads({ info, head, p, params, list, q }) {
  const s = params.s === undefined ? -1 : Number(params.s);
  const m = params.m || "time";
  const state = useAsk("threads", { p, s, m });
  const rank = rankOf(info, params);
  const shown = useMemo(() => state.value && only(state.value, ofRank(info, rank)), [state.value, info, rank]);
  const options = metrics(info);
  if (!options.some(([k]) => k === m)) options.push([m, "runs of line " + m.split(":")[2]]);
  const name = options.find(([k]) => k === m)[1];
  return html`<section class="card" aria-labelledby="t-h"><h2 id="t-h">Threads: ${name}</h2>
    <div class="bar"><${Choice} label="Show" value=${m} options=${options} onChange=${(v) => set({ m: v })} />
      <${Choice} label="In" value=${String(s)} options=${[["-1", "all sections"], ...head.sections.map((x) => [String(x.id), x.short])]} onChange=${(v) => set({ s: v === "-1" ? undefined : v })} /></div>
    <${Asked} state=${state} what="the threads">${(v) => html`<${Charts} v=${shown || v} m=${m} name=${name} info=${info} p=${p} s=${s} params=${params} />${q >= 0 && html`<${BesideThreads} v=${v} head=${head} info=${info} other=${list[q]} q=${q} s=${s} m=${m} name=${name} unit=${unitOf(m, info)} Scatter=${Scatter} onPick=${(i) => set({ t: v.thread[i] })} />`}`}<//></section>`;
}

function Charts({ v, m, name, info, p, s, params }) {
  const sorted = params.order !== "number";
  const order = useMemo(() => { const o = v.value.map((_, i) => i); if (sorted) o.sort((a, b) => v.value[b] - v.value[a]); return o; }, [v, sorted]);
  const values = useMemo(() => order.map((i) => v.value[i]), [order]);
  const far = useMemo(() => outliers(v.value), [v]);
  if (v.thread.length === 0) return html`<p>No thread took part.</p>`;
  const picked = v.thread.indexOf(Number(params.t ?? -1));
  const pick = (i) => set({ t: v.thread[i] });
  const unit = unitOf(m, info);
  const hist = histogram(v.value, Math.min(40, Math.max(5, Math.ceil(Math.sqrt(v.value.length) * 2))));
  const label = (i) => `thread ${v.thread[i]} ${v.name[i]}`;
  return html`<div class="bar" role="group" aria-label="Order of the threads"><button type="button" aria-pressed=${String(sorted)} onClick=${() => set({ order: undefined }, true)}>by value</button><button type="button" aria-pressed=${String(!sorted)} onClick=${() => set({ order: "number" }, true)}>by thread</button></div>
    ${v.read < v.of && html`<p class="say">Counts were read of ${v.read} of the ${v.of} instances, at even steps.</p>`}
    <${Bars} title=${name + ", " + v.thread.length + " threads"} values=${values} unit=${unit} kind=${colourOf(m)} height=${120} names=${(k) => label(order[k])} onPick=${(k) => pick(order[k])} picked=${picked < 0 ? undefined : order.indexOf(picked)} />
    ${picked >= 0 && html`<p role="status"><b>${label(picked)}</b>: ${short(unit, v.value[picked])}, time ${short(info.clock_unit, v.time[picked])}. Follow it: <a href=${link("timeline", { p, t: v.thread[picked] })}>time line</a>, <a href=${link("paths", { p, t: v.thread[picked], s: s < 0 ? undefined : s })}>call paths</a> <button type="button" onClick=${() => set({ t: undefined })}>clear</button></p>`}
    <div class="two">${m !== "time" && html`<${Scatter} x=${v.time} y=${v.value} xName="time" yName=${name} xUnit=${info.clock_unit} yUnit=${unit} threads=${v.thread} picked=${picked} onPick=${pick} />`}
    <${Bars} title=${"how many threads, from " + short(unit, hist.lo) + " to " + short(unit, hist.hi)} values=${hist.out} unit="" kind="count" height=${m === "time" ? 96 : 220} range=${false} names=${(k) => `${short(unit, hist.lo + ((hist.hi - hist.lo) * k) / hist.out.length)} to ${short(unit, hist.lo + ((hist.hi - hist.lo) * (k + 1)) / hist.out.length)}`} /></div>
    ${far.length > 0 && html`<h3>Furthest from the median</h3><div class="scroll"><table><thead><tr><th scope="col">Thread</th><th scope="col" class="num">${name}</th><th scope="col" class="num">Distance, in median distances</th><th scope="col" class="num wide">Time</th></tr></thead>
      <tbody>${far.map((o) => html`<tr><th scope="row"><button type="button" class="plainly" onClick=${() => pick(o.i)}>${label(o.i)}</button></th><td class="num">${short(unit, o.v)}</td><td class="num">${o.far.toFixed(1)}</td><td class="num wide">${short(info.clock_unit, v.time[o.i])}</td></tr>`)}</tbody></table></div>`}`;
}
