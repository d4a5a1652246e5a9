// Two runs beside each other: what became better, worse, new, gone.
import { Asked, Choice, html, Meter, useAsk } from "./parts.js";
import { pct, quantity, short } from "./format.js";
import { colours } from "./overview.js";
import { link, set } from "./route.js";

// A unit that both runs have stands beside the title, once.
const figure = (f, v, unit, same) => (f.unit === "share" ? pct(v) : (same ? short : quantity)(unit, v));
const titleOf = (f, same) => (f.unit === "share" || f.unit === "ns" || !same ? f.title : `${f.title}, ${f.unit}`);
const least = 0.0005; // what would read 0.0 %
// What a cause stands for is told as core time; a share of all of it stands beside those of the sections.
const ofAll = (c, all) => ({ before: c.loss.before / all.before, after: c.loss.after / all.after });
const signed = (v, text) => (v > 0 ? "+" : v < 0 ? "−" : "±") + text;
const nameOf = (place) => (place.file && place.line ? place.file.slice(place.file.lastIndexOf("/") + 1) + ":" + place.line + (place.function ? " in " + place.function : "") : place.function || place.address || "the end of the program");
const Word = ({ word }) => html`<span class="chip ${word}">${word}</span>`;

export function Compare({ list, p, params }) {
  const other = Math.max(0, Math.min(list.length - 1, params.q === undefined ? (p === 0 ? 1 : 0) : Number(params.q) || 0));
  const state = useAsk("compare", { p, q: other }, list.length > 1);
  if (list.length < 2) return html`<section class="card"><h2>Compare</h2><p>One profile is open. <code>lime view before.lime after.lime</code> opens two.</p></section>`;
  const options = list.map((r, i) => [String(i), r.name]);
  return html`<section class="card" aria-labelledby="cmp-h"><h2 id="cmp-h">Compare</h2><div class="bar"><${Choice} label="Before" value=${String(p)} options=${options} onChange=${(v) => set({ p: v, q: String(other) })} /><${Choice} label="After" value=${String(other)} options=${options} onChange=${(v) => set({ q: v })} /></div>
    <${Scaling} list=${list} />
    <${Asked} state=${state} what="the runs">${(d) => html`<${Diff} d=${d} p=${p} q=${other} />`}<//></section>`;
}

export function Diff({ d, p, q }) {
  const units = [d.a.clock_unit, d.b.clock_unit], same = units[0] === units[1];
  const most = d.sections.reduce((m, s) => Math.max(m, s.lost_share.before, s.lost_share.after), 0.02);
  return html`${(d.warnings || []).map((w) => html`<p class="say warn"><b>Caution: </b>${w}</p>`)}
    <div class="scroll"><table class="figures"><thead><tr><th scope="col">The whole run</th><th scope="col" class="num">Before</th><th scope="col" class="num">After</th><th scope="col" class="num">Change</th><th scope="col"></th></tr></thead>
      <tbody>${d.whole.map((f) => html`<tr><th scope="row">${titleOf(f, same)}</th><td class="num">${figure(f, f.before, units[0], same)}</td><td class="num">${figure(f, f.after, units[1], same)}</td><td class="num">${f.unit === "share" || same ? signed(f.after - f.before, figure(f, Math.abs(f.after - f.before), units[1], same)) : "–"}</td><td><${Word} word=${f.change} /></td></tr>`)}</tbody></table></div>
    <h3>Sections</h3><div class="scroll"><table><thead><tr><th scope="col">Section ends at</th><th scope="col" class="wide">Lost of run, before and after</th><th scope="col" class="num">Before</th><th scope="col" class="num">After</th><th scope="col" class="num wide">Imbalance</th><th scope="col"></th></tr></thead>
      <tbody>${d.sections.map((s) => html`<tr><td class="at">${nameOf(s.ends_at)}${s.was && html` <span class="soft">(was ${nameOf(s.was)})</span>`}</td>
        <td class="wide"><${Meter} share=${s.lost_share.before / most} less /><${Meter} share=${s.lost_share.after / most} /></td>
        <td class="num">${pct(s.lost_share.before)}</td><td class="num">${pct(s.lost_share.after)}</td><td class="num wide">${pct(s.imbalance.before)} to ${pct(s.imbalance.after)}</td><td><${Word} word=${s.change} /></td></tr>
        ${d.loss && s.causes.map((c) => [c, ofAll(c, d.loss)]).filter(([, x]) => Math.max(Math.abs(x.before), Math.abs(x.after)) >= least).map(([c, x]) => html`<tr class="soft"><td class="at">  ${c.event} at ${c.line ? html`<a href=${link("source", { p: c.change === "gone" ? p : q, path: c.file, line: c.line })}>${nameOf(c)}</a>` : nameOf(c)}</td><td class="wide"></td><td class="num">${pct(x.before)}</td><td class="num">${pct(x.after)}</td><td class="wide"></td><td><${Word} word=${c.change} /></td></tr>`)}`)}</tbody></table></div>`;
}

// Scaling is the study of runs on different numbers of cores: what is left of the efficiency, and what the rest went into.
function Scaling({ list }) {
  const state = useAsk("scaling", {}, list.length > 1);
  const v = state.value;
  if (!v) return state.error ? html`<p class="soft">${state.error.message}.</p>` : null;
  return html`<h3>Over the cores</h3><p>${v.mode === "weak" ? "As much work for each core" : "The same work on more cores"}${v.recognised ? ", as the runs show" : ""}; beside the run on ${v.points[0].cores} ${v.points[0].cores === 1 ? "core" : "cores"}.${v.knee > 0 ? ` The knee is at ${v.knee} cores: beyond, more cores cost more efficiency than they bring speed.` : ""}</p>
    <div class="scroll"><table class="study"><thead><tr><th scope="col" class="num">Cores</th><th scope="col" class="num">Speed-up</th><th scope="col" class="num">Efficiency</th><th scope="col">What the rest went into</th></tr></thead><tbody>${v.points.map((q) => {
      const kept = Math.min(1, q.efficiency), lost = q.losses.filter((l) => l.share > 0), all = lost.reduce((m, l) => m + l.share, 0) || 1;
      const pieces = [["work", "as efficient as the first", kept], ...lost.map((l) => [colours[l.term] === "work" ? "none" : colours[l.term], l.title, (l.share / all) * (1 - kept)])].filter((x) => x[2] > 0);
      return html`<tr><th scope="row" class="num">${q.cores}</th><td class="num">${q.speedup.toFixed(2)}</td><td class="num">${pct(q.efficiency)}</td>
        <td><div class="stack" role="img" aria-label=${pieces.map(([, t, s]) => `${t} ${pct(s)}`).join("; ")}>${pieces.map(([k, t, s]) => html`<i class="key ${k}" style=${{ flexGrow: s }} title=${t + ": " + pct(s)}></i>`)}</div>
        <span class="soft">${lost.sort((a, b) => b.share - a.share).slice(0, 2).map((l) => `${pct(l.share)} ${l.title}`).join(", ")}</span></td></tr>`;
    })}</tbody></table></div>`;
}
