// One parallel section: its heat map, account and causes.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Asked, Bars, Choice, html, Meter, Say, Snippet, useAsk } from "./parts.js";
import { pct, quantity, short, si } from "./format.js";
import { wordOf } from "./words.js";
import { link, set } from "./route.js";
import { ofRank, rankOf } from "./rank.js";
import { compareCells, HeatMap } from "./heat.js";
import { Again, usePossible } from "./again.js";
import { BesideSection } from "./beside.js";

// metrics lists what can be shown of threads and instances.
export function metrics(info) {
  const out = [["time", "time"], ["wait", "wait"], ["lock", "waited for locks or others' work"], ["off", "off the processor"]];
  for (const k of info.kinds) {
    out.push(["kind:" + k.name, k.title || k.name]);
    if (info.counts && k.unit !== info.clock_unit) out.push(["cost:" + k.name, "time lost to " + (k.title || k.name)]);
  }
  return out;
}

// colourOf is the colour that a metric has everywhere.
export const colourOf = (m) => (m === "time" ? "work" : m === "wait" || m === "lock" || m === "off" ? "loss" : "count");
// unitOf is the unit of a metric's figures; undefined counts things.
export const unitOf = (m, info) => (/^(kind|line):/.test(m) && !info.kinds.some((k) => "kind:" + k.name === m && k.unit === info.clock_unit) ? "" : info.clock_unit);

const readPick = (text) => { const n = (text || "").split(",").map(Number); return n.length === 4 && n.every(Number.isFinite) ? n : null; };

function Picked({ pick, grid, z, threads, unit, p, s, info }) {
  if (!pick || !grid) return html`<p class="soft">Pick cells (drag, or Enter on the map) to compare them with the others.</p>`;
  const [r0, r1, i0, i1] = pick;
  const c = compareCells(grid, z, pick);
  const who = r0 === r1 ? `Thread ${threads[r0]}` : `Threads ${threads[r0]} to ${threads[r1]}`;
  const when = i0 === i1 ? `instance ${i0 + 1}` : `instances ${i0 + 1} to ${i1 + 1}`;
  return html`<div class="picked" role="status"><p>${who}, ${when}: ${short(unit, c.mine)} on average${Number.isFinite(c.others) ? html`; all others ${short(unit, c.others)}${c.others > 0 ? `: ${(c.mine / c.others).toFixed(2)} times as much` : ""}` : ""}. <button type="button" onClick=${() => set({ pick: undefined })}>clear</button></p>
    ${i0 === i1 && html`<${OneInstance} p=${p} s=${s} i=${i0} unit=${info.clock_unit} />`}</div>`;
}

function OneInstance({ p, s, i, unit }) {
  const state = useAsk("instance", { p, s, i });
  return html`<${Asked} state=${state}>${(v) => html`<${Bars} title=${`time in instance ${i + 1}`} values=${v.time} waits=${v.wait} unit=${unit} names=${(k) => "thread " + v.thread[k]} />
    <p>Thread ${v.last} came last; the others waited for it. <a href=${link("timeline", { p, from: v.start, to: v.end, s, i })}>Show this instance on the time line</a></p>`}<//>`;
}

function Account({ account, unit, p, s, possible }) {
  return html`<h3>The account</h3><p>${account.words}</p><div class="scroll"><table>
    <thead><tr><th scope="col">Line</th><th scope="col">What</th><th scope="col" class="wide"><span class="sr">Share</span></th><th scope="col" class="num">Share</th><th scope="col" class="num wide">${unit}</th>${possible.allowed && html`<th scope="col"><span class="sr">Run again</span></th>`}</tr></thead>
    <tbody>${account.rows.map((r, i) => html`<tr class=${r.place ? "" : "soft"}><td class="at">${r.line ? html`<a href=${link("source", { p, path: r.file, line: r.line, s })}>${r.place}</a>` : r.place}</td><td>${r.what}${r.net && ", " + r.net}</td>
      <td class="wide"><${Meter} share=${r.share} less=${r.share < 0} /></td><td class="num">${pct(r.share)}</td><td class="num wide">${short(unit, r.time)}</td>${possible.allowed && html`<td>${r.line > 0 && html`<${Again} params=${{ p, s, r: i }} possible=${possible} unit=${unit} text="even out" />`}</td>`}</tr>`)}</tbody>
    <tfoot><tr><td></td><td>in all</td><td class="wide"></td><td class="num">100.0 %</td><td class="num wide">${short(unit, account.total)}</td></tr></tfoot></table></div>
    ${account.spent && html`<p class="say">${account.spent}</p>`}${account.notes.map((n) => html`<p class="say">${n}</p>`)}`;
}

const List = ({ title, rows, open }) => rows.length > 0 && html`<details open=${open}><summary>${title}</summary><ul class="plain">${rows.map((r) => html`<li class="at">${r}</li>`)}</ul></details>`;

function Cause({ c, unit, p, s, possible, chosen }) {
  const time = c.counts.map((t) => t.time), wait = c.counts.map((t) => t.wait), count = c.counts.map((t) => t.count);
  const names = (k) => "thread " + c.counts[k].thread;
  const article = useRef(null);
  useEffect(() => { if (chosen && article.current) article.current.scrollIntoView({ block: "start" }); }, [chosen]);
  return html`<article class=${chosen ? "cause here" : "cause"} id=${"c" + c.rank} ref=${article}><div class="head"><h4>${c.rank}. ${c.title} at ${c.line ? html`<a class="at" href=${link("source", { p, path: c.file, line: c.line, s })}>${c.place}</a>` : html`<span class="at">${c.place}</span>`}</h4>
    <div class="chips"><span class="chip">${c.family}</span><span class="chip" title=${wordOf("score")}>score <b>${c.score.toFixed(2)}</b></span><span class="chip" title=${wordOf(c.words.split(" ")[0])}>${c.words}</span>${c.stability > 0 && html`<span class="chip" title=${wordOf("found again")}>found again <b>${Math.round(c.stability * 100)} %</b></span>`}</div></div>
    <p>${c.sentence}</p><${Snippet} lines=${c.source} label=${"Source around " + c.place} />
    ${c.counts.length > 0 && html`<${Bars} title=${"time" + (c.which ? ", " + c.which : "")} values=${time} waits=${wait} unit=${unit} names=${names} height=${72} />
      <${Bars} title=${(c.count_time ? (c.count_word === "here" ? "time in " : c.count_word + " of ") : "") + c.title + " at " + c.place} values=${count} unit=${c.count_time ? unit : ""} names=${names} kind="count" height=${48} />`}
    ${c.span && html`<p><b>Its share:</b> ${c.span}</p>`}${c.parts && html`<p><b>It consists of:</b> ${c.parts}</p>`}${c.win && html`<p><b>To win:</b> ${c.win}</p>`}
    ${c.agreement && html`<p class="say">${c.agreement}</p>`}
    ${possible && html`<${Again} params=${{ p, s, c: c.rank }} possible=${possible} unit=${unit} text=${c.family === "hardware" ? "Run again without it" : "Run again with it evened out"} />`}
    <${List} title=${`What rises and falls with it: ${c.members.length}`} rows=${c.members} /><${List} title="Not to be told apart from it with these data" rows=${c.rivals} open /><${List} title="Called from" rows=${c.paths} /></article>`;
}

export function Section({ info, head, p, params, list, q }) {
  const s = params.s !== undefined ? Number(params.s) : head.sections.length ? head.sections[0].id : -1;
  const state = useAsk("section", { p, s }, s >= 0 && !head.early);
  if (s < 0) return html`<div class="card"><p>${head.nothing || "There is no parallel section."}</p></div>`;
  if (head.early) return html`<${Early} info=${info} head=${head} p=${p} params=${params} />`;
  return html`<${Asked} state=${state} what="the section">${(page) => html`<${Page} page=${page} info=${info} head=${head} p=${p} s=${s} params=${params} list=${list} q=${q} />`}<//>`;
}

// Early is what is known of a section before its causes are: the one that is asked for, or that in which most was waited.
function Early({ info, head, p, params }) {
  const whole = useAsk("window", { p }, params.s === undefined);
  if (params.s !== undefined) return html`<${EarlySection} key=${params.s} info=${info} p=${p} s=${Number(params.s)} params=${params} />`;
  return html`<${Asked} state=${whole} what="the times of the threads">${(w) => {
    const parallel = w.sections.filter((x) => head.sections.some((y) => y.id === x.section));
    const s = parallel.length ? parallel.reduce((a, b) => (b.wait > a.wait ? b : a)).section : head.sections[0].id;
    return html`<${EarlySection} key=${s} info=${info} p=${p} s=${s} params=${params} />`;
  }}<//>`;
}

function EarlySection({ info, p, s, params }) {
  const time = useAsk("threads", { p, s, m: "time" }), wait = useAsk("threads", { p, s, m: "wait" });
  const t = time.value, w = wait.value;
  const all = useMemo(() => t && w && t.thread.map((thread, i) => ({ thread, name: t.name[i], time: t.value[i], wait: w.value[i] })), [t, w]);
  return html`<${Asked} state=${time.error ? time : { error: wait.error, value: all }} what="the threads">${() => html`<section class="card" aria-labelledby="s-h"><h2 id="s-h"><span class="at">${info.sections[s].place}</span></h2>
    <p class="say">What it loses, and why, is being looked for. These are its times.</p>
    <${Cells} info=${info} p=${p} s=${s} params=${params} instances=${info.sections[s].instances} all=${all} /></section>`}<//>`;
}

// Cells are the threads and instances of a section, and what is picked of them; all are its threads, with their times.
function Cells({ info, p, s, params, instances, all }) {
  const m = params.m || "time";
  const rank = rankOf(info, params);
  const rows = useMemo(() => all.map((_, i) => i).filter((i) => ofRank(info, rank)(all[i].thread)), [all, info, rank]);
  const threads = useMemo(() => rows.map((i) => all[i].thread), [rows]);
  const times = useMemo(() => rows.map((i) => all[i].time), [rows]);
  const waits = useMemo(() => rows.map((i) => all[i].wait), [rows]);
  const pick = readPick(params.pick);
  const [picked, setPicked] = useState({});
  const onPick = useCallback((next, grid, z, restored) => {
    setPicked({ grid, z });
    if (!restored) set({ pick: next ? next.join(",") : undefined }, true);
  }, []);
  const options = metrics(info);
  if (!options.some(([k]) => k === m)) options.push([m, /^line:/.test(m) ? "runs of the line" : m]);
  return html`<div class="bar"><${Choice} label="Show" value=${m} options=${options} onChange=${(v) => set({ m: v, pick: undefined })} />
      <a href=${link("threads", { p, s, m })}>by thread</a> <a href=${link("source", { p, s })}>its lines</a></div>
    <${HeatMap} p=${p} s=${s} m=${m} unit=${unitOf(m, info)} kind=${colourOf(m)} threads=${threads} rows=${rows} instances=${instances} pick=${pick} onPick=${onPick} />
    <${Picked} pick=${pick} grid=${picked.grid} z=${picked.z} threads=${threads} unit=${unitOf(m, info)} p=${p} s=${s} info=${info} />
    <${Bars} title=${"time" + (instances > 1 ? ", all instances" : "")} values=${times} waits=${waits} unit=${info.clock_unit} names=${(k) => `thread ${threads[k]} ${all[rows[k]].name || ""}`} />`;
}

function Page({ page, info, head, p, s, params, list, q }) {
  const unit = info.clock_unit;
  const possible = usePossible(p);
  const m = params.m || "time";
  const number = head.sections.findIndex((x) => x.id === s) + 1;
  return html`<section class="card" aria-labelledby="s-h"><h2 id="s-h"><span class="soft">${number}</span> <span class="at">${page.title}</span></h2><p>${page.words}</p><${Say} list=${page.told} />
    <${Cells} info=${info} p=${p} s=${s} params=${params} instances=${page.instances} all=${page.thread_times} />
    ${page.course.points.length > 2 && html`<${Bars} title="lost, by instance" values=${page.course.points.map((x) => x.lost_time)} unit=${unit} kind="loss" height=${48} names=${(k) => "instance " + (page.course.points[k].seq + 1)} />`}
    ${page.instances > 1 && page.course.text && html`<p>${page.course.text}</p>`}
    ${q >= 0 && html`<${BesideSection} page=${page} info=${info} other=${list[q]} head=${head} q=${q} s=${s} m=${m} unit=${unitOf(m, info)} kind=${colourOf(m)} />`}
    ${page.balance && html`<h3>The balance point</h3><p>${page.balance}</p>${page.balance_parts.map((b) => html`<${Bars} title=${pct(b.share) + " of the unevenness: " + b.words} values=${b.times} unit=${unit} kind="count" height=${48} />`)}`}
    ${page.account && html`<${Account} account=${page.account} unit=${unit} p=${p} s=${s} possible=${possible} />`}
    ${page.cause_pages.length > 0 ? html`<h3>Causes</h3>${possible.allowed && html`<p class="soft">The buttons run <code>${possible.command}</code> again.</p>`}${page.cause_pages.map((c) => html`<${Cause} c=${c} unit=${unit} p=${p} s=${s} possible=${possible} chosen=${params.c === String(c.rank)} />`)}` : page.no_cause && html`<p class="say">${page.no_cause}</p>`}
    ${page.minor.length > 0 && html`<details><summary>${page.minor.length} of little weight</summary>${page.minor.map((c) => html`<${Cause} c=${c} unit=${unit} p=${p} s=${s} />`)}</details>`}
    ${page.candidates.length > 0 && html`<details><summary>${page.candidates.length} that correlate, but are no causes</summary><ul class="plain">${page.candidates.map((c) => html`<li><b>${c.title}</b> at <code>${c.place}</code>: score ${c.share.toFixed(2)}; ${c.words}.</li>`)}</ul></details>`}
    <p class="soft">Time of the section: ${quantity(unit, page.time)}, ${si(page.instances)} ${page.instances === 1 ? "instance" : "instances"}.</p></section>`;
}
