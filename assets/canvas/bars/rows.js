// The rows of a chart of bars: a word, its bar, its share; of a chart of changes also where the bar ended before. Then what
// frames the rows, which row shows which word, and how rows get from where they stood to where they stand.

import { element, visible } from "../core/surface.js";

const LEAST_ARROW = 0.06; // of the axis: a shorter arrow would be all head
const GLIDE = { duration: 220, easing: "ease-out" };

// Both kinds of chart have the same rows, so that the bars of one grow or shrink into those of the other.
export function makeRow() {
  const [name, number, delta] = ["name", "number", "delta"].map((kind) => element(kind === "name" ? "bdi" : "span", { class: kind }));
  const bars = ["before", "after"].map((kind) => element("span", { class: `bar ${kind}` }));
  const arrow = element("span", { class: "arrow", "aria-hidden": "true" });
  const plot = element("span", { class: "plot" }, ...bars, arrow, " ", number, " ", delta);
  return { node: element("li", { tabindex: "-1" }, element("span", { class: "names" }, name), " ", plot), name, number, delta, bars, arrow, label: null, detail: "" };
}

export function fillRow(row, chart, index) {
  const moved = chart.kind === "moved";
  row.label = chart.labels[index];
  row.detail = chart.details[index] ?? "";
  row.name.textContent = visible(row.label);
  row.number.textContent = chart.ends[index];
  row.delta.textContent = moved ? chart.deltas[index] : "";
  const values = moved ? [chart.before[index], chart.after[index]] : [0, chart.values[index]];
  const cut = moved ? chart.cut[index] : [false, chart.cut[index]];
  for (const [place, bar] of row.bars.entries()) {
    bar.style.setProperty("--share", String(values[place] / chart.to));
    bar.style.setProperty("--colour", chart.colour ?? chart.colours[index % chart.colours.length]);
    bar.classList.toggle("cut", cut[place]);
  }
  pointArrow(row.arrow, values.map((value) => value / chart.to), moved);
}

// From where the bar ended to where it ends.
function pointArrow(arrow, [before, after], moved) {
  arrow.hidden = !moved || Math.abs(after - before) < LEAST_ARROW;
  arrow.style.setProperty("--from", String(Math.min(before, after)));
  arrow.style.setProperty("--share", String(Math.abs(after - before)));
  arrow.classList.toggle("back", after < before);
}

export function makeAxis({ ticks, to }) {
  return ticks.map(({ at, text }) => {
    const tick = element("span", { class: "tick" }, text);
    tick.style.setProperty("--share", String(at / to));
    return tick;
  });
}

// Of a chart without two sides, what its bars are, where it says so: the room stays the same when it gets two.
export function makeLegend({ kind, heading, colour, sides, delta }) {
  if (kind !== "moved") return heading ? [element("span", { class: "entry" }, heading)] : [];
  const entries = ["before", "after"].map((kind, place) => {
    const sign = element("span", { class: `bar ${kind}` });
    sign.style.setProperty("--colour", colour);
    return element("span", { class: "entry" }, sign, sides[place]);
  });
  return [...entries, element("span", { class: "entry last" }, delta)];
}

// A word that stays keeps its row; the rows that are left over take the new words, and `make` makes those that are missing.
export function assignRows(rows, labels, make) {
  const left = [...rows];
  const take = (found) => (found < 0 ? null : left.splice(found, 1)[0]);
  const kept = labels.map((label) => take(left.findIndex((row) => row.label === label)));
  const assigned = kept.map((row) => row ?? left.shift() ?? make());
  for (const row of left) row.node.remove();
  return assigned;
}

// Moves only what is out of place: a node that is taken out of the page loses the focus.
export function putInOrder(list, rows) {
  let next = list.firstChild;
  for (const { node } of rows) {
    if (node === next) next = next.nextSibling;
    else list.insertBefore(node, next);
  }
}

export function placesOf(rows) {
  return new Map(rows.map((row) => [row, { top: row.node.getBoundingClientRect().top, widths: row.bars.map(widthOfBar) }]));
}

function widthOfBar(bar) {
  return bar.getBoundingClientRect().width;
}

// From the places of `before` to those of now; bars that are new grow from nothing.
export function glide(rows, before) {
  for (const row of rows) for (const node of [row.node, ...row.bars]) node.getAnimations().forEach((one) => one.cancel());
  if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const now = placesOf(rows);
  for (const row of rows) {
    const [{ top, widths }, from] = [now.get(row), before.get(row)];
    const shift = from ? from.top - top : 0;
    if (Math.abs(shift) >= 1) row.node.animate([{ transform: `translateY(${shift}px)` }, { transform: "none" }], GLIDE);
    for (const [place, bar] of row.bars.entries()) {
      const width = from?.widths[place] ?? 0;
      if (Math.abs(width - widths[place]) >= 1) bar.animate([{ width: `${width}px` }, { width: `${widths[place]}px` }], GLIDE);
    }
  }
}
