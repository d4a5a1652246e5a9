// The rank whose threads are shown, of a run of ranks: the address keeps it as r, in every view.
import { html } from "./parts.js";
import { isStatic } from "./api.js";
import { set } from "./route.js";

// rankOf reads which rank is chosen; -1 is all.
export function rankOf(info, params) {
  const r = Number(params.r);
  return params.r !== undefined && !isStatic() && info.ranks.includes(r) ? r : -1;
}

// ofRank tells whether a thread is shown.
export const ofRank = (info, rank) => (thread) => rank < 0 || info.ranks[thread] === rank;

// rankAsked is the rank as questions name it.
export const rankAsked = (rank) => (rank < 0 ? undefined : rank);

// RankChoice chooses the rank.
export function RankChoice({ info, params }) {
  const all = [...new Set(info.ranks)].filter((r) => r >= 0).sort((a, b) => a - b);
  if (all.length < 2 || isStatic()) return null;
  const rank = rankOf(info, params);
  return html`<label class="choice"><span>rank</span><select value=${String(rank)} onChange=${(e) => set({ r: e.target.value === "-1" ? undefined : e.target.value, t: undefined, pick: undefined })}>
    <option value="-1" selected=${rank < 0}>all</option>${all.map((r) => html`<option value=${r} selected=${r === rank}>${r}</option>`)}</select></label> `;
}
