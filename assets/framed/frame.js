// A sandboxed frame that is as tall as its document asks to be. The document runs scripts of others: all that is
// taken from it is one number.

const LEAST = 160;
const MOST = 6000;
const frames = new WeakMap();

export default function mountFrame({ data, parentElement }) {
  let mounted = frames.get(parentElement);
  if (!mounted) {
    mounted = makeFrame(parentElement);
    frames.set(parentElement, mounted);
  }
  const { frame } = mounted;
  frame.title = data.title;
  if (frame.getAttribute("src") !== data.address) frame.setAttribute("src", data.address);
  return () => {
    window.removeEventListener("message", mounted.resize);
    frame.remove();
    frames.delete(parentElement);
  };
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
