// What Python packed, unpacked: four bytes of header length, a JSON header, then the cells.
// A cell is the square root of a weight, as a whole number: small weights keep their digits.

export function unpack(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return { header: JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))), body: bytes.slice(4 + length) };
}

// Base64, as in data and as in links: browsers have had a method of their own for it since 2025 only.
export const bytesOf = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (sign) => sign.charCodeAt(0));
export const base64Of = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));

export function weightOf(code) {
  const root = code / 65535;
  return root * root;
}

export const NO_CHANGE = 32768; // a difference of two weights is coded around it, with the sign of the difference

export function changeOf(code) {
  const root = (code - NO_CHANGE) / 32767;
  return Math.sign(root) * root * root;
}

export function digits(code) {
  return weightOf(code).toFixed(3);
}

// The positions of the `count` largest codes among `positions`, largest first.
// Counting how often each code occurs finds the threshold without sorting a quarter of a million cells.
export function strongest(cells, positions, count) {
  const histogram = new Uint32Array(65536);
  for (const position of positions) histogram[cells[position]] += 1;
  let threshold = 65535;
  for (let above = histogram[65535]; above < count && threshold > 1; above += histogram[threshold]) threshold -= 1;
  const found = [];
  for (const position of positions) if (cells[position] >= threshold && cells[position] > 0) found.push(position);
  return found.sort((one, other) => cells[other] - cells[one] || one - other).slice(0, count);
}

export function span(start, count, step = 1) {
  const places = new Uint32Array(count);
  for (let index = 0; index < count; index += 1) places[index] = start + index * step;
  return places;
}
