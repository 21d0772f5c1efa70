// One row of a chart of bars: a word, its bar, its share; or a word over two bars, before and after. And what frames the rows.

import { element, visible } from "../core/surface.js";

export function makeRow(kind) {
  const [name, number] = [element("bdi", { class: "name" }), element("span", { class: "number" })];
  const bars = (kind === "moved" ? ["bar before", "bar after"] : ["bar"]).map((kinds) => element("span", { class: kinds }));
  const plots = bars.map((bar) => element("span", { class: "plot" }, bar));
  if (kind !== "moved") plots[0].append(" ", number);
  const words = kind === "moved" ? element("span", { class: "heading" }, name, " ", number) : element("span", { class: "names" }, name);
  return { node: element("li", { tabindex: "-1" }, words, " ", ...plots), name, number, bars, label: null, detail: "" };
}

export function fillRow(row, chart, index) {
  row.label = chart.labels[index];
  row.detail = chart.details[index] ?? "";
  row.name.textContent = visible(row.label);
  row.number.textContent = (chart.heads ?? chart.ends)[index];
  const values = chart.heads ? [chart.before[index], chart.after[index]] : [chart.values[index]];
  const cut = [chart.cut[index]].flat();
  for (const [place, bar] of row.bars.entries()) {
    bar.style.setProperty("--share", String(values[place] / chart.to));
    bar.style.setProperty("--colour", chart.colour ?? chart.colours[index % chart.colours.length]);
    bar.classList.toggle("cut", cut[place]);
  }
}

export function makeAxis({ ticks, to }) {
  return ticks.map(({ at, text }) => {
    const tick = element("span", { class: "tick" }, text);
    tick.style.setProperty("--share", String(at / to));
    return tick;
  });
}

export function makeLegend({ colour }) {
  return ["before", "after"].map((kind) => {
    const sign = element("span", { class: `bar ${kind}` });
    sign.style.setProperty("--colour", colour);
    return element("span", { class: "entry" }, sign, kind);
  });
}
