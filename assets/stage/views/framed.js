// A document of others (bertviz) in a sealed frame, as tall as it asks to be. It runs scripts of others: all that is taken from it
// is one number, and a short line with its reader's choice, such as "layer=2&heads=0_3", which is checked before it becomes a look.

import { element } from "../../canvas/core/surface.js";

const [MIN_HEIGHT, MAX_HEIGHT, LONGEST] = [160, 6000, 5000];
const NUMBERS = /^[0-9]{1,4}(_[0-9]{1,4})*$/;

// setAll: takes in the looks that were chosen; again: has the document drawn for another theme.
export function makeFramed({ setAll, again }) {
  const made = { node: element("figure", { class: "chart framed" }), frame: null, choice: null, address: null, isDark: null, linked: [] };
  const choose = (line) => {
    const chosen = readChoice(line, made.chart);
    if (!chosen) return;
    made.choice = choiceLine({ ...made.values, ...chosen }, made.chart);
    made.frame.name = made.choice; // what a reload of the document begins with
    setAll(chosen);
  };
  const listen = ({ source, data }) => {
    if (!made.node.isConnected) return window.removeEventListener("message", listen);
    if (source !== made.frame?.contentWindow) return undefined;
    const height = Number(data?.height);
    if (height > 0) made.frame.style.height = `${Math.max(MIN_HEIGHT, Math.min(MAX_HEIGHT, Math.ceil(height)))}px`;
    if (data?.choice !== undefined) choose(data.choice);
    return undefined;
  };
  window.addEventListener("message", listen);
  return Object.assign(made, { again });
}

// chart: `address` of the document, `view` of bertviz, what there is to choose from, its `height`, and whether it is drawn for a dark page.
export function drawFramed(made, chart, values, theme) {
  Object.assign(made, { chart, values });
  const [address, choice] = [new URL(chart.address, document.baseURI).href, choiceLine(values, chart)]; // all pages lie right below the start
  if (address !== made.address || choice !== made.choice) load(made, address, choice);
  made.frame.title = chart.title;
  const turned = made.isDark !== null && made.isDark !== theme.dark;
  made.isDark = theme.dark;
  if (turned && chart.dark !== theme.dark) made.again();
}

// Always a new frame: navigating an existing one would add an entry to the browser's history.
function load(made, address, choice) {
  const frame = element("iframe", { sandbox: "allow-scripts", "data-testid": "framed", src: address });
  frame.name = choice;
  const height = made.node.closest(".wide") ? "" : `${made.chart.height}px`; // on a phone what stands below is in sight: its place is kept
  frame.style.height = made.frame?.style.height ?? height;
  made.node.replaceChildren(frame);
  Object.assign(made, { frame, address, choice });
}

// The looks as a line for the document, counted from 0: a layer or head that it lacks becomes its last one, else it is left out.
export function choiceLine(looks, { view, layers, heads, filters, tokens }) {
  const [layer, head, filter, token] = ["layer", "head", "filter", "token"].map((name) => Number(looks[name]));
  const place = Math.min(Math.max(layer - 1, layers[0]), layers.at(-1));
  const oneHead = { layer: place, head: Math.min(head, heads) - 1 };
  const on = looks.heads.split("_").map(Number).filter((one) => one > 0 && one <= heads).map((one) => one - 1);
  const parts = {
    neuron: { ...oneHead, ...(token > 0 && token <= tokens && { token: token - 1 }) },
    head: { layer: place, ...(on.length > 0 && on.length < heads && { heads: on.join("_") }) },
    model: looks.enlarged === "1" ? oneHead : {},
  }[view];
  const filtered = view !== "neuron" && filter > 1 && filter <= filters ? { filter: filter - 1 } : {};
  return new URLSearchParams({ ...parts, ...filtered }).toString();
}

// The looks that a line of the document names, as links write them; null for anything that is not a line about it.
export function readChoice(line, { view, layers, heads, filters, tokens }) {
  if (typeof line !== "string" || line.length > LONGEST) return null;
  const parts = line ? line.split("&").map((part) => part.split("=")) : [];
  const named = new Map(parts);
  if (named.size < parts.length || parts.some((part) => part.length !== 2 || !NUMBERS.test(part[1]))) return null;
  const on = named.has("heads") ? [...new Set(named.get("heads").split("_").map(Number))].sort((one, other) => one - other) : [];
  named.delete("heads");
  const isThere = { layer: (at) => layers.includes(at), head: (at) => at < heads, filter: (at) => at < filters, token: (at) => at < tokens };
  const isWrong = ([name, written]) => !Object.hasOwn(isThere, name) || written.includes("_") || !isThere[name](Number(written));
  if ([...named].some(isWrong) || on.some((head) => head >= heads)) return null;
  const chosen = Object.fromEntries([...named].map(([name, written]) => [name, String(Number(written) + 1)]));
  if (view === "neuron") return { token: "0", ...chosen };
  if (view === "model") return { filter: "1", enlarged: chosen.layer && chosen.head ? "1" : "0", ...chosen };
  return { filter: "1", heads: on.length < heads ? on.map((head) => head + 1).join("_") : "", ...chosen };
}
