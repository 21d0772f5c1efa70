// The steps of a lesson in a row, each a button: a number or, where it is done, a tick. A click leads to the step.

import { button, element, mountOnce, visible } from "../core/surface.js";
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

function fillStrip(strip, { parts, here, alt }, setTriggerValue) {
  applyTheme(strip.root);
  strip.root.setAttribute("aria-label", visible(alt));
  strip.list.replaceChildren(...parts.map(({ name, done, waits, state, elsewhere }, step) => {
    const mark = element("span", { class: "mark", "aria-hidden": "true" }, done ? "✓" : String(step + 1));
    const label = element("span", { class: "label" }, visible(name));
    const made = button([mark, label, element("span", { class: "state" }, `(${state})`)], () => step !== here && setTriggerValue("go", step), { title: visible(name), ...(step === here ? { "aria-current": "step" } : {}) });
    made.classList.toggle("done", done);
    made.classList.toggle("waits", waits); // and says so below its name
    if (elsewhere) made.dataset.leads = "elsewhere";
    return element("li", {}, made);
  }));
}
