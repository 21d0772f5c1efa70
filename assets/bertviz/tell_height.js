// Makes the drawing, which bertviz draws in a width of its own, as wide as the frame, within bounds, and tells the page around
// the frame how tall it is, whenever that changes.

const SMALLEST = 0.7, LARGEST = 1.7; // times its own size
const TALLEST = 900, PHONE = 640; // pixels; on a phone, letters stay as large as they are and the drawing is scrolled
let naturalWidth = 0;

function fit() {
  const zoom = Number(document.body.style.zoom || 1);
  const parts = Array.from(document.querySelectorAll("svg *"), (part) => part.getBoundingClientRect());
  const right = Math.max(...parts.filter((part) => part.width > 0 && part.height > 0).map((part) => part.right), 1) / zoom;
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
