// The menu of what can be saved: figure, data, a web page that works offline, and the link of the view. All is made in the browser.

import { base64Of } from "../../canvas/core/bytes.js";
import { button, element, visible } from "../../canvas/core/surface.js";
import { say } from "../../canvas/core/text.js";
import { TEXTS } from "../../canvas/core/texts.js";
import { labelled, menu, select, toggle } from "./toolbar.js";
import { escaped } from "../../canvas/figure/svg.js";
import { canFilm, filmOf, layDrawing, pngOf, print, printable, save, svgOf } from "./figure.js";

const [LEAST, USUAL, MOST] = [40, 174, 400]; // millimetres of width; 174 is a journal's page

// asked: `drawing()` as figure.js lays it out, `captionOf()` with title and caption, `csv()`, `csvLabel`, `name()` of a file,
// `script`, `message()` of the web page, and `stage`. page(): where there is no figure, the web page, else null. other(): another figure {label, drawing, title, caption, name}, or null.
// film(): drawings that follow each other, and the milliseconds of each, or null.
export function makeExport({ stage, drawing, captionOf, csv, csvLabel, name, script, message, other = () => null, page = () => null, film = () => null }) {
  const texts = TEXTS.export;
  const node = menu(texts.menu);
  const { box } = node;
  const paper = { width: USUAL, background: "light", captioned: true, isOther: false };
  const width = element("input", { type: "number", min: LEAST, max: MOST, value: USUAL, "aria-label": texts.width, title: texts.widthHelp });
  const background = select(texts.background, (value) => { paper.background = value; });
  const which = select(texts.figureOf, (value) => { paper.isOther = value === "other"; });
  const whichField = labelled(texts.figureOf, which);
  const captioned = toggle(texts.caption, (on) => { paper.captioned = on; captioned.set(on); });
  const said = element("p", { class: "quiet-text", role: "status" });
  width.onchange = () => {
    width.value = paper.width = Math.min(MOST, Math.max(LEAST, Number(width.value) || USUAL));
  };
  background.set([["light", texts.light], ["dark", texts.dark]], paper.background);
  captioned.set(true);
  const chosen = () => (paper.isOther && other()) || { ...captionOf(), drawing: drawing(), name: name() };
  const picture = ({ drawing: drawn, caption }) => {
    const colours = stage.header.paper[paper.background];
    return layDrawing(drawn, { width: paper.width, caption: paper.captioned ? caption : "", colours });
  };
  const svg = (one) => svgOf(picture(one), one.title, one.caption);
  const saveFigure = async (ending) => {
    const one = chosen();
    save(ending === "svg" ? svg(one) : await pngOf(picture(one)), "image/svg+xml", `${one.name}.${ending}`);
  };
  const filming = button(texts.film, async () => {
    const { drawings, milliseconds } = film();
    const one = { ...captionOf(), name: name() };
    filming.disabled = true;
    try {
      save(await filmOf(drawings.map((drawn) => () => picture({ ...one, drawing: drawn })), milliseconds), "video/webm", `${one.name}.webm`);
    } finally {
      filming.disabled = false;
    }
  });
  const file = (ending) => `${name()}.${ending}`;
  const row = (...parts) => element("div", { class: "menu-row" }, ...parts);
  box.classList.add("wide");
  const forms = row(button(csvLabel, () => save(csv(), "text/csv", file("csv"))),
    button(texts.webPage, async () => {
      try {
        save(await (page() || webPage(stage, captionOf(), script, message())), "text/html", file("html"));
      } catch (problem) {
        said.textContent = problem.message;
      }
    }));
  const share = row(button(texts.copyLink, async () => { said.textContent = await copy(linkOf(stage).href, texts.copied); }),
    button(texts.copyFrame, async () => {
      const link = linkOf(stage);
      link.searchParams.set("embed", "true");
      const html = say(texts.frame, { link: escaped(link.href), title: escaped(document.title) });
      said.textContent = [await copy(html, texts.frameCopied), texts.noFrames].join(" ");
    }),
    button(texts.addToLesson, () => { stage.addToLesson(); said.textContent = texts.added; }));
  const shareTitle = element("h4", {}, texts.share);
  const figure = [element("h4", {}, texts.figure),
    row(whichField, labelled(texts.width, width), labelled(texts.background, background), captioned),
    row(button(texts.svg, () => saveFigure("svg")), button(texts.png, () => saveFigure("png")),
      button(texts.pdf, () => print(printable(svg(chosen()), picture(chosen())))), filming)];
  box.append(...figure, element("h4", {}, texts.data), forms, shareTitle, share, said);
  box.addEventListener("toggle", ({ newState }) => {
    if (newState !== "open") return;
    for (const part of [...figure, forms.firstChild]) part.hidden = stage.isFramed;
    filming.hidden = !canFilm() || !film();
    forms.hidden = forms.previousElementSibling.hidden = stage.header.hidden.includes("forms") || stage.offline;
    share.hidden = shareTitle.hidden = stage.header.hidden.includes("share") || stage.offline;
    const another = other();
    whichField.hidden = !another;
    if (another) which.set([["", texts.picture], ["other", another.label]], paper.isOther ? "other" : "");
    said.textContent = share.hidden ? "" : stage.header.linkProblem;
    for (const copies of [...share.children].slice(0, 2)) copies.disabled = Boolean(stage.header.linkProblem);
  });
  return node;
}

// The address, which is the link of the view, whatever heading of the page was gone to.
function linkOf(stage) {
  stage.address.now();
  const link = new URL(location.href);
  link.searchParams.set("level", stage.header.level); // whoever opens it sees as much
  link.searchParams.delete("embed");
  link.hash = "";
  return link;
}

// Copies a text and returns what is then said; where the browser forbids it, the text itself.
async function copy(text, said) {
  try {
    await navigator.clipboard.writeText(text);
    return said;
  } catch {
    return text;
  }
}

// A caption that ends with where the picture is from, and its link.
export function withOrigin(stage, title, parts) {
  stage.address.now(); // the link at its end is of what is seen
  const link = stage.offline || stage.header.linkProblem ? [] : [location.href];
  return { title: visible(title), caption: [...parts, stage.header.origin, ...link].map(visible).join(" ") };
}

// A text with an apostrophe wherever a spreadsheet would begin a formula, also one that splits lines at another sign, as a regular
// expression lists it. As `safe_cell` does in tx_core/analysis/table_file.py.
const withoutFormula = (text, separators = ";") => text.replace(new RegExp(`(^|[${separators}\\t\\r\\n])([ "]*)([=+\\-@＝＋－＠])`, "g"), "$1$2'$3");

// A table as text, below its caption: rows of cells. Quotes are doubled; a number sign within quotes begins no comment.
export function csvText(caption, rows) {
  const quoted = (text) => (/[",;#\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const cell = (text) => (Number.isFinite(Number(text)) ? text : quoted(withoutFormula(text)));
  return [...caption.split("\n").map((line) => `# ${withoutFormula(line, ",;")}`), ...rows.map((row) => row.map((one) => cell(String(one))).join(",")), ""].join("\n");
}

export const closed = (sentence) => (/[.!?…]\s*$/.test(sentence) ? `“${sentence}”` : `“${sentence}”.`);

// One file with a stage and its message. Its policy allows no request to anywhere.
async function webPage(stage, { title, caption }, name, bytes) {
  const source = async (file) => (await fetch(new URL(file, stage.home))).text();
  const [script, style] = [await source(name), await source("stage.css")];
  const json = (value) => JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const colours = Object.entries(stage.header.paper).map(([theme, values]) => {
    const rules = Object.entries(values).map(([variable, value]) => `${variable}:${value}`).join(";");
    return theme === "dark" ? `@media(prefers-color-scheme:dark){:root{${rules};color-scheme:dark}}` : `:root{${rules}}`;
  }).join("");
  const policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'";
  return [
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">`,
    `<meta name="viewport" content="width=device-width, initial-scale=1"><title>${escaped(title)}</title>`,
    `<style>:root{--st-font:system-ui,sans-serif}${colours}body{margin:16px;background:var(--st-background-color);color:var(--st-text-color);font-family:var(--st-font)}`,
    `h1{font-size:22px}p{overflow-wrap:anywhere}${style.replaceAll(":host", ".stage-box")}</style>`,
    `<h1>${escaped(title)}</h1><div class="stage-box" id="stage"></div><p><bdi>${escaped(caption)}</bdi></p>`,
    `<script type="module">${script.replaceAll("</script", "<\\/script")}`,
    `stage.offline(document.getElementById("stage"), ${json(TEXTS)}, "${base64Of(bytes)}");</script></html>`,
  ].join("\n");
}
