// Threads x instances as a heat map: tiles of 64 x 64 cells, whole pixels a cell, drawn on a canvas.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { have } from "./api.js";
import { short } from "./format.js";
import { colour, fit, html, mix, useArrived, useDark, useWidth } from "./parts.js";

const side = 64;

// levelFor is the least level at which all instances have a column of a pixel.
export const levelFor = (instances, width) => Math.max(0, Math.ceil(Math.log2(Math.max(1, instances) / Math.max(1, width))));

// gather puts the tiles of a level in one grid; NaN where nothing is. Of the section's rows those are shown that are listed, in order.
export function gather(params, list, columns, arrived) {
  const rows = list.length;
  const grid = { rows, columns, field: [0, 1, 2].map(() => new Float32Array(rows * columns).fill(NaN)), read: 0, of: 0, missing: 0 };
  for (let i = 0, next; i < rows; i = next) {
    const b = Math.floor(list[i] / side);
    for (next = i; next < rows && list[next] < (b + 1) * side; next++);
    for (let x = 0; x * side < columns; x++) {
      const bytes = have("cells", { ...params, x, b }, arrived);
      if (!bytes) { grid.missing++; continue; }
      place(grid, bytes, { b, x, list, i, next });
    }
  }
  return grid;
}

// place puts a tile of band b in its place: the rows from i to next are of it.
function place(grid, bytes, { b, x, list, i, next }) {
  const [rows, columns, read, of] = new Uint32Array(bytes, 0, 4);
  const v = new Float32Array(bytes, 16);
  if (i === 0) { grid.read += read; grid.of += of; }
  for (let f = 0; f < 3; f++) {
    for (let k = i; k < next; k++) {
      const r = list[k] - b * side;
      if (r >= rows) continue;
      for (let c = 0; c < columns && x * side + c < grid.columns; c++) grid.field[f][k * grid.columns + x * side + c] = v[(f * rows + r) * columns + c];
    }
  }
}

const extent = (values) => {
  let lo = Infinity, hi = -Infinity;
  for (const v of values) { if (v < lo) lo = v; if (v > hi) hi = v; }
  return lo <= hi ? [lo, hi] : [0, 0];
};

// HeatMap shows a section; threads are those that are shown, rows which of the section's they are (all, if left out). pick is [row0, row1, instance0, instance1], or nothing.
export function HeatMap({ p, s, m, unit, threads, rows: list, instances, pick, onPick, kind }) {
  const [box, width] = useWidth();
  const canvas = useRef(null);
  const dark = useDark();
  const [tip, setTip] = useState("");
  const [cursor, setCursor] = useState([0, 0]);
  const drag = useRef(null);
  const rows = threads.length;
  const z = width ? levelFor(instances, width) : 0;
  const columns = Math.ceil(instances / 2 ** z);
  const cw = Math.max(1, Math.min(28, Math.floor(width / Math.max(1, columns))));
  const ch = Math.max(1, Math.min(16, Math.floor(420 / Math.max(1, rows))));
  const arrived = useArrived();
  const grid = width ? gather({ p, s, m, z }, list || threads.map((_, i) => i), columns, arrived) : null;
  const [lo, hi] = grid ? extent(grid.field[2]) : [0, 0];
  const from = hi - lo > hi * 0.02 ? lo : 0; // what is even looks even
  useLayoutEffect(() => {
    if (!grid || !canvas.current) return;
    const r = fit(canvas.current, columns * cw, rows * ch);
    const g = canvas.current.getContext("2d");
    const pale = colour("chip"), strong = colour(kind), none = colour("page");
    const lut = Array.from({ length: 256 }, (_, i) => mix(pale, strong, i / 255));
    const image = g.createImageData(columns * cw * r, rows * ch * r);
    const pixels = new Uint32Array(image.data.buffer);
    const word = ([a, b, c]) => (255 << 24) | (c << 16) | (b << 8) | a;
    const words = lut.map(word), empty = word(none);
    const gx = cw >= 4 ? r : 0, gy = ch >= 4 ? r : 0;
    for (let y = 0; y < image.height; y++) {
      const row = Math.floor(y / (ch * r)), edge = y % (ch * r) >= ch * r - gy;
      for (let x = 0; x < image.width; x++) {
        const v = grid.field[2][row * columns + Math.floor(x / (cw * r))];
        const skip = edge || x % (cw * r) >= cw * r - gx;
        pixels[y * image.width + x] = skip || v !== v ? empty : words[hi > from ? Math.max(0, Math.min(255, Math.round(((v - from) / (hi - from)) * 255))) : 0];
      }
    }
    g.putImageData(image, 0, 0);
    frame(g, r);
  });
  const frame = (g, r) => {
    if (!pick) return;
    const [r0, r1, i0, i1] = pick;
    g.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--focus");
    g.lineWidth = 2 * r;
    const x0 = Math.floor(i0 / 2 ** z) * cw, x1 = (Math.floor(i1 / 2 ** z) + 1) * cw;
    g.strokeRect(x0 * r + r, r0 * ch * r + r, (x1 - x0) * r - 2 * r, (r1 - r0 + 1) * ch * r - 2 * r);
  };
  const cellAt = (e) => [Math.max(0, Math.min(rows - 1, Math.floor(e.offsetY / ch))), Math.max(0, Math.min(columns - 1, Math.floor(e.offsetX / cw)))];
  const words = ([row, column]) => {
    const k = row * columns + column, first = column * 2 ** z, last = Math.min(instances, first + 2 ** z) - 1;
    const which = first === last ? `instance ${first + 1}` : `instances ${first + 1} to ${last + 1}`;
    const v = grid.field.map((f) => f[k]);
    if (v[2] !== v[2]) return `thread ${threads[row]}, ${which}: took no part`;
    return `thread ${threads[row]}, ${which}: ${short(unit, v[2])}${first === last ? "" : ` (${short(unit, v[0])} to ${short(unit, v[1])})`}`;
  };
  const choose = (a, b) => onPick([Math.min(a[0], b[0]), Math.max(a[0], b[0]), Math.min(a[1], b[1]) * 2 ** z, Math.min(instances - 1, (Math.max(a[1], b[1]) + 1) * 2 ** z - 1)], grid, z);
  const key = (e) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[e.key];
    if (step) {
      e.preventDefault();
      const next = [Math.max(0, Math.min(rows - 1, cursor[0] + step[0])), Math.max(0, Math.min(columns - 1, cursor[1] + step[1]))];
      setCursor(next);
      setTip(words(next));
    } else if (e.key === "Enter") choose(cursor, cursor);
    else if (e.key === "Escape") onPick(null);
  };
  useEffect(() => { if (pick && grid && grid.missing === 0) onPick(pick, grid, z, true); }, [grid && grid.missing, m, s, p]);
  return html`<figure>
    <figcaption><span><i class="key ${kind}"></i><b>Threads (down) × instances (across)</b></span><span aria-live="polite">${tip || `${short(unit, from)} (pale) to ${short(unit, hi)} (strong)`}</span></figcaption>
    <div class="canvas tall" ref=${box}><canvas ref=${canvas} tabindex="0" role="img" aria-label=${`Heat map of ${rows} threads and ${instances} instances, from ${short(unit, lo)} to ${short(unit, hi)}. Arrow keys read it cell by cell, Enter picks.`}
      onMouseMove=${(e) => { if (grid) { const c = cellAt(e); setTip(words(c)); if (drag.current) choose(drag.current, c); } }}
      onMouseDown=${(e) => { drag.current = cellAt(e); }} onMouseUp=${(e) => { if (drag.current) choose(drag.current, cellAt(e)); drag.current = null; }}
      onMouseLeave=${() => { setTip(""); drag.current = null; }} onKeyDown=${key}></canvas></div>
    <div class="axis" aria-hidden="true" style=${{ width: columns * cw + "px" }}><span>instance 1</span><span>${instances > 1 ? instances : ""}</span></div>
    ${grid && grid.missing > 0 && html`<p class="loading" role="status">Reading ${grid.missing} more pieces…</p>`}
    ${grid && grid.read < grid.of && html`<p class="say">Counts were read of ${grid.read} of the ${grid.of} instances, at even steps.</p>`}
    ${z > 0 && html`<p class="soft">A cell is ${2 ** z} instances; its colour is their mean.</p>`}
  </figure>`;
}

// compareCells says how the picked cells differ from the others.
export function compareCells(grid, z, [r0, r1, i0, i1]) {
  const c0 = Math.floor(i0 / 2 ** z), c1 = Math.floor(i1 / 2 ** z);
  const sum = [0, 0], n = [0, 0];
  for (let r = 0; r < grid.rows; r++) {
    for (let c = 0; c < grid.columns; c++) {
      const v = grid.field[2][r * grid.columns + c];
      if (v !== v) continue;
      const k = r >= r0 && r <= r1 && c >= c0 && c <= c1 ? 0 : 1;
      sum[k] += v;
      n[k]++;
    }
  }
  return { mine: n[0] ? sum[0] / n[0] : NaN, others: n[1] ? sum[1] / n[1] : NaN, cells: n[0] };
}
