// Controls of a toolbar that a page declares: see pages/ui/stage/controls.py. One that looks changes the state; any other is reported.

import { button, element, refill } from "../../canvas/core/surface.js";
import { flag } from "./address.js";
import { iconButton, segments, select, toggle } from "./toolbar.js";

const several = (written) => (written === "none" || !written ? [] : written.split("-"));

// Whether fields have the values that something is shown for: see `Conditions` there.
export const isOn = (when, values) => Object.entries(when).every(([name, wanted]) => wanted.includes(values[name]));

// Whether there is something to choose: the level may leave one option.
export const isChoice = ({ kind, options }) => !["list", "segments"].includes(kind) || options.length > 1;

// ask(name, written) takes in a choice. `sync(controls, valueOf, disabled)` returns the nodes of the row; one is made once for its name.
export function makeDeclared(ask, changes) {
  const known = new Map();
  const sync = (controls, valueOf, disabled) => {
    const nodes = controls.map((control) => {
      const name = `${control.kind} ${control.name} ${control.kind === "segments" ? JSON.stringify(control.options) : ""}`;
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

const named = (label, control) => element("label", { class: "group" }, element("span", { class: "quiet-text" }, label), control);

const MAKERS = {
  list(control, ask) {
    const list = select(control.label, (value) => ask(control.name, value));
    return { node: control.labelled ? named(control.label, list) : list, set: ({ options, other }, value) => list.set(options, value, other) };
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
    return { node: named(label, number), set(_, value) { if (number !== number.getRootNode().activeElement) number.value = value; } };
  },
  slider({ name, label, help, looks }, ask) {
    const slider = element("input", { type: "range", "aria-label": label, title: help });
    const count = element("output");
    slider.oninput = () => (looks ? ask(name, slider.value) : (count.textContent = slider.value));
    slider.onchange = () => ask(name, slider.value);
    const node = element("label", { class: "slider" }, element("span", { class: "quiet-text" }, label), slider, count);
    const set = ({ limits: [min, max], step }, value) => {
      Object.assign(slider, { min, max, step });
      slider.value = count.textContent = value;
    };
    return { node, set };
  },
  press({ name, label }, ask) {
    const made = { node: button(label, () => ask(name, made.value)), set: ({ options: [[value]] }) => { made.value = value; } };
    return made;
  },
  // Whole numbers in a box: one that makes no sense is explained beside it, and what is being typed stays as it is.
  numbers({ name, label }, ask) {
    const box = element("input", { type: "text", class: "numbers", autocomplete: "off", inputmode: "numeric", "aria-label": label });
    const problem = element("span", { class: "problem", role: "alert" });
    let [asked, control] = [null, null];
    const check = () => {
      const { limits: [least, most], most: count } = control;
      const words = box.value.replaceAll(",", " ").split(/\s+/).filter(Boolean);
      const numbers = words.map(Number);
      const areGood = words.length <= count && new Set(numbers).size === words.length && words.every((word, at) => /^\d{1,5}$/.test(word) && numbers[at] >= least && numbers[at] <= most);
      problem.textContent = areGood ? "" : control.problem;
      box.ariaInvalid = String(!areGood);
      return areGood ? numbers.join("-") : null;
    };
    box.oninput = () => {
      const written = check();
      if (written !== null) ask(name, (asked = written));
    };
    const set = (now, value) => {
      control = now;
      box.title = now.help;
      if (asked !== value && !problem.textContent) box.value = value.replaceAll("-", " ");
      asked = value;
      if (problem.textContent) check();
    };
    return { node: element("label", { class: "group" }, element("span", { class: "quiet-text" }, label), box, problem), set };
  },
  // Buttons of which several are pressed; links write their values as 1-2-5, or none.
  several(control, ask) {
    const node = element("div", { class: "group several", role: "group", "aria-label": control.label });
    const set = ({ options, label, most }, value) => {
      const chosen = several(value);
      refill(node, options, () => [element("span", { class: "quiet-text" }, label), ...options.map(([one, text]) => button(text, () => {
        const now = several(made.value);
        const rest = now.filter((other) => other !== one);
        const next = rest.length < now.length ? rest : [...(most && now.length >= most ? now.slice(1) : now), one];
        ask(control.name, options.map(([other]) => other).filter((other) => next.includes(other)).join("-") || "none");
      }, { "data-value": one }))]);
      made.value = value;
      for (const one of node.querySelectorAll("button")) one.ariaPressed = String(chosen.includes(one.dataset.value));
    };
    const made = { node, set, value: "" };
    return made;
  },
};
