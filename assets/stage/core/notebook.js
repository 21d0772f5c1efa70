// A stage in a notebook, drawn by anywidget: it has a whole run, and asks nobody. Its colours are those of the paper that suits what is behind it.

import { isDark } from "../../canvas/core/theme.js";
import { element } from "../../canvas/core/surface.js";

// Makes the place of a stage in a cell, apart from the notebook's own styles and keys; changed(): the theme has changed. Returns the
// place, and what ends watching it.
export function placeInNotebook(cell, style, paper, changed) {
  cell.dataset.lmSuppressShortcuts = "true"; // of JupyterLab: arrow keys and letters are the stage's
  const box = element("div", { class: "stage-box in-notebook" });
  const root = cell.attachShadow({ mode: "open" });
  root.append(element("style"), box);
  root.firstChild.textContent = style;
  let wasDark = null;
  const dress = () => {
    const dark = isDark(cell);
    if (dark === wasDark) return;
    wasDark = dark;
    const colours = paper[dark ? "dark" : "light"];
    for (const [name, value] of Object.entries({ "--st-font": "system-ui, sans-serif", ...colours })) box.style.setProperty(name, value);
    changed();
  };
  const watcher = new MutationObserver(dress);
  for (const node of [document.documentElement, document.body]) watcher.observe(node, { attributes: true, attributeFilter: ["class", "data-theme", "data-jp-theme-name"] });
  const attached = new ResizeObserver(dress); // a cell gets a background when it is shown
  attached.observe(cell);
  dress();
  return [root, () => { watcher.disconnect(); attached.disconnect(); }];
}
