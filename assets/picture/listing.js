// A small table of words and numbers.

import { fit, visible } from "../attention_view/surface.js";
import { widthOf, write } from "./words.js";

const LINE = 22;
const PAD = 12;

export function layListing(context, theme, { head, rows }, room) {
  const [bold, font] = [`600 12.5px ${theme.font}`, `12.5px ${theme.font}`];
  const texts = [head, ...rows].map((row) => row.map((cell) => (cell ? visible(cell) : "")));
  const wished = head.map((_, column) => Math.max(...texts.map((row) => widthOf(context, bold, row[column]))) + PAD);
  const share = Math.min(1, room / wished.reduce((sum, width) => sum + width, 0));
  const widths = wished.map((width) => width * share);
  const lefts = widths.map((_, column) => widths.slice(0, column).reduce((sum, width) => sum + width, 0));
  const paint = (target) => texts.forEach((row, index) => {
    row.forEach((text, column) => {
      target.font = index ? font : bold;
      const shown = fit(target, text, widths[column] - PAD / 2);
      write(target, shown, lefts[column], index * LINE + LINE / 2, { font: index ? font : bold, colour: theme.text, baseline: "middle" });
    });
    target.fillStyle = theme.faint;
    target.fillRect(0, (index + 1) * LINE - 1, lefts.at(-1) + widths.at(-1), 1);
  });
  return { width: lefts.at(-1) + widths.at(-1), height: texts.length * LINE, paint };
}
