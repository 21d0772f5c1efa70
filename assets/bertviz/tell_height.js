// Tells the page around the frame how tall the drawing is, whenever that changes.

const tell = () => window.parent.postMessage({ height: document.documentElement.scrollHeight }, "*");

new ResizeObserver(tell).observe(document.body);
tell();
