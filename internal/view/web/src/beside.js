// Another run beside the one that is shown: the address keeps it as vs, in every view.
import { Asked, Bars, html, useAsk } from "./parts.js";
import { pct, short } from "./format.js";
import { link, set } from "./route.js";
import { HeatMap } from "./heat.js";
import { Diff } from "./compare.js";

// otherOf reads which run stands beside; -1 is none.
export const otherOf = (list, params, p) => { const q = Math.trunc(Number(params.vs)); return params.vs !== undefined && q >= 0 && q < list.length && q !== p ? q : -1; };

// Beside chooses the other run.
export function Beside({ list, p, q }) {
  if (list.length < 2) return null;
  return html`<label class="choice"><span>beside</span><select value=${String(q)} onChange=${(e) => set({ vs: e.target.value === "-1" ? undefined : e.target.value })}>
    <option value="-1" selected=${q < 0}>nothing</option>${list.map((r, i) => i !== p && html`<option value=${i} selected=${i === q}>${r.name}</option>`)}</select></label>`;
}

// likeSection finds the section of another run that ends at the same place; -1 if there is none.
export function likeSection(head, s, other) {
  const mine = head && head.sections.find((x) => x.id === s);
  const found = mine && other && (other.sections.find((x) => x.title === mine.title) || other.sections.find((x) => x.ends_at.function && x.ends_at.function === mine.ends_at.function && x.short.split(":")[0] === mine.short.split(":")[0]));
  return found ? found.id : -1;
}

export const useHead = (q) => useAsk("head", { p: q }, q >= 0).value;

const signed = (v, text) => (v > 0 ? "+" : v < 0 ? "−" : "±") + text;

// Figures are figures of this run and the other, with their difference.
export function Figures({ rows, names }) {
  return html`<div class="scroll"><table class="figures"><thead><tr><td></td><th scope="col" class="num">${names[0]}</th><th scope="col" class="num">${names[1]}</th><th scope="col" class="num">Change</th></tr></thead>
    <tbody>${rows.map(([title, a, b, print]) => html`<tr><th scope="row">${title}</th><td class="num">${print(a)}</td><td class="num">${print(b)}</td><td class="num">${signed(b - a, print(Math.abs(b - a)))}</td></tr>`)}</tbody></table></div>`;
}

// BesideOverview is what became of the figures and the sections.
export function BesideOverview({ p, q }) {
  const state = useAsk("compare", { p, q });
  return html`<section class="card" aria-labelledby="vs-h"><h2 id="vs-h">Beside the other run</h2><${Asked} state=${state} what="the other run">${(d) => html`<${Diff} d=${d} p=${p} q=${q} />`}<//></section>`;
}

// BesideSection is the same section of the other run.
export function BesideSection({ page, info, other, head, q, s, m, unit, kind }) {
  const theirs = useHead(q), id = likeSection(head, s, theirs);
  const state = useAsk("section", { p: q, s: id }, id >= 0);
  if (!theirs) return html`<p class="loading" role="status">Reading the other run…</p>`;
  if (id < 0) return html`<p class="say">${other.name} has no section that ends there.</p>`;
  return html`<${Asked} state=${state} what="the other run's section">${(o) => {
    const same = info.clock_unit === other.clock_unit, threads = o.thread_times.map((t) => t.thread);
    return html`<h3>Beside ${other.name}</h3><p>${o.words} <a href=${link("section", { p: q, s: id, vs: "" })}>Show it alone</a></p>
      <${Figures} names=${[info.name, other.name]} rows=${[["imbalance", page.imbalance, o.imbalance, pct], ["of core time lost", page.all_lost, o.all_lost, pct], ["instances", page.instances, o.instances, String], ...(same ? [[info.clock_unit === "ns" ? "time" : `time, ${info.clock_unit}`, page.time, o.time, (v) => short(info.clock_unit, v)]] : [])]} />
      <${HeatMap} p=${q} s=${id} m=${m} unit=${unit} kind=${kind} threads=${threads} instances=${o.instances} onPick=${() => {}} />
      <${Bars} title=${"time, " + other.name} values=${o.thread_times.map((t) => t.time)} waits=${o.thread_times.map((t) => t.wait)} unit=${other.clock_unit} names=${(k) => `thread ${threads[k]}`} />`;
  }}<//>`;
}

const mostChanged = 8;

// BesideThreads is the same metric of the other run's threads.
export function BesideThreads({ v, head, info, other, q, s, m, name, unit, Scatter, onPick }) {
  const theirs = useHead(q), id = s < 0 ? -1 : likeSection(head, s, theirs);
  const state = useAsk("threads", { p: q, s: id, m }, s < 0 || id >= 0);
  if (s >= 0 && theirs && id < 0) return html`<p class="say">${other.name} has no such section.</p>`;
  return html`<${Asked} state=${state} what="the other run's threads">${(o) => {
    const at = new Map(o.thread.map((t, i) => [t, i]));
    const both = v.thread.map((t, i) => ({ t, i, a: v.value[i], b: at.has(t) ? o.value[at.get(t)] : NaN })).filter((x) => x.b === x.b);
    const far = [...both].sort((x, y) => Math.abs(y.b - y.a) - Math.abs(x.b - x.a)).filter((x) => x.a !== x.b).slice(0, mostChanged);
    const sum = (list) => list.reduce((x, y) => x + y, 0), print = (x) => short(unit, x);
    return html`<h3>Beside ${other.name}</h3><${Figures} names=${[info.name, other.name]} rows=${[["threads", v.thread.length, o.thread.length, String], ["sum", sum(v.value), sum(o.value), print], ["most", Math.max(0, ...v.value), Math.max(0, ...o.value), print]]} />
      <${Bars} title=${`${name}, ${o.thread.length} threads of ${other.name}`} values=${[...o.value].sort((a, b) => b - a)} unit=${unit} names=${(k) => "rank " + (k + 1)} />
      ${both.length > 1 && html`<${Scatter} x=${both.map((x) => x.a)} y=${both.map((x) => x.b)} xName=${info.name} yName=${other.name} xUnit=${unit} yUnit=${unit} threads=${both.map((x) => x.t)} picked=${-1} onPick=${(k) => onPick(both[k].i)} />`}
      ${far.length > 0 && html`<h3>Changed most</h3><div class="scroll"><table><thead><tr><th scope="col">Thread</th><th scope="col" class="num">${info.name}</th><th scope="col" class="num">${other.name}</th><th scope="col" class="num">Change</th></tr></thead><tbody>${far.map((x) => html`<tr><th scope="row"><button type="button" class="plainly" onClick=${() => onPick(x.i)}>thread ${x.t}</button></th><td class="num">${print(x.a)}</td><td class="num">${print(x.b)}</td><td class="num">${signed(x.b - x.a, print(Math.abs(x.b - x.a)))}</td></tr>`)}</tbody></table></div>`}`;
  }}<//>`;
}

// useOtherLines are the shares of a file's lines in the other run, by number, where the text is the same.
export function useOtherLines(q, path) {
  const files = useAsk("files", { p: q, s: -1 }, q >= 0);
  const file = files.value && files.value.files.find((f) => f.path === path);
  const state = useAsk("source", { p: q, s: -1, f: file ? file.file : 0 }, Boolean(file));
  return q >= 0 && file && state.value && state.value.file === file.file ? new Map(state.value.lines.map((l) => [l.line, l])) : null;
}
