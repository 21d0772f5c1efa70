// A figure as PDF (ISO 32000-1), made from its SVG: shapes stay shapes, and text stays text in Helvetica, which every reader
// of PDF has. Text that Helvetica lacks (Arabic, Chinese, emoji) is drawn by the browser: an image that carries its text, so
// that it can still be found and copied. No library: those that write PDF from SVG take 500 kB and lack these letters, too.

import { element } from "../core/surface.js";

const POINTS = { mm: 72 / 25.4, px: 0.75 }; // a point is a 72nd of an inch
const SHARPNESS = 4; // pixels of such an image in a CSS pixel: 384 dots per inch
const ABOVE_ASCII = "€\0‚ƒ„…†‡ˆ‰Š‹Œ\0Ž\0\0‘’“”•–—˜™š›œ\0žŸ"; // 0x80 to 0x9f of WinAnsiEncoding
const SAME_SHAPE = { "−": "–", "‐": "-", "\u202f": " " }; // a minus sign is a little wider than this dash
const CAPS = { butt: 0, round: 1, square: 2 };
const ARC = 0.5523; // of a quarter of a circle as a Bézier curve

export async function pdfOf(markup) {
  const svg = new DOMParser().parseFromString(markup, "image/svg+xml").documentElement;
  const [, , boxWidth, boxHeight] = svg.getAttribute("viewBox").split(" ").map(Number);
  const [, width, unit] = /^([\d.]+)(mm|px)$/.exec(svg.getAttribute("width"));
  const scale = (Number(width) * POINTS[unit]) / boxWidth;
  const page = { commands: [], opacities: new Map(), images: [], clips: new Map(), ruler: element("canvas").getContext("2d") };
  page.commands.push(`${number(scale)} 0 0 ${number(-scale)} 0 ${number(boxHeight * scale)} cm`);
  writeChildren(page, svg);
  const text = (name) => utf16(svg.querySelector(name).textContent);
  return new Blob(await fileParts(page, [boxWidth * scale, boxHeight * scale], text("title"), text("desc")), { type: "application/pdf" });
}

function writeChildren(page, parent) {
  for (const node of parent.children) {
    if (node.localName === "clipPath") page.clips.set(`url(#${node.id})`, pathCommands(node.firstElementChild.getAttribute("d")));
    else if (node.localName === "g") writeGroup(page, node);
    else if (node.localName === "path") writePath(page, node);
    else if (node.localName === "text") writeText(page, node);
  }
}

function writeGroup(page, node) {
  page.commands.push("q");
  const [, kind, given] = /^(translate|rotate)\((.+)\)$/.exec(node.getAttribute("transform") ?? "") ?? [];
  if (kind === "translate") page.commands.push(`1 0 0 1 ${given} cm`);
  if (kind === "rotate") {
    const angle = (Number(given) * Math.PI) / 180;
    const [cos, sin] = [number(Math.cos(angle)), number(Math.sin(angle))];
    page.commands.push(`${cos} ${sin} ${number(-Math.sin(angle))} ${cos} 0 0 cm`);
  }
  if (node.hasAttribute("clip-path")) page.commands.push(`${page.clips.get(node.getAttribute("clip-path"))} W n`);
  writeChildren(page, node);
  page.commands.push("Q");
}

function writePath(page, node) {
  const stroked = node.getAttribute("fill") === "none";
  page.commands.push(colour(page, node, stroked ? "stroke" : "fill"));
  if (stroked) {
    const dashes = node.getAttribute("stroke-dasharray") ?? "";
    page.commands.push(`${node.getAttribute("stroke-width")} w ${CAPS[node.getAttribute("stroke-linecap")]} J [${dashes}] 0 d`);
  }
  page.commands.push(`${pathCommands(node.getAttribute("d"))} ${stroked ? "S" : "f"}`);
}

// The commands of a path of our SVG: M, L and C with absolute points, h, v and quarters of a circle (a) with relative ones.
function pathCommands(path) {
  const written = [];
  let [x, y] = [0, 0];
  const lineTo = (toX, toY) => {
    [x, y] = [toX, toY];
    written.push(`${number(x)} ${number(y)} l`);
  };
  for (const [, command, given] of path.matchAll(/([MLChvaz])([^MLChvaz]*)/g)) {
    const at = given.match(/-?[\d.]+/g)?.map(Number) ?? [];
    if (command === "M") written.push(`${at.join(" ")} m`);
    if (command === "C") written.push(`${at.join(" ")} c`);
    if (command === "z") written.push("h");
    if (command === "L") lineTo(at[0], at[1]);
    if (command === "h") lineTo(x + at[0], y);
    if (command === "v") lineTo(x, y + at[0]);
    if (command === "a") written.push(quarter([x, y], at[5], at[6]));
    if ("MC".includes(command)) [x, y] = at.slice(-2);
    if (command === "a") [x, y] = [x + at[5], y + at[6]];
  }
  return written.join(" ");
}

// A clockwise quarter of a circle on a screen: it begins along one axis and ends along the other.
function quarter([x, y], dx, dy) {
  const across = dx * dy > 0;
  const first = across ? [x + dx * ARC, y] : [x, y + dy * ARC];
  const second = across ? [x + dx, y + dy * (1 - ARC)] : [x + dx * (1 - ARC), y + dy];
  return `${[...first, ...second, x + dx, y + dy].map(number).join(" ")} c`;
}

function writeText(page, node) {
  const text = node.textContent;
  const [x, y, size] = ["x", "y", "font-size"].map((name) => Number(node.getAttribute(name)));
  const bold = Number(node.getAttribute("font-weight") ?? 400) >= 600;
  page.ruler.font = `${bold ? 600 : 400} ${size}px ${node.getAttribute("font-family")}`;
  const share = { middle: 0.5, end: 1 }[node.getAttribute("text-anchor")] ?? 0;
  const left = x - share * page.ruler.measureText(text).width;
  const letters = winAnsi(text);
  if (letters === null) writeTextImage(page, node, text, left, y);
  else page.commands.push(colour(page, node, "fill"), `BT /${bold ? "Bold" : "Plain"} ${size} Tf 1 0 0 -1 ${number(left)} ${number(y)} Tm <${letters}> Tj ET`);
}

// The text in the bytes of WinAnsiEncoding, in hexadecimal digits; null where a letter has none.
function winAnsi(text) {
  const bytes = Array.from(text, (letter) => {
    const sign = SAME_SHAPE[letter] ?? letter;
    const code = sign.codePointAt(0);
    if ((code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code <= 0xff)) return code;
    const place = code === 0 ? -1 : ABOVE_ASCII.indexOf(sign);
    return place < 0 ? null : 0x80 + place;
  });
  return bytes.includes(null) ? null : bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function writeTextImage(page, node, text, left, baseline) {
  const { font } = page.ruler;
  const box = page.ruler.measureText(text);
  const [before, above] = [Math.ceil(box.actualBoundingBoxLeft) + 1, Math.ceil(box.actualBoundingBoxAscent) + 1];
  const width = before + Math.ceil(box.actualBoundingBoxRight) + 1;
  const height = above + Math.ceil(box.actualBoundingBoxDescent) + 1;
  const canvas = element("canvas", { width: width * SHARPNESS, height: height * SHARPNESS });
  const context = canvas.getContext("2d");
  context.scale(SHARPNESS, SHARPNESS);
  Object.assign(context, { font, fillStyle: node.getAttribute("fill"), globalAlpha: Number(node.getAttribute("fill-opacity") ?? 1) });
  context.fillText(text, before, above);
  page.images.push(context.getImageData(0, 0, canvas.width, canvas.height));
  const place = `${width} 0 0 ${-height} ${number(left - before)} ${number(baseline - above + height)}`;
  page.commands.push(`/Span << /ActualText ${utf16(text)} >> BDC q /Opaque gs ${place} cm /Image${page.images.length} Do Q EMC`);
}

function colour(page, node, kind) {
  page.ruler.fillStyle = node.getAttribute(kind); // a canvas knows every way to write a colour
  const parts = page.ruler.fillStyle.match(/[\da-f]{2}/g).map((part) => number(parseInt(part, 16) / 255));
  const opacity = node.getAttribute(`${kind}-opacity`) ?? "1";
  if (!page.opacities.has(opacity)) page.opacities.set(opacity, `Opacity${page.opacities.size}`);
  return `/${page.opacities.get(opacity)} gs ${parts.join(" ")} ${kind === "fill" ? "rg" : "RG"}`;
}

function number(value) {
  return String(Number(value.toFixed(4)));
}

function utf16(text) {
  const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index).toString(16).padStart(4, "0"));
  return `<feff${units.join("")}>`;
}

// The file: numbered objects, then the table of where each begins (section 7.5).
async function fileParts(page, [width, height], title, subject) {
  const objects = [];
  const add = (...parts) => objects.push(parts);
  const addStream = async (entries, bytes) => {
    const packed = await deflated(bytes);
    return add(`<< ${entries} /Filter /FlateDecode /Length ${packed.length} >>\nstream\n`, packed, "\nendstream");
  };
  add("<< /Type /Catalog /Pages 2 0 R >>");
  add("<< /Type /Pages /Kids [3 0 R] /Count 1 >>");
  add("");
  const contents = await addStream("", new TextEncoder().encode(page.commands.join("\n")));
  const info = add(`<< /Title ${title} /Subject ${subject} >>`);
  const images = [];
  for (const image of page.images) images.push(await addImage(addStream, image));
  const fonts = ["Helvetica", "Helvetica-Bold"].map((name) => `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`);
  const states = [...page.opacities].map(([opacity, name]) => `/${name} << /ca ${opacity} /CA ${opacity} >>`);
  objects[2] = [[
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${number(width)} ${number(height)}] /Contents ${contents} 0 R /Resources <<`,
    `/Font << /Plain ${fonts[0]} /Bold ${fonts[1]} >> /ExtGState << /Opaque << /ca 1 /CA 1 >> ${states.join(" ")} >>`,
    `/XObject << ${images.map((image, index) => `/Image${index + 1} ${image} 0 R`).join(" ")} >> >> >>`,
  ].join("\n")];
  return withTable(objects, info);
}

async function addImage(addStream, { data, width, height }) {
  const [colours, opacities] = [new Uint8Array(3 * width * height), new Uint8Array(width * height)];
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    colours.set(data.subarray(4 * pixel, 4 * pixel + 3), 3 * pixel);
    opacities[pixel] = data[4 * pixel + 3];
  }
  const size = `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /BitsPerComponent 8`;
  const mask = await addStream(`${size} /ColorSpace /DeviceGray`, opacities);
  return addStream(`${size} /ColorSpace /DeviceRGB /SMask ${mask} 0 R`, colours);
}

async function deflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function withTable(objects, info) {
  const parts = ["%PDF-1.5\n"];
  const starts = [];
  let end = parts[0].length;
  const append = (part) => {
    parts.push(part);
    end += part.length; // every text in the file is ASCII
  };
  for (const [index, object] of objects.entries()) {
    starts.push(`${String(end).padStart(10, "0")} 00000 n \n`);
    [`${index + 1} 0 obj\n`, ...object, "\nendobj\n"].forEach(append);
  }
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info ${info} 0 R >>\nstartxref\n${end}\n%%EOF\n`;
  return [...parts, `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`, ...starts, trailer];
}
