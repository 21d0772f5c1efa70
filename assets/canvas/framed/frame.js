// A sandboxed frame, as tall as its document asks to be. The document runs scripts of others: all that is taken from it is
// one number and a short line with its reader's choice, which the page validates.

import { mountOnce, throttle, timestamped } from "../core/surface.js";
import { readTheme } from "../core/theme.js";

const MIN_HEIGHT = 160;
const MAX_HEIGHT = 6000;
const CHOICE = /^[a-z0-9_=&]{0,5000}$/;

export default function mountFrame({ data, parentElement, setStateValue, setTriggerValue }) {
  const [framed, end] = mountOnce(parentElement, makeFrame, removeFrame);
  framed.send = (choice) => setStateValue("choice", timestamped(choice));
  const address = new URL(data.address, document.baseURI).href; // every page lies right below the start, and so does this
  const chosenElsewhere = data.choice !== framed.choice && data.timestamp === framed.timestamp; // and not in the frame itself
  if (address !== framed.address || chosenElsewhere) load(framed, address, data.choice);
  Object.assign(framed, { address, choice: data.choice, timestamp: data.timestamp });
  framed.frame.title = data.title;
  askForTheme(framed, data.dark, setTriggerValue);
  return end;
}

// The document was drawn for one theme: where the page has changed to the other, it is asked for again, once for each change.
function askForTheme(framed, drawnDark, setTriggerValue) {
  const { dark } = readTheme(framed.root);
  if (framed.dark !== undefined && framed.dark !== dark && drawnDark !== dark) setTriggerValue("theme", dark);
  framed.dark = dark;
}

function makeFrame(parent) {
  const framed = { root: parent.querySelector(".framed"), frame: null };
  framed.notify = throttle((choice) => framed.send(choice), 60);
  framed.listen = ({ source, data }) => source === framed.frame?.contentWindow && receive(framed, data);
  window.addEventListener("message", framed.listen);
  return framed;
}

function receive(framed, data) {
  const height = Number(data?.height);
  if (height > 0) framed.frame.style.height = `${Math.max(MIN_HEIGHT, Math.min(MAX_HEIGHT, Math.ceil(height)))}px`;
  const choice = data?.choice;
  if (typeof choice !== "string" || !CHOICE.test(choice)) return;
  framed.frame.name = choice; // what a reload of the document begins with
  framed.notify(choice);
}

// Always a new frame: navigating an existing one would add an entry to the browser's history.
function load(framed, address, choice) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.setAttribute("data-testid", "framed");
  frame.name = choice;
  frame.src = address;
  if (framed.frame) {
    frame.style.height = framed.frame.style.height;
    framed.frame.replaceWith(frame);
  } else framed.root.append(frame);
  framed.frame = frame;
}

function removeFrame(framed) {
  window.removeEventListener("message", framed.listen);
  framed.frame?.remove();
}
