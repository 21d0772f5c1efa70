// Shares as horizontal bars, a list of words and numbers: whoever points at one, or comes to it by keyboard, reads its detail.

import { element, mountOnce, visible } from "../core/surface.js";
import { applyTheme } from "../core/theme.js";

const LEAST_ARROW = 0.06; // of the axis: a shorter arrow would be all head
const GLIDE = { duration: 220, easing: "ease-out" };
const LONG_NAME = 18; // letters

export default function mountBars({ data, parentElement }) {
  const [chart, end] = mountOnce(parentElement, makeBars, removeBars);
  receiveBars(chart, data);
  return end;
}

function makeBars(parent) {
  const chart = { rows: [], active: null, shown: null, dismissed: null };
  chart.list = element("ul", { class: "rows", role: "list" });
  chart.axis = element("div", { class: "axis", "aria-hidden": "true" });
  chart.legend = element("div", { class: "legend", "aria-hidden": "true" });
  chart.detail = element("div", { class: "detail", role: "tooltip", id: "detail", dir: "auto", hidden: "" });
  chart.root = element("div", { class: "bars", "data-testid": "bars" }, chart.legend, chart.list, chart.axis, chart.detail);
  parent.querySelector(".bars-view").append(chart.root);
  const rowOf = (target) => chart.rows.find((row) => row.node === target.closest?.("li"));
  chart.list.onpointerover = (event) => {
    const row = rowOf(event.target);
    if (!row || row !== chart.dismissed) tell(chart, row);
  };
  chart.list.onpointerleave = () => leaveBars(chart);
  chart.list.onclick = (event) => tell(chart, rowOf(event.target));
  chart.list.addEventListener("focusin", (event) => activateRow(chart, rowOf(event.target)));
  chart.list.addEventListener("focusout", () => tell(chart, null));
  chart.list.onkeydown = (event) => pressInBars(chart, event);
  return chart;
}

// Words that stay move to their new places and all bars grow from where they stood.
function receiveBars(chart, data) {
  applyTheme(chart.root);
  const before = placesOf(chart.rows);
  const focused = chart.rows.find((row) => row.node.matches(":focus"));
  const rows = assignRows(chart.rows, data.labels, makeRow);
  rows.forEach((row, index) => fillRow(row, data, index));
  putInOrder(chart.list, rows);
  chart.rows = rows;
  chart.root.classList.toggle("long", data.labels.some((label) => [...label].length > LONG_NAME));
  chart.root.classList.toggle("moved", data.kind === "moved");
  chart.list.setAttribute("aria-label", data.title);
  chart.legend.replaceChildren(...(data.bare ? [] : makeLegend(data)));
  chart.axis.replaceChildren(...(data.bare ? [] : makeAxis(data)));
  makeReachable(chart, rows.includes(chart.active) ? chart.active : rows[0]);
  glide(rows, before);
  if (rows.includes(focused)) focused.node.focus({ preventScroll: true });
  else tell(chart, null);
}

function pressInBars(chart, event) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "Escape") {
    chart.dismissed = chart.shown;
    tell(chart, null);
  }
  const [at, last] = [chart.rows.indexOf(chart.active), chart.rows.length - 1];
  const next = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: last }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  chart.rows[Math.min(last, Math.max(0, next))].node.focus();
}

// The row with the focus shows its detail again, unless it was dismissed there; any other may show it once more.
function leaveBars(chart) {
  const focused = chart.rows.find((row) => row.node.matches(":focus-visible"));
  if (chart.dismissed !== focused) chart.dismissed = null;
  const { dismissed } = chart;
  tell(chart, dismissed ? null : focused);
  chart.dismissed = dismissed;
}

// The whole chart is one tab stop; arrow keys move within it (roving tabindex).
function makeReachable(chart, active) {
  chart.active = active;
  for (const row of chart.rows) row.node.tabIndex = row === active ? 0 : -1;
}

function activateRow(chart, row) {
  makeReachable(chart, row);
  tell(chart, row);
}

function tell(chart, row) {
  chart.shown = row?.detail ? row : null;
  chart.detail.hidden = !chart.shown;
  if (row) chart.dismissed = null;
  for (const other of chart.rows) other.node.removeAttribute("aria-describedby");
  if (!chart.shown) return;
  row.node.setAttribute("aria-describedby", "detail");
  chart.detail.textContent = visible(row.detail);
  placeDetail(chart, row);
}

// Behind the number where there is space; else below its bar, in the lower half above it: the bar and what follows the chart stay in sight.
function placeDetail({ root, detail }, row) {
  const { style } = detail;
  Object.assign(style, { left: "4px", top: "0", bottom: "auto" });
  const [box, whole, words] = [row.node, root, detail].map((node) => node.getBoundingClientRect());
  const behind = row.number.getBoundingClientRect().right + 16;
  const upper = box.top + box.bottom < whole.top + whole.bottom;
  if (words.height <= box.height + 4 && behind + words.width <= whole.right) {
    style.left = `${behind - whole.left}px`;
    style.top = `${(box.top + box.bottom - words.height) / 2 - whole.top}px`;
  } else if (upper) style.top = `${box.bottom - whole.top}px`;
  else Object.assign(style, { top: "auto", bottom: `${whole.bottom - box.top}px` });
}

function removeBars(chart) {
  chart.root.remove();
}

// --- The rows: a word, its bar, its share; of a chart of changes also where the bar ended before.

// Both kinds of chart have the same rows, so that the bars of one grow or shrink into those of the other.
function makeRow() {
  const [name, number, delta] = ["name", "number", "delta"].map((kind) => element(kind === "name" ? "bdi" : "span", { class: kind }));
  const bars = ["before", "after"].map((kind) => element("span", { class: `bar ${kind}` }));
  const arrow = element("span", { class: "arrow", "aria-hidden": "true" });
  const plot = element("span", { class: "plot" }, ...bars, arrow, " ", number, " ", delta);
  const node = element("li", { tabindex: "-1" }, element("span", { class: "names" }, name), " ", plot);
  return { node, name, number, delta, bars, arrow, label: null, detail: "" };
}

function fillRow(row, chart, index) {
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

// The arrow from the bar's end before to its end now.
function pointArrow(arrow, [before, after], moved) {
  arrow.hidden = !moved || Math.abs(after - before) < LEAST_ARROW;
  arrow.style.setProperty("--from", String(Math.min(before, after)));
  arrow.style.setProperty("--share", String(Math.abs(after - before)));
  arrow.classList.toggle("back", after < before);
}

function makeAxis({ ticks, to }) {
  return ticks.map(({ at, text }) => {
    const tick = element("span", { class: "tick" }, text);
    tick.style.setProperty("--share", String(at / to));
    return tick;
  });
}

// The caption of a chart without two sides, if any: its height stays the same when the chart gets two sides.
function makeLegend({ kind, heading, colour, sides, delta }) {
  if (kind === "moved") {
    const entries = ["before", "after"].map((side, place) => makeEntry(side, sides[place], colour));
    return [...entries, element("span", { class: "entry last" }, delta)];
  }
  return heading ? [element("span", { class: "entry" }, heading)] : [];
}

function makeEntry(kind, text, colour = "") {
  const sign = element("span", { class: `bar ${kind}` });
  sign.style.setProperty("--colour", colour);
  return element("span", { class: "entry" }, sign, text);
}

// A word that stays keeps its row; the rows that are left over take the new words, and `make` makes those that are missing.
function assignRows(rows, labels, make) {
  const left = [...rows];
  const take = (found) => (found < 0 ? null : left.splice(found, 1)[0]);
  const kept = labels.map((label) => take(left.findIndex((row) => row.label === label)));
  const assigned = kept.map((row) => row ?? left.shift() ?? make());
  for (const row of left) row.node.remove();
  return assigned;
}

// Moves only nodes that are out of place: a node removed from the page loses the focus.
function putInOrder(list, rows) {
  let next = list.firstChild;
  for (const { node } of rows) {
    if (node === next) next = next.nextSibling;
    else list.insertBefore(node, next);
  }
}

function placesOf(rows) {
  return new Map(rows.map((row) => [row, { top: row.node.getBoundingClientRect().top, widths: row.bars.map(widthOfBar) }]));
}

function widthOfBar(bar) {
  return bar.getBoundingClientRect().width;
}

// Animates bars from their positions in `before` to the current ones; new bars grow from zero.
function glide(rows, before) {
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
