// The boxes of maps that are larger than the space for them, and what linked maps have in common.

import { unpack } from "../core/bytes.js";
import { element, localPoint, mountOnce, pendingChoice, sharpen, throttle, timestamped, watchScreen } from "../core/surface.js";
import { placeTooltip } from "./readout.js";

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

// --- Linked maps: drawn in the next animation frame, with one pointer, and a row chosen by keys.

// Mounts a view, which `makeView(parent, texts)` makes and `receive(view, message)` fills; the focused row is sent to the page.
export function mountLinked({ data, parentElement, setStateValue }, makeView, receive) {
  const sent = unpack(data);
  const [view, end] = mountOnce(parentElement, makeView, removeView, sent.header.texts);
  view.send = (focus) => setStateValue("focus", timestamped(focus));
  receive(view, sent);
  return end;
}

// What every view has beside its own parts.
export function makeLinked(own) {
  const view = { ...own, focus: null, hover: null, echo: pendingChoice(), paints: 0, frame: null };
  view.notify = throttle((focus) => view.send(focus), 60);
  return view;
}

// Puts a view on the page; from then on `paint` follows its width and the screen.
export function watchView(view, parent, paint) {
  view.paint = paint;
  (parent.querySelector(".attention-view") ?? parent).append(view.root);
  view.observer = new ResizeObserver(() => later(view));
  view.observer.observe(view.root);
  view.stopWatching = watchScreen(() => later(view));
}

function removeView(view) {
  view.observer.disconnect();
  view.stopWatching();
  if (view.frame !== null) cancelAnimationFrame(view.frame);
  view.root.remove();
}

export function later(view) {
  view.frame ??= requestAnimationFrame(() => {
    view.frame = null;
    view.paint(view);
  });
}

// Marks what is pointed at; `fill` fills the tooltip, which goes where the pointer is.
export function pointAt(view, hover, event, fill) {
  view.tooltip.hidden = hover === null;
  if (hover !== null && event) {
    fill(hover);
    const [width, height] = [view.root.offsetWidth, view.root.offsetHeight];
    placeTooltip(view.tooltip, { width, height }, ...localPoint(view.root, event));
  }
  if (hover?.query === view.hover?.query && hover?.key === view.hover?.key) return;
  view.hover = hover;
  later(view);
}

export function stepped(focus, step, last) {
  if (focus === null) return step > 0 ? 0 : last;
  return Math.min(last, Math.max(0, focus + step));
}

// The row that a key chooses, null for none; undefined for a key that means nothing here.
export function rowByKey(event, focus, last) {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  const chosen = { ArrowUp: () => stepped(focus, -1, last), ArrowDown: () => stepped(focus, 1, last), Home: () => 0, End: () => last, Escape: () => null };
  return chosen[event.key]?.();
}
