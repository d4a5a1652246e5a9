// Tiles of the time line: shares of work, wait, locks and time off the processor, painted in colours.
import { useRef } from "preact/hooks";
import { have, isStatic, peek } from "./api.js";
import { colour } from "./parts.js";
import { functionColour } from "./ran.js";

export const rowsOfTile = 64, cells = 256, states = 4;
export const kinds = [["work", "work"], ["wait", "wait at the end of a section"], ["lock", "waits for locks, and for others' work"], ["count", "off the processor"]];

// blended turns a tile into colours, once for each tile and colour scheme; work has the colours of the functions in ran, if there is that tile.
const colours = new WeakMap();
function blended(bytes, palette, ran) {
  const known = colours.get(ran || bytes);
  if (known && known.palette === palette) return known.words;
  const ids = ran && new Uint16Array(ran);
  const v = new Uint8Array(bytes), words = new Uint32Array(v.length / states);
  for (let k = 0; k < words.length; k++) {
    let r = palette.none[0], g = palette.none[1], b = palette.none[2];
    for (let s = 0; s < states; s++) {
      const share = v[k * states + s] / 255;
      if (share > 0) {
        const [cr, cg, cb] = s === 0 && ids && ids[k] > 0 ? functionColour(ids[k] - 1, palette.dark) : palette.of[s];
        r += (cr - palette.none[0]) * share;
        g += (cg - palette.none[1]) * share;
        b += (cb - palette.none[2]) * share;
      }
    }
    words[k] = (255 << 24) | (b << 16) | (g << 8) | r;
  }
  colours.set(ran || bytes, { palette, words });
  return words;
}

// levelFor is the level whose cells are a pixel or a little more.
export const levelFor = (whole, window, width) => Math.max(0, Math.min(isStatic() ? 5 : 40, Math.floor(Math.log2(Math.max(1, (whole / window) * (width / cells))))));

// tileOf finds a tile, or the nearest coarser one that is there; it asks for the one that is missing, unless the view is on the move.
function tileOf(p, z, x, b, arrived, sketch) {
  if (sketch) {
    const bytes = have("sketched", { p, b }, arrived);
    return { bytes, z: 0, x: 0, missing: !bytes };
  }
  const bytes = arrived ? have("span", { p, z, x, b }, arrived) : peek("span", { p, z, x, b });
  if (bytes) return { bytes, z, x };
  for (let up = 1; up <= z; up++) {
    const coarse = peek("span", { p, z: z - up, x: Math.floor(x / 2 ** up), b });
    if (coarse) return { bytes: coarse, z: z - up, x: Math.floor(x / 2 ** up), missing: true };
  }
  return { missing: true };
}

// paintTiles draws rows of threads, which are in order, into an image; returns how many tiles are missing.
export function paintTiles(image, r, { p, from, to, origin, end, row, gap, shown, palette, arrived, depth, sketch }) {
  const width = image.width, whole = end - origin;
  const z = sketch ? 0 : levelFor(whole, to - from, width / r);
  const span = whole / 2 ** z, pixels = new Uint32Array(image.data.buffer);
  const [nr, ng, nb] = palette.none;
  pixels.fill((255 << 24) | (nb << 16) | (ng << 8) | nr);
  let missing = 0;
  const x0 = Math.max(0, Math.floor((from - origin) / span)), x1 = Math.min(2 ** z - 1, Math.floor((to - origin) / span));
  for (let first = 0, next; first < shown.length; first = next) {
    const b = Math.floor(shown[first] / rowsOfTile);
    for (next = first; next < shown.length && shown[next] < (b + 1) * rowsOfTile; next++);
    for (let x = x0; x <= x1; x++) {
      const tile = tileOf(p, z, x, b, arrived, sketch);
      if (tile.missing) missing++;
      if (!tile.bytes) continue;
      let ran;
      if (depth !== undefined) {
        const which = { p, z: tile.z, x: tile.x, b, d: depth };
        ran = arrived ? have("ran", which, arrived) : peek("ran", which);
        if (!ran && !tile.missing) missing++;
      }
      const words = blended(tile.bytes, palette, ran);
      const tileSpan = whole / 2 ** tile.z, begin = origin + tile.x * tileSpan;
      const px0 = Math.max(0, Math.ceil(((origin + x * span - from) / (to - from)) * width - 0.5)), px1 = Math.min(width, Math.ceil(((origin + (x + 1) * span - from) / (to - from)) * width - 0.5));
      const column = new Int32Array(Math.max(0, px1 - px0));
      for (let i = 0; i < column.length; i++) column[i] = Math.max(0, Math.min(cells - 1, Math.floor(((from + ((px0 + i + 0.5) / width) * (to - from) - begin) / tileSpan) * cells)));
      for (let n = first; n < next; n++) {
        const k = shown[n] - b * rowsOfTile, top = n * row * r;
        const at = top * width;
        for (let i = 0; i < column.length; i++) pixels[at + px0 + i] = words[k * cells + column[i]];
        for (let y = 1; y < (row - gap) * r; y++) pixels.copyWithin(at + y * width + px0, at + px0, at + px1);
      }
    }
  }
  return missing;
}

export function usePalette(dark) {
  const ref = useRef(null);
  if (!ref.current || ref.current.dark !== dark) ref.current = { dark, none: colour("page"), of: kinds.map(([k]) => colour(k)) };
  return ref.current;
}

// rowOf is how many pixels a thread has of so many.
export const rowOf = (threads) => Math.max(1, Math.min(18, Math.floor(560 / Math.max(1, threads))));
