// Underlines a term of the glossary where a page first uses it, and explains it there. A button is laid over the word and
// appended to its paragraph: what Streamlit drew stays as it is, and what it draws anew takes the button away with it.

import { button, element, placeBelow, visible } from "../core/surface.js";

const PROSE = [
  '[data-testid="stMarkdownContainer"] > :is(p, ul > li)',
  '.st-key-lesson [data-testid="stText"]',
].join()
const NOT_PROSE = 'label, button, a, summary, code, h1, h2, h3, h4, [data-testid="stProgress"], [aria-hidden="true"], .katex';
const PAUSE = 400; // milliseconds without a change before a page is looked through

export default async function explainTerms() {
  const answer = await fetch(new URL("glossary.json", document.baseURI).href).catch(() => null);
  if (!answer?.ok) return;
  const { terms, texts } = await answer.json();
  const entries = new Map(terms.flatMap(({ names, meaning }) => names.map((name) => [name.toLowerCase(), { name, meaning }])));
  const glossary = { texts, entries, pattern: patternOf([...entries.keys()]) };
  glossary.box = makeBox(texts);
  let timer = null;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(() => underline(glossary), PAUSE);
  };
  const ours = ({ addedNodes, removedNodes }) => [...addedNodes, ...removedNodes].every((node) => node.className === "term");
  new MutationObserver((changes) => changes.every(ours) || later()).observe(document.body, { childList: true, subtree: true, characterData: true });
  addEventListener("resize", later);
  document.fonts.addEventListener("loadingdone", later);
  later();
}

// Any of the names. The longest is tried first and takes its words: “head” within “prediction head” is no term by itself.
function patternOf(names) {
  const longestFirst = names.sort((one, other) => other.length - one.length);
  const written = longestFirst.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`(?<![\\w#-])(${written.join("|")})s?(?![\\w-])`, "gi");
}

// Looks through the page from its beginning: each term once, in the first paragraph that has it.
function underline(glossary) {
  if (document.querySelector('[data-test-script-state="running"]')) return setTimeout(() => underline(glossary), PAUSE);
  if (glossary.box.matches(":popover-open")) return null;
  const main = document.querySelector("main");
  const wanted = new Map();
  const explained = new Set();
  if (main && document.documentElement.dataset.page !== "words") {
    for (const paragraph of main.querySelectorAll(PROSE)) {
      if (paragraph.closest(NOT_PROSE) || !paragraph.getClientRects().length) continue;
      const places = find(paragraph, glossary, explained);
      if (places.length) wanted.set(paragraph, places);
    }
  }
  return replaceMarks(glossary, main, wanted);
}

// Marks that have not moved are left alone: one of them may have the focus. All positions are read before anything is written:
// interleaved reads and writes would force a layout for each mark.
function replaceMarks(glossary, main, wanted) {
  const kept = new Set();
  for (const [paragraph, places] of [...wanted].map(([paragraph, found]) => [paragraph, measure(paragraph, found)])) {
    paragraph.style.position = "relative";
    for (const { entry, style } of places) {
      const before = [...paragraph.children].find((child) => child.className === "term" && child.dataset.term === entry.name);
      const mark = before ?? makeMark(glossary, entry);
      if (mark.getAttribute("style") !== style) mark.setAttribute("style", style);
      if (!before) paragraph.append(mark);
      kept.add(mark);
    }
  }
  for (const mark of main?.querySelectorAll("button.term") ?? []) if (!kept.has(mark)) mark.remove();
}

function measure(paragraph, found) {
  const corner = paragraph.getBoundingClientRect();
  return found.map(({ entry, range }) => {
    const [place] = range.getClientRects();
    return { entry, style: `left: ${place.left - corner.left}px; top: ${place.bottom - corner.top - 24}px; width: ${place.width}px;` };
  });
}

// Finds the terms of a paragraph that are not explained yet, each on one line; adds them to `explained`.
function find(paragraph, { pattern, entries }, explained) {
  const places = [];
  const walker = document.createTreeWalker(paragraph, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement !== paragraph && node.parentElement.closest(NOT_PROSE)) continue;
    for (const match of node.data.matchAll(pattern)) {
      const entry = entries.get(match[1].toLowerCase());
      if (explained.has(entry.meaning)) continue;
      const range = document.createRange();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      if (range.getClientRects().length !== 1) continue;
      explained.add(entry.meaning);
      places.push({ entry, range });
    }
  }
  return places;
}

function makeMark({ box, texts }, entry) {
  const label = texts.explain.replace("{term}", entry.name);
  const mark = button("", () => openBox(box, entry, mark), { class: "term", "data-term": entry.name, "aria-label": label, "aria-haspopup": "dialog" });
  return mark;
}

function makeBox(texts) {
  const box = element("div", { class: "term-box", popover: "auto", role: "dialog", tabindex: "-1" });
  box.heading = element("strong", {});
  box.meaning = element("p", {});
  const close = button("×", () => box.hidePopover(), { "aria-label": texts.close });
  box.all = element("a", { href: new URL("words", document.baseURI).href, target: "_blank", rel: "noreferrer" }, texts.all);
  box.append(close, box.heading, box.meaning, box.all);
  box.addEventListener("toggle", ({ newState }) => newState === "closed" && box.opener?.isConnected && box.contains(document.activeElement) && box.opener.focus());
  document.body.append(box);
  return box;
}

function openBox(box, { name, meaning }, mark) {
  box.heading.textContent = visible(name);
  box.meaning.replaceChildren(...emphasised(meaning));
  box.setAttribute("aria-label", visible(name));
  box.opener = mark;
  box.all.hidden = new URLSearchParams(location.search).get("lock") === "1"; // no way out of a locked lesson
  box.style.colorScheme = getComputedStyle(mark).colorScheme;
  box.showPopover();
  placeBelow(box, mark);
  box.focus();
}

// The glossary writes **bold** and *italic*.
function emphasised(text) {
  return text.split(/(\*\*[^*]+\*\*|\*[^*]+\*)/).map((part) => {
    const stars = /^(\*+)([^*]+)\*+$/.exec(part);
    return stars ? element(stars[1].length === 2 ? "b" : "em", {}, stars[2]) : part;
  });
}
