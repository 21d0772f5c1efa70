"""Who goes through a page by keyboard sees where: every control's ring stands out."""

import pytest
from playwright.sync_api import Page

MIN_CONTRAST = 3
"""WCAG 2.2, 1.4.11, for what is not text."""
MAX_STEPS = 90
RING = """() => {
  let focused = document.activeElement
  while (focused.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement
  if (focused === document.body) return null
  const above = (node) => node.parentElement ?? node.getRootNode().host
  const nodes = []
  for (let node = focused; node; node = above(node)) nodes.push(node)
  const outlineOf = (node) => [null, "::after"].map((part) => getComputedStyle(node, part)).find(
    ({ outlineStyle, outlineWidth }) => outlineStyle === "solid" && parseFloat(outlineWidth) >= 2)?.outlineColor
  const strokeOf = ({ stroke, strokeWidth }) => stroke !== "none" && parseFloat(strokeWidth) >= 2 ? stroke : undefined
  const ringOf = (node) => node instanceof SVGGElement ? strokeOf(getComputedStyle(node.querySelector("rect"))) : outlineOf(node)
  const ringed = nodes.slice(0, 4).findIndex(ringOf)
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true })
  const over = (colours) => {
    canvas.clearRect(0, 0, 1, 1)
    for (const colour of colours) {
      canvas.fillStyle = colour
      canvas.fillRect(0, 0, 1, 1)
    }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3)
  }
  const grounds = nodes.slice(ringed + 1).map((node) => getComputedStyle(node).backgroundColor).reverse()
  return {
    name: `${focused.tagName} ${focused.getAttribute("aria-label") ?? focused.textContent.slice(0, 40)}`,
    ring: ringed < 0 ? null : over([...grounds, ringOf(nodes[ringed])]),
    ground: over(grounds),
  }
}"""
"""What has the focus, the colour of its ring, and that of the ground on which the ring is drawn."""


def luminance(colour: list[float]) -> float:
    """Relative luminance, as WCAG defines it."""
    shares = [value / 255 for value in colour]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: list[float], other: list[float]) -> float:
    """Contrast ratio, from 1 to 21, as WCAG defines it."""
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def rings(page: Page) -> dict[str, float]:
    """Go through the page by Tab; give the contrast of each control's ring, 0 for none."""
    found: dict[str, float] = {}
    for _ in range(MAX_STEPS):
        page.keyboard.press("Tab")
        step = page.evaluate(RING)
        if step is None:
            break
        found[step["name"]] = contrast(step["ring"], step["ground"]) if step["ring"] else 0.0
    return found


@pytest.mark.parametrize(("path", "dark"), [("/", False), ("/", True), ("/attention", True), ("/masks", False)])
def test_the_focus_is_seen_on_every_control(page_at, path: str, dark: bool):
    """On arcs in both themes; on what other pages have, of whose rings all are of one colour, in one."""
    page = page_at(path, dark=dark)
    if path != "/":  # the terms of a page are underlined late
        page.locator("button.term").first.wait_for()
    found = rings(page)
    assert len(found) > 20
    assert {name: ratio for name, ratio in found.items() if ratio < MIN_CONTRAST} == {}


def test_a_page_that_has_the_focus_itself_has_one_ring_and_none_across_its_title(page_at):
    main = page_at("/words").get_by_test_id("stMain")
    main.press("ArrowDown")
    assert main.evaluate("main => main.matches(':focus-visible')")
    assert main.evaluate("main => getComputedStyle(main, '::before').display") == "none"
