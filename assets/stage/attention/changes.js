// Changes of the run, which the server computes: the menu that makes them, and the row that lists them and chooses between the run
// before, after, and what differs. A change is reported as a link writes it (tx_core/transformer/interventions.py).

import { TEXTS } from "../../canvas/core/texts.js";
import { button, element } from "../../canvas/core/surface.js";
import { say } from "../../canvas/core/text.js";
import { fillChips, labelled, menu, segments, select } from "../core/toolbar.js";
import { headName } from "../core/sentences.js";

const at = (layer, head) => `~${layer + 1}${head === undefined ? "" : `-${head + 1}`}`;
const EVERYWHERE = { self: ["hide", "cut"], cross: ["hide"], decoder: [] }; // what can act in all layers, by the kind of attention

export const headOff = (first, [layer, head]) => `off${at(layer + first, head)}`;

export function makeChangeMenu({ store, act, current }) {
  const texts = TEXTS.changes;
  const node = menu(texts.menu);
  const { box } = node;
  const chosen = { key: 0, query: 0, scope: "all", layer: "" };
  const make = (label, written, help = "") => {
    const made = button(label, () => act.change({ add: written() }), help ? { title: help } : {});
    made.written = written;
    return made;
  };
  const inModel = (layer) => layer + current().first;
  const heads = () => store.get().heads;
  const [[uniform, layerOff, layerUniform], title] = [[
    make(texts.uniform, () => heads().map(([layer, head]) => `even${at(inModel(layer), head)}`), texts.uniformHelp),
    make(texts.layerOff, () => [`off${at(inModel(heads()[0][0]))}`]),
    make(texts.layerUniform, () => [`even${at(inModel(heads()[0][0]))}`]),
  ], element("h4")];
  const place = () => {
    const [layer, head] = heads()[0];
    return { all: "", layer: at(inModel(layer)), head: at(inModel(layer), head) }[chosen.scope];
  };
  const choice = (name, label, read = String) => select(label, (value) => { chosen[name] = read(value); sync(store.get()); });
  const [key, query, scope, layer] = [choice("key", texts.key, Number), choice("query", texts.query, Number), choice("scope", texts.scope), choice("layer", texts.layers)];
  const setting = (label, none, isOne, written) => select(label, (value) => act.change(value === none ? { drop: act.changes().filter(isOne) } : { add: [written(value)] }));
  const inLayer = (pattern) => (one) => pattern.test(one) && softmaxLayer(one) === chosen.layer;
  const hide = make(texts.hideToken, () => [`hide~${chosen.key + 1}${place()}`]);
  const cut = make(texts.cutLink, () => [`cut~${chosen.query + 1}-${chosen.key + 1}${place()}`]);
  const inDecoder = element("p", { class: "quiet-text" }, texts.inDecoder);
  const temperature = setting(texts.temperature, "1", inLayer(/^temperature/), (value) => `temperature~${value.includes(".") ? value : `${value}.0`}${chosen.layer}`);
  const normaliser = setting(texts.normaliser, "softmax", inLayer(/^(sparse|hard)/), (value) => `${value}${chosen.layer}`);
  const causal = make(texts.causal, () => ["causal"], texts.causalHelp);
  const bare = make(texts.omitPositions, () => ["nopositions"], texts.omitPositionsHelp);
  const needs = element("p", { class: "quiet-text" }, texts.needsPositions);
  const padding = setting(texts.padding, "0", (one) => one.startsWith("padding"), (value) => `padding~${value}`);
  const row = (...parts) => element("div", { class: "menu-row" }, ...parts);
  box.classList.add("wide");
  box.append(title, row(uniform, layerOff, layerUniform),
    element("h4", {}, texts.tokenOrLink), row(labelled(texts.key, key), labelled(texts.query, query), labelled(texts.scope, scope)), inDecoder, row(hide, cut),
    element("h4", {}, texts.softmax), row(labelled(texts.layers, layer), labelled(texts.temperature, temperature), labelled(texts.normaliser, normaliser)),
    element("h4", {}, texts.wholeRun), row(causal, bare, labelled(texts.padding, padding)), needs, element("p", { class: "quiet-text" }, texts.limits));
  let begun = "";

  function sync(state) {
    const { stack, first, header } = current();
    const [tokens, targets] = [stack.queries.tokens, stack.keys.tokens];
    const start = `${state.focus} ${tokens} ${targets}`;
    if (begun !== start) { // both boxes begin at the focused token
      begun = start;
      chosen.query = state.focus ?? firstWord(stack.queries);
      chosen.key = stack.kind === "self" && state.focus !== null && !stack.keys.blanks.includes(state.focus) ? state.focus : firstWord(stack.keys);
    }
    const layers = new Set(state.heads.map(([one]) => one));
    title.textContent = headName(state.heads);
    layerOff.hidden = layerUniform.hidden = layers.size > 1;
    const numbered = (names) => names.map((name, number) => [String(number), `${number + 1} ${name}`]);
    key.set(numbered(targets), String(chosen.key));
    query.set(numbered(tokens), String(chosen.query));
    const [[one, head]] = state.heads;
    scope.set(Object.entries(texts.scopes).map(([name, text]) => [name, say(text, { layer: one + 1, head: head + 1 })]), chosen.scope);
    const everywhere = EVERYWHERE[stack.kind];
    inDecoder.hidden = chosen.scope !== "all" || everywhere.length > 1;
    hide.hidden = chosen.scope === "all" && !everywhere.includes("hide");
    cut.hidden = chosen.scope === "all" && !everywhere.includes("cut");
    layer.set([["", texts.allLayers], ...Array.from({ length: stack.layers }, (_, number) => [at(number + first), say(texts.oneLayer, { layer: number + 1 })])], chosen.layer);
    const active = act.changes().filter((one) => softmaxLayer(one) === chosen.layer);
    const now = active.find((one) => one.startsWith("temperature"))?.split("~")[1] ?? "1";
    const temperatures = [...new Set([...TEMPERATURES, String(Number(now))])].sort((low, high) => low - high);
    temperature.set(temperatures.map((value) => [value, value]), String(Number(now)));
    normaliser.set(Object.entries(texts.normalisers), active.map((one) => one.split("~")[0]).find((name) => name in texts.normalisers) ?? "softmax");
    const pads = act.changes().find((change) => change.startsWith("padding"))?.split("~")[1] ?? "0";
    padding.set([...new Set([...PADDINGS, pads])].sort((low, high) => low - high).map((value) => [value, value]), pads);
    bare.hidden = !header.canOmitPositions;
    needs.hidden = header.canOmitPositions;
    for (const made of [uniform, layerOff, layerUniform, hide, cut, causal, bare]) {
      made.disabled = made.written().every((written) => act.changes().includes(written));
    }
  }
  return { node, sync };
}

const TEMPERATURES = ["0.1", "0.25", "0.5", "0.75", "1", "1.5", "2", "3", "5", "10"];
const PADDINGS = ["0", "1", "2", "4", "8", "16", "32", "64"];

// The layer that a change of the softmax is of, as it is written; undefined for another change.
function softmaxLayer(written) {
  const [, layer] = /^(?:temperature~[\d.e+-]+|sparse|hard)(~\d+)?$/.exec(written) ?? [null, undefined];
  return /^(temperature|sparse|hard)/.test(written) ? (layer ?? "") : undefined;
}

function firstWord({ special, blanks }) {
  const place = special.findIndex((one, index) => !one && !blanks.includes(index));
  return Math.max(0, place);
}

// The row of a changed run.
export function makeChangesRow(stage) {
  const { store, act, current } = stage;
  const texts = TEXTS.changed;
  const which = segments(texts.which, Object.entries(texts.states), (compared) => store.set({ compared }));
  const chips = element("div", { class: "chips" });
  const moved = element("div", { class: "chips moved-heads" });
  const node = element("div", { class: "changes", role: "group", "aria-label": texts.row }, which, chips, moved);
  const sync = (state) => {
    const { header } = current();
    node.hidden = !header.changes.length;
    if (node.hidden) return;
    which.set(state.compared);
    fillChips(chips, header, stage.offline ? null : act.change);
    const heads = header.moved[state.stackNumber] ?? [];
    const buttons = heads.slice(0, MOST).map(([head, share]) => button(say(texts.movedHead, { head: headName([head]), share: share.toFixed(2) }),
      () => act.chooseHead(head), { class: "chip" }));
    moved.replaceChildren(...(buttons.length ? [element("span", { class: "quiet-text", title: texts.movedHelp }, texts.moved), ...buttons] : [element("span", { class: "quiet-text" }, header.nothingMoved)]));
  };
  return { node, sync };
}

const MOST = 6;
