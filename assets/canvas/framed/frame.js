// A sandboxed frame that is as tall as its document asks to be. The document runs scripts of others: all that is
// taken from it is one number, and a short line that says what its reader chose in it, which the page reads with care.

import { mounted } from "../core/mount.js";
import { calmly, news } from "../core/surface.js";

const LEAST = 160;
const MOST = 6000;
const CHOICE = /^[a-z0-9_=&]{0,5000}$/;

export default function mountFrame({ data, parentElement, setStateValue }) {
  const [held, end] = mounted(parentElement, holdFrame, forgetFrame);
  held.send = (choice) => setStateValue("choice", news(choice));
  const address = new URL(data.address, document.baseURI).href; // every page lies right below the start, and so does this
  const chosenElsewhere = data.choice !== held.choice && data.timestamp === held.timestamp; // and not in the frame itself
  if (address !== held.address || chosenElsewhere) load(held, address, data.choice);
  Object.assign(held, { address, choice: data.choice, timestamp: data.timestamp });
  held.frame.title = data.title;
  return end;
}

function holdFrame(parent) {
  const held = { root: parent.querySelector(".framed"), frame: null };
  held.tell = calmly((choice) => held.send(choice), 60);
  held.listen = ({ source, data }) => source === held.frame?.contentWindow && hear(held, data);
  window.addEventListener("message", held.listen);
  return held;
}

function hear(held, data) {
  const height = Number(data?.height);
  if (height > 0) held.frame.style.height = `${Math.max(LEAST, Math.min(MOST, Math.ceil(height)))}px`;
  const choice = data?.choice;
  if (typeof choice !== "string" || !CHOICE.test(choice)) return;
  held.frame.name = choice; // what a reload of the document begins with
  held.tell(choice);
}

// Always a new frame: one that is led elsewhere makes a step of its own for the browser's Back.
function load(held, address, choice) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.setAttribute("data-testid", "framed");
  frame.name = choice;
  frame.src = address;
  if (held.frame) {
    frame.style.height = held.frame.style.height;
    held.frame.replaceWith(frame);
  } else held.root.append(frame);
  held.frame = frame;
}

function forgetFrame(held) {
  window.removeEventListener("message", held.listen);
  held.frame?.remove();
}
