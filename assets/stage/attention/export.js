// The picture as a file, the map as CSV, the whole run as a web page, and the link of the view: all made here.

import { visible } from "../../canvas/core/surface.js";
import { TEXTS } from "../../canvas/core/texts.js";
import { element } from "../../canvas/core/surface.js";
import { filled } from "../../canvas/core/text.js";
import { button, labelled, menu, select, toggle } from "../core/toolbar.js";
import { layPicture, pngOf, print, printable, save, svgOf } from "../core/figure.js";
import { headName } from "../core/sentences.js";

const LIMITS = { mm: [40, 174, 400], px: [200, 1200, 4000] }; // least, usual and most width; 174 mm is a journal's page

export function makeExportMenu(stage) {
  const { act } = stage;
  const texts = TEXTS.export;
  const node = menu(texts.menu);
  const { box } = node;
  const paper = { unit: "mm", width: { mm: LIMITS.mm[1], px: LIMITS.px[1] }, background: "light", captioned: true };
  const width = element("input", { type: "number", step: "1", "aria-label": texts.width, title: texts.widthHelp });
  const unit = select(texts.unit, (value) => { paper.unit = value; sync(); });
  const background = select(texts.background, (value) => { paper.background = value; });
  const captioned = toggle(texts.caption, (on) => { paper.captioned = on; captioned.set(on); });
  const said = element("p", { class: "quiet-text", role: "status" });
  width.onchange = () => {
    const [least, usual, most] = LIMITS[paper.unit];
    paper.width[paper.unit] = Math.min(most, Math.max(least, Number(width.value) || usual));
    sync();
  };
  function sync() {
    unit.set([["mm", "mm"], ["px", "px"]], paper.unit);
    background.set([["light", texts.light], ["dark", texts.dark]], paper.background);
    const [least, , most] = LIMITS[paper.unit];
    Object.assign(width, { min: String(least), max: String(most), value: String(paper.width[paper.unit]) });
  }
  captioned.set(true);
  sync();
  const picture = () => {
    const { caption } = captionOf(stage);
    const colours = stage.header.paper[paper.background];
    return layPicture(act.figure(), { width: paper.width[paper.unit], unit: paper.unit, caption: paper.captioned ? caption : "", colours });
  };
  const svg = () => { const { title, caption } = captionOf(stage); return svgOf(picture(), title, caption); };
  const name = (ending) => `${fileName(stage)}.${ending}`;
  const row = (...parts) => element("div", { class: "menu-row" }, ...parts);
  box.classList.add("wide");
  const forms = row(
    button(texts.csv, () => save(csvOf(stage), "text/csv", name("csv"))),
    button(texts.webPage, async () => save(await webPageOf(stage), "text/html", name("html"))),
  );
  const share = row(button(texts.copyLink, async () => { said.textContent = await copied(stage); }), button(texts.addToLesson, () => {
    act.addToLesson();
    said.textContent = texts.added;
  }));
  const shareTitle = element("h4", {}, texts.share);
  box.append(element("h4", {}, texts.figure), row(labelled(texts.width, width), labelled(texts.unit, unit), labelled(texts.background, background), captioned),
    row(button(texts.svg, () => save(svg(), "image/svg+xml", name("svg"))), button(texts.png, async () => save(await pngOf(picture()), "image/png", name("png"))),
      button(texts.pdf, () => print(printable(svg(), picture())))), element("h4", {}, texts.data), forms, shareTitle, share, said);
  box.addEventListener("toggle", ({ newState }) => {
    if (newState !== "open") return;
    forms.hidden = forms.previousElementSibling.hidden = stage.header.hidden.includes("forms") || stage.offline;
    share.hidden = shareTitle.hidden = stage.header.hidden.includes("share") || stage.offline;
    said.textContent = share.hidden ? "" : stage.header.linkProblem;
    share.firstChild.disabled = Boolean(stage.header.linkProblem);
  });
  return { node };
}

// Copies the address, which is the link of the view; where the browser forbids it, shows it.
async function copied(stage) {
  stage.address.now();
  const link = new URL(location.href);
  link.searchParams.set("level", stage.header.level); // whoever opens it sees as much
  try {
    await navigator.clipboard.writeText(link.href);
    return TEXTS.export.copied;
  } catch {
    return link.href;
  }
}

export function fileName({ header, store }) {
  const { heads, stackNumber } = store.get();
  const kind = header.stacks.length > 1 ? `-${header.stacks[stackNumber].kind}` : "";
  const which = heads.length > 1 ? `mean-of-${heads.length}-heads` : `layer${heads[0][0] + 1}-head${heads[0][1] + 1}`;
  return `${header.stem}${kind}-${which}`;
}

// The title and caption of a figure: what it is of, and whatever changes its numbers.
export function captionOf(stage) {
  const { header, store, shown } = stage;
  const texts = TEXTS.caption;
  stage.address.now(); // the link at its end is of what is seen
  const state = store.get();
  const names = state.heads.map((head) => headName([head]).toLowerCase());
  const heads = names.length === 1 ? names[0] : filled(texts.meanOfHeads, { count: names.length, names: names.join("; ") }).join("");
  const titles = header.changes.length ? texts.changedTitles : texts.titles;
  const title = filled(titles[header.stacks[state.stackNumber].kind], { heads, model: header.model }).join("");
  const parts = [`${title}.`, filled(texts.text, { sentence: closed(header.text) }).join("")];
  if (header.pair) parts.push(filled(texts.second, { sentence: closed(header.pair) }).join(""));
  if (shown.row !== null) parts.push(filled(texts.marked, { token: shown.said }).join(""));
  parts.push(texts.axes);
  if (header.bare) parts.push(texts.withoutSpecial);
  if (state.words) parts.push(texts.merged);
  if (shown.view.hides) parts.push(texts.specialHidden);
  if (header.changes.length) parts.push(filled(texts.changed, { changes: header.changes.map(({ label }) => label).join("; ") }).join(""));
  return { title: visible(title), caption: [...parts, header.origin, ...(stage.offline || header.linkProblem ? [] : [location.href])].map(visible).join(" ") };
}

const closed = (sentence) => (/[.!?…]\s*$/.test(sentence) ? `“${sentence}”` : `“${sentence}”.`);

// A cell that begins with a number is never taken for a formula; quotes are doubled.
function csvOf(stage) {
  const { view, weights } = stage.shown;
  const cell = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const label = (text, place) => cell(`${place + 1} ${text}`);
  const keys = view.keys.labels.length;
  const about = captionOf(stage).caption.split("\n").map((line) => `# ${line}`);
  const rows = view.queries.labels.map((text, row) => [label(text, row),
    ...Array.from(weights.subarray(row * keys, (row + 1) * keys), (weight) => weight.toFixed(6))].join(","));
  return [...about, [cell(TEXTS.csvCorner), ...view.keys.labels.map(label)].join(","), ...rows, ""].join("\n");
}

// One file with this stage and all of the run that is here. Its policy allows no request to anywhere.
async function webPageOf(stage) {
  const source = async (name) => (await fetch(new URL(name, stage.home))).text();
  const [script, style] = [await source(`${stage.parts.entry ?? "attention"}.js`), await source("stage.css")];
  const { title, caption } = captionOf(stage);
  const text = (words) => words.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);
  const json = (value) => JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const bytes = stage.act.wholeMessage();
  let binary = "";
  for (let start = 0; start < bytes.length; start += 0x8000) binary += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  const colours = Object.entries(stage.header.paper).map(([name, values]) => {
    const rules = Object.entries(values).map(([variable, value]) => `${variable}:${value}`).join(";");
    return name === "dark" ? `@media(prefers-color-scheme:dark){:root{${rules};color-scheme:dark}}` : `:root{${rules}}`;
  }).join("");
  const policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'";
  return [
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">`,
    `<meta name="viewport" content="width=device-width, initial-scale=1"><title>${text(title)}</title>`,
    `<style>:root{--st-font:system-ui,sans-serif}${colours}body{margin:16px;background:var(--st-background-color);color:var(--st-text-color);font-family:var(--st-font)}`,
    `h1{font-size:22px}p{overflow-wrap:anywhere}${style.replaceAll(":host", ".stage-box")}</style>`,
    `<h1>${text(title)}</h1><div class="stage-box" id="stage"></div><p><bdi>${text(caption)}</bdi></p>`,
    `<script type="module">${script.replaceAll("</script", "<\\/script")}`,
    `stage.offline(document.getElementById("stage"), ${json(TEXTS)}, "${btoa(binary)}");</script></html>`,
  ].join("\n");
}
