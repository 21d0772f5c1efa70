// Keeps the lesson that is being written in this tab, for a reload or another server.

import { element, keep, readKept } from "../core/surface.js";

const [DRAFT, VIEWS] = ["lesson", "views"].map((name) => `attention-explorer:${name}`);
const keeper = { reported: "" };

export default function keepDraft({ data, parentElement, setTriggerValue }) {
  const { draft, fresh, seen, refused } = data;
  const [kept, views] = [readKept(DRAFT), (readKept(VIEWS) ?? []).filter(({ id }) => !seen.includes(id))];
  if (fresh || views.length) {
    const report = { draft: fresh ? kept : null, views };
    if (keeper.reported !== JSON.stringify(report)) {
      keeper.reported = JSON.stringify(report);
      setTriggerValue("report", report);
    }
    if (fresh && kept) return; // until the server has taken it over
  } else {
    keeper.reported = ""; // the next session, after a loss, is told the same again
  }
  const isKept = keep(DRAFT, draft) && keep(VIEWS, views);
  parentElement.replaceChildren(...(isKept ? [] : [element("p", { role: "status" }, refused)]));
}
