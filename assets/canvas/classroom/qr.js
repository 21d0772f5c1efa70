// A QR code, black on white in any theme: phone cameras fail on inverted ones.

import { element } from "../core/surface.js";
import { applyTheme } from "../core/theme.js";

const SVG = "http://www.w3.org/2000/svg";

export default function mountQr({ data, parentElement }) {
  const root = parentElement.querySelector(".qr");
  applyTheme(root);
  const picture = make("svg", { viewBox: `0 0 ${data.size} ${data.size}`, role: "img", "aria-label": data.label });
  picture.append(make("rect", { width: data.size, height: data.size, fill: "#fff" }));
  picture.append(make("path", { d: data.path, fill: "#000", "shape-rendering": "crispEdges" }));
  root.replaceChildren(picture);
  root.classList.toggle("large", Boolean(data.code));
  if (!data.code) return;
  const code = element("p", { class: "code", "aria-hidden": "true" }, data.code); // the name of the picture says it, too
  root.append(element("div", {}, code, element("p", { class: "link" }, data.link)));
}

function make(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
