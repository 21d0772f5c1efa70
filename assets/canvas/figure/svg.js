// Takes the drawing calls that a canvas takes and writes them down as SVG: text stays text, shapes stay shapes.
// Only what our pictures call is there. Widths of text are those that the browser measures in the same font.

import { element } from "../core/surface.js";

const STATE = { fillStyle: "#000000", strokeStyle: "#000000", lineWidth: 1, lineCap: "butt", font: "10px sans-serif", globalAlpha: 1, dashes: "", textAlign: "left", textBaseline: "alphabetic" };
const ANCHORS = { left: "start", center: "middle", right: "end" };
const FONT_PARTS = /^(?:(\d+) )?([\d.]+)px (.+)$/;
const COLOUR = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/;
const NOT_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ud800-\udfff\ufffe\uffff]/gu;
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export function escaped(text) {
  return text.replace(NOT_IN_XML, "\ufffd").replace(/[&<>"']/g, (sign) => ENTITIES[sign]);
}

// largestMap: cells of a map beyond which it is an image.
export function makeSvgContext({ largestMap = Infinity } = {}) {
  const ruler = element("canvas").getContext("2d");
  const written = [];
  const kept = [];
  const state = { ...STATE, imageSmoothingEnabled: true, path: "", open: 0, box: null };
  let clips = 0;

  const open = (attributes) => {
    written.push(`<g ${attributes}>`);
    state.open += 1;
  };
  const shape = (path, paint) => written.push(`<path d="${path}" ${paint}/>`);
  const ownMethods = {
    save: () => {
      kept.push({ ...state });
      state.open = 0;
    },
    restore: () => {
      written.push("</g>".repeat(state.open));
      Object.assign(state, kept.pop());
    },
    translate: (x, y) => open(`transform="translate(${short(x)} ${short(y)})"`),
    rotate: (angle) => open(`transform="rotate(${short((angle * 180) / Math.PI)})"`),
    clip: () => {
      clips += 1;
      written.push(`<clipPath id="clip${clips}"><path d="${state.path}"/></clipPath>`);
      open(`clip-path="url(#clip${clips})"`);
    },
    beginPath: () => { state.path = ""; },
    rect: (...box) => { state.path += boxPath(...box); },
    roundRect: (x, y, width, height, radius) => { state.path += roundPath(x, y, width, height, Math.min(radius, width / 2)); },
    moveTo: (...point) => { state.path += `M${point.map(short).join(" ")}`; },
    lineTo: (...point) => { state.path += `L${point.map(short).join(" ")}`; },
    closePath: () => { state.path += "z"; },
    setLineDash: (lengths) => { state.dashes = lengths.map(short).join(" "); },
    bezierCurveTo: (...points) => { state.path += `C${points.map(short).join(" ")}`; },
    fill: () => shape(state.path, filling(state)),
    stroke: () => shape(state.path, stroking(state)),
    fillRect: (...box) => shape(boxPath(...box), filling(state)),
    strokeRect: (...box) => shape(boxPath(...box), stroking(state)),
    measureText: (text) => ruled(ruler, state.font).measureText(text),
    fillText: (text, x, y) => written.push(textElement(ruler, state, text, x, y)),
    drawImage: (canvas, x, y, width, height) => written.push(...(canvas.width * canvas.height > largestMap ? image(canvas, x, y, width, height) : pixels(canvas, x, y, width, height))),
    append: (node) => written.push(new XMLSerializer().serializeToString(node)),
    written: () => written.join("\n"),
  };
  return Object.assign(state, ownMethods);
}

export function short(number) {
  return String(Number(number.toFixed(2)));
}

function boxPath(x, y, width, height) {
  return `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}z`;
}

function roundPath(x, y, width, height, radius) {
  const [across, down, corner] = [short(width - 2 * radius), short(height - 2 * radius), short(radius)];
  const turn = (dx, dy) => `a${corner} ${corner} 0 0 1 ${dx}${corner} ${dy}${corner}`;
  return `M${short(x + radius)} ${short(y)}h${across}${turn("", "")}v${down}${turn("-", "")}h-${across}${turn("-", "-")}v-${down}${turn("", "-")}z`;
}

// Readers of SVG other than browsers know no rgba(): the opacity stands by itself.
function colour(style, name, alpha) {
  const [, red, green, blue, own] = COLOUR.exec(style) ?? [];
  const opacity = Number(own ?? 1) * alpha;
  const seen = opacity === 1 ? "" : ` ${name}-opacity="${Number(opacity.toFixed(4))}"`;
  if (red === undefined) return `${name}="${escaped(style)}"${seen}`;
  const hex = [red, green, blue].map((channel) => Number(channel).toString(16).padStart(2, "0")).join("");
  return `${name}="#${hex}"${seen}`;
}

function filling({ fillStyle, globalAlpha }) {
  return colour(fillStyle, "fill", globalAlpha);
}

function stroking({ strokeStyle, lineWidth, lineCap, globalAlpha, dashes }) {
  const dashed = dashes ? ` stroke-dasharray="${dashes}"` : "";
  return `fill="none" ${colour(strokeStyle, "stroke", globalAlpha)} stroke-width="${short(lineWidth)}" stroke-linecap="${lineCap}"${dashed}`;
}

function ruled(ruler, font) {
  ruler.font = font;
  ruler.textBaseline = "alphabetic";
  return ruler;
}

// How far below the asked height the letters stand: a shift that every reader of SVG understands, unlike a baseline's name.
function shift(ruler, { font, textBaseline }) {
  const standing = ruled(ruler, font).measureText("x").actualBoundingBoxAscent;
  ruler.textBaseline = textBaseline;
  return standing - ruler.measureText("x").actualBoundingBoxAscent;
}

function textElement(ruler, state, text, x, y) {
  const [, weight, size, family] = FONT_PARTS.exec(state.font);
  const bold = weight ? ` font-weight="${weight}"` : "";
  const anchor = state.textAlign === "left" ? "" : ` text-anchor="${ANCHORS[state.textAlign]}"`;
  const place = `x="${short(x)}" y="${short(y + shift(ruler, state))}"`;
  return `<text ${place} font-family="${escaped(family)}" font-size="${size}"${bold}${anchor} ${filling(state)}>${escaped(text)}</text>`;
}

function image(canvas, x, y, width, height) {
  const box = `x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"`;
  return [`<image ${box} href="${canvas.toDataURL()}" preserveAspectRatio="none" image-rendering="pixelated"/>`];
}

// A small picture as shapes: all runs of one colour are one path.
function pixels(canvas, left, top, width, height) {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const words = new Uint32Array(data.buffer);
  const [cellWidth, cellHeight] = [width / canvas.width, height / canvas.height];
  const paths = new Map();
  for (let row = 0; row < canvas.height; row += 1) {
    for (let start = 0; start < canvas.width;) {
      const word = words[row * canvas.width + start];
      let end = start + 1;
      while (end < canvas.width && words[row * canvas.width + end] === word) end += 1;
      const box = boxPath(left + start * cellWidth, top + row * cellHeight, (end - start) * cellWidth, cellHeight);
      paths.set(word, (paths.get(word) ?? "") + box);
      start = end;
    }
  }
  return [...paths].map(([word, path]) => {
    const [red, green, blue] = [word & 255, (word >> 8) & 255, (word >> 16) & 255];
    return `<path d="${path}" ${colour(`rgb(${red}, ${green}, ${blue})`, "fill", 1)} shape-rendering="crispEdges"/>`;
  });
}
