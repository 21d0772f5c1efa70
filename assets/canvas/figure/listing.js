// A small table of words and numbers. Nothing is cut: what is too wide for its column goes on in the next line.

import { visible } from "../core/surface.js";
import { widthOf, wrapped, write } from "../core/text.js";

const LINE = 16;
const ROOM_AROUND = 7;
const BETWEEN_COLUMNS = 12;

export function layListing(context, theme, { head, rows }, room) {
  const fonts = [`600 12.5px ${theme.font}`, `12.5px ${theme.font}`];
  const texts = [head, ...rows].map((row) => row.map((cell) => (cell ? visible(cell) : "")));
  const widest = (column) => Math.max(
    ...texts[0][column].split(" ").map((word) => widthOf(context, fonts[0], word)),
    ...texts.slice(1).map((row) => widthOf(context, fonts[1], row[column])),
  );
  const wished = head.map((_, column) => widest(column) + BETWEEN_COLUMNS);
  const widths = shared(wished, room);
  const lefts = widths.map((_, column) => widths.slice(0, column).reduce((sum, width) => sum + width, 0));
  const cells = texts.map((row, index) => row.map((text, column) => wrapped(context, fonts[index ? 1 : 0], text, widths[column] - BETWEEN_COLUMNS / 2)));
  const heights = cells.map((row) => Math.max(1, ...row.map((lines) => lines.length)) * LINE + ROOM_AROUND);
  const tops = heights.map((_, index) => heights.slice(0, index).reduce((sum, height) => sum + height, 0));
  const paint = (target) => cells.forEach((row, index) => {
    row.forEach((lines, column) => lines.forEach((line, number) => write(target, line, lefts[column], tops[index] + 3 + (number + 0.5) * LINE, {
      font: fonts[index ? 1 : 0], colour: theme.text, baseline: "middle",
    })));
    target.fillStyle = theme.faint;
    target.fillRect(0, tops[index] + heights[index] - 1, lefts.at(-1) + widths.at(-1), 1);
  });
  return { width: lefts.at(-1) + widths.at(-1), height: tops.at(-1) + heights.at(-1), paint };
}

// Narrow columns get what they need; wide ones share what is left.
function shared(wished, room) {
  const widths = [];
  let left = room;
  const order = wished.map((_, column) => column).sort((one, other) => wished[one] - wished[other]);
  for (const [place, column] of order.entries()) {
    widths[column] = Math.min(wished[column], left / (order.length - place));
    left -= widths[column];
  }
  return widths;
}
