// What is drawn at a place of the page: made when the place is first filled, and kept until the place is gone.

const places = new WeakMap();

// make: draws at a place and gives what it drew. forget: takes that back. Gives what is drawn at this place, and what
// Streamlit is to call when it is over. It calls that as well where a newer change overtook this one: then the place is
// still in the page, and whoever reads it keeps the focus and whatever was opened.
export function mounted(place, make, forget) {
  if (!places.has(place)) places.set(place, make(place));
  const drawn = places.get(place);
  const end = () => {
    if (place.isConnected || places.get(place) !== drawn) return;
    places.delete(place);
    forget(drawn);
  };
  return [drawn, end];
}
