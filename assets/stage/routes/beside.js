// Routes beside the map of a stage of attention: which of both is looked at is the reader's to choose. What the picture of routes is told
// is asked for when it is looked at.

import { setText } from "../../canvas/core/surface.js";
import { TEXTS } from "../../canvas/core/texts.js";
import { segments } from "../core/toolbar.js";
import { fetchAnswer, makeRoutePicture } from "./picture.js";
import { makeRouteControls, routeFiles } from "./toolbar.js";

const [LEAST, BESIDE, ROW] = [400, 180, 56]; // pixels of the picture: at least; beside its rows, and a row at most

// What a stage with routes gives to `attentionStage`; its fields are those of `BESIDE_LOOKS` of pages/ui/stage/routes.py.
export const ROUTE_FIELDS = { shows: String, least: String, by: String };
export const ROUTE_PARTS = { controls, figure, end: ({ routes }) => routes?.end() };

const isRouted = ({ store, header, offline }) => store.get().shows === "routes" && Boolean(header?.routes?.path) && !offline;

// Once the other nodes of the stage stand in its body.
export function arrangeRoutes(stage) {
  stage.routes = makeRoutePicture({ change: stage.act.change, onChange: () => stage.controls.sync(stage.store.get()) });
  stage.body.append(stage.routes.node);
}

function controls(stage) {
  const texts = TEXTS.routes;
  const set = (change) => stage.store.set(change);
  const shows = segments(texts.shows, Object.entries(texts.showsOptions), (value) => set({ shows: value }));
  const looks = makeRouteControls(() => stage.routes, set);
  stage.routeControls = (state) => {
    shows.hidden = !stage.header.routes || stage.offline || stage.header.hidden.includes("shows");
    shows.set(state.shows ?? "heads");
    looks.sync(stage.routed ?? {}, { least: state.least ?? "", by: state.by ?? "effect" }, isRouted(stage) && Boolean(stage.routed));
  };
  return [shows, ...looks.items];
}

function figure(stage) {
  stage.routeControls(stage.store.get());
  return isRouted(stage) && stage.routed ? routeFiles(stage, () => stage.routes) : null;
}

export async function drawRoutes(stage) {
  const { header, root, routes, store } = stage;
  root.classList.toggle("routed", isRouted(stage));
  if (!isRouted(stage)) return;
  const { routes: asked, changes, notices, hidden, level } = header;
  if (JSON.stringify(stage.routed?.id) !== JSON.stringify(asked.id)) {
    if (stage.asksRoutes === asked.path) return;
    stage.asksRoutes = asked.path;
    const answer = await fetchAnswer(asked.path, () => stage.header === header);
    stage.asksRoutes = null;
    if (stage.header !== header) return void (isRouted(stage) && drawRoutes(stage));
    setText(routes.said, answer ? "" : TEXTS.routes.notShown);
    if (!answer) return;
    stage.routed = { ...asked, ...answer, level };
    stage.controls.sync(store.get());
  }
  const { least, by } = store.get();
  Object.assign(stage.routed, { path: asked.path, changes, notices, hidden, level, chipsElsewhere: true });
  routes.take(stage.routed);
  routes.set({ least: Number(least || asked.usualLeast), by });
  routes.draw({ theme: stage.theme, height: Math.max(LEAST, Math.min(stage.body.clientHeight - 8, BESIDE + stage.routed.layers * ROW)) });
}
