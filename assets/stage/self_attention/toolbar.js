// The controls of the stage of Self-attention: what only changes the look changes the state; what computes is reported.

import { TEXTS } from "../../canvas/core/texts.js";
import { element } from "../../canvas/core/surface.js";
import { filled } from "../../canvas/core/text.js";
import { button, fold, iconButton, labelled, makeToolbar, menu, segments, select, toggle } from "../core/toolbar.js";
import { makeExportMenu } from "./export.js";

export function makeControls(stage) {
  const { store, act } = stage;
  const [texts, controls] = [TEXTS.matrices, TEXTS.controls];
  const ask = (name, write = String) => (value) => act.compute({ [name]: write(value) });
  const flag = (on) => (on ? "1" : "0");
  const weights = select(texts.weights, ask("weights"));
  const layer = select(controls.layer, ask("layer"));
  const head = select(controls.head, ask("head"));
  const before = iconButton("◀", controls.headBefore, () => act.stepHead(-1));
  const after = iconButton("▶", controls.headAfter, () => act.stepHead(1));
  const chooser = element("div", { class: "group" }, layer, head, before, after);
  const number = element("input", { type: "number", min: "1", max: "999", step: "1", "aria-label": texts.seed, title: texts.seedHelp });
  number.onchange = () => act.compute({ seed: String(Math.min(999, Math.max(1, Math.round(Number(number.value)) || 1))) });
  const seed = element("label", { class: "group" }, element("span", { class: "quiet-text" }, texts.seed), number);
  const normalise = segments(texts.normalise, Object.entries(texts.normaliseOptions), ask("normalise"));
  normalise.title = texts.normaliseHelp;
  const scaled = toggle(texts.scaled, ask("unscaled", (on) => flag(!on)), texts.scaledHelp);
  const causal = toggle(texts.causal, ask("causal", flag), texts.causalHelp);
  const numbers = toggle(texts.numbers, (on) => store.set({ numbers: on }), texts.numbersHelp);
  const bare = toggle(texts.nospecial, ask("nospecial", flag), texts.nospecialHelp);
  const slider = element("input", { type: "range", step: "1", "aria-label": texts.dimensions });
  const count = element("output");
  slider.oninput = () => store.set({ dimensions: Number(slider.value) });
  const dimensions = element("label", { class: "slider dimensions" }, element("span", { class: "quiet-text" }, texts.dimensions), slider, count);
  const drawing = menu(texts.view);
  const zoom = element("div", { class: "group", role: "group", "aria-label": controls.zoom }, iconButton("−", controls.zoomOut, () => act.zoom(-1)),
    iconButton("+", controls.zoomIn, () => act.zoom(1)), button(controls.fit, () => act.zoom(0), { "aria-label": controls.showAll }));
  drawing.box.append(labelled(texts.dimensions, dimensions), labelled(controls.zoom, zoom), stage.legend);
  dimensions.firstChild.remove(); // the label above it says the same
  const files = makeExportMenu(stage);
  const present = button(controls.present, () => act.present(), { title: controls.presentHelp });
  const full = iconButton("⛶", controls.full, () => act.full());
  const items = [chooser, weights, seed, normalise, scaled, causal, numbers, drawing, files.node, present, full, bare];
  const bar = makeToolbar(items);

  const sync = (state) => {
    const { settings, sizes, hiddenSettings, dimensionsShown: [least, most] } = stage.header;
    const now = { ...settings, ...stage.asked };
    const offered = (name) => !hiddenSettings.includes(name);
    const numbered = (size, text) => Array.from({ length: size }, (_, place) => [String(place + 1), filled(text, { number: place + 1 }).join("")]);
    weights.hidden = !offered("weights");
    weights.set(Object.entries(texts.weightsOptions).map(([name, label]) => [name, `${label}`]), now.weights);
    layer.set(numbered(sizes.layers, controls.layerNumber), String(now.layer));
    layer.hidden = !offered("layer");
    head.set(numbered(sizes.heads, controls.headNumber), String(now.head));
    head.hidden = before.hidden = after.hidden = !offered("head") || now.weights !== "trained";
    chooser.hidden = layer.hidden && head.hidden;
    seed.hidden = !offered("seed") || now.weights !== "random";
    if (number !== number.getRootNode().activeElement) number.value = String(now.seed);
    normalise.hidden = !offered("normalise");
    normalise.set(now.normalise);
    scaled.hidden = !offered("unscaled");
    scaled.set(!Number(now.unscaled));
    causal.hidden = !offered("causal");
    causal.set(Boolean(Number(now.causal)));
    numbers.hidden = !offered("numbers");
    numbers.set(state.numbers);
    bare.hidden = !offered("nospecial") || stage.offline;
    bare.set(Boolean(Number(now.nospecial)));
    dimensions.parentElement.hidden = !offered("dimensions");
    Object.assign(slider, { min: least, max: most, value: state.dimensions });
    count.textContent = String(state.dimensions);
    files.node.hidden = !offered("export");
    for (const made of [weights, layer, head, before, after, number, scaled, causal, ...normalise.children]) made.disabled = stage.offline;
    present.hidden = stage.header.alone || stage.offline;
    full.hidden = !document.fullscreenEnabled;
    fold(bar);
  };
  return { node: bar.node, sync };
}
