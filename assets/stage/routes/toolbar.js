// The toolbar of the stage of routes: play, step, how weak an arc may be, files and the link, presenter, full screen.

import { TEXTS } from "../../canvas/core/texts.js";
import { element, visible } from "../../canvas/core/surface.js";
import { button, fold, iconButton, makeToolbar, menu, segments, select } from "../core/toolbar.js";
import { save } from "../core/figure.js";
import { pngOfPicture, svgOfPicture } from "../views/routes.js";

export function makeControls(stage) {
  const { act } = stage;
  const [texts, shared] = [TEXTS.routes, TEXTS.controls];
  const play = button(texts.play, () => act.play(), { class: "play" });
  const steps = element("div", { class: "group" }, iconButton("▼", texts.stepDown, () => act.step(-1)), iconButton("▲", texts.stepUp, () => act.step(1)));
  const least = select(texts.least, (value) => act.least(value));
  const weakest = element("label", { class: "group", title: texts.leastHelp }, element("span", { class: "quiet-text" }, texts.least), least);
  const by = segments(texts.by, Object.entries(texts.byOptions), (value) => act.by(value));
  by.title = texts.byHelp;
  const files = menu(TEXTS.export.menu);
  const said = element("p", { class: "quiet-text", role: "status" });
  const name = () => `prediction-${stage.header.text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 40)}`;
  const titled = () => visible(`${stage.header.model}: “${stage.header.text}”`);
  const share = button(TEXTS.export.copyLink, async () => {
    stage.address.now();
    await navigator.clipboard.writeText(location.href).then(() => { said.textContent = TEXTS.export.copied; }, () => { said.textContent = location.href; });
  });
  files.box.append(element("div", { class: "menu-row" }, button(texts.svg, () => save(svgOfPicture(stage.view, titled()), "image/svg+xml", `${name()}.svg`)),
    button(texts.png, async () => save(await pngOfPicture(stage.view, titled()), "image/png", `${name()}.png`))), element("div", { class: "menu-row" }, share), said);
  const present = button(shared.present, () => act.present(), { title: shared.presentHelp });
  const full = iconButton("⛶", shared.full, () => act.full());
  const bar = makeToolbar([play, steps, weakest, by, files, present, full]);
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  const sync = (state) => {
    const { header } = stage;
    bar.node.hidden = !header.run;
    if (!header.run) return;
    play.hidden = still.matches; // by the arrows it goes layer by layer all the same
    play.textContent = stage.playing ? texts.pause : texts.play;
    least.set(header.leastEffects.map((value) => [value, value]), state.least || header.usualLeast);
    by.set(state.by);
    by.hidden = header.level === "basic" && state.by === "effect";
    files.hidden = header.hidden.includes("export");
    share.disabled = Boolean(header.linkProblem);
    present.hidden = header.alone;
    full.hidden = !document.fullscreenEnabled;
    fold(bar);
  };
  return { node: bar.node, sync };
}
