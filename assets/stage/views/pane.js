// The boxes of maps that are larger than the space for them, and a row chosen by keys.

import { stepByKey } from "../../canvas/core/keys.js";
import { element, localPoint, sharpen } from "../../canvas/core/surface.js";

// A box that scrolls over a picture larger than itself while its canvas stays put: only what is in sight
// is ever drawn, so that 512 tokens need no larger canvas than 5, and touch panning is the browser's own.
export function makePane(name, testid) {
  const canvas = element("canvas", { role: "img", "data-testid": testid });
  const sizer = element("div", { class: "sizer" }, canvas);
  const scroller = element("div", { class: "scroller", tabindex: "0", role: "group", "aria-label": name }, sizer);
  const node = element("div", { class: "pane" }, scroller);
  return { node, canvas, sizer, scroller };
}

// Sizes the box, and its contents larger by what is hidden of the picture.
export function layPane(pane, box, hidden) {
  pane.node.style.width = `${box.width}px`;
  pane.scroller.style.height = `${box.height}px`;
  pane.scroller.classList.toggle("still", hidden.width < 1 && hidden.height < 1);
  pane.sizer.style.width = `${pane.scroller.clientWidth + Math.floor(hidden.width)}px`;
  pane.sizer.style.height = `${pane.scroller.clientHeight + Math.floor(hidden.height)}px`;
}

export function paneContext(pane) {
  return sharpen(pane.canvas, pane.scroller.clientWidth, pane.scroller.clientHeight);
}

export function scrollOf(pane) {
  return { x: pane.scroller.scrollLeft, y: pane.scroller.scrollTop };
}

// Brings [start, end] of the contents into the part of the box below `covered` pixels.
export function reveal(pane, start, end, covered) {
  const { scroller } = pane;
  const seen = scroller.clientHeight - covered;
  if (start < scroller.scrollTop) scroller.scrollTop = start;
  else if (end > scroller.scrollTop + seen) scroller.scrollTop = end - seen;
}

export function pointIn(pane, event) {
  return localPoint(pane.canvas, event);
}

// The row that a key chooses, null for none; undefined for a key that means nothing here.
export function rowByKey(event, focus, rows) {
  if (event.ctrlKey || event.metaKey || event.altKey || ["ArrowLeft", "ArrowRight"].includes(event.key)) return undefined;
  return event.key === "Escape" ? null : stepByKey(event, focus, rows) ?? undefined;
}
