// How figures read: as in the reports (internal/unit).
const sig3 = (x) => {
  const a = Math.abs(x);
  if (a === Math.trunc(a) && a < 1000) return x.toFixed(0);
  return x.toFixed(a >= 100 ? 0 : a >= 10 ? 1 : 2);
};
const scaled = (x, table, rest) => {
  for (const [scale, name, least] of table) if (Math.abs(x) >= least) return sig3(x / scale) + "\u00a0" + name;
  return rest(x);
};
export const si = (x) => scaled(x, [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]].map(([s, n]) => [s, n, s * 0.9995]), sig3);
export const nanos = (x) => scaled(x / 1e9, [[1, "s"], [1e-3, "ms"], [1e-6, "us"]].map(([s, n]) => [s, n, s]), (s) => sig3(s * 1e9) + "\u00a0ns");
export const pct = (x) => (x * 100).toFixed(1) + "\u00a0%";
export const short = (unit, x) => (unit === "ns" ? nanos(x) : si(x));
export const quantity = (unit, x) => (unit === "ns" ? nanos(x) : si(x) + (unit ? "\u00a0" + unit : ""));
export const countOf = (n, noun) => (n === 1 ? "1\u00a0" + noun : `${n}\u00a0${noun}s`);
export const base = (path) => path.slice(path.lastIndexOf("/") + 1);
const bars = "▁▂▃▄▅▆▇█";
// spark draws values as a line of text, as the text report does.
export const spark = (values) => {
  const hi = Math.max(...values), lo = Math.min(0, ...values);
  return values.map((v) => bars[hi > lo ? Math.round(((v - lo) / (hi - lo)) * 7) : 0]).join("");
};
