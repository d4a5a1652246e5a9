"use strict";
// Order the threads of a section's charts by number or by time. The page says
// everything without this.
for (const bar of document.querySelectorAll(".bar[data-for]")) {
  bar.hidden = false;
  bar.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    for (const b of bar.querySelectorAll("button")) b.setAttribute("aria-pressed", String(b === button));
    const byTime = button.dataset.order === "time";
    for (const g of document.querySelectorAll("#" + bar.dataset.for + " .threads g")) {
      const shift = byTime ? g.dataset.rank - g.dataset.i : 0;
      g.setAttribute("transform", shift ? `translate(${shift} 0)` : "");
    }
    for (const axis of document.querySelectorAll("#" + bar.dataset.for + " .axis.threads-axis")) {
      axis.hidden = byTime;
    }
  });
}
// n and p go to the next and previous section.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, textarea, select")) return;
  const step = { n: 1, p: -1 }[event.key];
  if (!step) return;
  const all = [...document.querySelectorAll("section.card")];
  const here = all.indexOf(document.activeElement.closest("section.card"));
  const next = all[Math.max(0, Math.min(all.length - 1, here + step))];
  if (next) { next.focus(); next.scrollIntoView(); }
});
