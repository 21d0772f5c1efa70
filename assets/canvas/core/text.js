// Sentences with placeholders; and text in a figure: lines of a width, and writing in one call.

import { fit } from "./surface.js";

// A sentence of Python's or of `assets/stage/texts.json`, as in "{word} differs", with values, texts or elements, for its placeholders: a list
// of parts for `append`, or for `join("")` where all are texts.
export function filled(sentence, values) {
  return sentence.split(/\{(\w+)(?::[^{}]*)?\}/).map((part, index) => (index % 2 ? values[part] : part)).filter((part) => part !== "");
}

// The same as one text.
export const say = (sentence, values) => filled(sentence, values).join("");

// Breaks between words, and within a word only where it is wider than the line.
export function wrapped(context, font, text, width) {
  context.font = font;
  const fits = (part) => context.measureText(part).width <= width;
  const rows = [];
  let row = "";
  for (const word of text.split(/\s+/).filter(Boolean)) {
    if (row && fits(`${row} ${word}`)) {
      row = `${row} ${word}`;
      continue;
    }
    if (row) rows.push(row);
    row = word;
    while (!fits(row)) {
      const start = fit(context, row, width).slice(0, -1) || [...row][0];
      rows.push(start);
      row = row.slice(start.length);
    }
  }
  return row ? [...rows, row] : rows;
}

export function write(context, text, x, y, { font, colour, align = "left", baseline = "top" }) {
  context.font = font;
  context.fillStyle = colour;
  context.textAlign = align;
  context.textBaseline = baseline;
  context.fillText(text, x, y);
}

// Paints a part of a figure elsewhere.
export function paintAt(target, x, y, paint) {
  target.save();
  target.translate(x, y);
  paint(target);
  target.restore();
}

// Paints what is seen within a box only.
export function paintWithin(target, box, paint) {
  target.save();
  target.beginPath();
  target.rect(...box);
  target.clip();
  paint();
  target.restore();
}

// Begins a path through points.
export function trace(target, points, { isClosed = false } = {}) {
  target.beginPath();
  points.forEach((point, at) => target[at ? "lineTo" : "moveTo"](...point));
  if (isClosed) target.closePath();
}

// Parts of a figure in rows of so many, in columns of so many pixels, as one part.
export function inRows(parts, across, space, gap) {
  const places = [];
  let top = 0;
  for (let start = 0; start < parts.length; start += across) {
    const row = parts.slice(start, start + across);
    row.forEach((_, column) => places.push([column * (space + gap), top]));
    top += Math.max(...row.map(({ height }) => height)) + gap;
  }
  const paint = (target) => parts.forEach((part, at) => paintAt(target, ...places[at], part.paint));
  return { width: Math.max(...parts.map(({ width }, at) => places[at][0] + width)), height: Math.max(0, top - gap), paint };
}

export function widthOf(context, font, text) {
  context.font = font;
  return Math.ceil(context.measureText(text).width);
}

// A title over a part of a figure, in as many lines as it takes.
export function layTitle(context, theme, text, width) {
  const font = `600 13px ${theme.font}`;
  const rows = text ? wrapped(context, font, text, width) : [];
  const paint = (target) => rows.forEach((row, index) => write(target, row, 0, 2 + index * 17, { font, colour: theme.text }));
  return { height: rows.length ? rows.length * 17 + 7 : 0, paint };
}
