// Replaces require.js, by which bertviz loads its two libraries: both are loaded already.

window.require = { config() {} };
window.requirejs = (names, use) => use(window.jQuery, window.d3);

// What the reader had chosen, a line as in "layer=2&heads=0_3", counted from 0: a file by itself has it in its first tag, in the
// app the name of the frame holds it.
const begun = new URLSearchParams(document.documentElement.dataset.begin ?? window.name);
const numbersOf = (name) => (begun.get(name) ?? "0").split("_").map(Number);
let layersSent = [];
let rows = 0;

const LARGEST = 1.7, TALLEST = 900; // times bertviz's own size, as far as the drawing is no higher, in pixels
const [ROW, ABOVE, NAMES, AROUND, SHORTEST] = [22.5, 98, 220, 40, 115]; // pixels of a head view: a row, what stands above and beside the lines

// As long as the lines of the head view may be, once it is enlarged (tell_height.js), to fill the frame.
function lineWidth() {
  const enlarged = Math.max(1, Math.min(LARGEST, TALLEST / (ABOVE + ROW * rows)));
  return Math.max(SHORTEST, Math.floor((window.innerWidth - AROUND) / enlarged - NAMES));
}

// Puts that into what bertviz is given, so that it draws once. Its neuron view counts the layers that it is given.
function begin(params) {
  const [[layer], [head], [filter]] = [numbersOf("layer"), numbersOf("head"), numbersOf("filter")];
  layersSent = params.include_layers;
  rows = Math.max(...Object.values(params.attention).flatMap(({ left_text: left, right_text: right }) => [left.length, right.length]));
  if (!layersSent) return { ...params, layer: Math.min(layer, params.attention.all.attn.length - 1), head };
  return {
    ...params,
    default_filter: String(filter),
    layer: layersSent.includes(layer) ? layer : layersSent[0],
    heads: begun.has("heads") ? numbersOf("heads") : null,
  };
}
