// Call paths: as a tree from the outside, from the inside, by function, and as a flame graph.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Asked, Choice, colour, fit, html, Meter, mix, rgb, Toggle, useAsk, useDark, useWidth } from "./parts.js";
import { base, pct, short, si } from "./format.js";
import { link, set } from "./route.js";
import { compile } from "./formula.js";
import { ofRank, rankAsked, rankOf } from "./rank.js";

const names = { time: "time", overhead: "overhead", idleness: "idleness", "lock-wait": "lock wait", "lock-blame": "lock blame" };
const shapes = [["tree", "from outside"], ["bottom-up", "from inside"], ["flat", "by function"], ["flame", "flame graph"]];

export function Paths({ info, head, p, params, list, q }) {
  const s = params.s === undefined ? -1 : Number(params.s), t = params.t === undefined ? -1 : Number(params.t);
  const shape = shapes.some(([v]) => v === params.v) ? params.v : "tree";
  const from = info.traces && params.to !== undefined ? params.from || "0" : undefined, to = from === undefined ? undefined : params.to;
  const rank = rankOf(info, params);
  const state = useAsk("paths", { p, r: rankAsked(rank), v: shape === "flame" ? "tree" : shape, s, t, at: params.at, from, to, q: q >= 0 && from === undefined ? q : undefined }, info.paths.length > 0);
  const sections = [["-1", "all sections"], ...(head ? head.sections.map((x) => [String(x.id), x.short]) : [])];
  if (info.paths.length === 0) return html`<section class="card"><h2>Functions</h2><p>This profile holds no call paths: 'lime record' samples them. What it counted by function:</p><${Calls} p=${p} s=${s} info=${info} sections=${sections} /></section>`;
  return html`<section class="card" aria-labelledby="p-h"><h2 id="p-h">Call paths</h2>
    <div class="bar" role="group" aria-label="Form">${shapes.map(([v, text]) => html`<${Toggle} on=${v === shape} onClick=${() => set({ v: v === "tree" ? undefined : v, at: undefined })}>${text}<//>`)}
      <${Choice} label="In" value=${String(s)} options=${sections} onChange=${(v) => set({ s: v === "-1" ? undefined : v, at: undefined })} />
      <${Choice} label="Of" value=${String(t)} options=${[["-1", "all threads"], ...info.threads.map((name, i) => [String(i), `thread ${i} ${name}`]).filter((_, i) => ofRank(info, rank)(i)).slice(0, 1024)]} onChange=${(v) => set({ t: v === "-1" ? undefined : v, at: undefined })} /></div>
    ${q >= 0 && html`<p class="soft">${from === undefined ? `Beside ${list[q].name}, of the section that ends at the same place: what it has is "after"; changes are shares of the greater of the two.` : "A stretch of time is shown of one run only."}</p>`}
    ${from !== undefined && html`<p class="say">Only from ${short(info.clock_unit, Number(from))} to ${short(info.clock_unit, Number(to))} of the run, by its samples with times. <a href=${link("timeline", { p, from, to, t: t < 0 ? undefined : t })}>time line</a> <button type="button" onClick=${() => set({ from: undefined, to: undefined, at: undefined })}>the whole run</button></p>`}
    <${Asked} state=${state} what="call paths">${(table) => html`<${Table} table=${table} shape=${shape} info=${info} params=${params} />`}<//></section>`;
}

function Table({ table, shape, info, params }) {
  const unit = info.clock_unit;
  const columns = table.metrics, compared = columns.some((c) => c.startsWith("change of "));
  const first = Math.max(0, columns.indexOf(params.m1)), second = params.m2 === undefined ? (compared ? 2 : columns.length > 1 ? 1 : -1) : columns.indexOf(params.m2);
  const search = (params.q || "").toLowerCase();
  let formula = null, wrong = "";
  if (params.f) try { formula = compile(params.f); formula(table.total); } catch (e) { wrong = e.message; formula = null; }
  const options = columns.map((c) => [c, names[c] || c]);
  const found = useMemo(() => (search ? new Set(table.rows.map((r, i) => (r.name.toLowerCase().includes(search) ? i : -1)).filter((i) => i >= 0)) : null), [table, search]);
  if (table.total.every((v) => v === 0)) return html`<p>There are no samples here.</p>`;
  const share = found && found.size ? sumOfTopmost(table.rows, found, first) / (table.total[first] || 1) : 0;
  return html`<div class="bar"><${Choice} label="By" value=${columns[first]} options=${options} onChange=${(v) => set({ m1: v })} />
      <${Choice} label="beside" value=${second < 0 ? "-" : columns[second]} options=${[...options, ["-", "nothing"]]} onChange=${(v) => set({ m2: v })} />
      <label class="choice"><span>Search</span><input type="search" value=${params.q || ""} onInput=${(e) => set({ q: e.target.value || undefined }, true)} /></label>
      <label class="choice" title=${"Columns: " + columns.map((c, i) => `$${i} ${names[c] || c}`).join(", ")}><span>Formula</span><input class="formula" placeholder="$0/$1" value=${params.f || ""} onChange=${(e) => set({ f: e.target.value || undefined })} /></label></div>
    <p class="soft">${columns.map((c, i) => html`<code>$${i}</code> ${names[c] || c}${i + 1 < columns.length ? ", " : ""}`)}${wrong && html` <b role="alert">The formula: ${wrong}.</b>`}${found && html` ${found.size} found${found.size > 0 && shape !== "flat" ? `, ${pct(share)} of ${names[columns[first]] || columns[first]}` : ""}.`}</p>
    ${table.above.length > 0 && html`<p class="at crumbs"><a href=${link("paths", { ...params, at: undefined })}>all</a>${table.above.map((r) => html` > <a href=${link("paths", { ...params, at: r.at })}>${r.name}</a>`)}</p>`}
    ${shape === "flame" ? html`<${Flame} table=${table} first=${first} second=${second} found=${found} unit=${unit} />` : html`<${Tree} table=${table} shape=${shape} first=${first} second=${second} found=${found} unit=${unit} formula=${formula} params=${params} />`}`;
}

// sumOfTopmost adds up rows without counting one within another twice.
function sumOfTopmost(rows, found, m) {
  let sum = 0;
  for (const i of found) {
    let up = rows[i].parent, inside = false;
    while (up >= 0 && !inside) { inside = found.has(up); up = rows[up].parent; }
    if (!inside) sum += rows[i].all[m];
  }
  return sum;
}

// hot is the path from the top along the heaviest child, as long as it has most of its parent.
function hot(kids, rows, m) {
  const out = new Set();
  let i = -1;
  for (;;) {
    const next = (kids.get(i) || [])[0];
    if (next === undefined || (i >= 0 && rows[next].all[m] < 0.5 * rows[i].all[m])) return out;
    out.add(next);
    i = next;
  }
}

function Tree({ table, shape, first, second, found, unit, formula, params }) {
  const rows = table.rows;
  const kids = useMemo(() => {
    const map = new Map();
    rows.forEach((r, i) => { if (!map.has(r.parent)) map.set(r.parent, []); map.get(r.parent).push(i); });
    const by = shape === "flat" ? (i) => rows[i].own[first] : (i) => rows[i].all[first];
    for (const list of map.values()) list.sort((a, b) => by(b) - by(a));
    return map;
  }, [table, first, shape]);
  const hottest = useMemo(() => hot(kids, rows, first), [kids, first]);
  const [open, setOpen] = useState(hottest);
  useEffect(() => { // what was found is shown
    if (!found) { setOpen(hottest); return; }
    const next = new Set(hottest);
    for (const i of found) for (let up = rows[i].parent; up >= 0; up = rows[up].parent) next.add(up);
    setOpen(next);
  }, [table, found, hottest]);
  const lines = [];
  const walk = (parent, depth) => { for (const i of kids.get(parent) || []) { lines.push([i, depth]); if (open.has(i)) walk(i, depth + 1); } };
  walk(-1, 0);
  const toggle = (i) => setOpen((o) => { const n = new Set(o); if (n.has(i)) n.delete(i); else n.add(i); return n; });
  const key = (e, i) => {
    if (e.key === "ArrowRight" && !open.has(i)) toggle(i);
    else if (e.key === "ArrowLeft" && open.has(i)) toggle(i);
    else if (e.key === "ArrowDown" || e.key === "ArrowUp") { const row = e.currentTarget.closest("tr"), next = e.key === "ArrowDown" ? row.nextElementSibling : row.previousElementSibling; if (next) next.querySelector("button.name").focus(); }
    else return;
    e.preventDefault();
  };
  const metric = (m) => names[table.metrics[m]] || table.metrics[m];
  return html`<div class="bar"><button type="button" onClick=${() => setOpen(new Set(hottest))}>hot path</button><button type="button" onClick=${() => setOpen(new Set(rows.keys()))}>open all</button><button type="button" onClick=${() => setOpen(new Set())}>close all</button></div>
    <div class="scroll"><table class="tree"><thead><tr><th scope="col">Function</th><th scope="col" class="num">${metric(first)}</th><th scope="col" class="num wide">itself</th>${second >= 0 && html`<th scope="col" class="num">${metric(second)}</th>`}${formula && html`<th scope="col" class="num">${params.f}</th>`}</tr></thead>
    <tbody>${lines.map(([i, depth]) => {
      const r = rows[i], more = (kids.get(i) || []).length > 0;
      return html`<tr key=${r.at} class=${found && found.has(i) ? "hit" : hottest.has(i) ? "hot" : ""}><td class="at"><span class="deep" style=${{ "--depth": depth }}>
        <button type="button" class="name plainly" aria-expanded=${more ? String(open.has(i)) : undefined} onClick=${() => more && toggle(i)} onKeyDown=${(e) => key(e, i)}><span aria-hidden="true">${more ? (open.has(i) ? "▾ " : "▸ ") : "  "}</span>${r.loop ? html`<i>${r.name}</i>` : r.name}</button>
        ${r.hidden > 0 && html` <a class="soft" href=${link("paths", { ...params, at: r.at })}>${r.hidden} more</a>`}${shape !== "flat" && more && html` <a class="zoom soft" href=${link("paths", { ...params, at: r.at })} title="Begin here">zoom</a>`}</span></td>
        <td class="num"><${Meter} share=${r.all[first] / (table.total[first] || 1)} less />${pct(r.all[first] / (table.total[first] || 1))}</td><td class="num wide">${r.own[first] ? short(unit, r.own[first]) : "–"}</td>
        ${second >= 0 && html`<td class="num">${r.all[second] ? (r.all[second] > 0 && table.metrics[second].startsWith("change of ") ? "+" : "") + pct(r.all[second] / (table.total[second] || 1)) : "–"}</td>`}${formula && html`<td class="num">${derived(formula, r.all)}</td>`}</tr>`;
    })}</tbody></table></div>`;
}

const derived = (f, values) => { const x = f(values); return Number.isFinite(x) ? si(x) : "–"; };

// Flame draws the tree as an icicle: width is the first metric, colour how much of the second one there is.
function Flame({ table, first, second, found, unit }) {
  const [box, width] = useWidth();
  const canvas = useRef(null);
  const dark = useDark();
  const [tip, setTip] = useState("");
  const [focus, setFocus] = useState(0);
  const rows = table.rows, high = 20;
  const placed = useMemo(() => {
    const top = table.above.length ? table.above[table.above.length - 1].all[first] : table.total[first];
    const at = [], used = new Map();
    rows.forEach((r, i) => {
      const parent = r.parent < 0 ? { x: 0, depth: -1 } : at[r.parent];
      const x = used.has(r.parent) ? used.get(r.parent) : parent.x, w = Math.max(0, r.all[first]) / (top || 1);
      used.set(r.parent, x + w);
      at[i] = { x, w, depth: parent.depth + 1 };
    });
    return at;
  }, [table, first]);
  const depth = placed.reduce((m, a) => Math.max(m, a.depth + 1), 1);
  useLayoutEffect(() => {
    if (!width || !canvas.current) return;
    const r = fit(canvas.current, width, depth * high);
    const g = canvas.current.getContext("2d");
    g.scale(r, r);
    const work = colour("work"), hot2 = colour("loss"), card = colour("card"), ink = rgb(colour("ink")), mark = colour("markline");
    g.font = "12px system-ui, sans-serif";
    g.textBaseline = "middle";
    const most = second < 0 ? 0 : rows.reduce((m, x) => Math.max(m, x.all[first] > 0 ? x.all[second] / x.all[first] : 0), 0);
    rows.forEach((row, i) => {
      const a = placed[i], x = Math.round(a.x * width), w = Math.round((a.x + a.w) * width) - x;
      if (w < 1) return;
      const heat = most > 0 && row.all[first] > 0 ? Math.max(0, row.all[second] / row.all[first]) / most : 0;
      let fill = mix(card, mix(work, hot2, heat), row.loop ? 0.25 : 0.4 + 0.15 * (i % 2));
      if (found && !found.has(i)) fill = mix(card, fill, 0.35);
      g.fillStyle = found && found.has(i) ? rgb(mark) : rgb(fill);
      g.fillRect(x, a.depth * high, w - (w > 2 ? 1 : 0), high - 1);
      if (i === focus && document.activeElement === canvas.current) { g.strokeStyle = ink; g.strokeRect(x + 0.5, a.depth * high + 0.5, Math.max(1, w - 2), high - 2); }
      const room = Math.floor((w - 8) / 6.4);
      if (room > 2) { g.fillStyle = found && found.has(i) ? rgb(card) : ink; g.fillText(row.name.length > room ? row.name.slice(0, room - 1) + "…" : row.name, x + 4, a.depth * high + high / 2); }
    });
  }, [table, first, second, found, width, dark, focus]);
  const find = (e) => { const x = e.offsetX / width, d = Math.floor(e.offsetY / high); return placed.findIndex((a) => a.depth === d && a.x <= x && x < a.x + a.w); };
  const words = (i) => { const r = rows[i]; return `${r.name}: ${table.metrics.map((m, k) => (r.all[k] ? `${names[m] || m} ${pct(r.all[k] / (table.total[k] || 1))}` : "")).filter(Boolean).join(", ")}; itself ${short(unit, r.own[first])}${r.hidden ? `; ${r.hidden} more within` : ""}`; };
  const key = (e) => {
    const me = rows[focus];
    if (!me) return;
    const same = rows.map((r, i) => [r, i]).filter(([r]) => r.parent === me.parent).map(([, i]) => i), k = same.indexOf(focus);
    const next = { ArrowDown: () => rows.findIndex((r) => r.parent === focus), ArrowUp: () => me.parent, ArrowRight: () => same[k + 1] ?? -1, ArrowLeft: () => same[k - 1] ?? -1 }[e.key];
    if (e.key === "Enter") set({ at: me.at });
    else if (e.key === "Escape") set({ at: undefined });
    else if (next) { e.preventDefault(); const n = next(); if (n >= 0) { setFocus(n); setTip(words(n)); } }
  };
  return html`<figure><figcaption><span><b>Width</b>: ${names[table.metrics[first]] || table.metrics[first]}${second >= 0 && html`; <b>redder</b>: more ${names[table.metrics[second]] || table.metrics[second]} for it`}</span><span aria-live="polite">${tip || "Click zooms, Escape goes back."}</span></figcaption>
    <div class="canvas" ref=${box}><canvas ref=${canvas} tabindex="0" role="img" aria-label=${`Flame graph of ${rows.length} functions and loops. Arrow keys go through them, Enter zooms.`}
      onMouseMove=${(e) => { const i = find(e); setTip(i < 0 ? "" : words(i)); }} onMouseLeave=${() => setTip("")} onClick=${(e) => { const i = find(e); set({ at: i < 0 ? undefined : rows[i].at }); }} onKeyDown=${key} onFocus=${() => setFocus(0)}></canvas></div></figure>`;
}

function Calls({ p, s, info, sections }) {
  const state = useAsk("calls", { p, s });
  return html`<div class="bar"><${Choice} label="In" value=${String(s)} options=${sections} onChange=${(v) => set({ s: v === "-1" ? undefined : v })} /></div>
    <${Asked} state=${state} what="the functions">${(v) => html`${v.read < v.of && html`<p class="say">Read of ${v.read} of the ${v.of} instances, at even steps.</p>`}<div class="scroll"><table><thead><tr><th scope="col">Function</th><th scope="col" class="num">Time itself</th><th scope="col" class="num">Called</th><th scope="col" class="wide">By</th><th scope="col" class="wide">Calls</th></tr></thead>
    <tbody>${v.functions.map((f) => html`<tr><td class="at">${f.name}</td><td class="num"><${Meter} share=${f.share} less />${pct(f.share)}</td><td class="num">${f.calls ? si(f.calls) : "–"}</td><td class="at wide">${f.callers.slice(0, 3).map((c) => base(c.name) + " " + si(c.count)).join(", ")}</td><td class="at wide">${f.callees.slice(0, 3).map((c) => base(c.name) + " " + si(c.count)).join(", ")}</td></tr>`)}</tbody></table></div>`}<//>`;
}
