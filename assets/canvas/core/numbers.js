// Formats numbers for reading: two decimals, or two significant digits where two decimals would be zero.
// pages/ui/canvas/component.py writes texts.js.

import { TEXTS } from "./texts.js";

export function number(value) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : TEXTS.notANumber;
  const size = Math.abs(value);
  if (size === 0) return "0";
  const sign = value < 0 ? "−" : "";
  if (size < 0.0001 || size >= 1e7) return sign + power(size);
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

function power(size) {
  const [digits, exponent] = size.toExponential(1).split("e");
  return `${digits}·10${superscript(String(Number(exponent)))}`;
}

export function superscript(text) {
  return [...text].map((character) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[character] ?? (character === "-" || character === "−" ? "⁻" : character)).join("");
}
