// Which row shows which word, and how rows get from where they stood to where they stand.

const GLIDE = { duration: 220, easing: "ease-out" };

// A word that stays keeps its row; the rows that are left over take the new words, and `make` makes those that are missing.
export function assignRows(rows, labels, make) {
  const left = [...rows];
  const take = (found) => (found < 0 ? null : left.splice(found, 1)[0]);
  const kept = labels.map((label) => take(left.findIndex((row) => row.label === label)));
  const assigned = kept.map((row) => row ?? left.shift() ?? make());
  for (const row of left) row.node.remove();
  return assigned;
}

// Moves only what is out of place: a node that is taken out of the page loses the focus.
export function putInOrder(list, rows) {
  let next = list.firstChild;
  for (const { node } of rows) {
    if (node === next) next = next.nextSibling;
    else list.insertBefore(node, next);
  }
}

export function placesOf(rows) {
  return new Map(rows.map((row) => [row, { top: row.node.getBoundingClientRect().top, widths: row.bars.map(widthOfBar) }]));
}

function widthOfBar(bar) {
  return bar.getBoundingClientRect().width;
}

// From the places of `before` to those of now; bars that are new grow from nothing.
export function glide(rows, before) {
  for (const row of rows) for (const node of [row.node, ...row.bars]) node.getAnimations().forEach((one) => one.cancel());
  if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const now = placesOf(rows);
  for (const row of rows) {
    const [{ top, widths }, from] = [now.get(row), before.get(row)];
    const shift = from ? from.top - top : 0;
    if (Math.abs(shift) >= 1) row.node.animate([{ transform: `translateY(${shift}px)` }, { transform: "none" }], GLIDE);
    for (const [place, bar] of row.bars.entries()) {
      const width = from?.widths[place] ?? 0;
      if (Math.abs(width - widths[place]) >= 1) bar.animate([{ width: `${width}px` }, { width: `${widths[place]}px` }], GLIDE);
    }
  }
}
