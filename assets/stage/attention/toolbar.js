// The controls of the stage of Attention: what only changes the look changes the state; what computes is reported.

import { mapsDrawing } from "../../canvas/attention/map.js";
import { SCALES } from "../../canvas/core/palette.js";
import { button, element } from "../../canvas/core/surface.js";
import { say } from "../../canvas/core/text.js";
import { TEXTS } from "../../canvas/core/texts.js";
import { closed, csvText, makeExport, withOrigin } from "../core/export_menu.js";
import { headName } from "../core/sentences.js";
import { makePresentButton } from "../core/stage.js";
import { iconButton, labelled, makeToolbar, menu, segments, select, toggle, zoomButtons } from "../core/toolbar.js";
import { makeChangeMenu } from "./changes.js";

// Layer and head, each a list, and the head before and after. options: `name` of the group, `field` of the heads, `stackOf(state)`, and
// `mean`, what a head that is the mean of its layer is called, where one may be chosen.
export function makeChooser({ store }, { name = "", field = "heads", stackOf, isOffered = () => true, mean = "" }) {
  const texts = TEXTS.controls;
  const now = () => stackOf(store.get());
  const isMean = (heads) => Boolean(mean) && heads.length > 1;
  const choose = (layer, head) => store.set({ [field]: head === MEAN ? Array.from({ length: now().heads }, (_, number) => [layer, number]) : [[layer, Number(head)]] });
  const headOf = (heads) => (isMean(heads) ? MEAN : String(heads.at(-1)[1]));
  const layer = select(`${name} ${texts.layer}`.trim(), (value) => choose(Number(value), headOf(store.get()[field])));
  const head = select(`${name} ${texts.head}`.trim(), (value) => choose(store.get()[field].at(-1)[0], value));
  const step = (by) => {
    const { layers, heads } = now();
    const chosen = store.get()[field];
    const [one, other] = chosen.at(-1);
    if (isMean(chosen)) return choose((one + by + layers) % layers, MEAN);
    const next = (one * heads + other + by + layers * heads) % (layers * heads);
    return choose(Math.floor(next / heads), next % heads);
  };
  const node = element("div", { class: "group", ...(name ? { role: "group", "aria-label": name } : {}) }, ...(name ? [element("span", { class: "quiet-text" }, name)] : []), layer, head,
    iconButton("◀", `${name} ${texts.headBefore}`.trim(), () => step(-1)), iconButton("▶", `${name} ${texts.headAfter}`.trim(), () => step(1)));
  const sync = (state) => {
    const { layers, heads } = now();
    const chosen = state[field];
    const several = chosen.length > 1 && !isMean(chosen);
    layer.set(numbered(layers, texts.layerNumber), several ? null : String(chosen[0][0]), headName(chosen));
    head.set([...(mean ? [[MEAN, mean]] : []), ...numbered(heads, texts.headNumber)], several ? null : headOf(chosen), "–");
    node.hidden = !isOffered(state);
  };
  return { node, sync };
}

const MEAN = "mean";
const numbered = (size, text) => Array.from({ length: size }, (_, number) => [String(number), say(text, { number: number + 1 })]);
const chooser = (stage) => [makeChooser(stage, { stackOf: ({ stackNumber }) => stage.header.stacks[stackNumber], isOffered: () => !stage.header.hidden.includes("heads") })];

// stage: see attention.js. Returns the row, and `sync`, which shows the state.
export function makeControls(stage) {
  const { store, act } = stage;
  const texts = TEXTS.controls;
  const set = (name) => (value) => store.set({ [name]: value });
  const stack = select(texts.stack, (kind) => store.set({ stack: kind, heads: [[0, 0]], focus: null }));
  const choosers = (stage.parts.choosers ?? chooser)(stage);
  const all = toggle(texts.allHeads, (on) => store.set({ wallOpen: on }));
  const words = toggle(texts.words, set("words"), texts.wordsHelp);
  const hide = toggle(texts.hide, set("hide"), texts.hideHelp);
  const off = button(texts.off, () => act.switchHeads());
  const change = makeChangeMenu(stage);
  const show = segments(texts.show, Object.entries(texts.shows), set("show"));
  const scale = select(texts.scale, set("scale"));
  const lines = element("input", { type: "range", min: "1", max: "200", "aria-label": texts.lines });
  const count = element("output");
  lines.oninput = () => store.set({ lines: Number(lines.value) });
  const drawing = menu(texts.view);
  const fields = { show: labelled(texts.show, show), scale: labelled(texts.scale, scale), lines: labelled(texts.lines, element("span", { class: "slider" }, lines, count)) };
  const zoom = labelled(texts.zoom, zoomButtons(act.zoom));
  drawing.box.append(...Object.values(fields), zoom);
  const looks = [["words", words], ["hide", hide], ["show", show, fields.show],
    ["scale", { set: (value) => scale.set(Object.keys(SCALES).map((one) => [one, one[0].toUpperCase() + one.slice(1)]), value) }, fields.scale],
    ["lines", { set: (value) => { lines.value = count.textContent = String(value); } }, fields.lines]];
  const files = makeExportMenu(stage);
  const present = makePresentButton(stage);
  const first = stage.parts.controls?.(stage) ?? [];
  const items = [...first, stack, ...choosers.map(({ node }) => node), all, words, hide, off, change.node, drawing, files, present.node];

  const offered = (name) => !stage.header.hidden.includes(name);
  const sync = (state) => {
    const { stacks } = stage.header;
    const shown = stacks[state.stackNumber];
    stack.hidden = stacks.length < 2;
    stack.set(stacks.map(({ kind }) => [kind, stage.header.kinds[kind]]), shown.kind);
    const several = state.heads.length > 1;
    for (const one of choosers) one.sync(state);
    all.hidden = !offered("heads") || offered("wall");
    all.set(state.wallOpen);
    for (const [name, control, field = control] of looks) {
      field.hidden = !offered(name);
      control.set(state[name]);
    }
    const isOff = act.areOff(state.heads);
    const name = several ? say(texts.theseHeads, { count: state.heads.length }) : "";
    off.textContent = isOff ? texts.on : texts.off;
    off.setAttribute("aria-label", say(isOff ? texts.onHead : texts.offHead, { head: name || headName(state.heads).toLowerCase() }));
    off.hidden = !offered("changes");
    change.node.hidden = !offered("changes") || !offered("change_panel");
    change.sync(state);
    zoom.hidden = !act.canZoom();
    drawing.hidden = zoom.hidden && !["show", "scale", "lines"].some(offered);
    files.hidden = !offered("export");
    present.sync();
    if (stage.parts.figure?.(stage)) for (const item of items) if (![...first, change.node, files, present.node].includes(item)) item.hidden = true; // controls of the map
  };
  return { node: makeToolbar(...items), sync };
}

// --- Files

function makeExportMenu(stage) {
  const files = stage.parts.files ?? { captionOf, csvOf, fileName };
  const other = () => stage.parts.figure?.(stage);
  return makeExport({
    stage, csvLabel: TEXTS.export.csv, script: `${stage.parts.entry ?? "attention"}.js`,
    drawing: () => other()?.drawing() ?? mapOfFigure(stage), captionOf: () => other()?.captionOf() ?? files.captionOf(stage), csv: () => other()?.csv() ?? files.csvOf(stage),
    message: () => stage.act.wholeMessage(), name: () => (other() ? `${stage.header.stem}-routes` : files.fileName(stage)), other: () => stage.parts.otherFigure?.(stage) ?? null,
    film: () => other()?.film?.() ?? null,
  });
}

function mapOfFigure({ shown: { header, map, before, after, difference } }) {
  return mapsDrawing(header, difference ? [before, after, difference] : [map]);
}

function fileName({ header, store }) {
  const { heads, stackNumber } = store.get();
  const kind = header.stacks.length > 1 ? `-${header.stacks[stackNumber].kind}` : "";
  const which = heads.length > 1 ? `mean-of-${heads.length}-heads` : `layer${heads[0][0] + 1}-head${heads[0][1] + 1}`;
  return `${header.stem}${kind}-${which}`;
}

// The title and caption of a figure: what it is of, and whatever changes its numbers.
function captionOf(stage) {
  const { header, store, shown } = stage;
  const texts = TEXTS.caption;
  const state = store.get();
  const names = state.heads.map((head) => headName([head]).toLowerCase());
  const heads = names.length === 1 ? names[0] : say(texts.meanOfHeads, { count: names.length, names: names.join("; ") });
  const titles = header.changes.length ? texts.changedTitles : texts.titles;
  const title = say(titles[header.stacks[state.stackNumber].kind], { heads, model: header.model });
  const parts = [`${title}.`, say(texts.text, { sentence: closed(header.text) })];
  if (header.pair) parts.push(say(texts.second, { sentence: closed(header.pair) }));
  if (shown.row !== null) parts.push(say(texts.marked, { token: shown.said }));
  parts.push(texts.axes);
  if (header.bare) parts.push(texts.withoutSpecial);
  if (state.words) parts.push(texts.merged);
  if (shown.view.hides) parts.push(texts.specialHidden);
  if (header.changes.length) parts.push(say(texts.changed, { changes: header.changes.map(({ label }) => label).join("; ") }));
  return withOrigin(stage, title, parts);
}

function csvOf(stage) {
  const { view, weights } = stage.shown;
  const label = (text, place) => `${place + 1} ${text}`;
  const keys = view.keys.labels.length;
  const rows = view.queries.labels.map((text, row) => [label(text, row), ...Array.from(weights.subarray(row * keys, (row + 1) * keys), (weight) => weight.toFixed(6))]);
  return csvText(`${captionOf(stage).caption}\n${TEXTS.csvRounded}`, [[TEXTS.csvCorner, ...view.keys.labels.map(label)], ...rows]);
}
