// One row of controls. What does not fit goes into the menu at its end, the last first; never into a second row.

import { button, element, placeBelow, refill } from "../../canvas/core/surface.js";
import { say } from "../../canvas/core/text.js";
import { TEXTS } from "../../canvas/core/texts.js";

const GAP = 8;

export function iconButton(sign, label, act) {
  return button(sign, act, { class: "icon", "aria-label": label, title: label });
}

// act(direction): 1, −1, or 0 for all in sight.
export function zoomButtons(act) {
  const texts = TEXTS.controls;
  return element("div", { class: "group", role: "group", "aria-label": texts.zoom }, iconButton("−", texts.zoomOut, () => act(-1)),
    iconButton("+", texts.zoomIn, () => act(1)), button(texts.fit, () => act(0), { "aria-label": texts.showAll }));
}

// A switch; `set(on)` shows its state.
export function toggle(label, act, title = "") {
  const made = button(label, () => act(made.ariaPressed !== "true"), { "aria-pressed": "false", ...(title ? { title } : {}) });
  made.set = (on) => { made.ariaPressed = String(on); };
  return made;
}

// A list to choose from; `set(options, value)` fills it, each option [value, label]. A value that is not among them shows as `other`.
export function select(label, act) {
  const made = element("select", { "aria-label": label, title: label });
  made.onchange = () => act(made.value);
  made.set = (options, value, other = "") => {
    const all = options.some(([one]) => one === value) ? options : [["", other], ...options];
    refill(made, all, () => all.map(([one, text]) => element("option", { value: one }, text)));
    made.value = options.some(([one]) => one === value) ? value : "";
  };
  return made;
}

// Buttons of which one is pressed; `set(value)` shows which.
export function segments(label, options, act) {
  const buttons = options.map(([value, text]) => button(text, () => act(value), { "aria-pressed": "false", "data-value": value }));
  const made = element("div", { class: "segments", role: "group", "aria-label": label }, ...buttons);
  made.set = (value) => { for (const one of buttons) one.ariaPressed = String(one.dataset.value === value); };
  return made;
}

// The changes of a run, each undone by a click, and all of them; and what is said of them. change({ drop }): asks for a run without some;
// null where nobody computes one, as in a file or a notebook: then they are words.
export function fillChips(node, { changes, notices }, change) {
  const texts = TEXTS.changed;
  refill(node, [changes, notices], () => [
    ...changes.map(({ link, label }) => {
      if (!change) return element("span", { class: "chip" }, label);
      const chip = button(label, () => change({ drop: [link] }), { class: "chip", "aria-label": say(texts.undo, { change: label }), title: texts.undoHelp });
      chip.append(element("span", { "aria-hidden": "true" }, " ×"));
      return chip;
    }),
    ...(change ? [button(texts.reset, () => change({ drop: changes.map(({ link }) => link) }), { class: "chip quiet", title: texts.resetHelp })] : []),
    ...(notices.length ? [element("span", { class: "quiet-text" }, notices.join(" "))] : []),
  ]);
}

export function labelled(text, control) {
  return element("label", { class: "field" }, element("span", {}, text), control);
}

// A button with a box that opens below it. Returns both in one element; `box` is to be filled.
export function menu(label, attributes = {}) {
  const box = element("div", { class: "menu-box", popover: "auto", role: "group", "aria-label": attributes["aria-label"] ?? label });
  const opener = button(label, () => box.togglePopover(), { "aria-expanded": "false", "aria-haspopup": "true", ...attributes });
  box.addEventListener("beforetoggle", ({ newState }) => {
    opener.ariaExpanded = String(newState === "open");
    if (newState === "open") requestAnimationFrame(() => placeBelow(box, opener));
  });
  box.addEventListener("toggle", ({ newState }) => newState === "open" && placeBelow(box, opener));
  const node = element("div", { class: "menu" }, opener, box);
  return Object.assign(node, { box, opener, close: () => box.matches(":popover-open") && box.hidePopover() });
}

// items: in the order of the row; those that are hidden take no room. scrolls: whether the row now scrolls instead.
export function makeToolbar(items, scrolls = () => false) {
  const more = menu("…", { class: "icon", "aria-label": TEXTS.more, title: TEXTS.more });
  const node = element("div", { class: "toolbar", role: "toolbar", "aria-label": TEXTS.toolbar }, ...items, more);
  const bar = { node, items, placed: items, more, scrolls };
  new ResizeObserver(() => fold(bar)).observe(node);
  return bar;
}

// Measures all controls in the row, and moves the last ones into the menu until the rest fits. Another list of items replaces them.
export function fold(bar) {
  const { node, items, more } = bar;
  const room = bar.scrolls() ? Infinity : node.clientWidth;
  const state = `${room} ${items.map((item) => (item.hidden ? 0 : item.textContent.length)).join()}`;
  const isOther = items.length !== bar.placed.length || items.some((item, place) => item !== bar.placed[place]);
  if (!room || (bar.state === state && !isOther) || (more.box.matches(":popover-open") && !isOther)) return;
  bar.state = state;
  const focused = node.getRootNode().activeElement;
  for (const item of bar.placed) if (!items.includes(item)) item.remove();
  bar.placed = items;
  for (const item of items) node.insertBefore(item, more);
  more.hidden = false;
  const widths = items.map((item) => (item.hidden ? 0 : item.offsetWidth + GAP));
  const all = widths.reduce((sum, width) => sum + width, 0);
  more.hidden = all - GAP <= room;
  if (more.hidden) return again(focused);
  let left = room - more.offsetWidth - GAP;
  let fits = true;
  const folded = items.filter((_, index) => {
    fits &&= widths[index] <= left;
    if (fits) left -= widths[index];
    return !fits;
  });
  more.box.replaceChildren(...folded);
  again(focused);
}

// A control that was moved has lost the focus.
function again(focused) {
  if (focused?.isConnected && focused !== focused.getRootNode().activeElement) focused.focus({ preventScroll: true });
}
