// One drawing of a model: what stands before its blocks, the blocks with one of them opened, and what stands after them. A click on a
// box chooses the part, a click on a block chooses the block. Data: pages/ui/stage/architecture.py.

import { stopAt, walkByKey } from "../../canvas/core/keys.js";
import { element, setNodes, svgElement as made } from "../../canvas/core/surface.js";
import { say, widthOf } from "../../canvas/core/text.js";

const [FONT, NOTE_FONT] = ["14px", "12px"];
const [PAD, ARROW, ARCS, LABEL, BETWEEN] = [10, 16, 20, 20, 26]; // within a box; between boxes; above them; below them; between stacks
const [LOW, TOUCH, WITH_NOTES] = [38, 44, 48]; // heights of a box
const INSET = 20; // from the frame of a block to its first part
const [NARROWEST, WIDEST, JOINT] = [10, 34, 5]; // of a closed block, and between two
const SUM = 22; // diameter of a sum
const WHOLE = 30; // height of what runs along all blocks

// set(values): fields of the page with the values, as links write them, that a click on a box or on a block gives them.
export function makeArchitecture(set) {
  const svg = made("svg", { role: "presentation" });
  const lines = made("g", { class: "flow", "aria-hidden": "true" });
  svg.append(lines);
  const node = element("div", { class: "architecture", role: "toolbar", "data-testid": "architecture" }, svg);
  const drawing = { node, svg, lines, set, known: new Map(), order: [], pattern: "" };
  node.onkeydown = (event) => press(event, drawing.order.map(({ key }) => drawing.known.get(key)));
  return drawing;
}

// data: see pages/ui/stage/architecture.py; room: pixels; theme: of the surface.
export function drawArchitecture(drawing, data, { width, theme }) {
  const touch = matchMedia("(pointer: coarse)").matches;
  const { node, svg, lines, known } = drawing;
  node.setAttribute("aria-label", data.label);
  const laid = lay(data, { width, theme, touch });
  svg.setAttribute("width", laid.width);
  svg.setAttribute("height", laid.height);
  svg.setAttribute("viewBox", `0 0 ${laid.width} ${laid.height}`);
  lines.replaceChildren(...laid.lines.map((line) => made("path", line)));
  drawing.order = laid.items.filter(({ act }) => act);
  const shown = new Set(laid.items.map(({ key }) => key));
  for (const [key, item] of known) if (!shown.has(key)) { item.remove(); known.delete(key); }
  for (const item of laid.items) {
    if (!known.has(item.key)) known.set(item.key, made("g", { "data-name": item.key }));
    paint(drawing, known.get(item.key), item);
  }
  arrange(svg, laid.items.map(({ key }) => known.get(key)), lines);
  const focusable = laid.items.find(({ lit, act }) => lit && act) ?? drawing.order[0];
  stopAt(known.get(focusable?.key), drawing.order.map(({ key }) => known.get(key)));
  const goal = laid.items.find(({ lit }) => lit) ?? laid.items.find(({ kind }) => kind === "opened");
  const pattern = `${laid.width} ${width} ${goal?.key}`;
  if (pattern !== drawing.pattern && laid.width > width && goal) node.scrollLeft = Math.min(goal.x - ARROW, goal.x + (goal.width - width) / 2);
  drawing.pattern = pattern;
}

// Frames lie behind what they hold.
function arrange(svg, groups, lines) {
  const isFrame = (group) => group.classList.contains("opened");
  setNodes(svg, [...groups.filter(isFrame), lines, ...groups.filter((group) => !isFrame(group))]);
}

function paint({ set }, group, { x, y, width, height, kind, title, said, note, lit, act }) {
  group.setAttribute("class", [kind, lit ? "lit" : "", act ? "" : "still"].filter(Boolean).join(" "));
  group.style.transform = `translate(${x}px, ${y}px)`;
  const round = kind === "sum" ? height / 2 : kind === "opened" ? 10 : kind.startsWith("whole") ? 4 : 6;
  const parts = [made("rect", { width, height, rx: round })];
  if (kind === "sum") parts.push(made("path", { class: "plus", d: `M${width / 2} 6V${height - 6}M6 ${height / 2}H${width - 6}` }));
  else if (kind === "opened") parts.push(text(title, PAD, height - 7, "start", NOTE_FONT));
  else if (kind === "whole-start") parts.push(text(title, PAD, height / 2 + 5, "start", FONT));
  else if (title) parts.push(text(title, width / 2, height / 2 + (note ? -3 : 5), "middle", kind === "closed" ? NOTE_FONT : FONT));
  if (note && kind !== "opened") parts.push(text(note, width / 2, height / 2 + 14, "middle", NOTE_FONT, "note"));
  parts.push(made("title", {}, said));
  group.replaceChildren(...parts);
  for (const [name, value] of Object.entries(act ? { role: "button", "aria-label": said, "aria-pressed": String(Boolean(lit)) } : { role: "img", "aria-label": said })) group.setAttribute(name, value);
  if (!act) group.removeAttribute("aria-pressed");
  group.onclick = act ? () => set(act) : null;
}

const text = (words, x, y, anchor, size, kind = "") => made("text", { x, y, "text-anchor": anchor, "font-size": size, ...(kind ? { class: kind } : {}) }, words);

const valuesOf = ({ sets }) => (Object.keys(sets).length ? sets : null);

function press(event, nodes) {
  if (event.ctrlKey || event.metaKey || event.altKey || walkByKey(event, nodes) || !["Enter", " "].includes(event.key)) return;
  event.preventDefault();
  event.target.onclick?.();
}

// --- Where everything stands

function lay(data, { width, theme, touch }) {
  const context = element("canvas").getContext("2d");
  const wide = (words, size) => Math.ceil(widthOf(context, `500 ${size} ${theme.font}`, words));
  const noted = data.stacks.some(({ before, parts, after }) => [...before, ...parts, ...after].some(({ note }) => note));
  const high = noted ? WITH_NOTES : touch ? TOUCH : LOW;
  const shape = { width, high, wide, touch, least: touch ? TOUCH : NARROWEST };
  const rows = [];
  let top = 0;
  for (const [number, stack] of data.stacks.entries()) {
    const row = layStack(stack, number, { ...shape, top });
    rows.push(row);
    top = row.bottom + BETWEEN;
  }
  const lines = rows.flatMap((row) => row.lines);
  if (data.cross) lines.push(crossing(rows, data.cross));
  return { items: rows.flatMap(({ items }) => items), lines, width: Math.max(...rows.map(({ end }) => end)) + 2, height: top - BETWEEN + 2 };
}

function layStack(stack, number, { top, width, high, wide, touch, least }) {
  const { before, parts, after, count, block } = stack;
  const frame = { y: top + 1, height: ARCS + high + LABEL };
  const middle = frame.y + ARCS + high / 2;
  const sized = (box) => (box.kind === "sum" ? SUM : Math.max(touch ? TOUCH : 0, wide(box.title, FONT), box.note ? wide(box.note, NOTE_FONT) : 0) + 2 * PAD);
  const across = (boxes) => boxes.reduce((sum, box) => sum + sized(box) + ARROW, 0);
  const opened = block ? across(parts) + 2 * INSET - ARROW : 0;
  const closed = count - (block ? 1 : 0);
  const left = width - 4 - across(before) - across(after) - opened - ARROW;
  const each = closed ? Math.max(least, Math.min(WIDEST + (touch ? PAD : 0), left / closed - JOINT)) : 0;
  const items = [];
  const lines = [];
  let x = 1;
  const place = (box, boxWidth, more = {}) => {
    const item = { key: `${number} ${box.name}`, title: box.title, note: box.note ?? "", lit: box.lit, kind: box.kind === "sum" ? "sum" : "box",
      said: box.note ? `${box.said}: ${box.note}` : box.said, x, y: middle - high / 2, width: boxWidth, height: high, act: valuesOf(box), ...more };
    if (box.kind === "sum") Object.assign(item, { kind: "sum", y: middle - SUM / 2, height: SUM });
    items.push(item);
    x += boxWidth;
    return item;
  };
  const arrow = (length = ARROW) => {
    lines.push({ class: "arrow", d: `M${x + 1} ${middle}H${x + length - 2}m-4 -3l4 3l-4 3` });
    x += length;
  };
  for (const box of before) {
    place(box, sized(box));
    arrow();
  }
  const first = x;
  for (let one = 1; one <= count; one += 1) {
    const said = say(stack.blockLabel, { number: one });
    const note = stack.notes?.[one - 1] ?? "";
    const about = note ? `${said}: ${note}` : said;
    if (one === block) {
      items.push({ key: `${number} block ${one}`, kind: "opened", title: note ? about : said, said: about, note: "", lit: false, x, y: frame.y, width: opened, height: frame.height, act: null });
      lines.push({ class: "arrow", d: `M${x} ${middle}H${x + INSET - 2}m-4 -3l4 3l-4 3` });
      x += INSET;
      let branch = x - INSET + 6;
      for (const [at, box] of parts.entries()) {
        const item = place(box, sized(box), { key: `${number} part ${box.name}` });
        if (box.kind === "sum") {
          lines.push({ class: "skip", d: arc(branch, item.x + SUM / 2, middle, high, item.y) });
          const isPostNorm = parts[at + 1]?.name === `${parts[at - 1].name}_norm`;
          branch = item.x + SUM + (isPostNorm ? ARROW + sized(parts[at + 1]) : 0) + 3;
        }
        if (at < parts.length - 1) arrow();
      }
      lines.push({ class: "arrow", d: `M${x} ${middle}h${INSET}` });
      x += INSET;
    } else {
      items.push({ key: `${number} block ${one}`, kind: "closed", title: each >= wide(String(one), NOTE_FONT) + 3 ? String(one) : "", said: about, note: "", x, y: frame.y + ARCS / 2, width: each, height: frame.height - ARCS / 2 - LABEL / 2,
        act: stack.field ? { ...stack.sets, [stack.field]: String(one) } : null });
      x += each;
    }
    x += JOINT;
  }
  x -= JOINT;
  const last = x;
  for (const box of after) {
    arrow();
    place(box, sized(box));
  }
  let bottom = frame.y + frame.height;
  if (stack.whole) {
    const { whole } = stack;
    const height = touch ? TOUCH : WHOLE;
    items.push({ key: `${number} ${whole.name}`, kind: last > width ? "whole-start" : "whole", title: whole.title, said: whole.said, note: "", lit: whole.lit, x: first, y: bottom + 6, width: Math.max(last - first, wide(whole.title, FONT) + 2 * PAD), height: height - 2, act: valuesOf(whole) });
    bottom += 6 + height;
  }
  return { items, lines, end: x, first, last, middle, bottom, top: frame.y };
}

// A residual connection: past the boxes, above them, into the sum.
function arc(from, to, middle, high, sumTop) {
  const y = middle - high / 2 - 9;
  return `M${from} ${middle}V${y + 6}q0 -6 6 -6H${to - 6}q6 0 6 6V${sumTop - 2}m-3 -4l3 4l3 -4`;
}

// What one stack gives to another: from its end down to a box of the other.
function crossing(rows, { from, to }) {
  const [source, target] = [rows[from], rows.flatMap(({ items }) => items).find(({ key }) => key === to)];
  const [x, y] = [source.last + 8, target.y];
  const between = source.bottom + BETWEEN / 2;
  const goal = target.x + target.width / 2;
  return { class: "crossing", d: `M${source.last + 1} ${source.middle}H${x}V${between}H${goal}V${y - 2}m-3 -4l3 4l3 -4` };
}
