// The stage of BERT, written out: two runs of one architecture as two states of one map, each part of the drawing with how far the
// two differ in it. The rest is the stage of attention.

import { element, refill, setNodes, setText } from "../canvas/core/surface.js";
import { TEXTS } from "../canvas/core/texts.js";
import { say } from "../canvas/core/text.js";
import { attentionStage } from "./attention.js";
import { makeDeclared } from "./core/controls.js";
import { compute } from "./core/page.js";
import { describeMap } from "./core/sentences.js";
import { segments } from "./core/toolbar.js";
import { drawArchitecture, makeArchitecture } from "./views/architecture.js";

const PARTS = { entry: "bert", arrange, draw, describe, titles, follows: true };
const AGAIN = 600; // milliseconds until the page is asked whether what it waits for has come

export const { mount, offline } = attentionStage(PARTS);
export default mount;

function arrange(stage) {
  const ask = (values) => !stage.offline && compute(stage, "settings", values);
  stage.declared = makeDeclared((name, value) => ask({ [name]: value }), ask);
  stage.settings = element("div", { class: "settings" });
  stage.states = element("div", { class: "which" });
  stage.awaiting = element("p", { class: "quiet-text", role: "status" });
  stage.architecture = makeArchitecture((values) => act(stage, ask, values));
  stage.root.classList.add("bert");
  stage.title.after(stage.settings);
  stage.changes.node.after(stage.architecture.node, element("div", { class: "settings" }, stage.states, stage.awaiting));
}

// Asks until another answer comes: the same answer again is not handed to the stage.
function askAgain(stage, header) {
  setTimeout(() => {
    if (stage.header !== header || !stage.root.isConnected) return;
    stage.report("settings");
    askAgain(stage, header);
  }, AGAIN);
}

// A block is a layer of the map, which is here; another part is computed.
function act(stage, ask, { layer, ...others }) {
  if (Object.keys(others).length) return ask(others);
  return stage.act.chooseHead([Number(layer) - 1, stage.store.get().heads.at(-1)[1]]);
}

function draw(stage) {
  const { header } = stage;
  const state = stage.store.get();
  if (!header.controls) return;
  const nodes = stage.declared.sync(header.controls, ({ value }) => value, stage.offline);
  setNodes(stage.settings, nodes);
  setText(stage.awaiting, header.note ?? "");
  if (header.awaits && !stage.offline && stage.askedFor !== header) {
    stage.askedFor = header;
    askAgain(stage, header);
  }
  if (!header.run) return;
  drawStates(stage, state);
  drawParts(stage, state);
}

function drawStates(stage, state) {
  const { before, states } = stage.header;
  stage.states.hidden = !before;
  if (!before) return;
  refill(stage.states, states, () => [(stage.chooser = segments(TEXTS.changed.which, Object.entries(states), (compared) => stage.store.set({ compared })))]);
  stage.chooser.set(state.compared);
}

// The block of the map is the one that is opened, with how far the two runs differ in it.
function drawParts(stage, { heads }) {
  const { architecture } = stage.header;
  const [layer] = heads.at(-1);
  const stacks = architecture.stacks.map((stack) => {
    const notes = stack.partNotes[layer] ?? {};
    return { ...stack, block: Math.min(stack.count, layer + 1), parts: stack.parts.map((box) => ({ ...box, note: notes[box.name] ?? "" })) };
  });
  drawArchitecture(stage.architecture, { ...architecture, stacks });
}

// What is seen of the state of the map that is shown, and how far the two are apart in this head.
function describe(stage, { view, row, before, after }) {
  const { apart } = stage.header;
  const { compared, heads } = stage.store.get();
  const [[layer, head]] = heads;
  const shown = compared === "before" && before ? before : after;
  const said = compared === "difference" && before ? "" : describeMap(shown, view, row);
  const far = apart && heads.length === 1 ? say(stage.header.apartSaid, { apart: apart[layer][head] }) : "";
  return [said, far].filter(Boolean).join(" ");
}

const titles = ({ header: { states } }) => ["before", "after", "difference"].map((name) => states[name]);
