// Source with what each thread did on its lines, causes marked in the margin.
import { useEffect, useRef } from "preact/hooks";
import { isStatic } from "./api.js";
import { Asked, Choice, html, Meter, Toggle, useAsk } from "./parts.js";
import { base, pct, si, spark } from "./format.js";
import { link, set } from "./route.js";
import { useOtherLines } from "./beside.js";

const sectionOptions = (head) => [["-1", "all sections"], ...head.sections.map((s) => [String(s.id), s.short])];

// marksOf finds the causes of a file by line.
function marksOf(head, path, s) {
  const out = new Map();
  for (const section of head.sections) {
    if (s >= 0 && section.id !== s) continue;
    for (const c of section.causes) {
      if (c.file !== path || !c.line) continue;
      if (!out.has(c.line)) out.set(c.line, []);
      out.get(c.line).push({ ...c, section });
    }
  }
  return out;
}

// wasteOf finds the wasted memory work of a file by line.
function wasteOf(head, path) {
  const out = new Map();
  for (const l of head.waste ? head.waste.lists : []) {
    for (const x of l.pairs) {
      for (const side of x.sides) {
        if (side.file !== path || !side.line) continue;
        if (!out.has(side.line)) out.set(side.line, []);
        out.get(side.line).push({ title: l.title.split(",")[0], share: x.share, about: x.head });
      }
    }
  }
  return out;
}

export function Source({ head, p, params, list: runs, q }) {
  const s = params.s === undefined ? -1 : Number(params.s);
  const files = useAsk("files", { p, s });
  return html`<${Asked} state=${files} what="the lines">${(list) => html`<${Files} list=${list} head=${head} p=${p} s=${s} params=${params} other=${q >= 0 ? runs[q] : null} q=${q} />`}<//>`;
}

function Files({ list, head, p, s, params, other, q }) {
  if (list.files.length === 0) return html`<section class="card"><h2>Source</h2><p>The profile names no line of source here. Build the program with -g, or run 'lime resolve' where its debug files are.</p></section>`;
  const named = list.files.find((f) => f.path === params.path);
  const marked = list.files.find((f) => marksOf(head, f.path, s).size > 0);
  const file = named || marked || list.files[0];
  return html`<section class="card" aria-labelledby="src-h"><h2 id="src-h" class="at">${file.path}</h2>
    ${params.path && !named && html`<p class="say warn">${params.path} is not among the files in which something ran here.</p>`}
    <div class="bar"><${Choice} label="File" value=${file.path} options=${list.files.map((f) => [f.path, `${base(f.path)}  ${pct(f.share)}${f.library ? "  (library)" : ""}`])} onChange=${(path) => set({ path, line: undefined })} />
      <${Choice} label="In" value=${String(s)} options=${sectionOptions(head)} onChange=${(v) => set({ s: v === "-1" ? undefined : v })} />
      ${!isStatic() && html`<${Toggle} on=${params.asm === "1"} onClick=${() => set({ asm: params.asm === "1" ? undefined : "1" }, true)} title="The code beside the lines">instructions<//>`}</div>
    ${list.read < list.of && html`<p class="say">Read of ${list.read} of the ${list.of} instances, at even steps.</p>`}
    <div class=${params.asm === "1" ? "beside" : ""}><${Lines} file=${file} head=${head} p=${p} s=${s} line=${Number(params.line || 0)} asm=${params.asm} other=${other} q=${q} />
    ${params.asm === "1" && html`<${Assembly} p=${p} s=${s} file=${file} line=${Number(params.line || 0)} />`}</div></section>`;
}

// Assembly is the code of the functions that have instructions of a line.
function Assembly({ p, s, file, line }) {
  const state = useAsk("asm", { p, s, f: file.file, l: line }, line > 0);
  const target = useRef(null);
  useEffect(() => { if (target.current) target.current.parentElement.closest(".asm").scrollTop = Math.max(0, target.current.offsetTop - 80); }, [state.value, line]);
  if (line <= 0) return html`<p class="asm soft">Pick a line by its number: its instructions stand here.</p>`;
  let first = true;
  return html`<div class="asm" tabindex="0" role="region" aria-label=${"Instructions of line " + line}><${Asked} state=${state} what="the instructions">${(a) => html`<p class="soft"><b class="at">${a.functions.join(", ")}</b>: blocks that ran, by address; marked are the instructions of line ${line}.${a.more > 0 ? ` ${a.more} blocks further away are not shown.` : ""}${a.read < a.of ? ` Counts of ${a.read} of ${a.of} instances.` : ""}</p>
    <table class="lines"><thead><tr><th scope="col">line</th><th scope="col" class="num">time</th><th scope="col" class="num">runs</th><th scope="col">instruction</th></tr></thead>
    ${a.blocks.map((b) => html`<tbody>${b.failed && html`<tr><td colspan="4" class="soft">${b.failed}</td></tr>`}
      ${b.code.map((i, k) => {
        const here = i.line === line, ref = here && first ? target : undefined;
        if (here) first = false;
        return html`<tr class=${here ? "here" : ""} ref=${ref}><td class="no">${i.line > 0 ? html`<a href=${link("source", { p, s: s < 0 ? undefined : s, path: file.path, line: i.line, asm: 1 })}>${i.line}</a>` : html`<span class="soft">${i.of || ""}</span>`}</td>
          <td class="num">${k === 0 && b.share > 0 && pct(b.share)}</td><td class="num">${k === 0 && (b.min === b.max ? si(b.max) : si(b.min) + " to " + si(b.max))}</td><td class="text" title=${i.addr}>${i.text}</td></tr>`;
      })}</tbody>`)}</table>`}<//></div>`;
}

function Lines({ file, head, p, s, line, asm, other, q }) {
  const theirs = useOtherLines(q, file.path);
  const beside = (l) => { const o = theirs && theirs.get(l.line); return o && o.text === l.text ? o.share || 0 : null; };
  const state = useAsk("source", { p, s, f: file.file });
  const target = useRef(null);
  useEffect(() => { if (target.current) target.current.scrollIntoView({ block: "center" }); }, [state.value, line]);
  return html`<${Asked} state=${state} what="the file">${(f) => {
    const marks = marksOf(head, f.path, s), wasted = wasteOf(head, f.path);
    let last = 0;
    return html`<div class="src" tabindex="0" role="region" aria-label=${"Source of " + f.path}><table class="lines">
      <thead><tr><th class="no" scope="col">line</th><th scope="col">cause</th><th scope="col" class="num">time</th>${other && html`<th scope="col" class="num">in ${other.name}</th>`}<th scope="col" class="num wide">runs, by thread</th><th scope="col">source</th></tr></thead><tbody>
      ${f.lines.map((l) => {
        const gap = last > 0 && l.line > last + 1;
        last = l.line;
        const causes = marks.get(l.line) || [];
        return html`${gap && html`<tr aria-hidden="true"><td class="no">⋯</td></tr>`}
          <tr class=${causes.length ? "hit" : l.line === line ? "here" : ""} ref=${l.line === line ? target : undefined} id=${"L" + l.line}>
          <td class="no"><a href=${link("source", { p, s: s < 0 ? undefined : s, path: f.path, line: l.line, asm })}>${l.line}</a></td>
          <td>${causes.slice(0, 2).map((c) => html`<a class="mark" title=${`${c.title}: ${c.words}, ${c.section.short}`} href=${link("section", { p, s: c.section.id, c: c.rank })}>${c.title} ${pct(c.share)}</a> `)}${(wasted.get(l.line) || []).slice(0, 2).map((x) => html`<a class="mark" title=${x.about + ", in all sections"} href=${link("overview", { p })}>${x.title.toLowerCase()} ${pct(x.share)}</a> `)}</td>
          <td class="num">${l.share > 0 && html`<${Meter} share=${l.share} less />${pct(l.share)}`}</td>
          ${other && html`<td class="num soft">${beside(l) > 0 || (beside(l) === 0 && l.share > 0) ? pct(beside(l)) : ""}</td>`}
          <td class="num wide">${l.runs && html`<a class="runs" title="by thread" href=${link("threads", { p, s: s < 0 ? undefined : s, m: `line:${f.file}:${l.line}` })}>${l.min === l.max ? si(l.min) + " in each" : html`${si(l.min)} to ${si(l.max)} <span class="spark" aria-hidden="true">${spark(l.runs)}</span>`}</a>`}</td>
          <td class="text">${l.text === null ? html`<span class="soft">(the profile does not carry this line)</span>` : l.text}${l.events && html`<span class="events soft">  ${l.events.slice(0, 3).map((e) => `${e.kind} ${si(e.sum)}`).join(", ")}</span>`}</td></tr>`;
      })}</tbody></table></div>${f.more > 0 && html`<p class="say">${f.more} more lines are not shown.</p>`}`;
  }}<//>`;
}
