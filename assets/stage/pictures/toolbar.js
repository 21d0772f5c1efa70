// The controls of a stage of pictures: those that the page declares, of which some stand in a row of their own, and the stage's own.

import { TEXTS } from "../../canvas/core/texts.js";
import { element } from "../../canvas/core/surface.js";
import { isChoice, isOn, makeDeclared } from "../core/controls.js";
import { button, fold, iconButton, makeToolbar } from "../core/toolbar.js";
import { makeExportMenu } from "./export.js";

export function makeControls(stage) {
  const { act } = stage;
  const declared = makeDeclared((name, value) => act.set(name, value), (change) => act.change(change));
  const files = makeExportMenu(stage);
  const present = button(TEXTS.controls.present, () => act.present(), { title: TEXTS.controls.presentHelp });
  const full = iconButton("⛶", TEXTS.controls.full, () => act.full());
  const own = [files.node, present, full];
  const row = element("div", { class: "parts" });
  const bar = makeToolbar(own, () => !stage.root.classList.contains("wide"));

  const sync = (values) => {
    const shown = stage.header.controls.filter((control) => isChoice(control) && isOn(control.when, values));
    const nodes = declared.sync(shown, ({ name }) => values[name], stage.offline);
    const of = (wanted) => nodes.filter((_, place) => wanted(shown[place]));
    const apart = of((control) => control.apart);
    if (apart.length !== row.children.length || apart.some((node, place) => node !== row.children[place])) row.replaceChildren(...apart);
    row.hidden = !apart.length;
    showPressed(row);
    bar.items = [stage.training.node, ...of((control) => !control.apart && !control.late), ...own, ...of((control) => !control.apart && control.late)];
    files.node.hidden = stage.header.hidden.includes("export") || !stage.rows.length;
    present.hidden = stage.header.alone || stage.offline || !stage.rows.length;
    full.hidden = !document.fullscreenEnabled || !stage.rows.length;
    fold(bar);
  };
  return { row, node: bar.node, sync };
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
