// The weights of a run in the browser: what a message brought, what was fetched later, and how much of it is kept.
//
// A message is four bytes of length, a JSON header, 16-bit cells layer by layer, and thumbnails where the run is long. The rest of
// a long run is fetched by layer from an address that never changes what it holds.

import { unpack } from "../../canvas/core/bytes.js";

const MAX_BYTES = 24e6; // of all layers that are kept; of BERT base at 512 tokens two
const LEAST_LAYERS = 2;
export const THUMBNAIL = 24;
const AHEAD_BYTES = 8e6; // a run up to this size is fetched whole once its first picture is there

export function unpackStage(bytes) {
  const { header, body } = unpack(bytes);
  const axis = (one) => header.axes[one] ?? one; // moments of a training share their axes
  for (const stack of (header.moments ?? []).flatMap(({ stacks }) => stacks)) Object.assign(stack, { queries: axis(stack.queries), keys: axis(stack.keys) });
  return { header, body };
}

// A message again: its header, and the bytes behind it.
export function packStage(header, ...parts) {
  const words = new TextEncoder().encode(JSON.stringify(header));
  const all = [new Uint8Array(new Uint32Array([words.length]).buffer), words, ...parts];
  const message = new Uint8Array(all.reduce((sum, one) => sum + one.length, 0));
  all.reduce((at, one) => (message.set(one, at), at + one.length), 0);
  return message;
}

export function makeRuns() {
  return { layers: new Map(), bytes: 0, asked: new Map() };
}

// The stacks that a run has; those of the message where it has none of its own.
export const stacksOf = (header, run) => run.stacks ?? header.stacks;
const nameOf = (id, stack, layer) => `${id} ${stack} ${layer}`;
const cellsOf = ({ queries, keys }) => queries.tokens.length * keys.tokens.length;

// Takes a message apart: its layers go into what is kept. Returns the thumbnails, null where there are none.
export function takeIn(runs, { header, body }) {
  let start = 0;
  for (const run of header.moments ?? [header.run, header.before]) {
    for (const [stack, layer] of run?.included ?? []) {
      const stacks = stacksOf(header, run);
      const size = stacks[stack].heads * cellsOf(stacks[stack]);
      keep(runs, nameOf(run.id, stack, layer), sixteenBits(body, start, size));
      start += 2 * size;
    }
  }
  if (!header.thumbnails) return null;
  return header.stacks.map(({ layers, heads, queries, keys }) => {
    const [rows, columns] = [queries, keys].map(({ tokens }) => Math.min(tokens.length, THUMBNAIL));
    const cells = body.subarray(start, start + layers * heads * rows * columns);
    start += cells.length;
    return { rows, columns, cells };
  });
}

const sixteenBits = (body, start, size) => new Uint16Array(body.slice(start, start + 2 * size).buffer);

function keep(runs, name, cells) {
  runs.bytes += cells.byteLength - (runs.layers.get(name)?.byteLength ?? 0);
  runs.layers.delete(name);
  runs.layers.set(name, cells);
  for (const [oldest, { byteLength }] of runs.layers) {
    if (runs.bytes <= MAX_BYTES || runs.layers.size <= LEAST_LAYERS || oldest === name) break;
    runs.layers.delete(oldest);
    runs.bytes -= byteLength;
  }
}

// The codes of one head; null while its layer is not here.
export function codesOf(runs, run, stacks, stack, [layer, head]) {
  const name = nameOf(run.id, stack, layer);
  const cells = runs.layers.get(name);
  if (!cells) return null;
  runs.layers.delete(name);
  runs.layers.set(name, cells); // used last
  const size = cellsOf(stacks[stack]);
  return cells.subarray(head * size, (head + 1) * size);
}

// Fetches a layer once; resolves to whether it is here. One that failed is asked for again the next time.
export function fetchLayer(runs, run, stack, layer) {
  const name = nameOf(run.id, stack, layer);
  if (runs.layers.has(name)) return Promise.resolve(true);
  if (!run.path) return Promise.resolve(false);
  const address = new URL(`${run.path}?stack=${stack}&layer=${layer}`, document.baseURI);
  const asked = runs.asked.get(name) ?? fetch(address).then(async (answer) => {
    if (answer.status !== 200) return false;
    const bytes = new Uint8Array(await answer.arrayBuffer());
    keep(runs, name, sixteenBits(bytes, 0, bytes.length >> 1));
    return true;
  }).catch(() => false).finally(() => runs.asked.delete(name));
  runs.asked.set(name, asked);
  return asked;
}

// Fetches what is missing of a run that is small enough, one layer after the other. isWanted: whether it is still shown.
export async function fetchAhead(runs, run, stacks, isWanted) {
  const bytes = stacks.reduce((sum, stack) => sum + 2 * stack.layers * stack.heads * cellsOf(stack), 0);
  if (!run.path || bytes > AHEAD_BYTES) return;
  for (const [stack, { layers }] of stacks.entries()) {
    for (let layer = 0; layer < layers && isWanted(); layer += 1) await fetchLayer(runs, run, stack, layer);
  }
}

// Shrinks a map to at most 24 × 24 cells of 0 to 255; each shows the strongest weight that it stands for.
export function thumbnail(codes, queries, keys) {
  const [rows, columns] = [Math.min(queries, THUMBNAIL), Math.min(keys, THUMBNAIL)];
  const cells = new Uint8Array(rows * columns);
  for (let query = 0; query < queries; query += 1) {
    const row = placeIn(query, queries, rows);
    for (let key = 0; key < keys; key += 1) {
      const place = row * columns + placeIn(key, keys, columns);
      const value = Math.round(codes[query * keys + key] / 257);
      if (value > cells[place]) cells[place] = value;
    }
  }
  return cells;
}

// Part `n` of 24 begins at floor(n · size / 24).
function placeIn(index, size, parts) {
  return size <= parts ? index : Math.ceil(((index + 1) * parts) / size) - 1;
}
