// The page: its head, the way between the views, the keys.
import { render } from "preact";
import { useEffect, useErrorBoundary, useMemo, useRef, useState } from "preact/hooks";
import { fresh, isStatic, post, renew } from "./api.js";
import { Asked, html, useAsk } from "./parts.js";
import { base } from "./format.js";
import { go, link, parse, useRoute } from "./route.js";
import { Overview } from "./overview.js";
import { Section } from "./section.js";
import { Source } from "./source.js";
import { Threads } from "./threads.js";
import { Timeline } from "./timeline.js";
import { Paths } from "./paths.js";
import { Compare } from "./compare.js";
import { Beside, BesideOverview, otherOf } from "./beside.js";
import { RankChoice } from "./rank.js";
import { words } from "./words.js";

// The views: name, title, component, and whether it can be shown where the causes cannot be found.
const views = [
  ["overview", "Overview", Overview, false],
  ["section", "Section", Section, false],
  ["timeline", "Time line", Timeline, true],
  ["paths", "Call paths", Paths, true],
  ["threads", "Threads", Threads, true],
  ["source", "Source", Source, true],
  ["compare", "Compare", Compare, false],
];

const keys = [
  ["1 … " + views.length, "the views, in the order of the tabs"],
  ["n, p", "next, previous section"],
  ["/", "search, where there is something to search"],
  ["arrows, Enter", "on a chart: read it cell by cell, pick; on the time line: move"],
  ["+, −, 0, c", "on the time line: zoom in, out, the whole run, the critical path"],
  ["d, D", "on the time line: what ran, at the next level of the call paths, at the one before"],
  ["?", "this list, and what words mean"],
  ["Escape", "close, clear what is picked"],
];

// early stands for the report while that is being made: of the sections nothing is known but where they end.
const early = (info) => ({ early: true, sections: info.sections.flatMap((s, id) => (s.kind === "serial" || s.instances === 0 ? [] : [{ id, title: s.place, short: s.place, ends_at: {}, causes: [] }])) });

const typing = (e) => e.ctrlKey || e.altKey || e.metaKey || e.target.closest("input, textarea, select");

function useKeys(head, p, help) {
  useEffect(() => {
    const f = (e) => {
      if (typing(e)) return;
      const n = Number(e.key);
      if (n >= 1 && n <= views.length) go(views[n - 1][0], { p });
      else if (e.key === "?") help();
      else if (e.key === "/") { const box = document.querySelector("input[type=search]"); if (box) { e.preventDefault(); box.focus(); } }
      else if ((e.key === "n" || e.key === "p") && head && head.sections.length) {
        const { view, params } = parse(location.hash);
        const here = view === "section" ? head.sections.findIndex((s) => String(s.id) === params.s) : -1;
        const next = Math.max(0, Math.min(head.sections.length - 1, (view === "section" ? Math.max(here, 0) : -1) + (e.key === "n" ? 1 : view === "section" ? -1 : 1)));
        go("section", { p, s: head.sections[next].id });
      }
    };
    addEventListener("keydown", f);
    return () => removeEventListener("keydown", f);
  }, [head, p]);
}

function Help({ dialog }) {
  return html`<dialog ref=${dialog} aria-labelledby="help-h"><h2 id="help-h">Keys and words</h2><table><tbody>${keys.map(([k, t]) => html`<tr><th scope="row"><kbd>${k}</kbd></th><td>${t}</td></tr>`)}</tbody></table>
    <details><summary>Words</summary><dl>${words.map(([w, t]) => html`<dt><b>${w}</b></dt><dd>${t}</dd>`)}</dl></details>
    <p class="soft">The address holds all that is shown: copy it to come back to it. It contains no token.</p>
    <p class="soft">Made with preact (MIT) and htm (Apache 2.0): <a href="licences.txt">their licences</a>.</p>
    <form method="dialog"><button autofocus>Close</button></form></dialog>`;
}

// useState of the profile: how far it has been read, and whether its file is still the same.
function useProgress(p) {
  const [state, setState] = useState(null);
  useEffect(() => {
    if (isStatic()) return undefined;
    let timer, here = true;
    const look = () => fresh("state", { p }).then((s) => {
      if (!here) return;
      setState(s);
      timer = setTimeout(look, s.analysed ? 10000 : 700);
    }, (error) => { if (here) { setState({ gone: error.message }); timer = setTimeout(look, 10000); } });
    look();
    return () => { here = false; clearTimeout(timer); };
  }, [p]);
  return state;
}

function Progress({ state, failed }) {
  if (!state) return null;
  if (state.gone) return html`<p class="say warn" role="alert">${state.gone}</p>`;
  return html`${state.changed && html`<p class="say warn" role="alert"><b>Caution: </b>${state.changed}</p>`}
    ${!state.analysed && !failed && html`<p class="loading" role="status">${state.read < state.of ? `Reading instances: ${state.read} of ${state.of}…` : "Looking for causes…"}</p>`}`;
}

const lookEvery = 1000; // ms, at a run that goes on

// useLive tells whether the run goes on, and has what was asked for asked again when there is more of it.
function useLive() {
  const [live, setLive] = useState({ running: false, generation: 0 });
  useEffect(() => {
    if (isStatic()) return undefined;
    let timer, here = true;
    const look = () => fresh("live").then((v) => {
      if (!here) return;
      renew(v.generation);
      setLive((was) => ({ ...v, ended: was.ended || (was.running && !v.running) }));
      if (v.running) timer = setTimeout(look, lookEvery);
    }, () => { if (here) setLive((was) => ({ ...was, running: false, gone: was.running })); });
    look();
    return () => { here = false; clearTimeout(timer); };
  }, []);
  return live;
}

// LiveBar says that there is more to come, and ends the run.
function LiveBar({ live }) {
  const [error, setError] = useState("");
  const stop = () => post("stop").catch((e) => setError(e.message));
  if (live.gone) return html`<p class="say warn" role="alert">lime does not answer any more; what was read last is shown.</p>`;
  if (live.ended) return html`<p class="say" role="status">The program has ended: this is the whole run.</p>`;
  if (!live.running) return null;
  return html`<p class="say live" role="status"><b>The program runs.</b> Shown is what has finished so far. ${live.stop && html`<button type="button" onClick=${stop}>End the program</button>`} ${error}</p>`;
}

function App() {
  const live = useLive();
  const runs = useAsk("runs", {});
  return html`<${Asked} state=${runs} what="the profile">${(list) => (list.length === 0
    ? html`<header><div class="title"><span class="brand">lime</span> <h1>${live.running ? (live.generation > 0 ? "The program has ended" : "The program has begun") : "Nothing was recorded"}</h1></div></header><main id="main"><${LiveBar} live=${live} /><p>${live.generation > 0 ? "Its profile is being finished." : "Nothing has finished yet: the first section of the program that ends will be shown."}</p></main>`
    : html`<${Page} list=${list} live=${live} />`)}<//>`;
}

// Guarded shows what went wrong in a view instead of nothing; another address tries again.
function Guarded({ children }) {
  const [error, reset] = useErrorBoundary((e) => setTimeout(() => { throw e; })); // the console has it as well
  useEffect(() => {
    addEventListener("hashchange", reset);
    return () => removeEventListener("hashchange", reset);
  });
  return error ? html`<p class="say warn" role="alert"><b>This view failed:</b> ${error.message}. Please report it with the profile.</p>` : children;
}

function Page({ list, live }) {
  const { view, params } = useRoute();
  const p = Math.max(0, Math.min(list.length - 1, Math.trunc(Number(params.p || 0)) || 0));
  const info = list[p];
  const head = useAsk("head", { p });
  const state = useProgress(p);
  const dialog = useRef(null);
  useEffect(() => { document.title = "lime: " + (info.command.length ? info.command.map((x, i) => (i ? x : base(x))).join(" ").slice(0, 80) : info.name); }, [info]);
  const q = otherOf(list, params, p);
  const here = views.find(([name]) => name === view) || views[0];
  const stub = useMemo(() => ({ value: early(info) }), [info]);
  const known = !head.value && (head.error ? here[3] : state && state.analysed === false) ? stub : head;
  useKeys(known.value, p, () => dialog.current && dialog.current.showModal());
  return html`<a class="skip" href="#main" onClick=${(e) => { e.preventDefault(); document.getElementById("main").focus(); }}>Skip to the view</a>
    <header><div class="title"><span class="brand">lime</span> <h1>${info.command.join(" ") || info.name}</h1><button type="button" onClick=${() => dialog.current.showModal()} aria-label="Keys and words">?</button></div>
      <p class="soft">${list.length > 1 && html`<select aria-label="Profile" value=${p} onChange=${(e) => go(here[0], { p: e.target.value })}>${list.map((r, i) => html`<option value=${i} selected=${i === p}>${r.name}</option>`)}</select> <${Beside} list=${list} p=${p} q=${q} /> `}<${RankChoice} info=${info} params=${params} />${head.value && head.value.collected}</p>
      <nav aria-label="Views"><ul class="tabs">${views.map(([name, title]) => html`<li><a href=${link(name, { p: p || undefined })} aria-current=${name === here[0] ? "page" : undefined}>${title}</a></li>`)}</ul></nav></header>
    <main id="main" tabindex="-1"><${LiveBar} live=${live} /><${Progress} state=${state} failed=${head.error} />
      <${Guarded} key=${here[0]}>${q >= 0 && here[0] === "overview" && html`<${BesideOverview} p=${p} q=${q} />`}<${Asked} state=${known} what="the run">${(h) => html`<${here[2]} info=${info} head=${h} p=${p} params=${params} list=${list} q=${q} />`}<//><//></main>
    <${Help} dialog=${dialog} />`;
}

render(html`<${App} />`, document.getElementById("app"));
