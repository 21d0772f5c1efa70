// How high a stage may be: as high as the screen leaves it; on a narrow screen as high as it needs.

const [WIDE, LEAST_HEIGHT, MOST_HEIGHT, MARGIN, PRESENTED] = [760, 560, 820, 16, 510]; // pixels

export function placeStage(root) {
  const width = root.clientWidth;
  const presented = getComputedStyle(root).getPropertyValue("--aside").trim() === "none";
  root.classList.toggle("wide", width >= WIDE);
  root.classList.toggle("presented", presented);
  const zoom = root.currentCSSZoom || 1;
  const main = document.querySelector('[data-testid="stMain"]');
  const top = root.getBoundingClientRect().top / zoom + (main?.scrollTop ?? scrollY) / zoom;
  const height = root.matches(":fullscreen") ? innerHeight - 2 * MARGIN : presented ? PRESENTED : Math.max(LEAST_HEIGHT, Math.min(MOST_HEIGHT, innerHeight / zoom - top - MARGIN));
  root.style.setProperty("--height", `${Math.floor(height)}px`);
  return Math.floor(height);
}
