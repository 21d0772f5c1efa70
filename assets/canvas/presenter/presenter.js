// The presenter view shows one picture of the page at a time, as large as the screen takes it; keys go from one to the next.

import { element } from "../core/surface.js";
import { recolour } from "../core/theme.js";

const DRAWN = '[data-testid="stMain"] :is([data-mounted$=".js"], [data-testid="stPlotlyChart"])';
const NO_PICTURES = ["steps/strip.js", "question/question.js"].map((name) => `[data-mounted="${name}"]`).join();
const SCROLLERS = ["scroller", "line", "grid", "wall-scroller"].map((name) => `.${name}`).join();
const BOX = '[data-testid="stElementContainer"]';
const FOLDED = "details:not([open]), [role=tabpanel][hidden], [inert]";
const STAGE = '[class*="_stage"]';
const LAYOUT = { width: 960, height: 540 }; // of the screen before it is enlarged: a text of 12 pixels has 24 on 1920 × 1080
const FULL = 0.96; // of the height below what a lesson asks
const LEAST = 0.9;
const LARGEST = 4.5; // times the least enlargement
const NARROWEST = [1, 0.93, 0.86, 0.8, 0.74, 0.68, 0.62]; // of the width, for a picture that is taller than the screen
const MEDIUM = 1.6; // times the least enlargement: of a picture whose rows grow, too
const LOW = 0.8; // of that height
const [TRIES, FRAME_LOOKS] = [6, 10];
const CHANGED = 0.03; // of the screen: a smaller change of its height, as of what is read out below it, moves no picture
const [LEAST_SCROLL, SCROLLED] = [24, 0.8]; // pixels, and the share of the screen
const STYLE_LOOKS = 100; // milliseconds between two looks whether the page has its own colours again
const PAUSE = 120; // milliseconds without a change, before a picture is fitted
const CHANGES = { childList: true, subtree: true, attributeFilter: ["data-mounted"] }; // a drawing has this mark once its script has run

export default function makePresenter() {
  const show = { key: "", chosen: false, box: null, timer: 0, styling: 0, work: 0, fits: 0, height: 0 };
  show.dots = element("div", { class: "presenter-dots", "aria-hidden": "true" });
  show.sizes = new ResizeObserver(() => later(show));
  const anew = () => { show.fits = 0; later(show); };
  const resized = () => {
    show.work += 1; // cancels a fit that was started for the previous screen
    show.height = 0;
    delete document.documentElement.dataset.fitted;
    anew();
  };
  const inMain = ({ target }) => target.closest?.('[data-testid="stMain"]');
  const changed = new MutationObserver((changes) => changes.some(inMain) && anew());
  const begin = () => {
    document.body.append(show.dots);
    changed.observe(document.body, CHANGES);
    addEventListener("resize", resized);
    anew();
  };
  const leavePage = () => {
    changed.disconnect();
    removeEventListener("resize", resized);
    end(show);
  };
  return { step: (by) => step(show, by), begin, end: leavePage };
}

// The pictures of the page, those of its stage first; the controls stand beside the stage.
export function pictures() {
  const found = [...document.querySelectorAll(DRAWN)].filter((drawn) => !drawn.matches(NO_PICTURES) && !drawn.closest(`${FOLDED}, .st-key-lesson`));
  const boxes = [...new Set(found.map((drawn) => drawn.closest(BOX)).filter(Boolean))];
  return boxes.sort((one, other) => Boolean(other.closest(STAGE)) - Boolean(one.closest(STAGE)));
}

const keyOf = (box) => box.className.match(/st-key-\S+/)?.[0] ?? "";

// Goes on in a picture that is taller than the screen, then to the next one.
function step(show, by) {
  const main = document.querySelector('[data-testid="stMain"]');
  const left = by > 0 ? main.scrollHeight - main.clientHeight - main.scrollTop : main.scrollTop;
  if (left > LEAST_SCROLL) return main.scrollBy(0, by * SCROLLED * main.clientHeight), true;
  const boxes = pictures();
  const next = boxes[boxes.indexOf(show.box) + by];
  if (!next) return false;
  Object.assign(show, { fits: 0, chosen: true });
  main.scrollTop = 0;
  stage(show, next, boxes);
  return true;
}

function later(show) {
  clearTimeout(show.timer);
  show.timer = setTimeout(() => look(show), PAUSE);
}

// Finds the same picture again after a rerun of the page, else the first one.
function look(show) {
  if (!isPresented()) return;
  const boxes = pictures();
  const known = boxes.filter((box) => keyOf(box) === show.key); // another page may have taken the very box over
  const same = show.chosen ? (known.find((box) => box === show.box) ?? (show.key && known[0])) : null;
  show.chosen = Boolean(same); // on another page its first picture is shown, also where that comes after others
  const box = same || boxes[0] || null;
  box?.querySelectorAll("[data-mounted]").forEach(recolour);
  const kept = box === show.box && known.includes(box) && box.hasAttribute("data-staged");
  const fits = kept && Math.abs(heightOf(box) - show.height) < CHANGED * innerHeight;
  if (fits) show.fits = 0; // what comes next is fitted anew
  if (fits || (kept && show.fits > TRIES)) drawDots(show, box, boxes); // another one may have come
  else stage(show, box, boxes);
}

const isPresented = () => new URLSearchParams(location.search).get("present") === "1";

function stage(show, box, boxes) {
  for (const other of document.querySelectorAll("[data-staged]")) if (other !== box) leave(other);
  document.documentElement.toggleAttribute("data-pictures", boxes.length > 0);
  drawDots(show, box, boxes);
  if (show.box !== box) show.sizes.disconnect();
  if (box && show.box !== box) show.sizes.observe(box);
  show.box = box;
  show.key = box ? keyOf(box) : "";
  if (!box) return void document.documentElement.style.setProperty("--enlarged", String(leastZoom()));
  box.setAttribute("data-staged", "");
  box.querySelectorAll("[data-mounted]").forEach(recolour);
  show.fits += 1;
  fit(show, box);
}

function drawDots(show, box, boxes) {
  show.dots.replaceChildren(...(boxes.length > 1 ? boxes.map((one) => element("i", one === box ? { class: "here" } : {})) : []));
}

function leave(box) {
  box.removeAttribute("data-staged");
  box.style.maxWidth = "";
}

function end(show) {
  clearTimeout(show.timer);
  show.work += 1;
  show.sizes.disconnect();
  show.dots.remove();
  for (const box of document.querySelectorAll("[data-staged]")) leave(box);
  Object.assign(show, { box: null, chosen: false });
  const root = document.documentElement;
  for (const name of ["--enlarged", "--grown"]) root.style.removeProperty(name);
  delete root.dataset.fitted;
  clearTimeout(show.styling);
  colourAgain(show);
}

// The style of this view is removed only when the run that ends it is over: seconds, on a busy server.
function colourAgain(show) {
  if (isPresented()) return;
  document.querySelectorAll("[data-mounted]").forEach(recolour);
  if (isStyled()) show.styling = setTimeout(() => colourAgain(show), STYLE_LOOKS);
}

const isStyled = () => getComputedStyle(document.documentElement).getPropertyValue("--aside").trim() === "none";

const leastZoom = () => Math.max(1, Math.min(innerHeight / LAYOUT.height, innerWidth / LAYOUT.width));

// Enlarges the page until the picture fills the screen; one that is then too tall is made narrower, since most shrink with their width.
async function fit(show, box) {
  const work = (show.work += 1);
  const root = document.documentElement;
  delete root.dataset.fitted;
  const least = leastZoom();
  let best = null;
  const attempt = async (zoom, width, grown = 1) => {
    root.style.setProperty("--enlarged", String(zoom));
    root.style.setProperty("--grown", String(grown));
    box.style.maxWidth = width < 1 ? `${100 * width}%` : "";
    await drawn(box);
    const full = best?.zoom === zoom ? best.full : FULL * (innerHeight - topOf(box));
    const tried = { zoom, width, grown, full, height: heightOf(box), cut: isCut(box) };
    if (!best || isBetter(tried, best)) best = tried;
    return tried;
  };
  let tried = await attempt(least, 1);
  for (let count = 0; count < TRIES && work === show.work; count += 1) {
    if (tried.cut || tried.height >= LEAST * tried.full) break;
    const zoom = Math.min(LARGEST * least, tried.zoom * Math.sqrt((0.97 * tried.full) / Math.max(1, tried.height)));
    if (zoom < tried.zoom * 1.02) break;
    tried = await attempt(zoom, 1);
  }
  if (best.height < LOW * best.full && work === show.work) {
    tried = await attempt(MEDIUM * least, 1);
    for (let count = 0; count < 3 && work === show.work && tried.height < LEAST * tried.full; count += 1) {
      tried = await attempt(MEDIUM * least, 1, (tried.grown * LEAST * tried.full) / tried.height);
    }
  }
  const whole = best;
  for (const width of best.height > best.full ? NARROWEST : []) if (work === show.work && best === whole) await attempt(whole.zoom, width);
  if (best.height < LOW * best.full && whole.height > whole.full) best = whole;
  if (work !== show.work) return;
  const { height } = best;
  await attempt(best.zoom, best.width, best.grown);
  if (work !== show.work) return;
  show.height = height; // of the picture that was fitted: what has grown meanwhile is fitted anew
  root.dataset.fitted = `${show.key} ${innerWidth} ${innerHeight}`;
  later(show);
}

// Whether one layout beats another: the tallest that fits wins; where none fits, the first stays.
function isBetter(one, other) {
  const fits = ({ height, full, cut }) => height <= full && !cut;
  return fits(one) && (!fits(other) || one.height > other.height);
}

const heightOf = (box) => box.getBoundingClientRect().height;
const topOf = (box) => Math.max(0, box.getBoundingClientRect().top + document.querySelector('[data-testid="stMain"]').scrollTop);

// Whether a part of a drawing has to be scrolled to sideways.
function isCut(box) {
  const host = box.querySelector("[data-mounted]");
  const parts = host?.shadowRoot?.querySelectorAll(SCROLLERS) ?? [];
  return [...parts].some((part) => part.scrollWidth > part.clientWidth + 2);
}

// A drawing learns its new size before the next frame, and draws in it. The document in a frame says later how tall it has become.
async function drawn(box) {
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 20))));
  const isFramed = box.querySelector("[data-mounted]")?.shadowRoot?.querySelector("iframe");
  for (let count = 0, before = 0; isFramed && count < FRAME_LOOKS && before !== heightOf(box); count += 1) {
    before = heightOf(box);
    await new Promise((done) => setTimeout(done, PAUSE));
  }
}
