// A sentence, the layers above it, and the prediction on top, as one drawing: columns are tokens, rows the embeddings and layers.
// Arcs rise from a token in one row to the token that looks at it in the next.

import { element, visible } from "../../canvas/core/surface.js";
import { TEXTS } from "../../canvas/core/texts.js";
import { css, mix } from "../../canvas/core/palette.js";
import { filled } from "../../canvas/core/text.js";
import { percent } from "../../canvas/core/numbers.js";

const NAMESPACE = "http://www.w3.org/2000/svg";
const [LEFT, LEFT_NARROW, RIGHT] = [84, 30, 16]; // pixels beside the columns
const [PILL, PILL_NARROW, PILL_HEIGHT] = [120, 96, 26];
const [LEAST_COLUMN, LEAST_COLUMN_NARROW, STAGGERED] = [33, 30, 56]; // narrower columns have their tokens in two lines
const [BAR_ROW, BARS, BAR_WIDTH, BAR_WIDTH_NARROW] = [22, 5, 132, 96];
const FOOT = 54; // below the lowest row, for the tokens
const NARROW = 560;
const [THINNEST, WIDTH_BY_EFFECT, WIDEST] = [1.2, 4.5, 14];

export const arcName = ({ layer, query, key }) => `${layer} ${query} ${key}`;

function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// choose(arc), point(arc or null), chooseWord(place).
export function makeRoutes(gestures) {
  const picture = svg("svg", { role: "group", tabindex: "0", "data-testid": "routes" });
  const node = element("div", { class: "route-picture" }, picture);
  const view = { node, picture, gestures, arcs: [], at: -1 };
  const arcOf = (target) => view.arcs[Number(target.closest?.("[data-arc]")?.dataset.arc ?? -1)] ?? null;
  // What is drawn anew below a pointer that rests tells of it again: only another arc is told.
  const point = (arc) => {
    const name = arc && arcName(arc);
    if (name === view.pointed) return;
    view.pointed = name;
    gestures.point(arc);
  };
  picture.onpointerover = ({ target, pointerType }) => pointerType !== "touch" && point(arcOf(target));
  picture.onpointerleave = () => point(null);
  picture.onclick = ({ target }) => {
    const word = target.closest("[data-word]");
    if (word) return gestures.chooseWord(Number(word.dataset.word));
    return gestures.choose(arcOf(target));
  };
  picture.onkeydown = (event) => pressKey(view, event);
  picture.onblur = () => gestures.point(null);
  return view;
}

function pressKey(view, event) {
  if (event.altKey || event.ctrlKey || event.metaKey || !view.arcs.length) return;
  const last = view.arcs.length - 1;
  const next = { ArrowRight: view.at + 1, ArrowDown: view.at + 1, ArrowLeft: view.at - 1, ArrowUp: view.at - 1, Home: 0, End: last }[event.key];
  if (event.key === "Escape") view.at = -1;
  else if (event.key === "Enter" && view.arcs[view.at]) view.gestures.choose(view.arcs[view.at]);
  else if (next === undefined) return;
  else view.at = Math.min(last, Math.max(0, next));
  event.preventDefault();
  if (event.key !== "Enter") view.gestures.point(view.arcs[view.at] ?? null);
}

// arcs: those that are shown, the strongest first. active: the one that is pointed at or chosen. layer: the layer up to which the
// picture is shown, null for all. describe(arc): its sentence.
export function drawRoutes(view, header, { arcs, active, layer, theme, height, still, describe }) {
  const frame = layOut(view, header, height);
  view.arcs = arcs;
  if (view.at >= arcs.length) view.at = -1;
  const { picture } = view;
  const { width, isNarrow } = frame;
  picture.setAttribute("viewBox", `0 0 ${width} ${frame.height}`);
  picture.setAttribute("width", width);
  picture.setAttribute("height", frame.height);
  picture.setAttribute("aria-label", TEXTS.routes.graph);
  picture.style.setProperty("--fade", still ? "0ms" : "250ms");
  const shownLayer = layer ?? header.layers;
  const parts = [
    svg("g", {}, ...trunks(header, frame, theme)),
    svg("g", {}, ...arcs.map((arc, number) => drawArc(header, frame, theme, arc, { number, active, shownLayer, describe })).reverse()),
    svg("g", {}, ...nodes(header, frame, theme, active)),
    svg("g", {}, ...pills(header, frame, theme, shownLayer, isNarrow)),
    svg("g", {}, ...tokens(header, frame, theme, active)),
  ];
  const kept = picture.querySelector(":scope > .route-bars");
  const bars = kept ?? svg("g", { class: "route-bars" });
  for (const child of [...picture.children]) if (child !== kept) child.remove();
  picture.prepend(...parts);
  if (!kept) picture.append(bars);
  if (view.path !== header.path) view.node.scrollLeft = frame.x[header.place] - view.node.clientWidth / 2;
  view.path = header.path;
  drawBars(bars, header, frame, theme, shownLayer, active);
}

function layOut({ node }, header, height) {
  const room = node.clientWidth;
  const isNarrow = room < NARROW;
  const [left, pill] = isNarrow ? [LEFT_NARROW, PILL_NARROW] : [LEFT, PILL];
  const count = header.tokens.length;
  const column = Math.max(isNarrow ? LEAST_COLUMN_NARROW : LEAST_COLUMN, (room - left - RIGHT - pill) / Math.max(1, count - 1));
  const width = Math.max(room, Math.ceil(left + RIGHT + pill + column * (count - 1)));
  const x = header.tokens.map((_, token) => left + (token < header.place ? (token + 0.5) * column : token === header.place ? token * column + pill / 2 : (token - 0.5) * column + pill));
  const top = BARS * BAR_ROW + 40;
  const row = (height - top - FOOT) / header.layers;
  const y = Array.from({ length: header.layers + 1 }, (_, depth) => height - FOOT - depth * row);
  return { x, y, width, height, column, pill, left, isNarrow, bar: isNarrow ? BAR_WIDTH_NARROW : BAR_WIDTH };
}

function trunks(header, { x, y }, theme) {
  return x.map((at, token) => svg("line", { x1: at, x2: at, y1: y[0], y2: y[token === header.place ? header.layers : header.layers - 1], stroke: theme.faint, "stroke-width": 1 }));
}

function nodes(header, { x, y }, theme, active) {
  const lit = (token, depth) => active && ((token === active.key && depth === active.layer) || (token === active.query && depth === active.layer + 1));
  return x.flatMap((at, token) => (token === header.place ? [] : y.slice(0, -1).map((down, depth) => svg("circle", { cx: at, cy: down, r: lit(token, depth) ? 5 : 2.5, fill: lit(token, depth) ? theme.accent : theme.quiet }))));
}

function drawArc(header, { x, y, pill }, theme, arc, { number, active, shownLayer, describe }) {
  const { layer, query, key, effect, share } = arc;
  const isActive = active && arcName(active) === arcName(arc);
  const half = PILL_HEIGHT / 2;
  const [from, to] = [y[layer] - (key === header.place ? half : 0), y[layer + 1] + (query === header.place ? half : 0)];
  const aside = query === header.place && key !== query ? Math.sign(x[key] - x[query]) * Math.min(pill / 2 - 12, 10 + Math.abs(x[key] - x[query]) / 12) : 0;
  const [start, end, middle] = [x[key], x[query] + aside, (from - to) * 0.55];
  const bulge = key === query ? pill / 2 - 8 : 0;
  const path = `M ${start} ${from} C ${start + bulge} ${from - middle} ${end + bulge} ${to + middle} ${end} ${to}`;
  const isMixed = share !== undefined;
  const colour = isMixed ? theme.second : effect >= 0 ? css(theme.line) : theme.dark ? "#ffb454" : "#c7722b";
  const width = Math.min(WIDEST, isMixed ? THINNEST + WIDEST * share : THINNEST + WIDTH_BY_EFFECT * Math.abs(effect));
  const state = layer >= shownLayer ? 0 : active && !isActive ? 0.25 : 0.8;
  const group = svg("g", { class: "route-arc", "data-arc": number, role: "img", "aria-label": describe(arc), opacity: state });
  if (layer >= shownLayer) group.style.pointerEvents = "none";
  group.append(svg("path", { d: path, fill: "none", stroke: "transparent", "stroke-width": Math.max(16, width + 6) }),
    svg("path", { class: "line", d: path, fill: "none", stroke: isActive ? theme.accent : colour, "stroke-width": width, "stroke-linecap": "round" }));
  return group;
}

// The guess after each layer, in the blank's column; one that the changes moved is framed.
function pills(header, { x, y, pill, left, isNarrow }, theme, shownLayer, narrow) {
  const at = x[header.place];
  const texts = TEXTS.routes;
  return header.guesses.flatMap(([[word, share]], depth) => {
    const [[was]] = header.plainGuesses[depth];
    const isLit = header.changes.length > 0 && was !== word;
    const [start, top] = [at - pill / 2, y[depth] - PILL_HEIGHT / 2];
    const opacity = depth > shownLayer ? 0.12 : 1;
    const name = depth ? filled(texts.layer, { number: depth }).join("") : texts.embeddings;
    const group = svg("g", { opacity, class: "route-guess", role: "img", "aria-label": filled(texts.guess, { layer: name, word: visible(word), share: percent(share) }).join("") },
      svg("rect", { x: start, y: top, width: pill, height: PILL_HEIGHT, rx: 6, fill: theme.background, stroke: isLit ? theme.accent : theme.faint, "stroke-width": isLit ? 2 : 1 }),
      svg("rect", { x: start, y: top, width: Math.max(0.01, pill * share), height: PILL_HEIGHT, rx: 6, fill: css(mix(theme.line, theme.ground, theme.dark ? 0.45 : 0.28)) }),
      text(fitted(visible(word), narrow ? 7 : 11), start + 8, y[depth] + 5, theme.text, { weight: 600, theme }),
      text(percent(share), start + pill - 8, y[depth] + 5, theme.text, { anchor: "end", size: 12, theme }));
    if (isLit) group.append(svg("title", {}, filled(texts.wasGuess, { word: visible(was) }).join("")));
    const label = text(isNarrow ? (depth ? String(depth) : "") : name, left - 10, y[depth] + 5, theme.quiet, { anchor: "end", size: 12, theme });
    return [group, label];
  });
}

function tokens(header, { x, y, column }, theme, active) {
  return header.tokens.map((token, place) => {
    const isLit = active && (active.key === place || active.query === place);
    const isBlank = place === header.place;
    const isStaggered = column < STAGGERED;
    const letters = Math.max(3, Math.floor((isBlank ? 120 : column * (isStaggered ? 2 : 1) + 4) / 8));
    const colour = isLit ? theme.accent : header.special[place] && !isBlank ? theme.quiet : theme.text;
    const written = text(fitted(visible(token), letters), x[place], y[0] + (isBlank ? 34 : isStaggered && place % 2 ? 42 : 26), colour, { anchor: "middle", weight: isLit || isBlank ? 600 : 400, theme });
    const group = svg("g", { class: "route-token", "data-word": place }, svg("rect", { x: x[place] - column / 2, y: y[0] + 12, width: column, height: 36, fill: "transparent" }), written);
    group.append(svg("title", {}, visible(token)));
    return group;
  });
}

// The most likely words over the blank: of all layers, or of the one up to which the picture is shown.
function drawBars(group, header, { x, width, pill, bar: wide }, theme, shownLayer, active) {
  const isWhole = shownLayer >= header.layers;
  const rows = isWhole ? header.likely.slice(0, BARS) : header.guesses[shownLayer].map(([word, share]) => ({ word, before: share, after: share }));
  const start = Math.max(92, Math.min(width - wide - 76, x[header.place] - pill / 2 + 40));
  for (let row = group.children.length; row < BARS; row += 1) {
    group.append(svg("g", {}, svg("text"), svg("rect", { class: "track" }), svg("rect", { class: "bar" }), svg("rect", { class: "was" }), svg("text")));
  }
  for (let row = 0; row < BARS; row += 1) {
    const [word, track, bar, was, share] = group.children[row].children;
    const found = rows[row];
    group.children[row].setAttribute("visibility", found ? "visible" : "hidden");
    if (!found) continue;
    const down = 8 + row * BAR_ROW;
    const set = (node, attributes) => { for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value); };
    set(word, { ...textAttributes({ anchor: "end", weight: row ? 400 : 600, theme }), x: start - 8, y: down + 14, fill: theme.text });
    word.textContent = fitted(visible(found.word), 12);
    set(track, { x: start, y: down + 2, width: wide, height: 15, rx: 2, fill: theme.faint });
    set(bar, { x: start, y: down + 2, width: wide, height: 15, rx: 2, fill: css(theme.line) });
    bar.style.transformOrigin = `${start}px 0`;
    bar.style.transform = `scaleX(${found.after})`;
    const moved = isWhole && header.changes.length > 0;
    const without = isWhole && active?.after !== undefined && found.word === header.word ? active.after : null;
    set(was, { x: start + wide * (without ?? found.before) - 1, y: down, width: 2, height: 19, fill: theme.accent, visibility: moved || without !== null ? "inherit" : "hidden" });
    set(share, { ...textAttributes({ size: 13, theme }), x: start + wide + 8, y: down + 14, fill: theme.text });
    share.textContent = percent(found.after);
  }
}

const textAttributes = ({ anchor = "start", size = 14, weight = 400, theme }) => ({ "text-anchor": anchor, "font-size": size, "font-weight": weight, "font-family": theme.font });

function text(written, x, y, fill, options) {
  return svg("text", { ...textAttributes(options), x, y, fill }, written);
}

const fitted = (word, letters) => {
  const parts = [...word];
  return parts.length > letters ? `${parts.slice(0, letters - 1).join("")}…` : word;
};

// The picture as a file, with its text as text.
export function svgOfPicture({ picture }, title) {
  const copy = picture.cloneNode(true);
  copy.setAttribute("xmlns", NAMESPACE);
  for (const name of ["tabindex", "data-testid", "style"]) copy.removeAttribute(name);
  copy.setAttribute("role", "img");
  copy.setAttribute("aria-label", title);
  for (const bar of copy.querySelectorAll(".bar")) {
    const share = Number(/scaleX\(([^)]*)\)/.exec(bar.style.transform)?.[1] ?? 1);
    bar.setAttribute("width", String(Math.max(0.01, Number(bar.getAttribute("width")) * share)));
    bar.removeAttribute("style");
  }
  copy.prepend(svg("title", {}, title));
  return new XMLSerializer().serializeToString(copy);
}

export async function pngOfPicture(view, title) {
  const image = new Image();
  const address = URL.createObjectURL(new Blob([svgOfPicture(view, title)], { type: "image/svg+xml" }));
  image.src = address;
  await image.decode();
  URL.revokeObjectURL(address);
  const canvas = element("canvas", { width: image.width * 3, height: image.height * 3 });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((take) => canvas.toBlob(take, "image/png"));
}
