// What is lost, by kind and by section, and what the report says of the whole run.
import { Asked, html, Meter, Say } from "./parts.js";
import { pct, short } from "./format.js";
import { link } from "./route.js";
import { Sketch, useWhole } from "./sketch.js";
import { kinds } from "./tiles.js";
import { wordOf } from "./words.js";

// The colour of each term of the account, as everywhere.
export const colours = { useful: "work", imbalance: "loss", serial: "serial", lock: "lock", wait: "wait", off_core: "count", overhead: "overhead", memory: "memory", unproved: "none" };

// wayTo is where a place in a row of the account leads: to its line; what is uneven, or has no line, to its section, to the cause that stands there, or to the calls of the one thread whose it is.
function wayTo(r, x, p, list, info) {
  const known = list.some((s) => s.id === x.section);
  if (known && (r.name === "imbalance" || !x.line)) return link("section", { p, s: x.section });
  if (x.line) return link("source", { p, path: x.file, line: x.line, s: known ? x.section : undefined });
  for (const s of list) for (const c of s.causes) if (c.place === x.at) return link("section", { p, s: s.id, c: c.rank });
  if (x.thread >= 0 && info.paths.length > 0) return link("paths", { p, t: x.thread });
  return undefined;
}

// Headline is the first sentence; the places in it lead on.
function Headline({ loss, p, list, info }) {
  const ways = new Map();
  for (const s of list) for (const c of s.causes) if (!ways.has(c.place)) ways.set(c.place, link("section", { p, s: s.id, c: c.rank })); // of several sections the one that loses most
  for (const r of loss.rows.filter((r) => r.name !== "useful")) for (const x of r.places) if (wayTo(r, x, p, list, info) && !ways.has(x.at)) ways.set(x.at, wayTo(r, x, p, list, info));
  const texts = [...ways.keys()].filter((t) => t && loss.headline.includes(t)).sort((a, b) => b.length - a.length);
  const out = [];
  let rest = loss.headline;
  while (rest) {
    const next = texts.map((text) => ({ text, at: rest.indexOf(text) })).filter((x) => x.at >= 0).sort((a, b) => a.at - b.at)[0];
    if (!next) break;
    out.push(rest.slice(0, next.at), html`<a href=${ways.get(next.text)}>${next.text}</a>`);
    rest = rest.slice(next.at + next.text.length);
  }
  return html`<p class="headline">${out}${rest}</p>`;
}

function Loss({ loss, p, list, info }) {
  const at = (r, x) => (wayTo(r, x, p, list, info) ? html`<a class="at" href=${wayTo(r, x, p, list, info)}>${x.at}</a>` : html`<span class="at">${x.at}</span>`);
  return html`<section class="card" aria-labelledby="loss-h"><h2 id="loss-h">${loss.title}</h2>
    <div class="stack" role="img" aria-label=${loss.rows.map((r) => `${r.title} ${pct(r.share)}`).join("; ")}>
      ${loss.rows.filter((r) => r.share > 0).map((r) => html`<i class="key ${colours[r.name]}" style=${{ flexGrow: r.share }} title=${r.title + ": " + pct(r.share)}></i>`)}</div>
    <div class="scroll"><table class="terms"><thead class="sr"><tr><th scope="col">What</th><th scope="col">Share</th><th scope="col">Where most of it is</th></tr></thead><tbody>
      ${loss.rows.map((r) => html`<tr><th scope="row"><i class="key ${colours[r.name]}"></i>${r.title}</th><td class="num"><b>${pct(r.share)}</b></td>
        <td>${r.places.slice(0, 2).map((x, i) => html`<span class="place" data-more=${i > 0 || r.name === "useful"}>${pct(x.share)} ${at(r, x)}${x.about && html` <span class="soft" data-more>${x.about}</span>`}</span> `)}</td></tr>`)}</tbody></table></div>
  </section>`;
}

// Early says what is known before the causes are: what the threads did, and which sections they waited in; before that is known, a sketch.
export function Early({ info, head, p, params }) {
  const [whole, sketch] = useWhole(p);
  return html`<section class="card" aria-labelledby="early-h"><h2 id="early-h">What the threads did</h2><p class="soft">Where it comes from is being looked for; what threads and sections did can be looked at already.</p>
    ${sketch ? html`<ul class="legend">${kinds.map(([k, t]) => html`<li><i class="key ${k}"></i>${t}</li>`)}</ul><${Sketch} info=${info} p=${p} params=${params} of=${sketch} />`
      : html`<${Asked} state=${whole} what="the times of the threads">${(w) => html`<${Sums} info=${info} head=${head} p=${p} w=${w} />`}<//>`}</section>`;
}

function Sums({ info, head, p, w }) {
  const all = w.work + w.wait + w.lock + w.off + w.none || 1;
  const rows = [["work", "work", w.work], ["wait", "waits at the ends of sections", w.wait], ["lock", "waits for locks, and for others' work", w.lock], ["count", "off the processor", w.off], ["none", "not known", w.none]];
  return html`<div class="stack" role="img" aria-label=${rows.map(([, t, v]) => `${t} ${pct(v / all)}`).join("; ")}>${rows.filter((r) => r[2] > 0).map(([k, t, v]) => html`<i class="key ${k}" style=${{ flexGrow: v }} title=${t + ": " + pct(v / all)}></i>`)}</div>
    <ul class="legend">${rows.map(([k, t, v]) => html`<li><i class="key ${k}"></i><b>${pct(v / all)}</b> ${t}</li>`)}</ul>
    <div class="scroll"><table><thead><tr><th scope="col">Section ends at</th><th scope="col" class="num">Work</th><th scope="col" class="num">Wait</th><th scope="col" class="num wide">Instances</th></tr></thead>
    <tbody>${w.sections.map((s) => html`<tr><td class="at">${head.sections.some((x) => x.id === s.section) ? html`<a href=${link("section", { p, s: s.section })}>${info.sections[s.section].place}</a>` : info.sections[s.section].place}</td><td class="num">${pct(s.work / all)}</td><td class="num">${pct(s.wait / all)}</td><td class="num wide">${s.instances}</td></tr>`)}</tbody></table></div>`;
}

// Place is a position with a link to its line, if it has one.
const Place = ({ x, p }) => (x.line ? html`<a class="at" href=${link("source", { p, path: x.file, line: x.line })}>${x.place}</a>` : html`<span class="at">${x.place}</span>`);

const CostRows = ({ rows, unit, p }) => rows.map((c) => html`<tr><td>${c.title}${c.event && html` <code class="soft">${c.event}</code>`}</td><td><${Place} x=${c} p=${p} />
  ${c.about && html`<br /><span class="soft" data-more=${!c.event}>${c.about}</span>`}</td><td class="num">${pct(c.share)}</td><td class="num wide" data-more=${Boolean(c.event)}>${short(unit, c.time)}</td></tr>`);

function Locks({ rows, unit, p }) {
  return html`<section class="card" aria-labelledby="locks-h"><h2 id="locks-h">Locks that threads waited for</h2><div class="scroll"><table>
    <thead><tr><th scope="col">Lock, and where it was waited for</th><th scope="col" class="num">Of core time</th><th scope="col" class="num">Waits</th><th scope="col" class="num wide">Waited</th><th scope="col" class="num wide">Longest</th></tr></thead>
    <tbody>${rows.map((r) => html`<tr class=${r.lock ? "" : "soft"}><td>${r.lock ? html`<b class="at">${r.lock}</b>` : html`${r.what}<${Place} x=${r} p=${p} />`}${(r.about || []).map((a) => html`<br /><span class="soft">${a}</span>`)}</td>
      <td class="num">${pct(r.share)}</td><td class="num">${r.waits}</td><td class="num wide">${short(unit, r.time)}</td><td class="num wide">${r.longest ? short(unit, r.longest) : ""}</td></tr>`)}</tbody></table></div></section>`;
}

function Waste({ w, p }) {
  return html`<section class="card" aria-labelledby="waste-h"><h2 id="waste-h">${w.title}</h2><p>${w.intro}</p>
    <div class="scroll"><table><tbody>${w.kinds.map((k) => html`<tr><th scope="row">${k.title}</th><td class="wide"><${Meter} share=${k.share} /></td><td class="num">${pct(k.share)}</td><td class="num wide">${k.amount}</td></tr>`)}</tbody></table></div>
    ${w.threads && html`<p>${w.threads}</p>`}
    ${w.lists.map((l) => html`<h3>${l.title}</h3><ul class="wasted">${l.pairs.map((x) => html`<li><p><b>${pct(x.share)}</b> <span class="at">${x.head}</span><br /><span class="soft">${x.about}</span></p>
      ${x.sides.map((s) => html`<p class="side"><${Place} x=${s} p=${p} />${s.text && html` <code>${s.text}</code>`}${s.path && html`<br /><span class="soft">called from ${s.path}</span>`}</p>`)}${x.why && html`<p>Why: ${x.why}</p>`}</li>`)}</ul><p>${l.do}</p>`)}</section>`;
}

// nameless tells whether places have no lines: the program was built without debug information.
const nameless = (loss) => { const at = loss ? loss.rows.flatMap((r) => r.places.filter((x) => x.section >= 0)) : []; return at.length > 0 && !at.some((x) => x.line); };

export function Overview({ info, head, p, params }) {
  if (head.early) return html`<${Early} info=${info} head=${head} p=${p} params=${params} />`;
  const unit = head.program.clock_unit;
  const most = head.sections.reduce((m, s) => Math.max(m, s.all_lost), 0.02);
  return html`${head.loss && head.loss.headline && html`<${Headline} loss=${head.loss} p=${p} list=${head.sections} info=${info} />`}${nameless(head.loss) && html`<p class="say" data-more>Places are functions or addresses here, as the program has no debug information. Built with <code>-g</code>, or with its debug files (packages named -dbgsym, debuginfod) at hand when you say <code>lime resolve</code>, they are lines.</p>`}<ul class="tiles">${head.tiles.map((t) => html`<li title=${wordOf(t.label)}><b>${t.value}</b><span>${t.label}</span></li>`)}</ul>
  <${Say} list=${head.told} />
  ${head.loss && html`<${Loss} loss=${head.loss} p=${p} list=${head.sections} info=${info} />`}
  ${head.nothing && html`<div class="card"><p>${head.nothing}</p></div>`}
  ${head.sections.length > 0 && html`<section class="card" aria-labelledby="sections-h"><h2 id="sections-h">Parallel sections, by all they lose</h2><div class="scroll"><table class="listed">
    <thead><tr><th scope="col">Section ends at</th><th scope="col" class="wide"><span class="sr">Share</span></th><th scope="col" class="num">Of core time</th><th scope="col" class="num">Imbalance</th><th scope="col" class="num wide">Instances</th><th scope="col">What is known of it</th></tr></thead>
    <tbody>${head.sections.map((s, i) => html`<tr><td><span class="soft">${i + 1}</span> <a class="at" data-nth=${i} href=${link("section", { p, s: s.id })}>${s.title}</a></td>
      <td class="wide"><${Meter} share=${s.all_lost / most} /></td><td class="num">${pct(s.all_lost)}</td><td class="num">${pct(s.imbalance)}</td><td class="num wide">${s.instances}</td>
      <td>${s.causes[0] ? html`<a href=${link("section", { p, s: s.id, c: s.causes[0].rank })}>${s.line}</a>` : html`<span class="soft">${s.line}</span>`}</td></tr>`)}</tbody></table></div></section>`}
  ${head.locks.length > 0 && html`<${Locks} rows=${head.locks} unit=${unit} p=${p} />`}
  ${head.costs && html`<section class="card"><h2>${head.costs.title}</h2><p>${head.costs.intro}</p><div class="scroll"><table><thead><tr><th scope="col">Event</th><th scope="col">Where</th><th scope="col" class="num">Share</th><th scope="col" class="num wide">Time</th></tr></thead><tbody><${CostRows} rows=${head.costs.rows} unit=${unit} p=${p} /></tbody></table></div></section>`}
  ${head.serial.length > 0 && html`<section class="card"><h2>One thread alone</h2><div class="scroll"><table><thead><tr><th scope="col">Until</th><th scope="col" class="num">Of the run time</th><th scope="col" class="num" data-more>Times</th></tr></thead>
    <tbody>${head.serial.map((s) => html`<tr><td class="at">until ${s.until}${s.spent && html`<br /><span class="soft">${s.spent}</span>`}</td><td class="num">${pct(s.share)}</td><td class="num" data-more>${s.times}</td></tr>`)}</tbody></table></div></section>`}
  ${head.effort && html`<section class="card"><h2>Effort of ${head.effort.threads} threads</h2><p>${head.effort.text}</p><div class="scroll"><table><tbody>${head.effort.rows.map((r) => html`<tr><th scope="row">${r.label}</th><td class="wide"><${Meter} share=${r.share} less=${r.label === "work"} /></td><td class="num">${pct(r.share)}</td><td class="num wide soft">${r.bounds}</td></tr>`)}</tbody></table></div>
    ${head.effort.lists.map((l) => html`<h3>${l.title}</h3><div class="scroll"><table><tbody><${CostRows} rows=${l.rows} unit=${unit} p=${p} /></tbody></table></div>`)}</section>`}
  ${head.waste && html`<${Waste} w=${head.waste} p=${p} />`}
  ${head.notes.length > 0 && html`<section class="card"><h2>Notes</h2><ul class="plain">${head.notes.map((n) => html`<li>${n}</li>`)}</ul></section>`}`;
}
