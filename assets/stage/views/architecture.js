// One drawing of a model: what stands before its blocks, the blocks with one of them opened, and what stands after them. A click on a
// box chooses the part, a click on a block chooses the block. Data: pages/ui/stage/architecture.py.

import { stopAt, walkByKey } from "../../canvas/core/keys.js";
import { button, element, refill, svgElement } from "../../canvas/core/surface.js";
import { say } from "../../canvas/core/text.js";

const BEFORE = 16; // pixels before a part that is brought into sight

// set(values): fields of the page with the values, as links write them, that a click on a box or on a block gives them.
export function makeArchitecture(set) {
  const node = element("div", { class: "architecture", role: "toolbar", "data-testid": "architecture" });
  node.onkeydown = (event) => { if (!(event.ctrlKey || event.metaKey || event.altKey)) walkByKey(event, [...node.querySelectorAll("button")]); };
  return { node, set, seen: "" };
}

export function drawArchitecture(drawing, { label, stacks, cross }) {
  const { node, set } = drawing;
  node.setAttribute("aria-label", label);
  node.classList.toggle("noted", stacks.some(({ before, parts, after }) => [...before, ...parts, ...after].some(({ note }) => note)));
  refill(node, [stacks, cross], () => [...stacks.map((stack) => stackOf(stack, set)), ...(cross ? [svgElement("svg", { "aria-hidden": "true" }, svgElement("path"))] : [])]);
  const buttons = [...node.querySelectorAll("button")];
  stopAt(node.querySelector("button.lit") ?? buttons[0], buttons);
  if (cross) drawCrossing(node, cross);
  const goal = node.querySelector(".lit") ?? node.querySelector(".opened");
  const seen = `${node.clientWidth} ${goal?.dataset.name}`;
  if (goal && seen !== drawing.seen) {
    const left = placeIn(node, goal).left + node.scrollLeft;
    node.scrollLeft = Math.min(left - BEFORE, left + (goal.offsetWidth - node.clientWidth) / 2);
  }
  drawing.seen = seen;
}

function boxOf({ name, title, said, kind = "box", note = "", sets, lit = false }, set) {
  const about = note ? `${said}: ${note}` : said;
  const attributes = { class: lit ? `${kind} lit` : kind, title: about, "aria-label": about, "data-name": name };
  const words = [element("span", {}, title), ...(note ? [element("small", {}, note)] : [])];
  if (!Object.keys(sets).length) return element("span", { role: "img", ...attributes }, ...words);
  return button(words, () => set(sets), { "aria-pressed": String(lit), ...attributes });
}

const arrow = () => element("i", { class: "arrow", "aria-hidden": "true" });

function stackOf({ before, parts, after, count, block, notes, blockLabel, sets, field, whole }, set) {
  const blocks = Array.from({ length: count }, (_, at) => {
    const number = String(at + 1);
    const said = [say(blockLabel, { number }), notes[at]].filter(Boolean).join(": ");
    if (at + 1 === block) return openedBlock(parts, said, set);
    return boxOf({ name: number, title: number, said, kind: "closed", sets: field ? { ...sets, [field]: number } : {} }, set);
  });
  return element("div", { class: "stack" }, ...before.flatMap((one) => [boxOf(one, set), arrow()]),
    element("div", { class: "blocks" }, element("div", { class: "row" }, ...blocks), ...(whole ? [boxOf({ ...whole, kind: "whole" }, set)] : [])),
    ...after.flatMap((one) => [arrow(), boxOf(one, set)]));
}

// Parts stand in every second column, between arrows. A residual connection passes them, above, from an arrow into its sum: from the one
// behind the sum before, or behind the norm of that sum.
function openedBlock(parts, said, set) {
  const skips = [];
  let from = 1;
  for (const [at, { kind }] of parts.entries()) {
    if (kind !== "sum") continue;
    const column = 2 * at + 2;
    skips.push(element("i", { class: "skip", "aria-hidden": "true", style: `grid-column: ${from} / ${column + 1}` }));
    from = column + 1 + (parts[at + 1]?.name === `${parts[at - 1].name}_norm` ? 2 : 0);
  }
  return element("div", { class: "opened", role: "group", "aria-label": said, "data-name": said }, ...skips, arrow(), ...parts.flatMap((part) => [boxOf(part, set), arrow()]), element("small", {}, said));
}

function placeIn(node, one) {
  const [around, own] = [node.getBoundingClientRect(), one.getBoundingClientRect()];
  return { left: own.left - around.left, right: own.right - around.left, top: own.top - around.top, bottom: own.bottom - around.top };
}

// What one stack gives to another: from the end of its blocks down to a part of the other.
function drawCrossing(node, { from, to }) {
  const [number, name] = to.split(" part ");
  const [source, target] = [node.children[from].querySelector(".row"), node.children[number].querySelector(`.opened [data-name="${name}"]`)].map((one) => placeIn(node, one));
  const [x, middle] = [source.right + node.scrollLeft, (source.top + source.bottom) / 2];
  const [goal, between] = [(target.left + target.right) / 2 + node.scrollLeft, placeIn(node, node.children[number]).top - BEFORE];
  node.lastChild.firstChild.setAttribute("d", `M${x + 1} ${middle}h8V${between}H${goal}V${target.top - 2}m-3 -4l3 4l3 -4`);
}
