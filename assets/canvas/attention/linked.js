// What linked maps have in common: they are drawn when there is time, share one pointer, and choose a row by the keys.

import { placeTooltip } from "./readout.js";
import { localPoint, watchScreen } from "../core/surface.js";

// Puts a view on the page; from then on `paint` follows its width and the screen.
export function watchView(view, parent, paint) {
  view.paint = paint;
  (parent.querySelector(".attention-view") ?? parent).append(view.root);
  view.observer = new ResizeObserver(() => later(view));
  view.observer.observe(view.root);
  view.stopWatching = watchScreen(() => later(view));
}

export function removeView(view) {
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
