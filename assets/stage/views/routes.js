// A sentence, the layers above it, and the prediction on top, as one drawing: columns are tokens, rows the embeddings and layers.
// Arcs rise from a token in one row to the token that looks at it in the next. What is pointed at only changes classes: nothing is
// made anew but arcs that have come.

import { element, setText, svgElement as svg, visible } from "../../canvas/core/surface.js";
import { stepByKey, walkByKey } from "../../canvas/core/keys.js";
import { TEXTS } from "../../canvas/core/texts.js";
import { css, mix } from "../../canvas/core/palette.js";
import { say } from "../../canvas/core/text.js";
import { percent } from "../../canvas/core/numbers.js";

const [LEFT, LEFT_NARROW, RIGHT] = [84, 34, 16]; // pixels beside the columns
const [PILL, PILL_NARROW, PILL_HEIGHT] = [120, 96, 26];
const [LEAST_COLUMN, LEAST_COLUMN_NARROW, STAGGERED] = [33, 26, 56]; // narrower columns have their tokens in two lines
const [BAR_ROW, BARS, BAR_WIDTH, BAR_WIDTH_NARROW, BAR_LABEL, BAR_SHARE] = [21, 5, 148, 96, 92, 60];
const [CARD_TOP, CARD_PADDING] = [2, 8];
const FOOT = 54; // below the lowest row, for the tokens
const LEAST_ROW = PILL_HEIGHT + 1; // of twelve layers the guesses must not cover each other
const NARROW = 560;
const [THINNEST, WIDTH_BY_EFFECT, WIDEST] = [1.4, 5, 16]; // where the strongest arc would be wider, all are narrower in proportion
const TOUCH = 44;
const MOST_GROWING = 60; // arcs; more appear at once, which 72 tokens and 12 layers need to play smoothly

export const arcName = ({ layer, query, key }) => `${layer} ${query} ${key}`;
export const hindering = (theme) => (theme.dark ? "#ffb454" : "#c7722b");

function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

// choose(arc), point(arc or null), chooseWord(place), chooseLayer(layer), showLayer(depth), step(by).
export function makeRoutes(gestures) {
  const picture = svg("svg", { role: "group", tabindex: "0", "data-testid": "routes" });
  const layers = Object.fromEntries(["gradients", "trunks", "ghosts", "arcs", "nodes", "guesses", "tokens", "labels", "bars"].map((name) => [name, svg(name === "gradients" ? "defs" : "g", { class: `route-${name}` })]));
  picture.append(...Object.values(layers));
  const node = element("div", { class: "route-picture" }, picture);
  const view = { node, picture, layers, gestures, arcs: [], drawn: new Map(), at: null, pressed: [], lit: [] };
  const arcOf = (target) => view.drawn.get(target.closest?.("[data-arc]")?.dataset.arc)?.arc ?? null;
  const point = (arc) => {
    const name = arc && arcName(arc);
    if (name === view.pointed) return;
    view.pointed = name;
    gestures.point(arc);
  };
  picture.onpointerover = ({ target, pointerType }) => pointerType !== "touch" && point(arcOf(target));
  picture.onpointerleave = () => point(null);
  picture.onclick = ({ target }) => {
    const one = target.closest(".presses");
    if (one) return press(view, one);
    return gestures.choose(arcOf(target));
  };
  node.onscroll = () => keepLabels(view);
  picture.onkeydown = (event) => pressKey(view, event);
  picture.onfocusout = ({ relatedTarget }) => {
    if (picture.contains(relatedTarget)) return;
    view.pressed = [];
    point(null);
  };
  return view;
}

// A picture wider than its room fades where more of it is, and its layers stay named.
function keepLabels({ node, layers, frame }) {
  const { scrollLeft, clientWidth } = node;
  layers.labels.style.transform = `translateX(${scrollLeft}px)`;
  node.classList.toggle("before", scrollLeft > 2);
  node.classList.toggle("behind", scrollLeft + clientWidth < frame.width - 2);
}

function press({ gestures }, { dataset: { word, layer, depth } }) {
  if (depth !== undefined) return gestures.showLayer(Number(depth));
  return word === undefined ? gestures.chooseLayer(Number(layer)) : gestures.chooseWord(Number(word));
}

const KEYS = ["ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown", "Home", "End", "Enter", " ", "Escape"];

// The picture is one stop of the Tab key, the tokens are another, the layers a third, their guesses a fourth; arrows walk within each.
function pressKey(view, event) {
  if (event.altKey || event.ctrlKey || event.metaKey || !KEYS.includes(event.key)) return;
  event.preventDefault();
  const one = event.target.closest(".presses");
  if (one) return walk(view, one, event);
  if (["ArrowUp", "ArrowDown"].includes(event.key)) return view.gestures.step(event.key === "ArrowUp" ? 1 : -1);
  if (view.arcs.length) return walkArcs(view, event.key);
  view.pressed.push(event.key); // until arcs have come
}

function walk(view, one, event) {
  if (event.key === "Enter" || event.key === " ") return press(view, one);
  const all = [...one.parentNode.querySelectorAll(".presses")];
  return walkByKey(event, one.dataset.word ? all : all.reverse()); // of layers the highest is the first
}

function walkArcs(view, key) {
  const at = view.arcs.findIndex((arc) => arcName(arc) === view.at); // the list is sorted anew when arcs come
  if (key === "Enter" || key === " ") return at >= 0 && view.gestures.choose(view.arcs[at]);
  const arc = key === "Escape" ? null : view.arcs[stepByKey({ key }, at < 0 ? null : at, view.arcs.length)];
  view.at = arc && arcName(arc);
  view.pointed = view.at;
  view.gestures.point(arc);
}

// shown: `arcs`, the strongest first; `active`, the one that is pointed at or chosen; `layer` up to which the picture is shown, null
// for all; `theme`, `height`, `still`; `describe(arc)`, its sentence.
export function drawRoutes(view, header, shown) {
  const { picture } = view;
  const { theme, still } = shown;
  const size = `${view.node.clientWidth} ${shown.height} ${theme.dark}`;
  const isSame = view.header === header && view.size === size;
  const isPlaced = isSame || placeFrame(view, header, shown);
  view.size = size;
  picture.classList.toggle("still", still);
  picture.classList.toggle("many", shown.arcs.length > MOST_GROWING);
  drawArcs(view, header, shown, isPlaced);
  light(view, header, shown);
  view.arcs = shown.arcs.filter(({ isOld }) => !isOld);
  const pressed = view.arcs.length ? view.pressed.splice(0) : [];
  if (pressed.length) queueMicrotask(() => { for (const key of pressed) walkArcs(view, key); });
}

// Draws what stands still, for another run, size or theme. Returns whether arcs may stay: all is where it was.
function placeFrame(view, header, { height, theme }) {
  const frame = layOut(view, header, height);
  const isPlaced = view.frame && JSON.stringify([frame, header.tokens]) === JSON.stringify([view.frame, view.header.tokens]) && view.theme.dark === theme.dark;
  Object.assign(view, { frame, header, theme });
  drawFrame(view, header, frame, theme);
  showBlank(view, header, frame);
  keepLabels(view);
  return isPlaced;
}

// Another blank is brought into sight, once the picture has its room: what is not shown cannot scroll.
function showBlank(view, { tokens, place }, frame) {
  const about = JSON.stringify([tokens.length, place, tokens[place - 1], tokens[place + 1]]);
  if (view.about === about || !view.node.clientWidth) return;
  view.node.scrollLeft = frame.x[place] - view.node.clientWidth / 2;
  view.about = about;
}

function layOut({ node }, header, asked) {
  const room = node.clientWidth;
  const isNarrow = room < NARROW;
  const [left, pill, bar] = isNarrow ? [LEFT_NARROW, PILL_NARROW, BAR_WIDTH_NARROW] : [LEFT, PILL, BAR_WIDTH];
  const count = header.tokens.length;
  const column = Math.max(isNarrow ? LEAST_COLUMN_NARROW : LEAST_COLUMN, (room - left - RIGHT - pill) / Math.max(1, count - 1));
  const width = Math.max(room, Math.ceil(left + RIGHT + pill + column * (count - 1)));
  const x = header.tokens.map((_, token) => left + (token < header.place ? (token + 0.5) * column : token === header.place ? token * column + pill / 2 : (token - 0.5) * column + pill));
  const [wide, high] = [BAR_LABEL + bar + BAR_SHARE + 2 * CARD_PADDING, BARS * BAR_ROW + 2 * CARD_PADDING];
  const card = { x: Math.max(1, Math.min(width - wide - 1, x[header.place] - wide / 2)), y: CARD_TOP, width: wide, height: high, bar };
  const top = CARD_TOP + high - PILL_HEIGHT / 2;
  const height = Math.max(asked, top + header.layers * LEAST_ROW + FOOT);
  const bottom = height - FOOT;
  const y = Array.from({ length: header.layers + 1 }, (_, depth) => bottom - (depth * (bottom - top)) / header.layers);
  return { x, y, width, height, column, pill, left, isNarrow, card };
}

function drawFrame(view, header, frame, theme) {
  const { picture, layers } = view;
  const { width, height, x, y, isNarrow, left, card } = frame;
  set(picture, { viewBox: `0 0 ${width} ${height}`, width, height, "aria-label": TEXTS.routes.graph });
  layers.gradients.replaceChildren(...gradients(header, frame, theme));
  layers.trunks.replaceChildren(...x.map((at, token) => svg("line", { x1: at, x2: at, y1: y[0], y2: y[token === header.place ? header.layers : header.layers - 1], stroke: theme.faint })));
  view.nodes = x.map((at, token) => (token === header.place ? [] : y.slice(0, -1).map((down) => svg("circle", { cx: at, cy: down, r: 2.5, fill: theme.quiet }))));
  layers.nodes.replaceChildren(...view.nodes.flat());
  layers.ghosts.replaceChildren(...header.changes.flatMap(({ link }) => ghost(header, frame, theme, link)));
  view.node.style.setProperty("--names", `${left - 4}px`);
  const ground = svg("rect", { class: "ground", x: 0, y: card.y + card.height, width: left - 4, height: height - card.y - card.height, fill: theme.background });
  layers.labels.replaceChildren(ground, ...y.map((down, depth) => {
    const name = depth ? say(TEXTS.routes.layer, { number: depth }) : TEXTS.routes.embeddings;
    const label = text(isNarrow ? (depth ? String(depth) : "") : name, left - 10, down + 5, theme.quiet, { anchor: "end", size: 12, theme });
    if (!depth) return label;
    const high = Math.min(TOUCH, y[0] - y[1]);
    const box = svg("rect", { x: 1, y: down - high / 2, width: isNarrow ? TOUCH - 1 : left - 4, height: high, rx: 6, fill: "transparent" });
    return svg("g", { class: "route-layer presses", "data-layer": depth - 1, role: "button", tabindex: depth === 1 ? "0" : "-1", "aria-label": name }, box, label);
  }));
  view.tokens = header.tokens.map((token, place) => drawToken(header, frame, theme, token, place));
  layers.tokens.replaceChildren(...view.tokens);
  drawGuesses(layers.guesses, header, frame, theme);
  view.lit = [];
}

const coloursOf = (theme) => ({ helps: css(theme.line), hinders: hindering(theme), mixed: theme.second });

// Where an arc was that is cut in a whole layer.
function ghost(header, frame, theme, link) {
  const [query, key, layer] = (/^cut~(\d+)-(\d+)~(\d+)$/.exec(link) ?? []).slice(1).map((number) => number - 1);
  if (layer === undefined) return [];
  const d = arcPath(header, frame, { layer, query, key });
  const at = numbersOf(d);
  const [x, y] = [0, 1].map((axis) => (at[axis] + 3 * at[axis + 2] + 3 * at[axis + 4] + at[axis + 6]) / 8); // of the curve, halfway
  return [svg("g", { class: "route-ghost" }, svg("path", { d, fill: "none", stroke: theme.quiet, "stroke-width": 1.5, "stroke-dasharray": "4 4" }),
    text("×", x, y + 7, theme.text, { anchor: "middle", size: 20, weight: 600, theme }))];
}

const numbersOf = (d) => d.match(/-?[\d.]+(?:e-?\d+)?/g).map(Number);

// Arcs grow paler towards the token that they come from: one gradient for each layer and colour.
function gradients(header, { y }, theme) {
  const colours = coloursOf(theme);
  return Object.entries(colours).flatMap(([name, colour]) => y.slice(0, -1).map((from, layer) => svg("linearGradient", {
    id: `arc-${name}-${layer}`, gradientUnits: "userSpaceOnUse", x1: 0, x2: 0, y1: from, y2: y[layer + 1],
  }, svg("stop", { offset: "0", "stop-color": colour, "stop-opacity": 0.45 }), svg("stop", { offset: "0.75", "stop-color": colour, "stop-opacity": 1 }))));
}

function drawToken(header, { x, y, column }, theme, token, place) {
  const isBlank = place === header.place;
  const isStaggered = column < STAGGERED;
  const letters = Math.max(3, Math.floor((isBlank ? 120 : column * (isStaggered ? 2 : 1) + 4) / 7));
  const isHidden = header.changes.some(({ link }) => link === `hide~${place + 1}`);
  const colour = isHidden || (header.special[place] && !isBlank) ? theme.quiet : theme.text;
  const down = y[0] + (isBlank && !header.next ? 34 : isStaggered && place % 2 ? 42 : isBlank ? 34 : 26);
  const written = text(fitted(visible(token), letters), x[place], down, colour, { anchor: "middle", weight: isBlank ? 600 : 400, theme });
  if (isHidden) set(written, { "text-decoration": "line-through" });
  return svg("g", { class: "route-token presses", "data-word": place, role: "button", tabindex: place ? "-1" : "0", "aria-label": say(TEXTS.routes.place, { number: place + 1, token: visible(token) }) },
    svg("rect", { x: x[place] - column / 2, y: y[0] + 12, width: column, height: 38, rx: 6, fill: "transparent" }), written, svg("title", {}, visible(token)));
}

// Arcs that are here already stay; those that have come grow from below, but not after a change. Those of the run before are pale.
function drawArcs(view, header, { arcs, describe }, isPlaced) {
  const { layers: { arcs: group }, drawn, frame, theme } = view;
  const wanted = new Map(arcs.map((arc) => [arcName(arc), arc]));
  if (!isPlaced) drawn.clear();
  if (!isPlaced) group.replaceChildren();
  for (const [name, { node }] of drawn) {
    if (wanted.has(name)) continue;
    node.remove();
    drawn.delete(name);
  }
  const grows = arcs.length <= MOST_GROWING && !header.changes.length;
  const byEffect = Math.min(WIDTH_BY_EFFECT, (WIDEST - THINNEST) / Math.max(...arcs.map(({ effect = 0 }) => Math.abs(effect)), Number.EPSILON));
  const come = [];
  let above = null; // the strongest stands on top, and the next one right below it
  for (const [name, arc] of wanted) {
    let one = drawn.get(name);
    if (!one || one.share !== arc.share || one.effect !== arc.effect || one.byEffect !== byEffect) {
      if (grows && !one) come.push(name);
      one?.node.remove();
      one = { ...makeArc(header, frame, theme, arc, name, byEffect), share: arc.share, effect: arc.effect, byEffect };
      drawn.set(name, one);
    }
    one.arc = arc;
    one.node.classList.toggle("old", Boolean(arc.isOld));
    set(one.node, { "aria-label": describe(arc) });
    if (one.node.nextSibling !== above || one.node.parentNode !== group) group.insertBefore(one.node, above);
    above = one.node;
  }
  for (const name of come) drawn.get(name).node.classList.add("off");
  if (come.length) group.getBoundingClientRect(); // from here they grow
}

function makeArc(header, frame, theme, { layer, query, key, effect, share }, name, byEffect) {
  const d = arcPath(header, frame, { layer, query, key });
  const isMixed = share !== undefined;
  const width = isMixed ? Math.min(WIDEST, THINNEST + WIDEST * share) : THINNEST + byEffect * Math.abs(effect);
  const colour = isMixed ? "mixed" : effect >= 0 ? "helps" : "hinders";
  const node = svg("g", { class: "route-arc", "data-arc": name, role: "img" },
    svg("path", { d, fill: "none", stroke: "transparent", "stroke-width": Math.max(16, width + 6) }),
    svg("path", { class: "halo", d, fill: "none", stroke: "transparent", "stroke-width": width + 6, "stroke-linecap": "round" }),
    svg("path", { class: "line", d, pathLength: 1, fill: "none", stroke: `url(#arc-${colour}-${layer})`, "stroke-width": width, "stroke-linecap": "round" }));
  node.style.setProperty("--own", coloursOf(theme)[colour]);
  return { node, width };
}

// Arcs leave and enter the blank's column at the sides of its guesses, and any other token straight up. Into the words on top they
// go at their side, or from below where these stand over the token.
function arcPath({ place, layers }, { x, y, pill, card }, { layer, query, key }) {
  const side = Math.sign(x[key] - x[query]);
  const half = PILL_HEIGHT / 2;
  if (key === query && query === place) return `M ${x[key]} ${y[layer] - half} C ${x[key]} ${y[layer] - half} ${x[key]} ${y[layer + 1] + half} ${x[key]} ${y[layer + 1] + half}`;
  const [left, right] = layer === layers - 1 ? [card.x, card.x + card.width] : [x[place] - pill / 2, x[place] + pill / 2];
  const isBelow = query === place && x[key] > left && x[key] < right;
  const start = key === place ? [x[key] - side * (pill / 2 - 4), y[layer]] : [x[key], y[layer]];
  const end = query !== place ? [x[query], y[layer + 1]] : isBelow ? [x[key] - side * 12, y[layer + 1] + half - 2] : [side > 0 ? right - 4 : left + 4, y[layer + 1]];
  const [rise, run] = [(start[1] - end[1]) * 0.6, Math.min(140, Math.max(14, Math.abs(start[0] - end[0]) * 0.45))];
  const out = key === place ? [start[0] - side * run, start[1]] : [start[0], start[1] - rise];
  const into = query === place && !isBelow ? [end[0] + side * run, end[1]] : [end[0], end[1] + rise];
  return `M ${start.join(" ")} C ${out.join(" ")} ${into.join(" ")} ${end.join(" ")}`;
}

// What is pointed at, and up to which layer the picture is shown: classes, and the bars.
function light(view, header, { active, layer }) {
  const { picture, drawn, layers, frame, theme } = view;
  const shownLayer = layer ?? header.layers;
  const name = active && arcName(active);
  picture.classList.toggle("has-active", Boolean(active && drawn.has(name)));
  for (const [one, { node, arc }] of drawn) {
    node.classList.toggle("off", arc.layer >= shownLayer);
    node.classList.toggle("active", one === name);
  }
  const lit = active ? [view.tokens[active.key], view.tokens[active.query], view.nodes[active.key]?.[active.layer], view.nodes[active.query]?.[active.layer + 1]].filter(Boolean) : [];
  for (const node of view.lit) if (!lit.includes(node)) node.classList.remove("lit");
  for (const node of lit) node.classList.add("lit");
  view.lit = lit;
  for (const [depth, node] of [...layers.guesses.children].entries()) node.classList.toggle("off", depth > shownLayer);
  drawBars(layers.bars, header, frame, theme, shownLayer, active);
}

// The guess after each layer but the last, in the blank's column; one that the changes moved is framed.
function drawGuesses(group, header, { x, y, pill, isNarrow }, theme) {
  const at = x[header.place];
  const guesses = header.guesses.slice(0, -1);
  while (group.children.length > guesses.length) group.lastChild.remove();
  while (group.children.length < guesses.length) {
    const depth = group.children.length;
    group.append(svg("g", { class: "route-guess presses", role: "button", "data-depth": depth, tabindex: depth ? "-1" : "0" }, svg("rect", { class: "ground", rx: 6 }), svg("rect", { class: "bar", rx: 6 }), svg("text"), svg("text"), svg("title")));
  }
  guesses.forEach(([[word, share]], depth) => {
    const [[was]] = header.plainGuesses[depth];
    const isMoved = header.changes.length > 0 && was !== word;
    const [start, top] = [at - pill / 2, y[depth] - PILL_HEIGHT / 2];
    const node = group.children[depth];
    const [ground, bar, written, said, title] = node.children;
    const name = depth ? say(TEXTS.routes.layer, { number: depth }) : TEXTS.routes.embeddings;
    const told = isMoved ? ` (${say(TEXTS.routes.wasGuess, { word: visible(was) })})` : "";
    set(node, { "aria-label": `${say(TEXTS.routes.guess, { layer: name, word: visible(word), share: percent(share) })}${told}` });
    node.classList.toggle("moved", isMoved);
    set(ground, { x: start, y: top, width: pill, height: PILL_HEIGHT, fill: theme.background, stroke: isMoved ? theme.accent : theme.faint, "stroke-width": isMoved ? 2.5 : 1 });
    set(bar, { x: start, y: top, width: pill * share, height: PILL_HEIGHT, fill: css(mix(theme.line, theme.ground, theme.dark ? 0.45 : 0.28)) });
    set(written, { ...textAttributes({ weight: 600, theme }), x: start + 8, y: y[depth] + 5, fill: theme.text });
    setText(written, fitted(visible(word), isNarrow ? 6 : 9));
    set(said, { ...textAttributes({ anchor: "end", size: 12, theme }), x: start + pill - 8, y: y[depth] + 5, fill: theme.text });
    setText(said, percent(share));
    setText(title, isMoved ? told.trim() : TEXTS.routes.showLayer);
  });
}

// The most likely words over the blank: of all layers, or of the one up to which the picture is shown.
function drawBars(group, header, { card }, theme, shownLayer, active) {
  const isWhole = shownLayer >= header.layers;
  const rows = isWhole ? header.likely.slice(0, BARS) : header.guesses[shownLayer].map(([word, share]) => ({ word, before: share, after: share }));
  const start = card.x + CARD_PADDING + BAR_LABEL;
  if (!group.children.length) {
    group.append(svg("rect", { class: "card", rx: 8 }));
    for (let row = 0; row < BARS; row += 1) group.append(svg("g", {}, svg("text"), svg("rect", { class: "track" }), svg("rect", { class: "bar" }), svg("rect", { class: "loss" }), svg("rect", { class: "was" }), svg("text")));
    group.append(svg("text", { "paint-order": "stroke", "stroke-width": 4, "stroke-linejoin": "round" }));
  }
  const [frame, ...lines] = group.children;
  const tick = lines.pop();
  const without = isWhole && active?.after !== undefined ? active.after : null;
  const isTold = without === null ? isWhole && header.changes.length > 0 : rows[0].word === header.word;
  const isMoved = isWhole && header.changes.length > 0 && header.plainGuesses.at(-1)[0][0] !== header.word;
  set(frame, { x: card.x, y: card.y, width: card.width, height: card.height, fill: theme.background, stroke: isMoved ? theme.accent : theme.faint, "stroke-width": isMoved ? 2.5 : 1 });
  const labelled = without === null ? rows.reduce((most, { before }, row) => (before > rows[most].before ? row : most), 0) : 0;
  const drawTick = (node, at, down) => {
    const said = TEXTS.routes[without === null ? "tickBefore" : "tickWithout"];
    const half = said.length * 2.6;
    const x = Math.max(start + half, Math.min(start + card.bar - half, at));
    set(node, { ...textAttributes({ anchor: "middle", size: 11, theme }), x, y: down, fill: theme.text, stroke: theme.background, visibility: isTold ? "inherit" : "hidden" });
    setText(node, said);
  };
  lines.forEach((line, row) => {
    const [word, track, bar, loss, was, share] = line.children;
    const found = rows[row];
    set(line, { visibility: found ? "visible" : "hidden" });
    if (!found) return;
    const down = card.y + CARD_PADDING + row * BAR_ROW;
    const isWithout = without !== null && found.word === header.word;
    const marked = isWithout ? without : found.before;
    if (row === labelled) drawTick(tick, start + card.bar * marked, down + BAR_ROW + 14);
    set(word, { ...textAttributes({ anchor: "end", weight: row ? 400 : 600, theme }), x: start - 8, y: down + 15, fill: theme.text });
    setText(word, fitted(visible(found.word), 11));
    set(track, { x: start, y: down + 3, width: card.bar, height: 15, rx: 2, fill: theme.faint });
    set(bar, { x: start, y: down + 3, width: card.bar * found.after, height: 15, rx: 2, fill: css(theme.line) });
    set(loss, { x: start + card.bar * Math.min(marked, found.after), y: down + 3, width: Math.max(0, card.bar * (found.after - marked)), height: 15, fill: theme.background, opacity: 0.55, visibility: isWithout ? "inherit" : "hidden" });
    set(was, { x: start + card.bar * marked - 1, y: down, width: 2, height: row === labelled ? 25 : 21, fill: theme.text, visibility: (isWhole && header.changes.length > 0) || isWithout ? "inherit" : "hidden" });
    set(share, { ...textAttributes({ size: 13, theme }), x: start + card.bar + 8, y: down + 15, fill: theme.text });
    setText(share, percent(found.after));
  });
}

const textAttributes = ({ anchor = "start", size = 14, weight = 400, theme }) => ({ "text-anchor": anchor, "font-size": size, "font-weight": weight, "font-family": theme.font });

function text(written, x, y, fill, options) {
  return svg("text", { ...textAttributes(options), x, y, fill }, written);
}

const fitted = (word, letters) => {
  const parts = [...word];
  return parts.length > letters ? `${parts.slice(0, letters - 1).join("")}…` : word;
};

// The picture as a drawing of a figure: laid out anew for the paper, without what only a screen needs. row: pixels between two layers.
export function routesDrawing(header, { arcs, layer }, row) {
  const height = CARD_TOP + BARS * BAR_ROW + 2 * CARD_PADDING - PILL_HEIGHT / 2 + header.layers * row + FOOT;
  return (theme) => (context, _, width) => {
    const view = makeRoutes({});
    const { node, picture } = view;
    node.style.cssText = `position: absolute; visibility: hidden; width: ${width}px`;
    document.body.append(node);
    drawRoutes(view, header, { arcs, active: null, layer, theme, height, still: true, describe: () => "" });
    node.remove();
    for (const guess of picture.querySelectorAll(".route-guess.off")) set(guess, { opacity: 0.12 });
    for (const unseen of picture.querySelectorAll(UNSEEN)) unseen.remove();
    for (const shape of [picture, ...picture.querySelectorAll("*")]) for (const name of ON_SCREEN) shape.removeAttribute(name);
    return { width: view.frame.width, height, paint: (target) => target.append(picture) };
  };
}

const UNSEEN = '[fill="transparent"], [stroke="transparent"], [visibility="hidden"], .route-arc.off, .route-labels > .ground, title';
const ON_SCREEN = ["class", "role", "tabindex", "style", "aria-label", "data-testid", "data-arc", "data-word", "data-layer"];
