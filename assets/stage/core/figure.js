// The picture as a file: SVG with its text as text, PNG at 300 dots an inch, and the browser's own print of the SVG on a page of its
// size, which is how a PDF gets every script and font as text. All of it is made here; no server is asked.

import { layFigure, paintFigure } from "../../canvas/figure/figure.js";
import { beforeAfterDrawing, mapDrawing } from "../../canvas/figure/maps.js";
import { escaped, makeSvgContext, short } from "../../canvas/figure/svg.js";
import { modelOf } from "../../canvas/attention/map.js";
import { element } from "../../canvas/core/surface.js";
import { readTheme } from "../../canvas/core/theme.js";
import { TEXTS } from "../../canvas/core/texts.js";

const PIXELS = { mm: 96 / 25.4, px: 1 };
const [NARROWEST, WIDEST] = [260, 1000]; // pixels in which a figure is laid out
const DOTS_PER_INCH = 300;
const DOTS = DOTS_PER_INCH / 96; // of a PNG, for each pixel of paper
const LARGEST_MAP = 64 * 64; // cells drawn as shapes; more are one image
const FILM_SCALE = 2; // pixels of a film for each pixel of the paper
const FILM_BITS = 8e6; // a second: small text stays sharp
const [FILM_SLICE, FILM_PATIENCE] = [100, 4000]; // milliseconds: between two looks, and at most for a figure to be recorded
const FONT = "Helvetica, Arial, sans-serif";

// drawing(theme): the drawing that is laid out, see assets/canvas/figure; options: width, unit, caption or "", colours.
export function layDrawing(drawing, { width, unit, caption, colours }) {
  const paper = element("div", {});
  for (const [name, value] of Object.entries(colours)) paper.style.setProperty(name, value);
  document.body.append(paper);
  const theme = { ...readTheme(paper), font: FONT };
  paper.remove();
  const asked = width * PIXELS[unit];
  const context = element("canvas").getContext("2d");
  const figure = layFigure(context, drawing(theme), theme, { width: Math.max(NARROWEST, Math.min(WIDEST, asked)), caption });
  return { figure, theme, asked, width, unit };
}

// shown: {header, cells} as the drawings of assets/canvas/figure take them.
export function mapFigure(shown) {
  const model = (dark) => modelOf(shown, dark, { hatched: shown.header.hatched?.[0] });
  return ({ dark }) => (shown.header.maps === 3 ? beforeAfterDrawing(shown, dark) : mapDrawing(model(dark), shown.header));
}

export function svgOf({ figure, theme, width, unit }, title, description) {
  const context = makeSvgContext({ largestMap: LARGEST_MAP });
  paintFigure(context, figure, theme);
  const height = (figure.height / figure.width) * width;
  const size = `width="${short(width)}${unit}" height="${short(height)}${unit}" viewBox="0 0 ${short(figure.width)} ${short(figure.height)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img">`,
    `<title>${escaped(title)}</title>`,
    `<desc>${escaped(description)}</desc>`,
    context.written(),
    "</svg>",
    "",
  ].join("\n");
}

export async function pngOf({ figure, theme, asked, unit }) {
  const scale = (asked * (unit === "mm" ? DOTS : 1)) / figure.width;
  const canvas = element("canvas", { width: Math.round(figure.width * scale), height: Math.round(figure.height * scale) });
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  paintFigure(context, figure, theme);
  const blob = await new Promise((take) => canvas.toBlob(take, "image/png"));
  const bytes = new Uint8Array(await blob.arrayBuffer());
  return new Blob([unit === "mm" ? withDensity(bytes, DOTS_PER_INCH) : bytes], { type: "image/png" });
}

const FILM = "video/webm";
export const canFilm = () => Boolean(globalThis.MediaRecorder?.isTypeSupported(FILM) && HTMLCanvasElement.prototype.captureStream);

// A film of figures, each shown for some milliseconds, as the browser itself records a canvas. A busy browser records slowly and drops
// what waits: the next figure is painted once something of this one is written. frames: functions that lay one out.
export async function filmOf(frames, milliseconds) {
  const canvas = element("canvas");
  const context = canvas.getContext("2d");
  const recorder = new MediaRecorder(canvas.captureStream(), { mimeType: FILM, videoBitsPerSecond: FILM_BITS });
  const parts = [];
  let written = 0;
  recorder.ondataavailable = ({ data }) => {
    parts.push(data);
    written += data.size;
  };
  const ended = new Promise((end) => { recorder.onstop = end; });
  for (const frame of frames) {
    const { figure, theme, asked } = frame();
    const scale = (asked * FILM_SCALE) / figure.width;
    const isFirst = recorder.state === "inactive";
    if (isFirst) Object.assign(canvas, { width: Math.round(figure.width * scale), height: Math.round(figure.height * scale) });
    context.setTransform(scale, 0, 0, scale, 0, 0);
    paintFigure(context, figure, theme);
    if (isFirst) recorder.start(FILM_SLICE);
    const [begun, before] = [performance.now(), written];
    const isDue = () => performance.now() - begun >= (written > before ? milliseconds : FILM_PATIENCE);
    while (!isDue()) await new Promise((go) => setTimeout(go, FILM_SLICE));
  }
  recorder.stop();
  await ended;
  return new Blob(parts, { type: FILM });
}

// The document that is printed: nothing but the picture, on a page of its size.
export function printable(svg, { figure, width, unit }) {
  const height = (figure.height / figure.width) * width;
  const size = `${short(width)}${unit} ${short(height + 1)}${unit}`; // a rounded height would break the page
  return `<!doctype html><meta charset="utf-8"><style>@page{size:${size};margin:0}html,body{margin:0}svg{display:block;width:100%;height:auto}</style>${svg.slice(svg.indexOf("<svg"))}`;
}

export function print(written) {
  const frame = element("iframe", { "aria-hidden": "true", tabindex: "-1", title: TEXTS.export.pdf });
  frame.style.cssText = "position: fixed; width: 0; height: 0; border: 0; visibility: hidden";
  frame.srcdoc = written;
  frame.onload = () => {
    frame.contentWindow.onafterprint = () => setTimeout(() => frame.remove(), 0);
    frame.contentWindow.print();
  };
  document.body.append(frame);
}

export function save(content, type, name) {
  const link = element("a", { download: name, href: URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// --- A PNG that knows how large it is on paper: a pHYs chunk (PNG specification, section 11.3.4.3) behind its header.

const HEADER_END = 33; // signature and IHDR

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value >>> 0;
});

function checksum(bytes) {
  let value = 0xffffffff;
  for (const byte of bytes) value = CRC_TABLE[(value ^ byte) & 255] ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

function withDensity(png, dotsPerInch) {
  const perMetre = Math.round(dotsPerInch / 0.0254);
  const chunk = new Uint8Array(21);
  const view = new DataView(chunk.buffer);
  view.setUint32(0, 9);
  chunk.set([0x70, 0x48, 0x59, 0x73], 4);
  view.setUint32(8, perMetre);
  view.setUint32(12, perMetre);
  chunk[16] = 1; // the unit is the metre
  view.setUint32(17, checksum(chunk.subarray(4, 17)));
  const joined = new Uint8Array(png.length + chunk.length);
  joined.set(png.subarray(0, HEADER_END));
  joined.set(chunk, HEADER_END);
  joined.set(png.subarray(HEADER_END), HEADER_END + chunk.length);
  return joined;
}
