// Controls of a toolbar that a page declares: see pages/ui/stage/controls.py. One that looks changes the state; any other is reported.

import { element } from "../../canvas/core/surface.js";
import { button, iconButton, segments, select, toggle } from "./toolbar.js";

const flag = (on) => (on ? "1" : "0");
const several = (written) => (written === "none" || !written ? [] : written.split("-"));

// ask(name, written) takes in a choice. `sync(controls, valueOf, disabled)` returns the nodes of the row; one is made once for its name.
export function makeDeclared(ask, changes) {
  const known = new Map();
  const sync = (controls, valueOf, disabled) => {
    const nodes = controls.map((control) => {
      const name = `${control.kind} ${control.name}`;
      if (!known.has(name)) known.set(name, MAKERS[control.kind](control, ask));
      const made = known.get(name);
      made.set(control, valueOf(control));
      if (control.arrows && !made.arrows) withArrows(made, control);
      made.step = (by) => changes(stepped(controls, control, valueOf, by));
      const node = made.arrows ?? made.node;
      for (const one of [node, ...node.querySelectorAll("button,select,input")]) if ("disabled" in one) one.disabled = disabled && !control.looks;
      return node;
    });
    return nodes;
  };
  return { sync };
}

function withArrows(made, { arrows: [before, after] }) {
  made.arrows = element("div", { class: "group" }, made.node, iconButton("◀", before, () => made.step(-1)), iconButton("▶", after, () => made.step(1)));
}

// The next choice of a list, and of the list that it carries over into: from the last head to the first one of the next layer.
function stepped(controls, control, valueOf, by) {
  const place = control.options.findIndex(([value]) => value === valueOf(control)) + by;
  const next = (place + control.options.length) % control.options.length;
  const change = { [control.name]: control.options[next][0] };
  const carried = controls.find(({ name }) => name === control.carries);
  return next === place || !carried ? change : { ...stepped(controls, carried, valueOf, by), ...change };
}

const MAKERS = {
  list(control, ask) {
    const node = select(control.label, (value) => ask(control.name, value));
    return { node, set: ({ options, other }, value) => node.set(options, value, other) };
  },
  segments(control, ask) {
    const node = segments(control.label, control.options, (value) => ask(control.name, value));
    node.title = control.help;
    return { node, set: (_, value) => node.set(value) };
  },
  switch(control, ask) {
    const node = toggle(control.label, (on) => ask(control.name, flag(on !== control.inverted)), control.help);
    return { node, set: (_, value) => node.set((value === "1") !== control.inverted) };
  },
  number(control, ask) {
    const { label, help, limits: [least, most] } = control;
    const number = element("input", { type: "number", min: String(least), max: String(most), step: "1", "aria-label": label, title: help });
    number.onchange = () => ask(control.name, String(Math.min(most, Math.max(least, Math.round(Number(number.value)) || least))));
    const node = element("label", { class: "group" }, element("span", { class: "quiet-text" }, label), number);
    return { node, set(_, value) { if (number !== number.getRootNode().activeElement) number.value = value; } };
  },
  // Buttons of which several are pressed; links write their values as 1-2-5, or none.
  several(control, ask) {
    const node = element("div", { class: "group several", role: "group", "aria-label": control.label });
    const set = ({ options, label, most }, value) => {
      const chosen = several(value);
      const written = JSON.stringify(options);
      if (node.dataset.options !== written) {
        node.dataset.options = written;
        node.replaceChildren(element("span", { class: "quiet-text" }, label), ...options.map(([one, text]) => button(text, () => {
          const now = several(made.value);
          const rest = now.filter((other) => other !== one);
          const next = rest.length < now.length ? rest : [...(most && now.length >= most ? now.slice(1) : now), one];
          const places = options.map(([other]) => other);
          ask(control.name, next.sort((first, second) => places.indexOf(first) - places.indexOf(second)).join("-") || "none");
        }, { "data-value": one })));
      }
      made.value = value;
      for (const one of node.querySelectorAll("button")) one.ariaPressed = String(chosen.includes(one.dataset.value));
    };
    const made = { node, set, value: "" };
    return made;
  },
};
