// Makes the drawing, which bertviz draws in a width of its own, as wide as the frame, within bounds, and tells the page around
// the frame how tall it is, whenever that changes.

const SMALLEST = 0.7, PHONE = 640; // times its own size, and pixels; on a phone, letters stay as large as they are and the drawing is scrolled
let naturalWidth = 0;

function fit() {
  const zoom = Number(document.body.style.zoom || 1);
  let right = 1;
  for (const part of document.querySelectorAll("svg :not(line)")) { // lines, a hundred thousand of 128 tokens, end at names
    const box = part.getBoundingClientRect();
    if (box.width > 0 && box.height > 0) right = Math.max(right, box.right / zoom);
  }
  if (Math.abs(right - naturalWidth) < 1 && document.body.style.zoom) return;
  naturalWidth = right;
  const byHeight = (TALLEST * zoom) / document.documentElement.scrollHeight;
  const byWidth = (window.innerWidth - 12) / right;
  const wanted = byWidth < 1 ? byWidth : Math.max(1, Math.min(LARGEST, byWidth, byHeight));
  document.body.style.zoom = Math.max(window.innerWidth < PHONE ? 1 : SMALLEST, wanted).toFixed(3);
}

// The height of what is drawn: that of the document is at least the frame's, so that it would never shrink.
function tell() {
  const ends = Array.from(document.querySelectorAll("body,div,svg"), (part) => part.getBoundingClientRect().bottom);
  window.parent.postMessage({ height: Math.max(...ends) + window.scrollY }, "*");
}

new ResizeObserver(tell).observe(document.body);
window.addEventListener("resize", () => {
  naturalWidth = 0;
  fit();
});
fit();
tell();
