// A QR code, black on white in any theme: phone cameras fail on inverted ones.

import { element, svgElement as make } from "../core/surface.js";
import { applyTheme } from "../core/theme.js";

export default function mountQr({ data, parentElement }) {
  const root = parentElement.querySelector(".qr");
  applyTheme(root);
  root.replaceChildren(element("img", { src: data.picture, alt: data.label }));
  root.classList.toggle("large", data.large);
  if (!data.code) return;
  const code = element("p", { class: "code", "aria-hidden": "true" }, data.code); // the name of the picture says it, too
  root.append(element("div", {}, code, ...(data.large ? [element("p", { class: "link" }, data.link)] : [])));
}
