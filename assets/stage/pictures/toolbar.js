// The controls of a stage of pictures: those that the page declares, of which some stand in a row of their own, and the stage's own.

import { element } from "../../canvas/core/surface.js";
import { isChoice, isOn, makeDeclared } from "../core/controls.js";
import { makePresentButton } from "../core/stage.js";
import { fold, makeToolbar } from "../core/toolbar.js";
import { makeExportMenu } from "./export.js";

export function makeControls(stage) {
  const { act } = stage;
  const declared = makeDeclared((name, value) => act.set(name, value), (change) => act.change(change));
  const files = makeExportMenu(stage);
  const present = makePresentButton(stage);
  const own = [files.node, present.node];
  const row = element("div", { class: "parts" });
  const bar = makeToolbar(own, () => !stage.root.classList.contains("wide"));

  const sync = (values) => {
    const shown = stage.header.controls.filter((control) => isChoice(control) && isOn(control.when, values));
    const nodes = declared.sync(shown, ({ name }) => values[name], stage.offline);
    const [early, late] = placeApart(row, shown, nodes);
    showPressed(row);
    bar.items = [stage.training.node, ...early, ...own, ...late];
    files.node.hidden = stage.header.hidden.includes("export") || !stage.rows.length;
    present.sync(stage.rows.length > 0);
    fold(bar);
  };
  return { row, node: bar.node, sync };
}

// Puts the controls that stand apart into a row of their own; returns those before and after the stage's own controls in its toolbar.
function placeApart(row, controls, nodes) {
  const of = (wanted) => nodes.filter((_, place) => wanted(controls[place]));
  const apart = of((control) => control.apart);
  if (apart.length !== row.children.length || apart.some((node, place) => node !== row.children[place])) row.replaceChildren(...apart);
  row.hidden = !apart.length;
  return [false, true].map((isLate) => of((control) => !control.apart && Boolean(control.late) === isLate));
}

// On a narrow screen the row scrolls: a part that was chosen is brought into sight, once.
function showPressed(row) {
  const pressed = row.querySelector('[aria-pressed="true"]');
  const name = pressed?.textContent ?? "";
  if (row.dataset.pressed === name || !row.clientWidth) return;
  row.dataset.pressed = name;
  const [box, own] = [row.getBoundingClientRect(), pressed?.getBoundingClientRect()];
  if (own && (own.left < box.left || own.right > box.right)) row.scrollLeft += own.left - box.left - (box.width - own.width) / 2;
}
