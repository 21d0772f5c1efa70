// Lines over steps, in a stage or in a figure: told apart by colour, dashes and marks.

import { visible } from "../core/surface.js";
import { superscript } from "../core/numbers.js";
import { paintAt, trace, widthOf, write } from "../core/text.js";
import { layLegend, paintMark } from "../core/marks.js";

export function threeDigits(value) {
  const size = Math.abs(value);
  const sign = value < 0 ? "−" : "";
  if (size !== 0 && (size < 0.0005 || size >= 1e6)) {
    const [digits, exponent] = size.toExponential(2).split("e");
    return `${sign}${digits}·10${superscript(String(Number(exponent)))}`;
  }
  return sign + (size >= 99.95 ? String(Math.round(size)) : size.toPrecision(3));
}

const DASHED = { solid: [], dash: [8, 5], dot: [2, 4], dashdot: [8, 4, 2, 4] };
const STEP_SPACE = 24;
const BETWEEN_STEPS = 6;
const [MOST_NAMED, MOST_MARKED] = [12, 40]; // steps

export function layLines(context, theme, { steps, series, limits, band, logarithmic, tall, size = 12 }, space) {
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
  if (steps.length <= MOST_NAMED || !numbers.every(Number.isInteger)) {
    const every = Math.max(1, Math.floor((steps.length - 1) / 6));
    return (step) => step % every === 0;
  }
  const unit = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((one) => steps.length / one <= MOST_NAMED) ?? 1000;
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
