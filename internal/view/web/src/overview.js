// What is lost, by kind and by section, and what the report says of the whole run.
import { html, Meter, Say } from "./parts.js";
import { pct, short } from "./format.js";
import { link } from "./route.js";

// lossOf divides cores x run time: what is left of one kind is the next one's, so that the pieces add up.
function lossOf(head) {
  const w = head.whole;
  const useful = Math.max(0, Math.min(1, w.parallel_efficiency));
  const imbalance = Math.max(0, Math.min(1 - useful, w.lost_share));
  const alone = Math.max(0, Math.min(1 - useful - imbalance, w.width > 0 ? (w.serial_share * (w.width - 1)) / w.width : 0));
  return [
    ["work", "useful work", useful],
    ["loss", "imbalance: waiting at the ends of parallel sections", imbalance],
    ["serial", "one thread alone, the others idle", alone],
    ["count", "locks, off the processor, and other idleness", Math.max(0, 1 - useful - imbalance - alone)],
  ];
}

function Loss({ head }) {
  const pieces = lossOf(head);
  return html`<section class="card" aria-labelledby="loss-h"><h2 id="loss-h">Where the processors’ time goes</h2>
    <p class="soft">${head.whole.width} threads at a time × run time = 100 %.</p>
    <div class="stack" role="img" aria-label=${pieces.map(([, t, v]) => `${t} ${pct(v)}`).join("; ")}>
      ${pieces.filter((x) => x[2] > 0).map(([k, t, v]) => html`<i class="key ${k}" style=${{ flexGrow: v }} title=${t + ": " + pct(v)}></i>`)}</div>
    <ul class="legend">${pieces.map(([k, t, v]) => html`<li><i class="key ${k}"></i><b>${pct(v)}</b> ${t}</li>`)}</ul>
    ${head.whole.contended_share >= 0.01 && html`<p class="say">Of the useful work, ${pct(head.whole.contended_share)} of the run are threads that kept one another waiting within sections.</p>`}
  </section>`;
}

const CostRows = ({ rows, unit, p }) => rows.map((c) => html`<tr><td>${c.title}</td><td class="at">${c.line ? html`<a href=${link("source", { p, path: c.file, line: c.line })}>${c.place}</a>` : c.place}
  ${c.about && html`<br /><span class="soft">${c.about}</span>`}</td><td class="num">${pct(c.share)}</td><td class="num wide">${short(unit, c.time)}</td></tr>`);

export function Overview({ head, p }) {
  const unit = head.program.clock_unit;
  const most = head.sections.reduce((m, s) => Math.max(m, s.lost_share), 0.02);
  return html`<ul class="tiles">${head.tiles.map((t) => html`<li><b>${t.value}</b><span>${t.label}</span></li>`)}</ul>
  <${Say} list=${head.told} />
  <${Loss} head=${head} />
  ${head.nothing && html`<div class="card"><p>${head.nothing}</p></div>`}
  ${head.sections.length > 0 && html`<section class="card" aria-labelledby="sections-h"><h2 id="sections-h">Where time is lost</h2><div class="scroll"><table>
    <thead><tr><th scope="col">Section ends at</th><th scope="col" class="wide"><span class="sr">Share</span></th><th scope="col" class="num">Lost of run</th><th scope="col" class="num">Imbalance</th><th scope="col" class="num wide">Instances</th><th scope="col">First cause</th></tr></thead>
    <tbody>${head.sections.map((s, i) => html`<tr><td><a class="at" data-nth=${i} href=${link("section", { p, s: s.id })}>${s.short}</a> ${s.ends_at.function && s.ends_at.function !== s.short && html`<span class="soft wide">${s.ends_at.function}</span>`}</td>
      <td class="wide"><${Meter} share=${s.lost_share / most} /></td><td class="num">${pct(s.lost_share)}</td><td class="num">${pct(s.imbalance)}</td><td class="num wide">${s.instances}</td>
      <td>${s.causes[0] ? html`<a class="at" href=${link("source", { p, path: s.causes[0].file, line: s.causes[0].line, s: s.id })}>${s.causes[0].title} at ${s.causes[0].place}</a>` : html`<span class="soft">–</span>`}</td></tr>`)}</tbody></table></div></section>`}
  ${head.costs && html`<section class="card"><h2>${head.costs.title}</h2><p>${head.costs.intro}</p><div class="scroll"><table><thead><tr><th scope="col">Event</th><th scope="col">Where</th><th scope="col" class="num">Share</th><th scope="col" class="num wide">Time</th></tr></thead><tbody><${CostRows} rows=${head.costs.rows} unit=${unit} p=${p} /></tbody></table></div></section>`}
  ${head.serial.length > 0 && html`<section class="card"><h2>One thread alone</h2><div class="scroll"><table><thead><tr><th scope="col">Until</th><th scope="col" class="num">Of the run time</th><th scope="col" class="num">Times</th></tr></thead>
    <tbody>${head.serial.map((s) => html`<tr><td class="at">${s.until}${s.spent && html` <span class="soft">(${s.spent})</span>`}</td><td class="num">${pct(s.share)}</td><td class="num">${s.times}</td></tr>`)}</tbody></table></div></section>`}
  ${head.effort && html`<section class="card"><h2>Effort of ${head.effort.threads} threads</h2><p>${head.effort.text}</p><div class="scroll"><table><tbody>${head.effort.rows.map((r) => html`<tr><th scope="row">${r.label}</th><td class="wide"><${Meter} share=${r.share} less=${r.label === "work"} /></td><td class="num">${pct(r.share)}</td><td class="num wide soft">${r.bounds}</td></tr>`)}</tbody></table></div>
    ${head.effort.lists.map((l) => html`<h3>${l.title}</h3><div class="scroll"><table><tbody><${CostRows} rows=${l.rows} unit=${unit} p=${p} /></tbody></table></div>`)}</section>`}
  ${head.notes.length > 0 && html`<section class="card"><h2>Notes</h2><ul class="plain">${head.notes.map((n) => html`<li>${n}</li>`)}</ul></section>`}`;
}
