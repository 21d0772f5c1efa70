// A small table of words and numbers, as a table of the page.

import { button, element, setText, visible } from "../../canvas/core/surface.js";

// choose: called with the number of the row that is clicked; open: with the address of a link that is.
export function makeListing({ choose, open }) {
  const title = element("figcaption", { class: "title" });
  const table = element("table", {});
  const note = element("p", { class: "quiet-text" });
  const said = element("p", { class: "chart-said" });
  const box = element("div", { class: "scroller", tabindex: "0", role: "region" }, table);
  const link = element("a", {});
  const node = element("figure", { class: "chart listing", "data-testid": "listing" }, title, box, note, said, link);
  return { node, title, table, note, said, link, box, choose, open, linked: [] };
}

// link: its label and address, below the sentence. chart.links: the address that the last cell of each row leads to;
// chart.sentenceFirst: whether the sentence stands above the table.
export function drawListing(made, chart, { sentence, canChoose, chosen, link }) {
  setText(made.title, chart.title);
  made.title.hidden = !chart.title;
  setText(made.note, chart.note ?? "");
  setText(made.said, sentence);
  made.node.classList.toggle("sentence-first", Boolean(chart.sentenceFirst));
  made.link.hidden = !link;
  if (link) Object.assign(made.link, { href: link[1], textContent: link[0], onclick: leadOn(made, link[1]) });
  made.box.hidden = !chart.rows.length;
  made.node.classList.toggle("alone", !chart.rows.length);
  made.box.setAttribute("aria-label", visible(chart.title || sentence));
  const cell = (text, index) => element(index ? "td" : "th", index ? {} : { scope: "row" }, element("bdi", {}, text ? visible(text) : ""));
  const head = element("tr", {}, ...chart.head.map((text) => element("th", { scope: "col" }, text ? visible(text) : "")));
  const rows = chart.rows.map((row, number) => {
    const line = element("tr", number === chosen ? { class: "chosen" } : {}, ...row.map(cell));
    if (chart.links?.[number] && made.open) line.lastChild.replaceChildren(anchor(made, chart.links[number], row.at(-1)));
    if (!canChoose) return line;
    line.firstChild.append(button(line.firstChild.firstChild, () => made.choose(number), { "aria-pressed": String(number === chosen) }));
    return line;
  });
  made.table.replaceChildren(element("thead", {}, head), element("tbody", {}, ...rows));
}

const anchor = (made, address, label) => Object.assign(element("a", { href: address }, label), { onclick: leadOn(made, address) });

// In this tab the page leads on, which keeps what the visitor has, such as a file; in a new one, it is an ordinary link.
const leadOn = (made, address) => (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  made.open(address);
};
