// How high a stage may be, the same for all: on a wide page as high as the screen leaves it, on a narrow one as high as it needs. Shown to
// a room, it is the whole window, enlarged until its smallest letters, of 12 pixels, have 28 of 1080 rows.

const [WIDE, LEAST_HEIGHT, MOST_HEIGHT, MARGIN] = [760, 560, 820, 16]; // pixels
const ROOM = { width: 822, height: 462 }; // of the window, before it is enlarged

// Says whether the stage is shown to a room (assets/shell/present.js decides) and whether it is wide, and returns its height in pixels.
export function placeStage(root) {
  const isPresented = document.documentElement.dataset.presented === "picture" && root.dataset.testid === "stage" && !root.matches(".empty:not(.list-alone,.waits)");
  root.classList.toggle("presented", isPresented);
  root.getRootNode().host?.toggleAttribute("data-presented", isPresented); // assets/page.css hides all else
  root.style.zoom = isPresented ? String(Math.max(1, Math.min(innerWidth / ROOM.width, innerHeight / ROOM.height))) : "";
  root.classList.toggle("wide", isPresented ? innerWidth > innerHeight : root.clientWidth >= WIDE);
  root.style.bottom = isPresented ? `${stripHeight() / root.style.zoom}px` : "";
  const height = Math.floor(heightOf(root, isPresented));
  root.style.setProperty("--height", `${height}px`);
  return height;
}

// What a class shows below the picture (assets/canvas/classroom/live.js).
const stripHeight = () => document.querySelector(".below-picture")?.offsetHeight ?? 0;

function heightOf(root, isPresented) {
  if (isPresented) return (innerHeight - stripHeight()) / root.style.zoom - MARGIN;
  if (root.matches(".in-notebook *")) return LEAST_HEIGHT;
  const scrolled = root.getRootNode().host?.closest("main, .scroller")?.scrollTop ?? scrollY;
  return Math.max(LEAST_HEIGHT, Math.min(MOST_HEIGHT, innerHeight - root.getBoundingClientRect().top - scrolled - MARGIN));
}
