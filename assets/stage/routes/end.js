// What stands behind the words of a sentence: the full stop that was added, which a press takes away or brings back, and what else
// can be pressed.

import { button, element } from "../../canvas/core/surface.js";
import { TEXTS } from "../../canvas/core/texts.js";
import { say } from "../../canvas/core/text.js";

// sentence: `words`, `end` and `isChosen` of the sentence as it is read (pages/ui/stage/tokens.py). ask({ end }): whether it gets a
// full stop.
export function afterWords({ words, end, isChosen }, ask) {
  const texts = TEXTS.routes;
  const press = texts[matchMedia("(pointer: coarse)").matches ? "tap" : "click"];
  const isAdded = end === "added";
  const said = [...(isChosen && words.length > 1 ? [say(texts.blankAnother, { press })] : []), ...(isAdded ? [texts.endAdded] : [])].join(" ");
  return [
    ...(end ? [button(isAdded ? "." : "+ .", () => ask({ end: !isAdded }), { class: "word end", "aria-label": isAdded ? texts.endLeaveOut : texts.endAdd, title: isAdded ? texts.endLeaveOut : texts.endAdd })] : []),
    ...(said ? [element("span", { class: "quiet-text after-words" }, said)] : []),
  ];
}
