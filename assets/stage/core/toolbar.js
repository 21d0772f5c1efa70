// A toolbar, which wraps where there is room and scrolls on a narrow screen; and its controls.

import { button, element, placeBelow, refill } from "../../canvas/core/surface.js";
import { say } from "../../canvas/core/text.js";
import { TEXTS } from "../../canvas/core/texts.js";

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
export function menu(label) {
  const box = element("div", { class: "menu-box", popover: "auto", role: "group", "aria-label": label });
  const opener = button(label, null, { "aria-haspopup": "true" });
  opener.popoverTargetElement = box;
  box.addEventListener("beforetoggle", ({ newState }) => {
    if (newState === "open") requestAnimationFrame(() => placeBelow(box, opener));
    else if (box.matches(":focus-within")) opener.focus(); // Escape leads back to the button
  });
  return Object.assign(element("div", { class: "menu" }, opener, box), { box });
}

export function makeToolbar(...items) {
  return element("div", { class: "toolbar", role: "toolbar", "aria-label": TEXTS.toolbar }, ...items);
}
