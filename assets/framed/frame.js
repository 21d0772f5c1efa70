// A sandboxed frame that is as tall as its document asks to be. The document runs scripts of others: all that is
// taken from it is one number.

import { mounted } from "../attention_view/mounted.js";

const LEAST = 160;
const MOST = 6000;
export default function mountFrame({ data, parentElement }) {
  const [{ frame }, end] = mounted(parentElement, makeFrame, forgetFrame);
  frame.title = data.title;
  const address = new URL(data.address, document.baseURI).href; // every page lies right below the start, and so does this
  if (frame.src !== address) frame.src = address;
  return end;
}

function forgetFrame({ frame, resize }) {
  window.removeEventListener("message", resize);
  frame.remove();
}

function makeFrame(parent) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.setAttribute("data-testid", "framed");
  const resize = (event) => {
    const height = Number(event.data?.height);
    if (event.source === frame.contentWindow && height > 0) frame.style.height = `${Math.max(LEAST, Math.min(MOST, Math.ceil(height)))}px`;
  };
  window.addEventListener("message", resize);
  (parent.querySelector(".framed") ?? parent).append(frame);
  return { frame, resize };
}
