// One matrix on the screen: its title, formula and shape above a canvas that can be pointed at and walked through.

import { element, setText } from "../core/surface.js";

export function describePanel(panel, matrix) {
  setText(panel.title, matrix.title);
  setText(panel.formula, matrix.formula);
  const drawn = matrix.shown < matrix.columns ? `, first ${matrix.shown} drawn` : "";
  setText(panel.shape, `${matrix.rows} × ${matrix.columns}${drawn}`);
  panel.box.setAttribute("aria-label", `${matrix.title}. Arrow keys choose a cell, Escape clears.`);
  panel.canvas.setAttribute("aria-label", `${matrix.title}, ${matrix.rows} by ${matrix.columns}. ${matrix.alt ?? ""}`);
}

// on: what becomes of the pointer and the keys.
export function makePanel(name, on) {
  const [title, formula, shape] = ["title", "formula", "shape"].map((kind) => element("span", { class: kind }));
  const canvas = element("canvas", { role: "img", "data-testid": `matrix-${name}` });
  const box = element("div", { class: "cells", tabindex: "0", role: "group" }, canvas);
  const node = element("div", { class: "panel" }, element("div", { class: "head" }, title, formula, shape), box);
  canvas.onpointermove = (event) => event.pointerType !== "touch" && on.point(event, canvas);
  canvas.onpointerleave = on.leave;
  canvas.onclick = (event) => on.click(event, canvas);
  box.onkeydown = on.press;
  return { node, title, formula, shape, canvas, box };
}
