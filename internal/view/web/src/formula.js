// Derived metrics: formulas over the columns, $0 the first, as in HPCToolkit: $0/$1, 100*($0-$2)/$0, min($0, $1).
const functions = { min: Math.min, max: Math.max, abs: Math.abs, sqrt: Math.sqrt, log: Math.log };

// compile reads a formula and returns a function of the columns' values; it throws an Error that says what is wrong.
export function compile(text) {
  const tokens = text.match(/\$\d+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[a-z]+|[-+*/^(),]|\S/g) || [];
  let at = 0;
  const peek = () => tokens[at];
  const take = (want) => { if (tokens[at] !== want) throw new Error(at < tokens.length ? `"${want}" is expected before "${tokens[at]}"` : `"${want}" is missing at the end`); at++; };
  const atom = () => {
    const t = tokens[at++];
    if (t === undefined) throw new Error("the formula ends too early");
    if (t === "(") { const f = sum(); take(")"); return f; }
    if (t === "-") { const f = power(); return (v) => -f(v); }
    if (/^\$\d/.test(t)) { const n = Number(t.slice(1)); return (v) => { if (n >= v.length) throw new Error(`there is no column ${t}`); return v[n]; }; }
    if (/^\d/.test(t)) { const n = Number(t); return () => n; }
    if (functions[t]) {
      take("(");
      const args = [sum()];
      while (peek() === ",") { at++; args.push(sum()); }
      take(")");
      return (v) => functions[t](...args.map((a) => a(v)));
    }
    throw new Error(`"${t}" is neither a column ($0), a number nor a function`);
  };
  const power = () => { const a = atom(); if (peek() !== "^") return a; at++; const b = power(); return (v) => a(v) ** b(v); };
  const product = () => {
    let a = power();
    while (peek() === "*" || peek() === "/") { const op = tokens[at++], l = a, r = power(); a = op === "*" ? (v) => l(v) * r(v) : (v) => l(v) / r(v); }
    return a;
  };
  const sum = () => {
    let a = product();
    while (peek() === "+" || peek() === "-") { const op = tokens[at++], l = a, r = product(); a = op === "+" ? (v) => l(v) + r(v) : (v) => l(v) - r(v); }
    return a;
  };
  const f = sum();
  if (at < tokens.length) throw new Error(`"${peek()}" is too much`);
  return f;
}
