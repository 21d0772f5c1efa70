// Elements, one drawing for each, sharp canvases and token text. Text only ever goes in as text.
// pages/ui/stage/scripts.py serves the texts.

import { TEXTS } from "./texts.js";

const maker = (make) => (tag, attributes = {}, ...children) => {
  const made = make(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};
export const element = maker((tag) => document.createElement(tag));
export const svgElement = maker((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));

// label: a text, or nodes.
export function button(label, act, attributes = {}) {
  const made = element("button", { type: "button", ...attributes }, ...[label].flat());
  made.onclick = act;
  return made;
}

// Writing a text triggers a layout even where it is the same text, so it is compared first.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// Fills a node anew where what it is made of is another; the button in it that had the focus keeps it.
export function refill(node, madeOf, make) {
  const written = JSON.stringify(madeOf);
  if (node.dataset.madeOf === written) return;
  node.dataset.madeOf = written;
  const focused = [...node.querySelectorAll("button")].indexOf(node.getRootNode().activeElement);
  node.replaceChildren(...make());
  if (focused >= 0) node.querySelectorAll("button")[focused]?.focus({ preventScroll: true });
}

// Puts other nodes into one; where they are the same, nothing is moved, and where one of them had the focus, it keeps it.
export function setNodes(node, wanted) {
  if (wanted.length === node.children.length && wanted.every((one, at) => node.children[at] === one)) return;
  const focused = node.getRootNode().activeElement;
  node.replaceChildren(...wanted);
  if (node.contains(focused)) focused.focus({ preventScroll: true });
}

// How much the page around a drawing is enlarged, as for a projector; a drawing for a file is in no page.
export function zoomOf(node) {
  return node?.currentCSSZoom || 1;
}

// Where the pointer is in a node, in the pixels in which the node is laid out.
export function localPoint(node, event) {
  const box = node.getBoundingClientRect();
  return [(event.clientX - box.left) / zoomOf(node), (event.clientY - box.top) / zoomOf(node)];
}

// One canvas pixel for each pixel of the screen; drawing stays in CSS pixels.
export function sharpen(canvas, width, height) {
  const ratio = window.devicePixelRatio * zoomOf(canvas);
  const [wide, high] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

// Characters that would be invisible, or would turn their neighbours around, are written as escapes.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

export function visible(token) {
  const shown = token.replace(UNSEEN, (character) => {
    const code = character.charCodeAt(0);
    return { 9: "\\t", 10: "\\n", 13: "\\r" }[code] ?? `\\u${code.toString(16).padStart(4, "0")}`;
  });
  return shown.trim() ? shown : shown ? TEXTS.space : TEXTS.empty;
}

// Places a box that is fixed to the window below what opened it, or above it where there is no room.
export function placeBelow(box, opener, gap = 4, margin = 8) {
  const at = opener.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = box;
  const left = Math.max(margin, Math.min(at.left, innerWidth - width - margin));
  const below = at.bottom + gap;
  const top = below + height < innerHeight ? below : Math.max(margin, at.top - height - gap);
  Object.assign(box.style, { left: `${left}px`, top: `${top}px` });
}

// Places a box about a spot of a picture beside the spot, to the right first; where it would cover it, below. picture: what it stays within.
export function placeBeside(box, picture, [left, top, wide, high], gap = 12) {
  box.style.left = "0"; // as wide as its text
  const [width, room] = [box.offsetWidth, picture.clientWidth];
  const [right, before] = [left + wide + gap, left - gap - width];
  const isBeside = right + width <= room || before >= 0;
  const x = right + width <= room ? right : Math.max(0, isBeside ? before : room - width - gap);
  const y = isBeside ? Math.max(0, Math.min(top, picture.clientHeight - box.offsetHeight)) : top + high + 2;
  Object.assign(box.style, { left: `${x}px`, top: `${y}px` });
}

// What this tab keeps under a name; null where there is nothing, or the browser keeps nothing.
export function readKept(name) {
  try {
    return JSON.parse(sessionStorage.getItem(name));
  } catch {
    return null;
  }
}

// Returns whether it is kept.
export function keep(name, value) {
  try {
    sessionStorage.setItem(name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

// Shortens by whole characters as a reader sees them: no half emoji, no lost accent.
export function fit(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  const parts = Array.from(new Intl.Segmenter().segment(text), (part) => part.segment);
  let [low, high] = [0, parts.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${parts.slice(0, middle).join("")}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return `${parts.slice(0, low).join("")}…`;
}

// Shortened labels and their widths, measured once for a list of tokens.
let measured = new WeakMap();

export function measureLabels(context, tokens, font, width) {
  const known = measured.get(tokens) ?? {};
  const name = `${width} ${font}`;
  known[name] ??= measure(context, tokens, font, width);
  measured.set(tokens, known);
  return known[name];
}

function measure(context, tokens, font, width) {
  context.font = font;
  const texts = tokens.map((token) => fit(context, token, width));
  const widths = texts.map((text) => Math.ceil(context.measureText(text).width));
  return { texts, widths, widest: Math.max(8, ...widths) };
}

// Calls `action` when a font has arrived or the window moved to a screen of another sharpness.
export function watchScreen(action) {
  const redraw = () => {
    measured = new WeakMap();
    action();
  };
  const ratio = window.matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
  document.fonts.addEventListener("loadingdone", redraw);
  ratio.addEventListener("change", redraw);
  return () => {
    document.fonts.removeEventListener("loadingdone", redraw);
    ratio.removeEventListener("change", redraw);
  };
}

// Keeps one drawing for each element of the page: made when the element is first filled, removed when it is gone.
//
// make: draws in an element and returns the drawing, which has a `root`. remove: takes that back. Returns the
// drawing and the function that Streamlit calls at the end. It calls that also when a newer change overtakes this one: then the
// element is still in the page, and the drawing keeps its focus and whatever was opened. The element itself refers to its
// drawing, so that another version of this script, after the server was renewed, replaces it instead of drawing a second one.
export function mountOnce(place, make, remove) {
  const before = place.attentionDrawing;
  if (before && (before.make !== make || !before.drawn.root.isConnected)) before.over();
  if (!place.attentionDrawing) {
    const drawn = make(place);
    const over = () => {
      delete place.attentionDrawing;
      remove(drawn);
    };
    place.attentionDrawing = { make, drawn, over };
  }
  const kept = place.attentionDrawing;
  const end = () => {
    if (!place.isConnected && place.attentionDrawing === kept) kept.over();
  };
  return [kept.drawn, end];
}

// Whether the reader wants nothing to move.
export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
