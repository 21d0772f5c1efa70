// How the matrices are drawn, as the reader wants it: how many dimensions, and whether numbers stand in the cells. Moving
// the slider draws at once, here; the page hears of it afterwards.

import { element, pendingChoice } from "../core/surface.js";

// changed: called with what the reader just asked for.
export function makeDrawing(changed) {
  const slider = element("input", { type: "range", step: "1" });
  const count = element("output");
  const box = element("input", { type: "checkbox" });
  const node = element(
    "div", { class: "drawing" },
    element("label", {}, element("span", {}, "Dimensions drawn"), slider, count),
    element("label", {}, box, element("span", {}, "Show numbers")),
  );
  const drawing = { node, slider, count, box, echo: pendingChoice(), asked: null };
  const ask = () => {
    drawing.asked = { dimensions: Number(slider.value), numbers: box.checked };
    drawing.echo.expect(drawing.asked);
    describe(drawing);
    changed(drawing.asked);
  };
  slider.oninput = ask;
  box.onchange = ask;
  return drawing;
}

// Takes over what the page says, unless the reader has moved on meanwhile. sent: null where there is nothing to choose.
export function receiveDrawing(drawing, sent) {
  drawing.node.hidden = !sent;
  if (!sent) return;
  const { least, most, dimensions, numbers } = sent;
  Object.assign(drawing.slider, { min: least, max: most });
  const options = { dimensions, numbers };
  if (drawing.asked === null || drawing.echo.accepts(options)) drawing.asked = options;
  describe(drawing);
}

function describe({ slider, count, box, asked }) {
  slider.value = asked.dimensions;
  count.textContent = asked.dimensions;
  box.checked = asked.numbers;
}
