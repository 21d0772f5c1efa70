// The picture as a file: SVG with its text as text, PNG at 300 dots an inch, and the browser's own print of the SVG on a page of its
// size, which is how a PDF gets every script and font as text. All of it is made here; no server is asked.

import { escaped, makeSvgContext, short } from "../../canvas/figure/svg.js";
import { bytesOf } from "../../canvas/core/bytes.js";
import { element } from "../../canvas/core/surface.js";
import { paintAt, wrapped, write } from "../../canvas/core/text.js";
import { readTheme } from "../../canvas/core/theme.js";
import { TEXTS } from "../../canvas/core/texts.js";

const PIXELS = 96 / 25.4; // of a millimetre
const [NARROWEST, WIDEST] = [260, 1000]; // pixels in which a figure is laid out
const DOTS = 300 / 96; // of a PNG, for each pixel of paper
const [HEADER_END, DENSITY] = [33, "AAAACXBIWXMAAC4jAAAuIwF4pT92"]; // of a PNG; its chunk pHYs for 300 dots an inch (PNG specification, section 11.3.4.3)
const LARGEST_MAP = 64 * 64; // cells drawn as shapes; more are one image
const FILM_SCALE = 2; // pixels of a film for each pixel of the paper
const FILM_BITS = 8e6; // a second: small text stays sharp
const [FILM_SLICE, FILM_PATIENCE] = [100, 4000]; // milliseconds: between two looks, and at most for a figure to be recorded
const FONT = "Helvetica, Arial, sans-serif";
const MARGIN = 6;
const CAPTION = { size: 12, line: 17, gap: 10 };

// drawing(theme): the drawing that is laid out, see assets/canvas/figure; options: width in millimetres, caption or "", colours.
export function layDrawing(drawing, { width, caption, colours }) {
  const paper = element("div", {});
  for (const [name, value] of Object.entries(colours)) paper.style.setProperty(name, value);
  document.body.append(paper);
  const theme = { ...readTheme(paper), font: FONT };
  paper.remove();
  const asked = width * PIXELS;
  const context = element("canvas").getContext("2d");
  const space = Math.max(NARROWEST, Math.min(WIDEST, asked)) - 2 * MARGIN;
  const inner = drawing(theme)(context, theme, space);
  const drawn = Math.min(space, Math.max(inner.width, 240)); // no more than it needs
  const font = `${CAPTION.size}px ${FONT}`;
  const rows = caption ? wrapped(context, font, caption, drawn) : [];
  const below = inner.height + (rows.length ? CAPTION.gap : 0);
  const figure = { inner, font, rows, below, width: drawn + 2 * MARGIN, height: below + rows.length * CAPTION.line + 2 * MARGIN };
  return { figure, theme, asked, width };
}

function paintFigure(context, { inner, font, rows, below, width, height }, theme) {
  context.fillStyle = theme.background;
  context.fillRect(0, 0, width, height);
  paintAt(context, MARGIN, MARGIN, () => {
    inner.paint(context);
    rows.forEach((row, at) => write(context, row, 0, below + at * CAPTION.line, { font, colour: theme.text }));
  });
}

export function svgOf({ figure, theme, width }, title, description) {
  const context = makeSvgContext({ largestMap: LARGEST_MAP });
  paintFigure(context, figure, theme);
  const height = (figure.height / figure.width) * width;
  const size = `width="${short(width)}mm" height="${short(height)}mm" viewBox="0 0 ${short(figure.width)} ${short(figure.height)}"`;
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

// Draws a figure on a canvas, which it makes as wide as asked for times `scale`.
async function drawOn(canvas, laid, scale) {
  const image = element("img", { src: `data:image/svg+xml,${encodeURIComponent(svgOf(laid, "", ""))}` });
  await image.decode();
  const width = Math.round(laid.asked * scale);
  const height = Math.round((width * laid.figure.height) / laid.figure.width);
  if (canvas.width !== width) Object.assign(canvas, { width, height });
  canvas.getContext("2d").drawImage(image, 0, 0, width, height);
}

export async function pngOf(laid) {
  const canvas = element("canvas");
  await drawOn(canvas, laid, DOTS);
  const png = await new Promise((take) => canvas.toBlob(take, "image/png"));
  return new Blob([png.slice(0, HEADER_END), bytesOf(DENSITY), png.slice(HEADER_END)], { type: png.type });
}

const FILM = "video/webm";
export const canFilm = () => Boolean(globalThis.MediaRecorder?.isTypeSupported(FILM) && HTMLCanvasElement.prototype.captureStream);

// A film of figures, each shown for some milliseconds, as the browser itself records a canvas. A busy browser records slowly and drops
// what waits: the next figure is painted once something of this one is written. frames: functions that lay one out.
export async function filmOf(frames, milliseconds) {
  const canvas = element("canvas");
  const recorder = new MediaRecorder(canvas.captureStream(), { mimeType: FILM, videoBitsPerSecond: FILM_BITS });
  const parts = [];
  let written = 0;
  recorder.ondataavailable = ({ data }) => {
    parts.push(data);
    written += data.size;
  };
  const ended = new Promise((end) => { recorder.onstop = end; });
  for (const frame of frames) {
    await drawOn(canvas, frame(), FILM_SCALE);
    if (recorder.state === "inactive") recorder.start(FILM_SLICE);
    const [begun, before] = [performance.now(), written];
    const isDue = () => performance.now() - begun >= (written > before ? milliseconds : FILM_PATIENCE);
    while (!isDue()) await new Promise((go) => setTimeout(go, FILM_SLICE));
  }
  recorder.stop();
  await ended;
  return new Blob(parts, { type: FILM });
}

// The document that is printed: nothing but the picture, on a page of its size.
export function printable(svg, { figure, width }) {
  const height = (figure.height / figure.width) * width;
  const size = `${short(width)}mm ${short(height + 1)}mm`; // a rounded height would break the page
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

