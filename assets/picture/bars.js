// Horizontal bars with their names before them and their numbers at their ends; and pairs of them, before and after.

import { fit, visible } from "../attention_view/surface.js";
import { widthOf, write } from "./words.js";

const BAR_ROW = 27;
const THICK = 18;
const TICK_ROOM = 22;

// from, to: the ends of the axis. names: whether labels are written, which charts side by side need only once.
export function layBars(context, theme, { labels, values, ends, colours, names, from, to, ticks }, room) {
  const [nameFont, endFont] = [`14px ${theme.font}`, `13px ${theme.font}`];
  const widest = names ? Math.max(...labels.map((label) => widthOf(context, nameFont, visible(label)))) : 0;
  const left = names ? Math.min(widest, Math.floor(room * 0.6)) + 8 : 0;
  const side = (at) => Math.max(0, ...ends.filter((_, index) => (values[index] < 0) === at).map((end) => widthOf(context, endFont, end))) + 8;
  const before = left + (from < 0 ? side(true) : 0);
  const plot = Math.max(40, room - before - side(false));
  const place = (value) => before + ((value - from) / (to - from)) * plot;
  context.font = nameFont;
  const written = labels.map((label) => (names ? fit(context, visible(label), left - 8) : ""));
  const bottom = labels.length * BAR_ROW;
  const paint = (target) => {
    paintTicks(target, theme, ticks, place, 0, bottom);
    for (const [index, value] of values.entries()) {
      const [top, start, end] = [index * BAR_ROW + (BAR_ROW - THICK) / 2, place(Math.min(0, value)), place(Math.max(0, value))];
      target.fillStyle = colours[index % colours.length];
      target.fillRect(start, top, end - start, THICK);
      const middle = index * BAR_ROW + BAR_ROW / 2 + 0.5;
      if (names) write(target, written[index], left - 8, middle, { font: nameFont, colour: theme.text, align: "right", baseline: "middle" });
      const outer = value < 0 ? { x: start - 4, align: "right" } : { x: end + 4, align: "left" };
      write(target, ends[index], outer.x, middle, { font: endFont, colour: theme.text, align: outer.align, baseline: "middle" });
    }
  };
  return { width: room, height: bottom + TICK_ROOM, paint };
}

function paintTicks(target, theme, ticks, place, top, bottom) {
  for (const { at, text } of ticks) {
    target.fillStyle = theme.faint;
    target.fillRect(place(at) - 0.5, top, 1, bottom - top);
    write(target, text, place(at), bottom + 4, { font: `12px ${theme.font}`, colour: theme.quiet, align: "center" });
  }
}

const PAIR = { row: 48, heading: 20, thick: 9, gap: 3, legend: 24 };

// heads: what stands over each pair. before in outline, after filled.
export function layMoved(context, theme, { labels, heads, before, after, colour, to, ticks }, room) {
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
      outline(target, colour, [place(0), top + PAIR.heading, place(before[index]) - place(0), PAIR.thick]);
      target.fillStyle = colour;
      target.fillRect(place(0), top + PAIR.heading + PAIR.thick + PAIR.gap, place(after[index]) - place(0), PAIR.thick);
    }
  };
  return { width: room, height: bottom + TICK_ROOM, paint };
}

function outline(target, colour, box) {
  target.strokeStyle = colour;
  target.lineWidth = 1.5;
  target.strokeRect(...box);
}

function paintLegendOfPairs(target, theme, colour) {
  outline(target, colour, [4, 4, 22, 9]);
  write(target, "before", 32, 2, { font: `12px ${theme.font}`, colour: theme.text });
  target.fillStyle = colour;
  target.fillRect(94, 4, 22, 9);
  write(target, "after", 122, 2, { font: `12px ${theme.font}`, colour: theme.text });
}
