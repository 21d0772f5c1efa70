// A small table of words and numbers, as a table of the page.

import { element, setText, visible } from "../../canvas/core/surface.js";

// choose: called with the number of the row that is clicked.
export function makeListing({ choose }) {
  const title = element("figcaption", { class: "title" });
  const table = element("table", {});
  const said = element("p", { class: "chart-said" });
  const box = element("div", { class: "scroller", tabindex: "0", role: "region" }, table);
  const link = element("a", {});
  const node = element("figure", { class: "chart listing", "data-testid": "listing" }, title, box, said, link);
  return { node, title, table, said, link, box, choose, linked: [] };
}

// link: its label and address, below the sentence.
export function drawListing(made, chart, { sentence, canChoose, chosen, link }) {
  setText(made.title, chart.title);
  made.title.hidden = !chart.title;
  setText(made.said, sentence);
  made.link.hidden = !link;
  if (link) Object.assign(made.link, { href: link[1], textContent: link[0] });
  made.box.hidden = !chart.rows.length;
  made.box.setAttribute("aria-label", visible(chart.title || sentence));
  const cell = (text, index, tag) => element(tag, tag === "th" ? { scope: index ? "col" : "row" } : {}, element("bdi", {}, text ? visible(text) : ""));
  const head = element("tr", {}, ...chart.head.map((text) => element("th", { scope: "col" }, text ? visible(text) : "")));
  const rows = chart.rows.map((row, number) => {
    const line = element("tr", number === chosen ? { class: "chosen" } : {}, ...row.map((text, index) => cell(text, index, index ? "td" : "th")));
    if (!canChoose) return line;
    const button = element("button", { type: "button", "aria-pressed": String(number === chosen) }, ...line.firstChild.childNodes);
    button.onclick = () => made.choose(number);
    line.firstChild.append(button);
    return line;
  });
  made.table.replaceChildren(element("thead", {}, head), element("tbody", {}, ...rows));
}
