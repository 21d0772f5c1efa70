// Keeps the lesson that is being written in this tab: a reload or a lost server takes nothing that was typed.

import { element, keep, readKept } from "../core/surface.js";

const [DRAFT, VIEWS, OPENED] = ["lesson", "views", "opened"].map((name) => `attention-explorer:${name}`);
const OURS = "lesson_editor_"; // the keys of the boxes of the page
const keeper = { draft: null, reported: "" };

export default function keepDraft({ data, parentElement, setTriggerValue }) {
  const { draft, fresh, seen, refused, opened } = data;
  const [kept, views] = [readKept(DRAFT), (readKept(VIEWS) ?? []).filter(({ id }) => !seen.includes(id))];
  if (fresh || views.length) {
    const report = { draft: fresh ? kept?.draft ?? null : null, typed: fresh ? kept?.typed ?? {} : {}, views, opened: fresh ? readKept(OPENED) ?? "" : "" };
    if (keeper.reported !== JSON.stringify(report)) {
      keeper.reported = JSON.stringify(report);
      setTriggerValue("report", report);
    }
    if (fresh && (kept || report.opened)) return; // until the server has taken it over
  } else {
    keeper.reported = ""; // the next session, after a loss, is told the same again
  }
  keeper.draft = draft;
  const isKept = write() && keep(VIEWS, views) && keep(OPENED, opened);
  parentElement.replaceChildren(...(isKept ? [] : [element("p", { role: "status" }, refused)]));
  if (!keeper.listens) addEventListener("input", write, { capture: true });
  keeper.listens = true;
}

// The draft as the server knows it, and what stands in the boxes, of which a part may not have been sent yet.
function write() {
  const texts = Object.entries(window.attentionExplorer?.textsInBoxes() ?? {}).filter(([key]) => key.startsWith(OURS));
  const isElsewhere = !texts.length; // another page has no such boxes: keep the last texts
  return keeper.draft === null || isElsewhere || keep(DRAFT, { draft: keeper.draft, typed: Object.fromEntries(texts) });
}
