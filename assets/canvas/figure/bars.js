// Horizontal bars with their names before them and their numbers at their ends; and pairs of them, before and after.

import { fit, visible } from "../core/surface.js";
import { widthOf, wrapped, write } from "../core/text.js";

const BAR_ROW = 27;
const THICK = 18;
const NAME_LINE = 18;
const TORN = 6; // pixels of the edge of a bar that goes on beyond its axis
const TICK_ROOM = 22;

// from, to: the ends of the axis. names: whether labels are written, which charts side by side need only once.
// cut: which bars go on beyond the axis.
export function layBars(context, theme, { labels, values, ends, colours, names, from, to, ticks, cut }, room) {
  const [nameFont, endFont] = [`14px ${theme.font}`, `13px ${theme.font}`];
  const widest = names ? Math.max(...labels.map((label) => widthOf(context, nameFont, visible(label)))) : 0;
  const left = names ? Math.min(widest, Math.floor(room * 0.45)) + 8 : 0;
  const side = (at) => Math.max(0, ...ends.filter((_, index) => (values[index] < 0) === at).map((end) => widthOf(context, endFont, end))) + 8;
  const before = left + (from < 0 ? side(true) : 0);
  const plot = Math.max(40, room - before - side(false));
  const place = (value) => before + ((value - from) / (to - from)) * plot;
  const written = labels.map((label) => (names ? wrapped(context, nameFont, visible(label), left - 8) : []));
  const middles = [];
  let bottom = 0;
  for (const lines of written) {
    const height = Math.max(BAR_ROW, lines.length * NAME_LINE + 6);
    middles.push(bottom + height / 2);
    bottom += height;
  }
  const paint = (target) => {
    paintTicks(target, theme, ticks, place, 0, bottom);
    for (const [index, value] of values.entries()) {
      const [middle, start, end] = [middles[index] + 0.5, place(Math.min(0, value)), place(Math.max(0, value))];
      target.fillStyle = colours[index % colours.length];
      const box = [start, middles[index] - THICK / 2, end - start, THICK];
      if (cut?.[index]) fillTorn(target, ...box);
      else target.fillRect(...box);
      const first = middle - ((written[index].length - 1) * NAME_LINE) / 2;
      written[index].forEach((line, number) => write(target, line, left - 8, first + number * NAME_LINE,
        { font: nameFont, colour: theme.text, align: "right", baseline: "middle" }));
      const outer = value < 0 ? { x: start - 4, align: "right" } : { x: end + 4, align: "left" };
      write(target, ends[index], outer.x, middle, { font: endFont, colour: theme.text, align: outer.align, baseline: "middle" });
    }
  };
  return { width: room, height: bottom + TICK_ROOM, paint };
}

// As assets/canvas/bars/bars.css tears them.
function fillTorn(target, left, top, width, height) {
  const [right, dent] = [left + width, left + Math.max(0, width - TORN)];
  target.beginPath();
  [[left, top], [dent, top], [right, top + height / 4], [dent, top + height / 2], [right, top + (height * 3) / 4], [dent, top + height], [left, top + height]]
    .forEach((point, index) => target[index ? "lineTo" : "moveTo"](...point));
  target.closePath();
  target.fill();
}

function paintTicks(target, theme, ticks, place, top, bottom) {
  const font = `12px ${theme.font}`;
  for (const { at, text } of ticks) {
    target.fillStyle = theme.faint;
    target.fillRect(place(at) - 0.5, top, 1, bottom - top);
    write(target, text, Math.max(place(at), widthOf(target, font, text) / 2), bottom + 4, { font, colour: theme.quiet, align: "center" });
  }
}

const PAIR = { row: 48, heading: 20, thick: 9, gap: 3, legend: 24 };

// heads: what stands over each pair. before in outline, after filled.
export function layMoved(context, theme, { labels, heads, before, after, colour, to, ticks, cut }, room) {
  const place = (value) => 4 + (value / to) * (room - 44);
  const bottom = PAIR.legend + labels.length * PAIR.row;
  const paint = (target) => {
    paintLegendOfPairs(target, theme, colour);
    paintTicks(target, theme, ticks, place, PAIR.legend, bottom);
    for (const [index, label] of labels.entries()) {
      const top = PAIR.legend + index * PAIR.row;
      const bold = `600 13px ${theme.font}`;
      const nameRoom = Math.max(60, room - 8 - widthOf(target, `13px ${theme.font}`, heads[index]));
      target.font = bold;
      const name = fit(target, visible(label), nameRoom);
      write(target, name, 4, top + 3, { font: bold, colour: theme.text });
      write(target, heads[index], 14 + widthOf(target, bold, name), top + 3, { font: `13px ${theme.font}`, colour: theme.text });
      outline(target, colour, [place(0), top + PAIR.heading, place(before[index]) - place(0), PAIR.thick], cut[index][0]);
      target.fillStyle = colour;
      const box = [place(0), top + PAIR.heading + PAIR.thick + PAIR.gap, place(after[index]) - place(0), PAIR.thick];
      if (cut[index][1]) fillTorn(target, ...box);
      else target.fillRect(...box);
    }
  };
  return { width: room, height: bottom + TICK_ROOM, paint };
}

// open: without its end, for what goes on beyond the axis.
function outline(target, colour, [left, top, width, height], open = false) {
  target.strokeStyle = colour;
  target.lineWidth = 1.5;
  target.beginPath();
  target.moveTo(left + width, top);
  target.lineTo(left, top);
  target.lineTo(left, top + height);
  target.lineTo(left + width, top + height);
  if (!open) target.closePath();
  target.stroke();
}

function paintLegendOfPairs(target, theme, colour) {
  outline(target, colour, [4, 4, 22, 9]);
  write(target, "before", 32, 2, { font: `12px ${theme.font}`, colour: theme.text });
  target.fillStyle = colour;
  target.fillRect(94, 4, 22, 9);
  write(target, "after", 122, 2, { font: `12px ${theme.font}`, colour: theme.text });
}
