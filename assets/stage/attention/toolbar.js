// The controls of the stage of Attention: what only changes the look changes the state; what computes is reported.

import { TEXTS } from "../../canvas/core/texts.js";
import { element } from "../../canvas/core/surface.js";
import { filled } from "../../canvas/core/text.js";
import { fold, iconButton, button, labelled, makeToolbar, menu, segments, select, toggle } from "../core/toolbar.js";
import { headName } from "../core/sentences.js";
import { makeChangeMenu } from "./changes.js";
import { makeExportMenu } from "./export.js";

// stage: see attention.js. Returns the row, and `sync`, which shows the state.
export function makeControls(stage) {
  const { store, act } = stage;
  const texts = TEXTS.controls;
  const set = (name) => (value) => store.set({ [name]: value });
  const stack = select(texts.stack, (kind) => store.set({ stack: kind, heads: [[0, 0]], focus: null }));
  const layer = select(texts.layer, (value) => act.chooseHead([Number(value), store.get().heads.at(-1)[1]]));
  const head = select(texts.head, (value) => act.chooseHead([store.get().heads.at(-1)[0], Number(value)]));
  const before = iconButton("◀", texts.headBefore, () => act.stepHead(-1));
  const after = iconButton("▶", texts.headAfter, () => act.stepHead(1));
  const chooser = element("div", { class: "group" }, layer, head, before, after);
  const all = toggle(texts.allHeads, (on) => store.set({ wallOpen: on }));
  const words = toggle(texts.words, set("words"), texts.wordsHelp);
  const hide = toggle(texts.hide, set("hide"), texts.hideHelp);
  const off = button(texts.off, () => act.switchHeads());
  const change = makeChangeMenu(stage);
  const show = segments(texts.show, Object.entries(texts.shows), set("show"));
  const drawing = menu(texts.view);
  const scale = select(texts.scale, set("scale"));
  const lines = element("input", { type: "range", min: "1", max: "200", "aria-label": texts.lines });
  const count = element("output");
  lines.oninput = () => store.set({ lines: Number(lines.value) });
  const scaleField = labelled(texts.scale, scale);
  const linesField = labelled(texts.lines, element("span", { class: "slider" }, lines, count));
  const showField = labelled(texts.show, show);
  drawing.box.append(showField, scaleField, linesField);
  const zoom = element("div", { class: "group", role: "group", "aria-label": texts.zoom }, iconButton("−", texts.zoomOut, () => act.zoom(-1)),
    iconButton("+", texts.zoomIn, () => act.zoom(1)), button(texts.fit, () => act.zoom(0), { "aria-label": texts.showAll }));
  const files = makeExportMenu(stage);
  const present = button(texts.present, () => act.present(), { title: texts.presentHelp });
  const full = iconButton("⛶", texts.full, () => act.full());
  const items = [stack, chooser, all, words, hide, off, change.node, drawing, files.node, zoom, present, full];
  const bar = makeToolbar(items);

  const offered = (name) => !stage.header.hidden.includes(name);
  const sync = (state) => {
    const { stacks } = stage.header;
    const shown = stacks[state.stackNumber];
    stack.hidden = stacks.length < 2;
    stack.set(stacks.map(({ kind }) => [kind, stage.header.kinds[kind]]), shown.kind);
    const several = state.heads.length > 1;
    const [[first, second]] = state.heads;
    const numbered = (size, text) => Array.from({ length: size }, (_, number) => [String(number), filled(text, { number: number + 1 }).join("")]);
    layer.set(numbered(shown.layers, texts.layerNumber), several ? null : String(first), headName(state.heads));
    head.set(numbered(shown.heads, texts.headNumber), several ? null : String(second), "–");
    chooser.hidden = !offered("heads");
    all.hidden = !offered("heads") || offered("wall");
    all.set(state.wallOpen);
    words.hidden = !offered("words");
    words.set(state.words);
    hide.hidden = !offered("hide");
    hide.set(state.hide);
    const isOff = act.areOff(state.heads);
    const name = several ? filled(texts.theseHeads, { count: state.heads.length }).join("") : "";
    off.textContent = isOff ? texts.on : texts.off;
    off.setAttribute("aria-label", filled(isOff ? texts.onHead : texts.offHead, { head: name || headName(state.heads).toLowerCase() }).join(""));
    off.hidden = !offered("changes");
    change.node.hidden = !offered("changes") || !offered("change_panel");
    change.sync(state);
    showField.hidden = !offered("show");
    show.set(state.show);
    drawing.hidden = !["show", "scale", "lines"].some(offered);
    scaleField.hidden = !offered("scale");
    linesField.hidden = !offered("lines");
    scale.set(stage.header.scales.map((one) => [one, one[0].toUpperCase() + one.slice(1)]), state.scale);
    lines.value = String(state.lines);
    count.textContent = String(state.lines);
    files.node.hidden = !offered("export");
    zoom.hidden = !act.canZoom();
    present.hidden = stage.header.alone || stage.offline;
    full.hidden = !document.fullscreenEnabled;
    fold(bar);
  };
  return { node: bar.node, sync };
}
