// Threads over time: tiles of shares of work, wait, locks and time off the processor, and single parts where there is room for them.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ask, generationNow, have, isStatic, peek } from "./api.js";
import { Asked, colour, fit, html, mix, rgb, Toggle, useArrived, useAsk, useDark, useWidth } from "./parts.js";
import { pct, quantity, short } from "./format.js";
import { link, set } from "./route.js";
import { ofRank, rankAsked, rankOf } from "./rank.js";
import { Sketch, useWhole } from "./sketch.js";
import { cells, kinds, levelFor, paintTiles, rowOf, rowsOfTile, states, usePalette } from "./tiles.js";
import { Depth, depthOf, Functions, Moment, stepDepth, useNames, usePointed } from "./ran.js";

export function Timeline({ info, head, p, params, list, q }) {
  const [whole, sketch] = useWhole(p);
  return html`<section class="card" aria-labelledby="time-h"><h2 id="time-h">Time line</h2>
    <ul class="legend">${kinds.map(([k, t]) => html`<li><i class="key ${k}"></i>${k === "work" && depthOf(info, params) !== undefined ? "work of which no sample tells what it was; functions have colours of their own" : t}</li>`)}<li class="soft">the rest: the profile does not say</li></ul>
    ${sketch ? html`<${Sketch} key=${p} info=${info} p=${p} params=${params} of=${sketch} />` : html`<${Asked} state=${whole} what="the times">${(w) => (w.threads === 0 ? html`<p>The profile holds no times of threads.</p>` : html`<${View} key=${p} info=${info} head=${head} p=${p} params=${params} whole=${w} other=${q >= 0 ? list[q] : null} q=${q} />`)}<//>`}</section>`;
}

const numberOf = (text, otherwise) => { const n = Number(text); return text !== undefined && Number.isFinite(n) ? n : otherwise; };

function View({ info, head, p, params, whole, other, q }) {
  const { origin, end } = whole;
  const names = useNames(info, p), depth = depthOf(info, params), rank = rankOf(info, params);
  const unit = info.clock_unit;
  const clamp = (from, to) => {
    const width = Math.max(Math.min(to - from, end - origin), Math.min(4, end - origin));
    const start = Math.max(origin, Math.min(end - width, from));
    return [start, start + width];
  };
  const asked = clamp(numberOf(params.from, origin), numberOf(params.to, end));
  const [range, setRange] = useState(asked);
  const [settled, setSettled] = useState(asked);
  const timer = useRef(0);
  useEffect(() => { // another link to this view
    if (Math.round(asked[0]) !== Math.round(range[0]) || Math.round(asked[1]) !== Math.round(range[1])) { setRange(asked); setSettled(asked); }
  }, [params.from, params.to, origin, end]); // a run that goes on has another end
  const move = (from, to) => {
    const next = clamp(from, to);
    setRange(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      setSettled(next);
      const all = next[0] <= origin && next[1] >= end;
      set({ from: all ? undefined : Math.round(next[0]), to: all ? undefined : Math.round(next[1]) }, true);
    }, 180);
  };
  const zoom = (factor, at = 0.5) => { const w = range[1] - range[0], t = range[0] + w * at; move(t - (t - range[0]) * factor, t + (range[1] - t) * factor); };
  return html`<div class="bar" role="group" aria-label="What is shown"><${Toggle} onClick=${() => zoom(0.5)} title="+">zoom in<//><${Toggle} onClick=${() => zoom(2)} title="-">zoom out<//><${Toggle} onClick=${() => move(origin, end)} title="0">whole run<//>
      <${Toggle} on=${params.path === "1"} onClick=${() => set({ path: params.path === "1" ? undefined : "1" }, true)} title="c">critical path<//> <${Depth} info=${info} names=${names} depth=${depth} />
      <span class="soft">${short(unit, range[0])} to ${short(unit, range[1])}: ${quantity(unit, range[1] - range[0])}. Drag moves, Shift and drag chooses a stretch, Ctrl and wheel zooms.</span></div>
    <${Strip} p=${p} info=${info} rank=${rank} range=${range} origin=${origin} end=${end} move=${move} />
    <${Lanes} info=${info} p=${p} params=${params} range=${range} settled=${settled} origin=${origin} end=${end} move=${move} zoom=${zoom} names=${names} depth=${depth} />
    ${other && html`<${OtherLanes} other=${other} q=${q} info=${info} range=${range} settled=${settled} origin=${origin} move=${move} zoom=${zoom} depth=${depth} />`}
    ${params.m !== undefined && params.t !== undefined && html`<${Moment} p=${p} info=${info} t=${Number(params.t)} at=${Number(params.m)} />`}
    ${params.path === "1" && html`<${PathWords} p=${p} info=${info} head=${head} range=${settled} />`}
    <${Statistics} p=${p} info=${info} rank=${rank} head=${head} range=${settled} names=${names} />`;
}

// OtherLanes is the other run under the same stretch, both counted from their beginnings.
function OtherLanes({ other, q, info, range, settled, origin, move, zoom, depth }) {
  const whole = useAsk("window", { p: q }), names = useNames(other, q);
  if (other.clock_unit !== info.clock_unit) return html`<p class="say">The clocks of the two runs differ: ${other.name} cannot stand under the same axis.</p>`;
  return html`<${Asked} state=${whole} what="the other run">${(w) => {
    const by = w.origin - origin, shift = (r) => [r[0] + by, r[1] + by];
    return html`<h3>${other.name}</h3>${range[0] + by >= w.end ? html`<p class="soft">It had ended by then.</p>` : html`<${Lanes} info=${other} p=${q} params=${{}} range=${shift(range)} settled=${shift(settled)} origin=${w.origin} end=${w.end} move=${(a, b) => move(a - by, b - by)} zoom=${zoom} names=${names} depth=${other.traces ? depth : undefined} quiet />`}`;
  }}<//>`;
}

// stretch is a range as questions name it.
const stretch = (range) => ({ from: Math.round(range[0]), to: Math.max(Math.round(range[0]) + 1, Math.round(range[1])) });

const useCritical = (p, range, when) => useAsk("critical", { p, ...stretch(range) }, when);

// PathWords says where the critical path leads.
function PathWords({ p, info, head, range }) {
  const state = useCritical(p, range, true);
  return html`<${Asked} state=${state} what="the critical path">${(c) => {
    const all = c.work + c.release + c.unknown || 1;
    return html`<h3>Critical path</h3><p>From the end back to the beginning, always along the thread that the others waited for: what is off it can be made faster without the run becoming any shorter.
      Here it takes ${c.steps} ${c.steps === 1 ? "step" : "steps"}: <b>${pct(c.work / all)}</b> work in sections, <b>${pct(c.release / all)}</b> from the last arrival (or the last end of threads that are joined) to the release, <b>${pct(c.unknown / all)}</b> between sections, of which the profile says nothing. Who held a lock is not in the profile: the path stays with the thread that waits for one.${c.thinned ? " There are more steps than fit: drawn is the thread that has most of each stretch." : ""}</p>
      <div class="two"><div class="scroll"><table><caption>Sections on the path</caption><tbody>${c.sections.map((s) => html`<tr><td class="at">${sectionLink(info, head, p, s.id)}</td><td class="num">${pct(s.time / all)}</td><td class="num">${s.times} ${s.times === 1 ? "step" : "steps"}</td></tr>`)}</tbody></table></div>
      <div class="scroll"><table><caption>Threads on the path</caption><tbody>${c.threads.map((t) => html`<tr><td><a href=${link("timeline", { p, from: c.from, to: c.to, t: t.id, path: 1 })}>thread ${t.id}</a></td><td class="num">${pct(t.time / all)}</td></tr>`)}</tbody></table></div></div>`;
  }}<//>`;
}

const sectionLink = (info, head, p, s) => (head && head.sections.some((x) => x.id === s) ? html`<a href=${link("section", { p, s })}>${info.sections[s].place}</a>` : info.sections[s].place);

// strip sums up the tiles of the whole run, as far as they are there; what is whole is kept.
const strips = new Map();
function strip(p, rank, threads, shown, arrived) {
  const key = p + ":" + rank + ":" + generationNow();
  if (strips.has(key)) return strips.get(key);
  const sums = new Float64Array(cells * states);
  let rows = 0, read = 0;
  for (let b = 0; b * rowsOfTile < threads; b++) {
    const bytes = have("span", { p, z: 0, x: 0, b }, arrived);
    if (!bytes) continue;
    const v = new Uint8Array(bytes);
    for (let row = 0; row * cells * states < v.length; row++) {
      read++;
      if (!shown(b * rowsOfTile + row)) continue;
      for (let i = 0; i < cells * states; i++) sums[i] += v[row * cells * states + i] / 255;
      rows++;
    }
  }
  const out = { sums, rows };
  if (read === threads) strips.set(key, out);
  return out;
}

// Strip shows the whole run, all threads together, and which part of it is shown below.
function Strip({ p, info, rank, range, origin, end, move }) {
  const [box, width] = useWidth();
  const canvas = useRef(null), drag = useRef(null);
  const palette = usePalette(useDark());
  const height = 40;
  const arrived = useArrived();
  useLayoutEffect(() => {
    if (!width || !canvas.current) return;
    const r = fit(canvas.current, width, height);
    const g = canvas.current.getContext("2d");
    const { sums, rows } = strip(p, rank, info.threads.length, ofRank(info, rank), arrived);
    for (let c = 0; c < cells && rows > 0; c++) {
      const x0 = Math.round((c / cells) * width * r), x1 = Math.round(((c + 1) / cells) * width * r);
      let y = height * r;
      for (let s = 0; s < states; s++) {
        const tall = (sums[c * states + s] / rows) * height * r;
        g.fillStyle = rgb(palette.of[s]);
        g.fillRect(x0, y - tall, x1 - x0, tall);
        y -= tall;
      }
    }
    const a = ((range[0] - origin) / (end - origin)) * width * r, b = ((range[1] - origin) / (end - origin)) * width * r;
    g.fillStyle = rgb(mix(palette.none, [128, 128, 128], 0.3));
    g.globalAlpha = 0.6;
    g.fillRect(0, 0, a, height * r);
    g.fillRect(b, 0, width * r - b, height * r);
    g.globalAlpha = 1;
    g.strokeStyle = rgb(colour("focus"));
    g.lineWidth = 2 * r;
    g.strokeRect(a + r, r, Math.max(2 * r, b - a - 2 * r), height * r - 2 * r);
  });
  const time = (e) => origin + (Math.max(0, Math.min(width, e.offsetX)) / width) * (end - origin);
  return html`<div class="canvas" ref=${box}><canvas ref=${canvas} height=${height} role="img" aria-label="The whole run, all threads together; drag to choose a stretch"
    onPointerDown=${(e) => { e.currentTarget.setPointerCapture(e.pointerId); drag.current = time(e); }}
    onPointerMove=${(e) => { if (drag.current !== null && Math.abs(time(e) - drag.current) > (end - origin) / width) move(Math.min(drag.current, time(e)), Math.max(drag.current, time(e))); }}
    onPointerUp=${(e) => { const w = range[1] - range[0]; if (drag.current !== null && Math.abs(time(e) - drag.current) <= (end - origin) / width) move(time(e) - w / 2, time(e) + w / 2); drag.current = null; }}></canvas></div>`;
}

// useParts asks for the single parts of the bands that have few.
function useParts(p, range, shown, wanted) {
  const [parts, setParts] = useState([]);
  const from = Math.floor(range[0]), to = Math.ceil(range[1]);
  useEffect(() => {
    let here = true;
    if (!wanted) { setParts([]); return undefined; }
    const bands = [...new Set(shown.map((t) => Math.floor(t / rowsOfTile)))];
    Promise.all(bands.map((b) => ask("parts", { p, from, to, b }))).then((list) => {
      if (!here) return;
      if (list.some((v) => v.more)) { setParts([]); return; }
      setParts(list.flatMap((v) => v.thread.map((t, i) => ({ thread: t, section: v.section[i], seq: v.seq[i], start: v.start[i], work: v.work[i], wait: v.wait[i], lock: v.lock[i], off: v.off[i], last: v.last[i] }))));
    }, () => here && setParts([]));
    return () => { here = false; };
  }, [p, from, to, shown, wanted]);
  return parts;
}

function Lanes({ info, p, params, range, settled, origin, end, move, zoom, names, depth, quiet }) {
  const [box, width] = useWidth();
  const canvas = useRef(null), drag = useRef(null), buffer = useRef(null);
  const palette = usePalette(useDark());
  const [tip, setTip] = useState("");
  const [band, setBand] = useState(null);
  const [missing, setMissing] = useState(0);
  const rank = rankOf(info, params);
  const [shown, places] = useMemo(() => {
    const list = info.threads.map((_, i) => i).filter(ofRank(info, rank)), at = new Float64Array(info.threads.length).fill(NaN); // what is at no place is not drawn
    list.forEach((t, i) => { at[t] = i; });
    return [list, at];
  }, [info, rank]);
  const threads = shown.length;
  const row = rowOf(threads);
  const gap = row >= 4 ? 1 : 0;
  const parts = useParts(p, settled, shown, row >= 4);
  const path = useCritical(p, settled, params.path === "1");
  const chosen = params.s !== undefined && params.i !== undefined ? { s: Number(params.s), i: Number(params.i), t: params.t === undefined ? -1 : Number(params.t) } : null;
  const instance = useAsk("instance", { p, s: chosen ? chosen.s : 0, i: chosen ? chosen.i : 0, t: chosen && chosen.t >= 0 && !isStatic() ? chosen.t : undefined }, chosen !== null);
  const arrived = useArrived();
  const moving = settled[0] !== range[0] || settled[1] !== range[1];
  const xOf = (t) => ((t - range[0]) / (range[1] - range[0])) * width;
  const tOf = (x) => range[0] + (x / width) * (range[1] - range[0]);
  const yOf = (t) => places[t] * row;
  useLayoutEffect(() => {
    if (!width || !canvas.current) return;
    const r = fit(canvas.current, width, threads * row);
    const g = canvas.current.getContext("2d");
    if (!buffer.current || buffer.current.width !== canvas.current.width || buffer.current.height !== canvas.current.height) buffer.current = g.createImageData(canvas.current.width, canvas.current.height);
    const image = buffer.current;
    const n = paintTiles(image, r, { p, from: range[0], to: range[1], origin, end, row, gap, shown, palette, arrived: moving ? undefined : arrived, depth });
    g.putImageData(image, 0, 0);
    if (!moving && n !== missing) setMissing(n);
    g.save();
    g.scale(r, r);
    drawParts(g, parts, { info, row, gap, xOf, yOf, palette, width, ran: depth !== undefined });
    if (depth !== undefined && !moving && row >= 12) drawNames(g, { p, origin, end, range, row, width, shown, depth, names, palette });
    drawArrows(g, parts, { row, xOf, yOf });
    if (chosen && instance.value) drawReleases(g, instance.value, { row, xOf, yOf });
    if (params.path === "1" && path.value) drawPath(g, path.value, { row, xOf, yOf });
    if (params.t !== undefined) { g.fillStyle = rgb(colour("focus")); g.fillRect(0, yOf(Number(params.t)), 3, Math.max(1, row - gap)); }
    if (band) { g.fillStyle = rgb(colour("focus")); g.globalAlpha = 0.25; g.fillRect(Math.min(...band), 0, Math.abs(band[1] - band[0]), threads * row); }
    g.restore();
  });
  const at = (e) => ({ x: e.offsetX, thread: shown[Math.max(0, Math.min(threads - 1, Math.floor(e.offsetY / row)))], t: tOf(e.offsetX) });
  const partAt = ({ thread, t }) => parts.filter((v) => v.thread === thread && v.start <= t && t < v.start + v.work + v.wait).pop();
  const [calls, point] = usePointed(p, info, true);
  const words = (c) => {
    const v = partAt(c);
    const who = `thread ${c.thread} ${info.threads[c.thread] || ""}, at ${short(info.clock_unit, c.t)}`;
    if (!v) return parts.length ? who + ": in no section" : who;
    return `${who}: ${info.sections[v.section].place}, instance ${v.seq + 1}: ${c.t < v.start + v.work ? "works" : "waits"} (time ${short(info.clock_unit, v.work)}, wait ${short(info.clock_unit, v.wait)}${v.lock ? ", locks " + short(info.clock_unit, v.lock) : ""})`;
  };
  const down = (e) => { e.currentTarget.setPointerCapture(e.pointerId); drag.current = { x: e.offsetX, range, choose: e.shiftKey, moved: false }; };
  const motion = (e) => {
    const d = drag.current;
    if (!d) { const c = at(e); setTip(words(c)); point({ t: c.thread, at: Math.round(c.t) }); return; }
    d.moved = d.moved || Math.abs(e.offsetX - d.x) > 3;
    if (d.choose) setBand([d.x, e.offsetX]);
    else if (d.moved) { const by = ((d.x - e.offsetX) / width) * (d.range[1] - d.range[0]); move(d.range[0] + by, d.range[1] + by); }
  };
  const up = (e) => {
    const d = drag.current;
    drag.current = null;
    setBand(null);
    if (!d) return;
    if (d.choose && Math.abs(e.offsetX - d.x) > 3) move(tOf(Math.min(d.x, e.offsetX)), tOf(Math.max(d.x, e.offsetX)));
    else if (!d.moved && !quiet) { // what is picked is of the first run
      const c = at(e), v = partAt(c);
      const m = info.traces && !isStatic() ? Math.round(c.t) : undefined;
      set(v ? { s: v.section, i: v.seq, t: c.thread, m } : { s: undefined, i: undefined, t: c.thread, m });
    }
  };
  const key = (e) => {
    const w = range[1] - range[0];
    const act = { c: () => set({ path: params.path === "1" ? undefined : "1" }, true), ArrowLeft: () => move(range[0] - w / 8, range[1] - w / 8), ArrowRight: () => move(range[0] + w / 8, range[1] + w / 8), d: () => info.traces && set({ d: stepDepth(depth, names.deep, 1) }, true), D: () => info.traces && set({ d: stepDepth(depth, names.deep, -1) }, true), "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: () => move(origin, end), Escape: () => set({ s: undefined, i: undefined, t: undefined, m: undefined }) }[e.key];
    if (act && !e.ctrlKey && !e.metaKey && !e.altKey) { e.preventDefault(); e.stopPropagation(); act(); }
  };
  useEffect(() => { // passive listeners could not keep the page still
    const c = canvas.current;
    const wheel = (e) => {
      if (e.ctrlKey || e.metaKey) { e.preventDefault(); zoom(Math.exp(Math.max(-1, Math.min(1, e.deltaY / 200))), e.offsetX / width); }
      else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) { e.preventDefault(); const by = (e.deltaX / width) * (range[1] - range[0]); move(range[0] + by, range[1] + by); }
    };
    c.addEventListener("wheel", wheel, { passive: false });
    return () => c.removeEventListener("wheel", wheel);
  });
  return html`<figure><figcaption><span><b>${threads} threads</b> (down) over time (across)</span><span aria-live="polite">${tip}</span></figcaption>${info.traces && !isStatic() && html`<p class="at soft pointed" title=${calls}>${calls || "\u00a0"}</p>`}
    <div class="canvas tall" ref=${box}><canvas class="lanes" ref=${canvas} tabindex="0" role="img" data-busy=${missing > 0 ? missing : undefined}
      aria-label=${`Time line of ${threads} threads from ${short(info.clock_unit, range[0])} to ${short(info.clock_unit, range[1])}. Arrow keys move, plus and minus zoom, 0 shows the whole run.`}
      onPointerDown=${down} onPointerMove=${motion} onPointerUp=${up} onPointerLeave=${() => { setTip(""); point(null); }} onKeyDown=${key} onDblClick=${(e) => zoom(0.4, e.offsetX / width)}></canvas></div>
    <${Axis} range=${range} unit=${info.clock_unit} width=${width} />
    ${chosen && html`<${Chosen} state=${instance} info=${info} p=${p} chosen=${chosen} />`}</figure>`;
}

// drawParts draws where parts begin, and names them where there is room.
function drawParts(g, parts, { info, row, gap, xOf, yOf, palette, width, ran }) {
  g.font = "11px system-ui, sans-serif";
  g.textBaseline = "middle";
  for (const v of parts) {
    const x0 = xOf(v.start), x1 = xOf(v.start + v.work), x2 = xOf(v.start + v.work + v.wait), y = yOf(v.thread), tall = row - gap;
    if (!ran) {
      g.fillStyle = rgb(palette.of[0]);
      g.fillRect(x0, y, Math.max(0.5, x1 - x0), tall);
    }
    if (x2 > x1) { g.fillStyle = rgb(palette.of[1]); g.fillRect(x1, y, x2 - x1, tall); }
    const busy = v.work > 0 ? Math.min(1, (v.lock + v.off) / v.work) : 0;
    if (busy > 0) { // how much of it was waiting, along its lower edge: where in it is not known
      g.fillStyle = rgb(palette.of[v.lock >= v.off ? 2 : 3]);
      g.fillRect(x0, y + tall - Math.max(1, tall / 4), (x1 - x0) * busy, Math.max(1, tall / 4));
    }
    g.fillStyle = rgb(palette.none);
    g.fillRect(x0, y, 1, tall);
    const from = Math.max(0, x0), to = Math.min(width, x1);
    if (!ran && row >= 12 && to - from > 90) g.fillText(`${info.sections[v.section].place} #${v.seq + 1}`.slice(0, Math.floor((to - from - 8) / 6)), from + 5, y + tall / 2);
  }
}

// drawNames writes the functions' names where they have room.
function drawNames(g, { p, origin, end, range, row, width, shown, depth, names, palette }) {
  const whole = end - origin, z = levelFor(whole, range[1] - range[0], width), span = whole / 2 ** z;
  const tiles = new Map();
  const idAt = (thread, x) => {
    const t = range[0] + ((x + 0.5) / width) * (range[1] - range[0]) - origin, tile = Math.min(2 ** z - 1, Math.floor(t / span)), b = Math.floor(thread / rowsOfTile), key = tile + ":" + b;
    if (!tiles.has(key)) { const bytes = peek("ran", { p, z, x: tile, b, d: depth }); tiles.set(key, bytes && new Uint16Array(bytes)); }
    const v = tiles.get(key);
    return v ? v[(thread % rowsOfTile) * cells + Math.min(cells - 1, Math.floor(((t - tile * span) / span) * cells))] : 0;
  };
  g.font = "11px system-ui, sans-serif";
  g.textBaseline = "middle";
  g.fillStyle = palette.dark ? "#fff" : "#000";
  for (const [place, thread] of shown.entries()) {
    let from = 0, id = idAt(thread, 0);
    for (let x = 2; x <= width + 1; x += 2) {
      const next = x > width ? -1 : idAt(thread, x);
      if (next === id) continue;
      const room = Math.floor((x - from - 6) / 6.2), name = id > 0 ? names.names[id - 1] || "" : "";
      if (name && room >= Math.min(name.length, 6)) g.fillText(name.length > room ? name.slice(0, room - 1) + "…" : name, from + 3, place * row + row / 2);
      from = x;
      id = next;
    }
  }
}

// mostArrows is how many arrows can be told apart; more of them would be a grey surface.
const mostArrows = 400;

// drawArrows draws who released whom: from the last arrival of an instance to the ends of the others' waits.
function drawArrows(g, parts, { row, xOf, yOf }) {
  const waits = parts.filter((v) => v.wait > 0 && v.last >= 0 && v.last !== v.thread && yOf(v.last) >= 0 && yOf(v.thread) >= 0);
  if (waits.length === 0 || waits.length > mostArrows) return;
  const came = new Map(parts.filter((v) => v.last === v.thread).map((v) => [v.section + ":" + v.seq, v.start + v.work]));
  g.strokeStyle = g.fillStyle = rgb(colour("ink"));
  g.lineWidth = 1;
  g.globalAlpha = Math.max(0.2, Math.min(0.6, 40 / waits.length));
  for (const v of waits) {
    const end = v.start + v.work + v.wait, at = came.get(v.section + ":" + v.seq);
    const x0 = xOf(at === undefined ? end : at), x1 = xOf(end), y0 = yOf(v.last) + row / 2, y1 = yOf(v.thread) + row / 2, down = y1 > y0 ? 1 : -1;
    g.beginPath();
    g.moveTo(x0, y0);
    g.lineTo(x1, y1);
    g.stroke();
    g.beginPath();
    g.moveTo(x1, y1);
    g.lineTo(x1 - 3, y1 - 5 * down);
    g.lineTo(x1 + 3, y1 - 5 * down);
    g.fill();
  }
  g.globalAlpha = 1;
}

// drawPath draws the critical path: along its threads, and across to those that they had waited for.
function drawPath(g, c, { row, xOf, yOf }) {
  g.strokeStyle = rgb(colour("critical"));
  g.lineWidth = row >= 6 ? 3 : 2;
  g.lineJoin = "round";
  g.beginPath();
  for (let k = 0; k < c.begin.length; k++) {
    const y = yOf(c.thread[k]) + row / 2;
    if (k === 0 || c.begin[k] > c.end[k - 1] || !(yOf(c.thread[k - 1]) >= 0)) g.moveTo(xOf(c.begin[k]), y);
    else g.lineTo(xOf(c.begin[k]), y);
    g.lineTo(xOf(c.end[k]), y);
  }
  g.stroke();
}

// drawReleases draws an arrow from who came last to those who waited for it.
function drawReleases(g, v, { row, xOf, yOf }) {
  const last = v.thread.indexOf(v.last);
  if (last < 0 || !(yOf(v.last) >= 0)) return;
  const x = xOf(v.begin[last] + v.time[last]), y = yOf(v.last) + row / 2;
  g.strokeStyle = g.fillStyle = rgb(colour("focus"));
  g.lineWidth = 1;
  for (let k = 0; k < v.thread.length; k++) {
    if (k === last || v.wait[k] <= 0) continue;
    const to = yOf(v.thread[k]) + row / 2;
    if (!(to >= 0)) continue;
    g.globalAlpha = v.thread.length > 64 ? 0.25 : 0.7;
    g.beginPath();
    g.moveTo(x, y);
    g.lineTo(x + 10, to);
    g.stroke();
    g.fillRect(x + 8, to - 2, 4, 4);
  }
  g.globalAlpha = 1;
  g.fillRect(x - 3, y - 3, 6, 6);
}

function Chosen({ state, info, p, chosen }) {
  return html`<${Asked} state=${state}>${(v) => {
    const k = v.thread.indexOf(chosen.t);
    return html`<div class="picked" role="status"><p><b>${info.sections[v.section].place}, instance ${v.seq + 1}</b>: thread ${v.last} came last; it released the others.
      ${k >= 0 && html` Thread ${chosen.t} worked ${short(info.clock_unit, v.time[k])} and waited ${short(info.clock_unit, v.wait[k])}${v.lock[k] > 0 ? `; ${short(info.clock_unit, v.lock[k])} of its time it waited for locks, or for others' work` : ""}.`}
      ${" "}<a href=${link("section", { p, s: v.section })}>Show the section</a>${info.traces && !isStatic() && k >= 0 && html`, <a href=${link("paths", { p, s: v.section, t: chosen.t, from: v.begin[k], to: Math.ceil(v.begin[k] + v.time[k]) + 1 })}>call paths of this part</a>, <a href=${link("paths", { p, s: v.section, from: v.start, to: v.end + 1 })}>of all threads</a>`} <button type="button" onClick=${() => set({ s: undefined, i: undefined })}>clear</button></p>
      ${v.calls.length > 0 && html`<p class="soft">Calls open when it began: <span class="at">${v.calls.join(" > ")}</span></p>`}</div>`;
  }}<//>`;
}

// Axis marks round times.
function Axis({ range, unit, width }) {
  const span = range[1] - range[0];
  const rough = span / Math.max(2, width / 130), power = 10 ** Math.floor(Math.log10(Math.max(1e-9, rough)));
  const step = [1, 2, 5, 10].map((f) => f * power).find((f) => f >= rough) || rough;
  const ticks = [];
  for (let t = Math.ceil(range[0] / step) * step; t <= range[1] && ticks.length < 40; t += step) ticks.push(t);
  return html`<div class="ticks" aria-hidden="true">${ticks.map((t) => { const left = ((t - range[0]) / span) * width; return left < width - 40 && html`<span style=${{ left: left + "px" }}>${short(unit, t)}</span>`; })}</div>`;
}

function Statistics({ p, info, rank, head, range, names }) {
  const state = useAsk("window", { p, r: rankAsked(rank), ...stretch(range) });
  return html`<${Asked} state=${state}>${(w) => {
    const all = w.work + w.wait + w.lock + w.off + w.none || 1;
    const rows = [["work", "work", w.work], ["wait", "wait", w.wait], ["lock", "locks and others' work", w.lock], ["count", "off the processor", w.off], ["none", "not known", w.none]];
    return html`<h3>In this stretch</h3><ul class="legend">${rows.map(([k, t, v]) => html`<li><i class="key ${k}"></i><b>${pct(v / all)}</b> ${t}</li>`)}</ul>
      <div class="two"><div class="scroll"><table><caption>Sections by work</caption><tbody>${w.sections.map((s) => html`<tr><td class="at">${sectionLink(info, head, p, s.section)}</td><td class="soft">${info.sections[s.section].kind}</td><td class="num">${pct(s.work / all)}</td><td class="num">${s.instances} ${s.instances === 1 ? "instance" : "instances"}</td></tr>`)}</tbody></table></div>
      <div class="scroll"><table><caption>Threads that worked most and least</caption><tbody>${[...w.busiest, ...w.idlest].filter((v, i, a) => a.findIndex((x) => x.thread === v.thread) === i).map((v) => html`<tr><td><a href=${link("timeline", { p, from: w.from, to: w.to, t: v.thread })}>thread ${v.thread}</a></td><td class="num">${pct(v.work / Math.max(1, w.to - w.from))} work</td><td class="num">${pct(v.wait / Math.max(1, w.to - w.from))} wait</td></tr>`)}</tbody></table></div><${Functions} p=${p} info=${info} rank=${rank} range=${stretch(range)} names=${names} /></div>`;
  }}<//>`;
}
