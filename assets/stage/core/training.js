// What a stage shows of a training that computes on the server: its buttons, how far it is, and why it could not go on.

import { button, element, refill, setText } from "../../canvas/core/surface.js";
import { TEXTS } from "../../canvas/core/texts.js";

const PAUSE = 1000; // milliseconds between two questions how far a training is

// ask: called with the wish of a button; report: asks the page to run again, once a second while something computes.
export function makeTraining(ask, report) {
  const made = { ask, report, askedAfter: null };
  made.buttons = element("div", { class: "group" });
  made.progress = element("progress", { max: "1", "aria-label": TEXTS.training.progress });
  made.node = element("div", { class: "group train" }, made.buttons, made.progress);
  made.problem = element("p", { class: "problem", role: "alert" });
  made.far = element("p", { class: "quiet-text" });
  return made;
}

// header: of the message, with its `training`. offline: nobody trains.
export function drawTraining(made, header, offline) {
  const { training: { buttons, running, progress, problem, said } } = header;
  refill(made.buttons, buttons, () => buttons.map(([wish, label, help], number) => button(label, () => made.ask(wish), { class: number ? "" : "main", ...(help ? { title: help } : {}) })));
  made.node.hidden = offline;
  made.progress.hidden = !running;
  made.progress.value = progress;
  for (const [node, text] of [[made.problem, problem], [made.far, said]]) {
    setText(node, offline ? "" : text);
    node.hidden = offline || !text;
  }
  if (!running || offline || made.askedAfter === header) return;
  made.askedAfter = header;
  setTimeout(() => made.askedAfter === header && made.node.isConnected && made.report("ask"), PAUSE);
}
