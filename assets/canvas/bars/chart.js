// Shares as horizontal bars, a list of words and numbers: whoever points at one, or comes to it by keyboard, reads its detail.

import { element, mountOnce, visible } from "../core/surface.js";
import { assignRows, fillRow, glide, makeAxis, makeLegend, makeRow, placesOf, putInOrder } from "./rows.js";

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

// One stop of the Tab key for the whole chart; arrows go on from there.
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

// Behind the number where there is room; else below its bar, in the lower half above it: the bar and what follows the chart stay in sight.
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
