// A first picture of a large run, while it is being read.
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { isStatic } from "./api.js";
import { fit, html, useArrived, useAsk, useDark, useWidth } from "./parts.js";
import { ofRank, rankOf } from "./rank.js";
import { paintTiles, rowOf, usePalette } from "./tiles.js";

// useWhole asks for the sums of the whole run, and for what a sketch is made of; undefined once the sums are there.
export function useWhole(p) {
  const whole = useAsk("window", { p }), sketch = useAsk("sketch", { p }, !isStatic()).value;
  return [whole, !whole.value && !whole.error && sketch && sketch.read < sketch.of ? sketch : undefined];
}

// Sketch is drawn from instances that were drawn by lot, and says so.
export function Sketch({ info, p, params, of }) {
  const [box, width] = useWidth();
  const canvas = useRef(null);
  const palette = usePalette(useDark());
  const arrived = useArrived();
  const rank = rankOf(info, params);
  const shown = useMemo(() => info.threads.map((_, i) => i).filter(ofRank(info, rank)), [info, rank]);
  const row = rowOf(shown.length), words = `sketch from ${of.read} of ${of.of} instances, reading the rest`;
  useLayoutEffect(() => {
    if (!width || !canvas.current) return;
    const r = fit(canvas.current, width, shown.length * row);
    const g = canvas.current.getContext("2d"), image = g.createImageData(canvas.current.width, canvas.current.height);
    const missing = paintTiles(image, r, { p, from: of.from, to: of.to, origin: of.from, end: of.to, row, gap: row >= 4 ? 1 : 0, shown, palette, arrived, sketch: true });
    g.putImageData(image, 0, 0);
    canvas.current.dataset.busy = missing; // as long as it is there something is being read
  });
  return html`<figure><figcaption><span><b>${shown.length} threads</b> (down) over time (across)</span><span role="status" class="sketched">${words}</span></figcaption>
    <div class="canvas tall" ref=${box}><canvas class="sketch" ref=${canvas} role="img" aria-label=${`Time line of ${shown.length} threads, the whole run: ${words}.`}></canvas></div></figure>`;
}
