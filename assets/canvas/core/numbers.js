// Formats numbers for reading: two decimals, or two significant digits where two decimals would be zero.
// pages/ui/stage/scripts.py serves the texts.

import { TEXTS } from "./texts.js";

export function number(value) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : TEXTS.notANumber;
  const size = Math.abs(value);
  if (size === 0) return "0";
  const sign = value < 0 ? "−" : "";
  if (size < 0.0001 || size >= 1e7) return sign + scientific(size);
  if (size < 0.095) return sign + size.toPrecision(2);
  return sign + size.toFixed(Number.isInteger(value) ? 0 : 2);
}

// In a sum or a product a negative number stands in brackets.
export function inSum(value) {
  return value < 0 ? `(${number(value)})` : number(value);
}

// At most five characters, for a small cell.
export function short(value) {
  if (!Number.isFinite(value)) return number(value);
  const size = Math.abs(value);
  const written = size >= 9950 ? `${Math.round(size / 1000)}k` : size.toFixed(size >= 99.5 || Number.isInteger(value) ? 0 : 1);
  return value < 0 && Number(written) !== 0 ? `−${written}` : written;
}

// A share, or a change of one, in a small cell: two digits, without the 0 before them.
export const twoDigits = (value) => value.toFixed(2).replace("-", "−").replace(/^(−?)0\./, "$1.");

// A number above zero with a power of ten.
export function scientific(size, decimals = 1, times = "·") {
  const [digits, exponent] = size.toExponential(decimals).split("e");
  return `${digits}${times}10${superscript(String(Number(exponent)))}`;
}

function superscript(text) {
  return [...text].map((character) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[character] ?? (character === "-" || character === "−" ? "⁻" : character)).join("");
}

// A share of 0 to 1, a difference of two in percentage points, and their ratio, as pages/ui/shell/numbers.py writes them.
export function percent(share) {
  if (share < 0.0001 && share !== 0) return `1 in ${1 / share < 1e6 ? grouped(1 / share) : powerOfTen(-1, share)}`;
  const value = 100 * share;
  return `${value.toFixed(value === 0 ? 0 : decimalsOf(value))}\u00a0%`;
}

export function sharesInChange(before, after) {
  if (Math.min(before, after) >= 0.0001 || Math.max(before, after) < 0.01) return [percent(before), percent(after)];
  return before < after ? [TEXTS.almostNone, percent(after)] : [percent(before), TEXTS.almostNone];
}

export function points(difference) {
  const value = Math.abs(100 * difference);
  const written = value.toFixed(decimalsOf(value));
  return Number(written) ? `${difference > 0 ? "+" : "−"}${written}` : "0";
}

// none: what stands for a ratio to zero.
export function ratio(one, other, none) {
  if (!one || !other) return none;
  const size = Math.max(one, other) / Math.min(one, other);
  const written = size >= 1e6 ? powerOfTen(1, size) : size >= 10 ? grouped(Number(size.toPrecision(3))) : String(Number(size.toPrecision(2)));
  return one >= other ? `${written} : 1` : `1 : ${written}`;
}

// A difference so that its size is visible: 0.358, 1.2 × 10⁻⁶, 0.
export function smallNumber(value) {
  if (value === 0) return "0";
  return Math.abs(value) >= 0.001 ? value.toFixed(3) : scientific(value, 1, " × ");
}

const decimalsOf = (value) => (value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
const grouped = (value) => Number(value.toFixed(0)).toLocaleString("en");

// One digit and a power of ten of a number, or of 1 over it: the smallest shares have no number for that.
function powerOfTen(sign, value) {
  const [digits, exponent] = value.toExponential(12).split("e").map(Number);
  const [first, more] = (sign < 0 ? 10 / digits : digits).toExponential(0).split("e").map(Number);
  const power = `10${superscript(String(sign * exponent + more - (sign < 0 ? 1 : 0)))}`;
  return first === 1 ? power : `${first} × ${power}`;
}
