// What is drawn at a place of the page: made when the place is first filled, and kept until the place is gone.

// make: draws at a place and gives what it drew, with its `root`. forget: takes that back. Gives what is drawn at this
// place, and what Streamlit is to call when it is over. It calls that as well where a newer change overtook this one: then
// the place is still in the page, and whoever reads it keeps the focus and whatever was opened. The place itself knows its
// drawing, so that another version of this script, after the server was renewed, ends it in place of drawing a second one.
export function mounted(place, make, forget) {
  const before = place.attentionDrawing;
  if (before && (before.make !== make || !before.drawn.root.isConnected)) before.over();
  if (!place.attentionDrawing) {
    const drawn = make(place);
    const over = () => {
      delete place.attentionDrawing;
      forget(drawn);
    };
    place.attentionDrawing = { make, drawn, over };
  }
  const kept = place.attentionDrawing;
  const end = () => {
    if (!place.isConnected && place.attentionDrawing === kept) kept.over();
  };
  return [kept.drawn, end];
}
