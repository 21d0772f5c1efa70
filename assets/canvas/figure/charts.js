// The charts of a page as parts of a figure: bars, lines, points, the grid of heads and small tables.

import { NO_CHANGE } from "../core/bytes.js";
import { cellAt, codesOf, gridShape, paintGrid } from "../core/grid.js";
import { layLegend, paintMark } from "../core/marks.js";
import { number, scientific, twoDigits } from "../core/numbers.js";
import { colourTable, differenceTable, tint } from "../core/palette.js";
import { fit, visible } from "../core/surface.js";
import { inRows, layTitle, paintAt, trace, widthOf, wrapped, write } from "../core/text.js";

// Charts of a page in one figure: as many beside one another as there is space for, each under its title.

const LAY = { bars: layBars, moved: layMoved, grid: layGrid, lines: layLines, listing: layListing, points: layPoints, matrix: layMatrix };
const LEAST_CHART = 190;
const BETWEEN_CHARTS = 22;
const NOTE = 16;

export function chartsDrawing({ charts, across }) {
  return (context, theme, width) => {
    const beside = Math.max(1, Math.min(across, charts.length, Math.floor((width + BETWEEN_CHARTS) / (LEAST_CHART + BETWEEN_CHARTS))));
    const space = Math.floor((width - BETWEEN_CHARTS * (beside - 1)) / beside);
    return inRows(charts.map((chart) => layChart(context, theme, chart, space)), beside, space, BETWEEN_CHARTS);
  };
}

// Drawings below each other.
export function stacked(drawings) {
  return (context, theme, width) => inRows(drawings.map((drawing) => drawing(context, theme, width)), 1, width, BETWEEN_CHARTS);
}

// Lays out a chart without its title and note. Beside size and `paint`, it tells of the spots that can be pointed at: how many
// `rows` and `columns` of them, the `box` of each, and which is `near` a point.
export function layKind(context, theme, chart, space) {
  const laid = LAY[chart.kind](context, theme, chart, space);
  const { spots } = laid;
  if (spots && !spots.near) {
    spots.near = (x, y) => {
      const inside = (row, column) => {
        const [left, top, wide, high] = spots.box(row, column);
        return x >= left && x < left + wide && y >= top && y < top + high;
      };
      for (let row = 0; row < spots.rows; row += 1) for (let column = 0; column < spots.columns; column += 1) if (inside(row, column)) return [row, column];
      return null;
    };
  }
  return laid;
}

function layChart(context, theme, chart, space) {
  if (!chart) return { width: 0, height: 0, paint() {} };
  const title = layTitle(context, theme, visibleText(chart.title), space);
  const inner = LAY[chart.kind](context, theme, chart, space);
  const font = `11px ${theme.font}`;
  const notes = chart.note ? wrapped(context, font, visibleText(chart.note), space) : [];
  const paint = (target) => {
    title.paint(target);
    paintAt(target, 0, title.height, inner.paint);
    notes.forEach((row, index) => write(target, row, 0, title.height + inner.height + 4 + index * NOTE, { font, colour: theme.quiet }));
  };
  return { width: Math.max(inner.width, Math.min(space, 120)), height: title.height + inner.height + notes.length * NOTE + 4, paint };
}

function visibleText(text) {
  return text ? visible(text) : "";
}

// Horizontal bars with their names before them and their numbers at their ends; and pairs of them, before and after.

const BAR_ROW = 27;
const THICK = 18;
const NAME_LINE = 18;
const WHISKER = 9; // pixels of the ends of an interval
const CUT_EDGE = 6; // pixels of the edge of a bar that goes on beyond its axis
const TICK_SPACE = 22;

// from, to: the ends of the axis. names: whether labels are written, which charts side by side need only once.
// cut: which bars go on beyond the axis. intervals: the ends of a whisker over each bar, if any. before: of pairs, in outline; `open` where
// these go on; `sides`, the names of both; `delta`, what stands in brackets.
function layBars(context, theme, { labels, values, ends, colours, names, from, to, ticks, cut, intervals = [], before = [], open, sides, delta }, space) {
  const [nameFont, endFont] = [`14px ${theme.font}`, `13px ${theme.font}`];
  const widest = names ? Math.max(...labels.map((label) => widthOf(context, nameFont, visible(label)))) : 0;
  const left = names ? Math.min(widest, Math.floor(space * 0.45)) + 8 : 0;
  const side = (at) => Math.max(0, ...ends.filter((_, index) => (values[index] < 0) === at).map((end) => widthOf(context, endFont, end))) + 8;
  const start = left + (from < 0 ? side(true) : 0);
  const plot = Math.max(40, space - start - side(false));
  const place = (value) => start + ((value - from) / (to - from)) * plot;
  const written = labels.map((label) => (names ? wrapped(context, nameFont, visible(label), left - 8) : []));
  const heights = written.map((lines) => Math.max(BAR_ROW, lines.length * NAME_LINE + 6));
  const middles = [];
  let bottom = 0;
  for (const height of heights) {
    middles.push(bottom + height / 2);
    bottom += height;
  }
  const signs = [(target, x, y) => outline(target, theme, [x - 11, y - 4, 22, 9]), (target, x, y) => {
    target.fillStyle = colours[0];
    target.fillRect(x - 11, y - 4, 22, 9);
  }, () => {}];
  const legend = layLegend(context, theme, before.length ? [...sides, `(${delta})`].map((name, at) => ({ name, sign: signs[at] })) : [], space);
  const paint = (target) => {
    paintTicks(target, theme, ticks, place, 0, bottom);
    for (const [index, value] of values.entries()) {
      const [middle, first, last] = [middles[index] + 0.5, place(Math.min(0, value)), place(Math.max(0, value))];
      target.fillStyle = colours[index % colours.length];
      const box = [first, middles[index] - THICK / 2, last - first, THICK];
      if (cut?.[index]) fillCutBar(target, ...box);
      else target.fillRect(...box);
      const top = middle - ((written[index].length - 1) * NAME_LINE) / 2;
      written[index].forEach((line, number) => write(target, line, left - 8, top + number * NAME_LINE,
        { font: nameFont, colour: theme.text, align: "right", baseline: "middle" }));
      const whisker = (intervals[index] ?? []).map(place);
      if (whisker.length) paintWhisker(target, theme, whisker, middles[index]);
      if (before.length) outline(target, theme, [first, middles[index] - THICK / 2, place(before[index]) - first, THICK], open[index]);
      const outer = value < 0 ? { x: Math.min(first, ...whisker) - 4, align: "right" } : { x: Math.max(last, place(before[index] ?? 0), ...whisker) + 4, align: "left" };
      write(target, ends[index], outer.x, middle, { font: endFont, colour: theme.text, align: outer.align, baseline: "middle" });
    }
    paintAt(target, 0, bottom + TICK_SPACE, legend.paint);
  };
  const spots = { rows: labels.length, columns: 1, box: (row) => [0, middles[row] - heights[row] / 2, space, heights[row]] };
  return { width: space, height: bottom + TICK_SPACE + legend.height, paint, spots };
}

function paintWhisker(target, theme, [low, high], middle) {
  target.fillStyle = theme.text;
  target.fillRect(low, middle - 0.75, high - low, 1.5);
  for (const end of [low, high]) target.fillRect(end - 0.75, middle - WHISKER / 2, 1.5, WHISKER);
}

// A bar that goes on beyond the axis, torn at its end.
function fillCutBar(target, left, top, width, height) {
  const [right, dent] = [left + width, left + Math.max(0, width - CUT_EDGE)];
  trace(target, [[left, top], [dent, top], [right, top + height / 4], [dent, top + height / 2], [right, top + (height * 3) / 4], [dent, top + height], [left, top + height]], { isClosed: true });
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

// Pairs as bars: after filled, before in outline.
function layMoved(context, theme, { colour, after, ends, deltas, cut, ...chart }, space) {
  const pairs = { values: after, colours: [colour], ends: ends.map((end, at) => `${end} (${deltas[at]})`), cut: cut.map(([, isCut]) => isCut), open: cut.map(([isCut]) => isCut), names: true, from: 0 };
  return layBars(context, theme, { ...chart, ...pairs }, space);
}

// open: without its end, for what goes on beyond the axis.
function outline(target, theme, [left, top, width, height], open = false) {
  target.strokeStyle = theme.text;
  target.lineWidth = 1.5;
  trace(target, [[left + width, top], [left, top], [left, top + height], [left + width, top + height]], { isClosed: !open });
  target.stroke();
}

// The table of all heads: hue for the kind, depth of colour for how clear it is, a word or a letter on it.

const SPACE_FOR_A_WORD = 50;
const WORD_SIZES = [13, 12]; // pixels: the first at which a word fits
const CELL = { least: 42, tallest: 60, gap: 3, most: 110 };
const AXIS = { left: 46, top: 38 };

// tall: of all cells, where there is more room than they need.
function layGrid(context, theme, { cells, legend, chosen, axes, tall = 0 }, space) {
  const columns = cells[0].length;
  const high = Math.max(CELL.least, Math.min(CELL.tallest, Math.floor(tall / cells.length) - CELL.gap));
  const wide = Math.min(CELL.most, (space - AXIS.left) / columns - CELL.gap);
  const bottom = AXIS.top + cells.length * (high + CELL.gap);
  const box = (row, column) => [AXIS.left + column * (wide + CELL.gap), AXIS.top + row * (high + CELL.gap), wide, high];
  const named = layLegend(context, theme, legend.map((entry) => ({ name: entry.name, sign: (target, x, y) => swatch(target, theme, entry, x, y) })), space);
  const paint = (target) => {
    write(target, axes, 0, 2, { font: `12px ${theme.font}`, colour: theme.quiet });
    for (let head = 0; head < columns; head += 1) {
      const x = AXIS.left + head * (wide + CELL.gap) + wide / 2;
      write(target, String(head + 1), x, 20, { font: `12px ${theme.font}`, colour: theme.quiet, align: "center" });
    }
    for (const [layer, row] of cells.entries()) {
      const y = AXIS.top + layer * (high + CELL.gap);
      write(target, String(layer + 1), AXIS.left - 10, y + high / 2, { font: `12px ${theme.font}`, colour: theme.quiet, align: "right", baseline: "middle" });
      for (const [head, cell] of row.entries()) paintCell(target, theme, cell, [AXIS.left + head * (wide + CELL.gap), y, wide, high]);
    }
    if (chosen) paintChosen(target, theme, box(...chosen));
    paintAt(target, 0, bottom + 8, named.paint);
  };
  const spots = { rows: cells.length, columns, box };
  return { width: Math.min(space, AXIS.left + columns * (wide + CELL.gap)), height: bottom + 8 + named.height, paint, spots };
}

function paintChosen(target, theme, [x, y, wide, high]) {
  target.strokeStyle = theme.accent;
  target.lineWidth = 2.5;
  target.strokeRect(x - 1, y - 1, wide + 2, high + 2);
}

function paintCell(target, theme, cell, [x, y, wide, high]) {
  const { background, ink } = tint(cell.colour, cell.strength, theme.ground);
  target.fillStyle = background;
  target.fillRect(x, y, wide, high);
  const words = wide >= SPACE_FOR_A_WORD;
  const text = words ? cell.word : cell.letter;
  const font = WORD_SIZES.map((size) => `600 ${size}px ${theme.font}`).find((one) => widthOf(target, one, text) <= wide - 4) ?? `600 ${WORD_SIZES.at(-1)}px ${theme.font}`;
  target.font = font;
  const numbered = words && cell.number;
  const place = [x + wide / 2, y + high / 2 - (numbered ? 8 : 0)];
  write(target, fit(target, text, wide), ...place, { font, colour: ink, align: "center", baseline: "middle" });
  if (numbered) write(target, cell.number, place[0], place[1] + 16, { font: `12px ${theme.font}`, colour: ink, align: "center", baseline: "middle" });
}

function swatch(target, theme, entry, x, y) {
  const { background, ink } = tint(entry.colour, entry.strength, theme.ground);
  target.fillStyle = background;
  target.fillRect(x - 10, y - 8, 22, 17);
  write(target, entry.letter, x + 1, y + 0.5, { font: `600 12px ${theme.font}`, colour: ink, align: "center", baseline: "middle" });
}

// Heads as points on a plane, both axes alike; the chosen one large, with lines to its neighbours.

const TALL = 430;
const EDGE = 28;
const POINT = 5;
const CHOSEN_POINT = 9;
const NEAR_POINT = 22; // pixels from which a point is pointed at
const NAME_SIZE = 12.5;

// kinds: name, colour, symbol, and which points are of it. name: of the chosen point, and how many pixels from it. names: of all
// points, of which those are written that have space. bounds: places of which all fit in; chosen: below 0 for none.
function layPoints(context, theme, { places, kinds, chosen, neighbours, dotted, name, names, bounds = places, tall = TALL }, space) {
  const axes = [0, 1].map((axis) => bounds.map((place) => place[axis]));
  const [across, up] = axes.map((values) => [Math.min(...values), Math.max(...values)]);
  const scale = Math.min((space - 2 * EDGE) / (across[1] - across[0] || 1), (tall - 2 * EDGE) / (up[1] - up[0] || 1));
  const point = (index) => [
    space / 2 + (places[index][0] - (across[0] + across[1]) / 2) * scale,
    tall / 2 - (places[index][1] - (up[0] + up[1]) / 2) * scale,
  ];
  const entries = kinds.map((kind) => ({
    name: visible(kind.name), sign: (target, x, y) => paintMark(target, kind.symbol, x, y, 5, kind.colour, { colour: theme.text, width: 0.5 }),
  }));
  if (dotted) entries.push({ name: dotted, sign: (target, x, y) => paintNeighbours(target, theme, [x - 6, y], [[x + 6, y]]) });
  const legend = layLegend(context, theme, entries, space);
  const paint = (target) => {
    if (chosen >= 0) paintNeighbours(target, theme, point(chosen), neighbours.map(point));
    for (const { colour, symbol, members } of kinds) {
      for (const index of members) {
        const large = index === chosen;
        paintMark(target, symbol, ...point(index), large ? CHOSEN_POINT : POINT, colour, { colour: theme.text, width: large ? 2.5 : 0.5 });
      }
    }
    if (name) paintName(target, theme, point(chosen), name);
    if (names) paintNames(target, theme, places.map((_, index) => point(index)), names, [chosen, ...neighbours], [space, tall]);
    paintAt(target, 0, tall + 4, legend.paint);
  };
  const reach = (index) => (index === chosen ? CHOSEN_POINT : POINT) + 2;
  const box = (_, index) => [point(index)[0] - reach(index), point(index)[1] - reach(index), 2 * reach(index), 2 * reach(index)];
  const near = (x, y) => {
    const far = places.map((_, index) => Math.hypot(point(index)[0] - x, point(index)[1] - y));
    const nearest = far.indexOf(Math.min(...far));
    return far[nearest] <= NEAR_POINT ? [0, nearest] : null;
  };
  return { width: space, height: tall + 4 + legend.height, paint, spots: { rows: 1, columns: places.length, box, near } };
}

function paintNeighbours(target, theme, from, ends) {
  target.strokeStyle = theme.text;
  target.lineWidth = 1.2;
  target.setLineDash([2, 4]);
  for (const end of ends) {
    trace(target, [from, end]);
    target.stroke();
  }
  target.setLineDash([]);
}

function paintName(target, theme, [x, y], { text, right, down }) {
  write(target, text, x + right, y + down, { font: `${NAME_SIZE}px ${theme.font}`, colour: theme.text, align: "center", baseline: "middle" });
}

const MOST_NAMED = 60;
const NAME_BESIDE = [[9, 0, "left"], [-9, 0, "right"], [0, -13, "center"], [0, 13, "center"]];

// Writes names beside their points where nothing else is; `first` before all others, and of many points these alone.
function paintNames(target, theme, points, names, first, [wide, tall]) {
  const font = `${NAME_SIZE}px ${theme.font}`;
  const taken = points.map(([x, y]) => [x - POINT, y - POINT, 2 * POINT, 2 * POINT]);
  const rest = points.length <= MOST_NAMED ? points.keys() : [];
  const [chosen, ...ends] = first.map((index) => points[index]);
  const dots = []; // of the dotted lines: a name stands on them only where no other place is free
  for (const [right, down] of chosen ? ends : []) {
    for (let at = 0.1; at < 0.95; at += 0.05) dots.push([chosen[0] + at * (right - chosen[0]), chosen[1] + at * (down - chosen[1]), 1, 1]);
  }
  for (const index of new Set([...first.filter((one) => one >= 0), ...rest])) {
    const text = visible(names[index]);
    const [x, y] = points[index];
    const width = widthOf(target, font, text);
    const farther = index === first[0] ? 1.5 : 1; // the chosen point is larger
    const boxOf = ([right, down, align]) => [x + right * farther - { left: 0, right: width, center: width / 2 }[align], y + down * farther - 7, width, 14];
    const isFree = ([left, top], others = [...taken, ...dots]) => left >= 0 && top >= 0 && left + width <= wide && top + 14 <= tall && !others.some(([one, other, across, high]) => left < one + across && one < left + width && top < other + high && other < top + 14);
    const beside = NAME_BESIDE.find((one) => isFree(boxOf(one))) ?? NAME_BESIDE.find((one) => isFree(boxOf(one), taken));
    if (!beside) continue;
    taken.push(boxOf(beside));
    write(target, text, x + beside[0] * farther, y + beside[1] * farther, { font, colour: theme.text, align: beside[2], baseline: "middle" });
  }
}

// A small table of words and numbers. Nothing is cut: what is too wide for its column goes on in the next line.

const LINE = 16;
const SPACE_AROUND = 7;
const BETWEEN_COLUMNS = 12;

function layListing(context, theme, { head, rows }, space) {
  const fonts = [`600 12.5px ${theme.font}`, `12.5px ${theme.font}`];
  const texts = [head, ...rows].map((row) => row.map((cell) => (cell ? visible(cell) : "")));
  const widest = (column) => Math.max(
    ...texts[0][column].split(" ").map((word) => widthOf(context, fonts[0], word)),
    ...texts.slice(1).map((row) => widthOf(context, fonts[1], row[column])),
  );
  const wanted = head.map((_, column) => widest(column) + BETWEEN_COLUMNS);
  const widths = shared(wanted, space);
  const lefts = widths.map((_, column) => widths.slice(0, column).reduce((sum, width) => sum + width, 0));
  const cells = texts.map((row, index) => row.map((text, column) => wrapped(context, fonts[index ? 1 : 0], text, widths[column] - BETWEEN_COLUMNS / 2)));
  const heights = cells.map((row) => Math.max(1, ...row.map((lines) => lines.length)) * LINE + SPACE_AROUND);
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
function shared(wanted, space) {
  const widths = [];
  let left = space;
  const order = wanted.map((_, column) => column).sort((one, other) => wanted[one] - wanted[other]);
  for (const [place, column] of order.entries()) {
    widths[column] = Math.min(wanted[column], left / (order.length - place));
    left -= widths[column];
  }
  return widths;
}

const LARGEST_CELL = 32;
const TALLEST_MATRIX = 300;
const ALLOWED = 0.25; // the weight that has the colour of a pair that a mask allows

// A matrix as cells, of which null is minus infinity, since JSON cannot write it; or as numbers in one row. colouring: "weights", of 0 to 1,
// "signed", on both sides of zero, or "mask", of what is not 0 as allowed. ends: what stands behind each row. marked: the column in a frame.
// byColumn: whether a whole column is chosen.
function layMatrix(context, theme, chart, space) {
  const [isSigned, isMask] = [chart.colouring === "signed", chart.colouring === "mask"];
  const shown = isMask ? (cell) => (cell ? ALLOWED : -Infinity) : (cell) => cell ?? -Infinity;
  const values = Float32Array.from(Array.isArray(chart.cells) ? chart.cells.flat() : chart.cells, shown);
  const grid = {
    rows: chart.rows.length, columns: chart.columns.length, rowTexts: chart.rows.map(visible), columnTexts: chart.columns.map(visible),
    cells: codesOf(values, { limit: isSigned ? chart.limit : 1, signed: isSigned, linear: isSigned && !chart.root }), zero: isSigned ? NO_CHANGE : 0,
    table: isSigned ? differenceTable(theme.dark) : colourTable("blues", theme.dark), hatched: Uint8Array.from(values, (value) => Number(!Number.isFinite(value))),
    written: isMask ? null : (at) => smallestNumber(values[at]), axesLine: chart.axes, numbered: chart.numbered, isFree: !chart.square, widestRow: chart.widestRow,
  };
  const font = `600 13px ${theme.font}`;
  const ends = Math.max(0, ...(chart.ends ?? []).map((end) => widthOf(context, font, end) + 8));
  const shape = gridShape(context, grid, theme, space - ends, { tallest: chart.tallest ?? TALLEST_MATRIX, largest: chart.largest ?? LARGEST_CELL, tallestRow: chart.tallestRow });
  const { left, top, wide, high, plotWidth, plotHeight, lean } = shape;
  const [row, column] = chart.chosen ?? [];
  const outlines = chart.chosen && !chart.byColumn ? [{ row, column, colour: theme.accent, width: 2.5 }] : [];
  const frame = (target, at, colour) => paintChosen(target, { accent: colour }, [left + at * wide, top, wide, plotHeight]);
  const paint = (target) => {
    paintGrid(target, shape, grid, theme, { outlines });
    chart.ends?.forEach((end, at) => write(target, end, left + plotWidth + 7, top + (at + 0.5) * high, { font, colour: theme.text, baseline: "middle" }));
    if (chart.marked !== undefined) frame(target, chart.marked, theme.text);
    if (chart.chosen && chart.byColumn) frame(target, column, theme.accent);
  };
  const near = (x, y) => {
    const cell = cellAt(shape, grid, x, y);
    return cell && cell.row !== null && cell.column !== null ? [cell.row, cell.column] : null;
  };
  const spots = { rows: grid.rows, columns: grid.columns, box: (down, across) => [left + across * wide, top + down * high, wide, high], near };
  return { width: Math.min(space, left + plotWidth + Math.max(lean, ends) + 4), height: top + plotHeight + 6, paint, spots };
}

// What stands in a cell: short, because cells are small; nothing for what rounds to zero.
function smallestNumber(value) {
  if (Number.isNaN(value)) return "";
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return number(value);
  return size < 0.005 ? "" : size < 10 ? twoDigits(value) : value.toFixed(size >= 100 ? 0 : 1).replace("-", "−");
}

// Lines over steps: told apart by colour, dashes and marks.

export function threeDigits(value) {
  const size = Math.abs(value);
  const sign = value < 0 ? "−" : "";
  if (size !== 0 && (size < 0.0005 || size >= 1e6)) return sign + scientific(size, 2);
  return sign + (size >= 99.95 ? String(Math.round(size)) : size.toPrecision(3));
}

const DASHED = { solid: [], dash: [8, 5], dot: [2, 4], dashdot: [8, 4, 2, 4] };
const STEP_SPACE = 24;
const BETWEEN_STEPS = 6;
const [MOST_STEPS, MOST_MARKED] = [12, 40]; // steps

function layLines(context, theme, { steps, series, limits, band, logarithmic, tall, size = 12 }, space) {
  const font = `${size}px ${theme.font}`;
  const scaled = logarithmic ? Math.log10 : (value) => value;
  const [low, high] = limits ?? spread([...series.flatMap(({ values }) => values), ...(band ?? []).flat()].map(scaled));
  const ticks = (logarithmic ? powerTicks : roundTicks)(low, high);
  const left = Math.max(0, ...ticks.map(({ text }) => widthOf(context, font, text))) + 10;
  const plot = space - left - 14;
  const x = (step) => left + (steps.length > 1 ? (step / (steps.length - 1)) * (plot - 12) + 6 : plot / 2);
  const y = (value) => 6 + ((high - value) / (high - low)) * (tall - 12);
  const entries = series.map((line) => ({ name: visible(line.name), sign: (target, at, middle) => lineSign(target, line, at, middle) }));
  const legend = layLegend(context, theme, entries.length > 1 ? entries : [], space - left);
  const isNamed = namedSteps(steps);
  const paint = (target) => {
    for (const { at, text } of ticks) {
      target.fillStyle = theme.faint;
      target.fillRect(left, y(at) - 0.5, plot, 1);
      write(target, text, left - 6, y(at), { font, colour: theme.quiet, align: "right", baseline: "middle" });
    }
    if (band) shade(target, band.map((border) => border.map((value, step) => [x(step), y(scaled(value))])));
    for (const line of series) paintLine(target, line, line.values.map((value, step) => [x(step), y(scaled(value))]), steps.length < 12 ? 3.5 : 2.5);
    let free = 0; // where the name before has ended
    for (let step = 0; step < steps.length; step += 1) {
      if (!isNamed(step)) continue;
      const name = withMinus(steps[step]);
      const wide = widthOf(target, font, name);
      const start = Math.max(0, x(step) - wide / 2);
      if (start < free) continue;
      write(target, name, start, tall + 2, { font, colour: theme.quiet });
      free = start + wide + BETWEEN_STEPS;
    }
    paintAt(target, left, tall + STEP_SPACE, legend.paint);
  };
  const near = (at, down) => {
    const far = steps.map((_, step) => Math.abs(x(step) - at));
    return down <= tall + STEP_SPACE ? [0, far.indexOf(Math.min(...far))] : null;
  };
  const spots = { rows: 1, columns: steps.length, box: (_, step) => [x(step) - 0.5, 0, 1, tall], near };
  return { width: space, height: tall + STEP_SPACE + legend.height, paint, spots };
}

export const withMinus = (written) => written.replace(/^-(?=\d)/, "−");

// Which steps are named on the axis: of numbers the round ones, of others every so many.
function namedSteps(steps) {
  const numbers = steps.map(Number);
  if (steps.length <= MOST_STEPS || !numbers.every(Number.isInteger)) {
    const every = Math.max(1, Math.floor((steps.length - 1) / 6));
    return (step) => step % every === 0;
  }
  const unit = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((one) => steps.length / one <= MOST_STEPS) ?? 1000;
  return (step) => numbers[step] % unit === 0;
}

function paintLine(target, { colour, dash, mark }, points, radius) {
  trace(target, points);
  target.strokeStyle = colour;
  target.lineWidth = 2;
  target.setLineDash(DASHED[dash]);
  target.stroke();
  target.setLineDash([]);
  const every = points.length > MOST_MARKED ? Math.ceil(points.length / 16) : 1; // more would be a band
  points.forEach(([x, y], step) => step % every === 0 && paintMark(target, mark, x, y, radius, colour));
}

// The mark of a line in a legend.
export function lineSign(target, { colour, dash, mark }, x, y) {
  paintLine(target, { colour, dash, mark }, [[x - 12, y], [x + 12, y]], 0.1);
  paintMark(target, mark, x, y, 3.5, colour);
}

function shade(target, [lower, upper]) {
  trace(target, [...upper, ...lower.toReversed()], { isClosed: true });
  target.fillStyle = "rgba(128, 140, 152, 0.22)";
  target.fill();
}

function spread(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const margin = Math.max((high - low || Math.abs(high) || 1) * 0.06, Math.abs(high) * 1e-6);
  return [low - margin, high + margin];
}

// Round numbers, some five of them.
function roundTicks(low, high) {
  const rough = (high - low) / 5;
  const ten = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((unit) => unit * ten).find((unit) => unit * 1.3 >= rough);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const found = [];
  for (let count = Math.ceil(low / step - 1e-6); count * step <= high + 1e-6 * step; count += 1) {
    const at = count * step;
    const text = at.toFixed(digits);
    found.push({ at, text: (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−") });
  }
  return found;
}

// Powers of ten, and 2 and 5 times them where there are few; low and high are logarithms.
function powerTicks(low, high) {
  const every = Math.max(1, Math.ceil((high - low) / 5));
  const found = [];
  for (let power = Math.floor(low); power <= high; power += every) {
    for (const unit of high - low < 2 ? [1, 2, 5] : [1]) {
      const at = power + Math.log10(unit);
      const written = Math.abs(power) > 4 ? `${unit}e${power}` : (unit * 10 ** power).toFixed(Math.max(0, -power));
      if (at >= low - 1e-9 && at <= high + 1e-9) found.push({ at, text: written.replace("-", "−") });
    }
  }
  return found;
}
