// The numbers of matrices as a message brings them: floats, parts of the largest number in 16 bits, or left out where they follow or where
// the browser makes them.

import { modelOf } from "../matrices/matrix.js";

// header, body: see core/run.js. Returns the model that the painters of assets/stage/matrices take.
export function takeMatrices({ header, body }, texts) {
  const all = new Float32Array(header.matrices.reduce((sum, { rows, columns }) => sum + rows * columns, 0));
  const parts = {};
  let [from, to] = [0, 0];
  for (const { name, rows, columns, form, scale, origin } of header.matrices) {
    const part = all.subarray(to, (to += rows * columns));
    parts[name] = part;
    if (form === "made") continue; // by the stage itself
    if (form === "derived") {
      const before = parts[origin.of];
      for (let at = 0; at < part.length; at += 1) part[at] = before[at] / (origin.divisor ?? 1);
      continue;
    }
    const bytes = part.length * (form === "short" ? 2 : 4);
    const { buffer } = body.slice(from, from + bytes);
    from += bytes;
    if (form === "float") part.set(new Float32Array(buffer));
    else new Int16Array(buffer).forEach((value, at) => { part[at] = value * scale; });
  }
  return modelOf({ ...header, texts, names_title: header.namesTitle }, all);
}
