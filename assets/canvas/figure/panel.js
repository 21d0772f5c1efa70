// A preview of the figure, and buttons that save it in one size: as SVG, PNG or PDF.

import { unpack } from "../core/bytes.js";
import { element, mountOnce, sharpen, visible, watchScreen } from "../core/surface.js";
import { filled } from "../core/text.js";
import { readTheme } from "../core/theme.js";
import { drawingOf, layFigure, paintFigure } from "./figure.js";
import { pdfOf } from "./pdf.js";
import { escaped, makeSvgContext, short } from "./svg.js";

const INCH = { mm: 25.4, px: 96 }; // units in an inch; a CSS pixel is a 96th
const NARROWEST = 260;
const WIDEST = 1000;
export const DOTS_PER_INCH = 300;
const FONT = "Helvetica, Arial, sans-serif";

export default function mountPicture({ data, parentElement }) {
  const sent = unpack(data);
  const [panel, end] = mountOnce(parentElement, makePanel, removePanel, sent.header.panel);
  receive(panel, sent);
  return end;
}

function makePanel(parent, texts) {
  const panel = { preview: element("canvas", { role: "img", "data-testid": "picture-preview" }) };
  // Streamlit's colours as this figure's own: on paper it is light, whatever the screen is.
  panel.paper = element("div", { class: "paper" }, panel.preview);
  const button = (label, act) => {
    const made = element("button", { type: "button", class: "save" }, label);
    made.onclick = act;
    return made;
  };
  const svg = button(texts.svg, () => save(panel, new Blob([svgOf(panel)], { type: "image/svg+xml" }), "svg"));
  const png = button(texts.png, async () => save(panel, await pngOf(panel), "png"));
  const pdf = button(texts.pdf, async () => save(panel, await pdfOf(svgOf(panel)), "pdf"));
  panel.size = element("span", { class: "size", role: "status" });
  panel.root = element("div", { class: "picture" }, panel.paper, element("div", { class: "buttons" }, svg, png, pdf, panel.size));
  (parent.querySelector(".picture-view") ?? parent).append(panel.root);
  panel.observer = new ResizeObserver(() => paint(panel));
  panel.observer.observe(panel.root);
  panel.stopWatching = watchScreen(() => paint(panel));
  return panel;
}

function receive(panel, { header, cells }) {
  panel.header = header;
  for (const [name, value] of Object.entries(header.colours)) panel.paper.style.setProperty(name, value);
  panel.theme = { ...readTheme(panel.paper), font: FONT };
  panel.drawing = drawingOf({ header, cells }, panel.theme);
  panel.caption = header.caption.split("\n").map(visible).join(" ");
  panel.preview.setAttribute("aria-label", panel.caption);
  paint(panel);
}

function layout({ header, caption, drawing, theme, preview }) {
  const asked = (header.width / INCH[header.unit]) * 96;
  const width = Math.max(NARROWEST, Math.min(WIDEST, asked));
  const figure = layFigure(preview.getContext("2d"), drawing, theme, { width, caption: header.captioned ? caption : "" });
  return { figure, asked };
}

function paint(panel) {
  const space = panel.root.clientWidth;
  if (!space || !panel.drawing) return;
  const { figure, asked } = layout(panel);
  const scale = Math.min(1, space / figure.width);
  const context = sharpen(panel.preview, figure.width * scale, figure.height * scale);
  context.scale(scale, scale);
  paintFigure(context, figure, panel.theme);
  const height = (figure.height / figure.width) * panel.header.width;
  const dots = Math.round(pixelsWide(panel, asked));
  const rounded = (number) => (panel.header.unit === "mm" ? number.toFixed(0) : Math.round(number));
  const sizes = { width: rounded(panel.header.width), height: rounded(height), unit: panel.header.unit, dots };
  panel.size.textContent = filled(panel.header.panel.size, sizes).join("");
  panel.root.dataset.width = String(dots);
}

function pixelsWide({ header }, asked) {
  return header.unit === "mm" ? (asked / 96) * DOTS_PER_INCH : header.width;
}

function svgOf(panel) {
  const { figure } = layout(panel);
  const context = makeSvgContext();
  paintFigure(context, figure, panel.theme);
  const { width, unit } = panel.header;
  const height = (figure.height / figure.width) * width;
  const size = `width="${short(width)}${unit}" height="${short(height)}${unit}" viewBox="0 0 ${short(figure.width)} ${short(figure.height)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img">`,
    `<title>${escaped(visible(panel.header.title))}</title>`,
    `<desc>${escaped(panel.caption)}</desc>`,
    context.written(),
    "</svg>",
    "",
  ].join("\n");
}

async function pngOf(panel) {
  const { figure, asked } = layout(panel);
  const scale = pixelsWide(panel, asked) / figure.width;
  const canvas = element("canvas", { width: Math.round(figure.width * scale), height: Math.round(figure.height * scale) });
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  paintFigure(context, figure, panel.theme);
  const blob = await new Promise((take) => canvas.toBlob(take, "image/png"));
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const finished = panel.header.unit === "mm" ? withDensity(bytes, DOTS_PER_INCH) : bytes;
  return new Blob([finished], { type: "image/png" });
}

function save(panel, blob, ending) {
  const link = element("a", { download: `${panel.header.file}.${ending}`, href: URL.createObjectURL(blob) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function removePanel(panel) {
  panel.observer.disconnect();
  panel.stopWatching();
  panel.root.remove();
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

export function withDensity(png, dotsPerInch) {
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
