// Buttons that run the program again with something changed, and what came of it. Without --allow-run there are none.
import { useEffect, useState } from "preact/hooks";
import { fresh, isStatic, post } from "./api.js";
import { html, useAsk } from "./parts.js";
import { pct, short } from "./format.js";

// usePossible tells whether the page may run a profile's program.
export function usePossible(p) {
  return useAsk("possible", { p }, !isStatic()).value || { allowed: false };
}

const every = 500; // ms between two looks at a run

function useJob() {
  const [job, setJob] = useState(null);
  useEffect(() => {
    if (!job || job.done || job.error) return undefined;
    const timer = setTimeout(() => fresh("job", { id: job.id }).then(setJob, (e) => setJob({ ...job, error: e.message })), every);
    return () => clearTimeout(timer);
  }, [job]);
  const begin = (params) => post("again", params).then(setJob, (e) => setJob({ done: true, error: e.message }));
  const cancel = () => post("cancel", { id: job.id }).catch(() => {});
  return [job, begin, cancel];
}

// Again is a button and the outcome. params say where in the report the cause or the row stands.
export function Again({ params, text, possible, unit }) {
  const [job, begin, cancel] = useJob();
  if (!possible.allowed) return null;
  const busy = job && !job.done && !job.error;
  return html`<span class="again"><button type="button" disabled=${busy} title=${"Runs " + possible.command} onClick=${() => begin(params)}>${text}</button>
    ${busy && html` <span role="status">runs ${job.what}: ${Math.round(job.seconds)} s <button type="button" onClick=${cancel}>stop</button></span>`}
    ${job && job.error && html`<p class="say warn" role="alert">${job.error}</p>`}
    ${job && job.outcome && html`<${Result} o=${job.outcome} unit=${unit} />`}</span>`;
}

function Result({ o, unit }) {
  return html`<div class="outcome" role="status">${o.text && html`<p>${o.text}</p>`}<div class="scroll"><table>
    <thead><tr><td></td><th scope="col" class="num">as it was</th><th scope="col" class="num">said</th>${o.run && html`<th scope="col" class="num">run</th>`}</tr></thead>
    <tbody><tr><th scope="row">imbalance of the section</th><td class="num">${pct(o.before.imbalance)}</td><td class="num">${pct(o.said.imbalance)}</td>${o.run && html`<td class="num">${pct(o.after.imbalance)}</td>`}</tr>
    <tr><th scope="row">of what it loses is gone</th><td class="num"></td><td class="num">${pct(o.said.gone)}</td>${o.run && html`<td class="num">${pct(o.after.gone)}</td>`}</tr>
    ${o.run && html`<tr><th scope="row">run time</th><td class="num">${short(unit, o.run_time_before)}</td><td class="num"></td><td class="num">${short(unit, o.run_time_after)}</td></tr>`}</tbody></table></div></div>`;
}
