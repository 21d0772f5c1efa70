// The view in the address of the page. On a page with a stage, the stage alone writes it, by replacing the address of the entry of
// the history that is there: Python hands it the fields of what it computes (the text, the model), and all are written in one.

export const headsWritten = (heads) => heads.map(([layer, head]) => `${layer + 1}-${head + 1}`).join("_");
export const flag = (on) => (on ? "1" : "0");
export const WRITE = {
  stack: String, heads: headsWritten, words: flag, hide: flag, show: String, lines: String, scale: String,
  focus: (place) => (place === null ? "" : String(place + 1)), compared: String,
};

// Every field of a view, as a link that pins it all writes it. fields: by name, how each is written; where a link names it otherwise,
// [its parameter, how].
export function writtenView(view, fields = WRITE) {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => {
    const [parameter, write] = Array.isArray(field) ? field : [name, field];
    return [parameter, write(view[name])];
  }));
}

// fields: of Python, by name: `own` what it wrote, `isFirst` whether that is the first view's, `defaults` and `first` of the view,
// `names` of all fields of the page, `level` of the whole app, `isKept` where the address is another page's, such as a room's.
export function addressOf(view, { own, isFirst, defaults, first, level, isKept }, search, fields = WRITE) {
  if (isKept) return search;
  const written = writtenView(view, fields);
  const [usual, begin] = [writtenView(defaults, fields), writtenView({ ...defaults, ...first }, fields)];
  const asked = new URLSearchParams(search);
  const kept = [...asked].filter(([name]) => ["lesson", "step", "lock", "present", "level", "embed"].includes(name));
  const atFirst = isFirst && Object.keys(written).every((name) => written[name] === begin[name]);
  const looks = Object.entries(written).filter(([name, value]) => value !== usual[name]);
  const parameters = new URLSearchParams(atFirst ? [] : [...Object.entries(own), ...looks]);
  for (const [name, value] of [...kept, ...Object.entries(level)]) parameters.set(name, value);
  return parameters.size ? `?${parameters}` : "";
}

const PAUSE = 80; // milliseconds: a browser takes some for each address, and refuses more than a few in a second

// Writes addresses of one page, the last one after a pause; `now` writes it at once, for what the server is about to be asked.
export function makeAddressWriter() {
  const page = location.pathname;
  const writer = { wanted: null, timer: 0 };
  writer.now = () => {
    clearTimeout(writer.timer);
    const { wanted } = writer;
    writer.wanted = null;
    if (wanted === null || location.pathname !== page || location.search === wanted) return;
    history.replaceState(history.state, "", `${page}${wanted}`);
  };
  writer.write = (query) => {
    writer.wanted = query;
    clearTimeout(writer.timer);
    writer.timer = setTimeout(writer.now, PAUSE);
  };
  addEventListener("pagehide", writer.now);
  writer.end = () => {
    clearTimeout(writer.timer);
    removeEventListener("pagehide", writer.now);
  };
  return writer;
}
