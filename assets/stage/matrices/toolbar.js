// The toolbar of a stage of matrices: the controls that the page declares, and how the matrices are drawn.

import { TEXTS } from "../../canvas/core/texts.js";
import { element } from "../../canvas/core/surface.js";
import { isChoice, isOn, makeDeclared } from "../core/controls.js";
import { button, fold, iconButton, labelled, makeToolbar, menu, toggle } from "../core/toolbar.js";
import { makeExportMenu } from "./export.js";

export function makeControls(stage) {
  const { store, act } = stage;
  const [texts, controls] = [TEXTS.matrices, TEXTS.controls];
  const looks = (name) => stage.header.controls.some((one) => one.name === name && one.looks);
  const ask = (name, value) => (looks(name) ? store.set({ [name]: value }) : act.compute({ [name]: value }));
  const declared = makeDeclared(ask, (change) => act.compute(change));
  const numbers = toggle(texts.numbers, (on) => store.set({ numbers: on }), texts.numbersHelp);
  const slider = element("input", { type: "range", step: "1", "aria-label": texts.dimensions });
  const count = element("output");
  slider.oninput = () => store.set({ dimensions: Number(slider.value) });
  const dimensions = labelled(texts.dimensions, element("span", { class: "slider dimensions" }, slider, count));
  const drawing = menu(texts.view);
  const zoom = element("div", { class: "group", role: "group", "aria-label": controls.zoom }, iconButton("−", controls.zoomOut, () => act.zoom(-1)),
    iconButton("+", controls.zoomIn, () => act.zoom(1)), button(controls.fit, () => act.zoom(0), { "aria-label": controls.showAll }));
  drawing.box.append(dimensions, labelled(controls.zoom, zoom), stage.legend);
  const files = makeExportMenu(stage);
  const present = button(controls.present, () => act.present(), { title: controls.presentHelp });
  const full = iconButton("⛶", controls.full, () => act.full());
  const drawn = [numbers, drawing, files.node, present, full];
  const bar = makeToolbar(drawn);
  const row = element("div", { class: "parts" });

  const sync = (state) => {
    const { controls: asked, hidden, dimensionsShown } = stage.header;
    const offered = (name) => !hidden.includes(name);
    const valueOf = ({ name, value, looks: isLook }) => (isLook ? String(state[name]) : stage.asked[name] ?? value);
    const values = Object.fromEntries(asked.map((control) => [control.name, valueOf(control)]));
    const shown = asked.filter((control) => (!control.late || !stage.offline) && isChoice(control) && isOn(control.when, values));
    const nodes = declared.sync(shown, valueOf, stage.offline);
    const of = (wanted) => nodes.filter((_, place) => wanted(shown[place]));
    const apart = of((control) => control.apart);
    if (apart.length !== row.children.length || apart.some((node, place) => node !== row.children[place])) row.replaceChildren(...apart);
    row.hidden = !apart.length;
    bar.items = [...of((control) => !control.apart && !control.late), ...drawn, ...stage.tools, ...of((control) => !control.apart && control.late)];
    const [least, most] = dimensionsShown ?? [0, 0];
    numbers.hidden = !offered("numbers") || !(most || "numbers" in stage.header.address.defaults);
    numbers.set(state.numbers);
    dimensions.hidden = !offered("dimensions") || !most;
    Object.assign(slider, { min: least, max: most, value: state.dimensions });
    count.textContent = String(state.dimensions);
    drawing.hidden = numbers.hidden && !most;
    files.node.hidden = !offered("export");
    present.hidden = stage.header.alone || stage.offline;
    full.hidden = !document.fullscreenEnabled;
    fold(bar);
  };
  return { node: bar.node, row, sync };
}
