// Keeps one drawing for each element of the page: made when the element is first filled, removed when it is gone.

// make: draws in an element, with `texts`, and returns the drawing, which has a `root`. remove: takes that back. Returns the drawing and the
// function that Streamlit calls at the end. It calls that also when a newer change overtakes this one: then the element is
// still in the page, and the drawing keeps its focus and whatever was opened. The element itself refers to its drawing, so
// that another version of this script, after the server was renewed, replaces it instead of drawing a second one.
export function mountOnce(place, make, remove, texts) {
  const before = place.attentionDrawing;
  if (before && (before.make !== make || !before.drawn.root.isConnected)) before.over();
  if (!place.attentionDrawing) {
    const drawn = make(place, texts);
    const over = () => {
      delete place.attentionDrawing;
      remove(drawn);
    };
    place.attentionDrawing = { make, drawn, over };
  }
  const kept = place.attentionDrawing;
  const end = () => {
    if (!place.isConnected && place.attentionDrawing === kept) kept.over();
  };
  return [kept.drawn, end];
}
