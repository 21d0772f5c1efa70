// The steps of a lesson in a row, each a button: a number or, where it is done, a tick. A click leads to the step.

import { element, mountOnce, visible } from "../core/surface.js";
import { applyTheme } from "../core/theme.js";

export default function mountStrip({ data, parentElement, setTriggerValue }) {
  const [strip, end] = mountOnce(parentElement, makeStrip, ({ root }) => root.remove());
  fillStrip(strip, data, setTriggerValue);
  return end;
}

function makeStrip(parent) {
  const list = element("ol");
  const root = element("nav", { class: "strip", "data-testid": "step-strip" }, list);
  parent.querySelector(".step-strip").append(root);
  return { root, list };
}

function fillStrip(strip, { names, done, waits, states, elsewhere, here, alt }, setTriggerValue) {
  applyTheme(strip.root);
  strip.root.setAttribute("aria-label", visible(alt));
  strip.list.replaceChildren(...names.map((name, step) => {
    const mark = element("span", { class: "mark", "aria-hidden": "true" }, done[step] ? "✓" : String(step + 1));
    const label = element("span", { class: "label" }, visible(name));
    const state = element("span", { class: "state" }, `(${states[step]})`);
    const button = element("button", { type: "button", title: visible(name) }, mark, label, state);
    if (step === here) button.setAttribute("aria-current", "step");
    button.classList.toggle("done", done[step]);
    button.classList.toggle("waits", waits[step]); // and says so below its name
    if (elsewhere[step]) button.dataset.leads = "elsewhere";
    button.onclick = () => step !== here && setTriggerValue("go", step);
    return element("li", {}, button);
  }));
}
