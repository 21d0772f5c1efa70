// Fetches a drawing: all modules and style sheets at once, since one after the other would cost a round trip for each. A browser
// never asks again for an address that failed it once, hence the suffix.

const MAX_REPEATS = 5;

const rest = (count) => new Promise((done) => setTimeout(done, 250 * 2 ** count)); // milliseconds

async function fetchSheet(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(url);
  return new CSSStyleSheet().replace(await answer.text());
}

async function fetchParts(path, names, styles, count = 0) {
  const address = (name) => new URL(`${path}${count ? `-${count}` : ""}/${name}`, document.baseURI).href;
  try {
    return await Promise.all([
      Promise.all(names.map((name) => import(address(name)))),
      Promise.all(styles.map((name) => fetchSheet(address(name)))),
    ]);
  } catch (gone) {
    if (count === MAX_REPEATS) throw gone;
    await rest(count);
    return fetchParts(path, names, styles, count + 1);
  }
}

// Of the page before Streamlit's scripts are there (early.js): `wait(host)` until a stage may be drawn in its place, and `taken(host)` once it is.
export const gate = {};

// Python wraps what is not bytes in a list of one.
const unwrap = (element) => Array.isArray(element.data) ? { ...element, data: element.data[0] } : element;

function say({ parentElement }, text) {
  const said = document.createElement("p");
  said.role = "alert";
  said.textContent = text;
  (parentElement.firstElementChild ?? parentElement).replaceChildren(said);
}

// Returns the function that draws an element, and puts what ends the drawing into `shown`. It does not wait for the modules: Streamlit
// sizes the drawing when it has run. The start page waits for the mark: until the drawing has its height, what stands below is not shown.
// failed: what is said in its place where that failed for the last time. What is returned tells whether it was drawn, at once or later.
export function fetchDrawing(path, names, styles, failed) {
  let draw = null;
  const ready = fetchParts(path, names, styles).then(([modules, sheets]) => {
    draw = (element) => {
      element.parentElement.getRootNode().adoptedStyleSheets = sheets;
      return modules.at(-1).default(unwrap(element));
    };
  });
  return (element, shown) => {
    const { host } = element.parentElement.getRootNode();
    const mark = () => { host.dataset.mounted = styles.at(-1); }; // tells a stage (stage.css) from other drawings
    const begin = () => {
      mark();
      if (!shown.over) shown.end = draw(element);
      return true;
    };
    const waits = gate.wait && !element.isEarly && styles.at(-1) === "stage.css";
    if (draw && !waits) return begin();
    const takeOver = async () => {
      await gate.wait?.(host);
      if (shown.over) return false;
      begin();
      gate.taken?.(host);
      return true;
    };
    return ready.then(waits ? takeOver : begin, () => {
      mark();
      say(element, failed);
      if (waits) gate.taken?.(host);
      return false;
    });
  };
}
