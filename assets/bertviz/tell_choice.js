// Opens parts that bertviz always starts closed, and posts the reader's choice to the page around the frame.

const PAUSE = 300; // milliseconds: a double click is one choice
const one = (what) => document.querySelector(what);
const layerOf = () => Number(one("#layer").selectedOptions[0].text);
const isExpanded = () => one("#expanded").getAttribute("visibility") === "visible";
let expandedToken = null;
let telling = null;

const CHOSEN = {
  head: () => {
    const on = Array.from(document.querySelectorAll("#vis svg > g:last-child > rect"), (square) => square.__data__);
    const heads = on.flatMap((is, head) => (is ? [head] : []));
    return { layer: layerOf(), ...(heads.length < on.length && { heads: heads.join("_") }), ...filterOf() };
  },
  model: () => {
    const enlarged = Array.from(document.querySelectorAll(".attn_background")).find((ground) => ground.getAttribute("stroke-opacity") > 0);
    const [row, head] = enlarged?.id.split("_").slice(2) ?? [];
    return { ...(enlarged && { layer: layersSent[row], head }), ...filterOf() };
  },
  neuron: () => ({
    layer: layerOf(), head: one("#att_head").value, ...(isExpanded() && expandedToken !== null && { token: expandedToken }),
  }),
};

function filterOf() {
  const filter = Number(one("#filter")?.value ?? 0);
  return filter > 0 && { filter };
}

const view = Object.keys(CHOSEN).find((name) => document.body.classList.contains(name));

function resume() {
  const [[layer], [head], [filter], [token]] = ["layer", "head", "filter", "token"].map(numbersOf);
  if (one("#filter")) one("#filter").value = String(filter);
  if (view === "model" && begun.has("layer")) {
    one(`#attn_background_${layersSent.indexOf(layer)}_${head}`)?.parentNode.lastElementChild.dispatchEvent(new MouseEvent("click"));
  }
  if (view === "neuron" && begun.has("token")) expand(token);
}

function expand(token) {
  const place = one("#collapsed #leftText")?.children[token];
  place?.dispatchEvent(new MouseEvent("mouseover"));
  place?.lastElementChild.dispatchEvent(new MouseEvent("click"));
  if (place) expandedToken = token;
}

function changed(event) {
  const token = event.target.closest?.("#collapsed #leftText > g");
  if (token) expandedToken = Array.from(token.parentNode.children).indexOf(token);
  clearTimeout(telling);
  telling = setTimeout(() => window.parent.postMessage({ choice: new URLSearchParams(CHOSEN[view]()).toString() }, "*"), PAUSE);
}

resume();
for (const name of ["click", "dblclick", "change"]) document.addEventListener(name, changed);
