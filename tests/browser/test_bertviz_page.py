"""bertviz in a real browser: its three views draw in a sealed frame, ask no server, and no text gets out of them."""

import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import FrameLocator, Page, expect

TEXT = "Time flies like an arrow."
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> ; // HACK: \u202eabc"


@pytest.fixture
def frame_of(settle) -> Iterator:
    """The drawing within the page's frame, once it is there."""

    def find(page: Page) -> FrameLocator:
        settle(page)
        frame = page.frame_locator("iframe[data-testid='framed']")
        expect(frame.locator("svg line").first).to_be_attached(timeout=30_000)
        return frame

    return find


@pytest.mark.parametrize("view", ["head", "model", "neuron"])
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_each_view_draws_its_lines_in_light_and_dark_wide_and_narrow(page_at, frame_of, axe, view: str, width: int, dark: bool):
    page = page_at(f"/bertviz_page?text={quote(TEXT)}&picture={view}", width=width, dark=dark)
    frame = frame_of(page)
    ground, ink = ("rgb(16, 21, 27)", "rgb(232, 237, 242)") if dark else ("rgb(255, 255, 255)", "rgb(15, 23, 32)")
    expect(frame.locator("body")).to_have_css("background-color", ground)
    expect(frame.locator("body")).to_have_css("color", ink)
    if view != "model":
        expect(frame.locator("text").filter(has_text=re.compile("^arrow$"), visible=True).first).to_be_visible()
    if view == "head":
        lines = frame.locator("#attention line")
        tokens = frame.locator("#left text").count()
        assert lines.count() % tokens**2 == 0
        if dark:
            expect(frame.locator("#left text").first).to_have_css("fill", ink)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.mouse.move(0, 0)
    axe(page)


def test_the_frame_is_sealed_and_as_tall_as_its_drawing(page_at, frame_of):
    page = page_at(f"/bertviz_page?text={quote('tea ' * 30)}", expect=("violates",))
    frame = frame_of(page)
    element = page.get_by_test_id("framed")
    expect(element).to_have_attribute("sandbox", "allow-scripts")
    expect(element).to_have_attribute("title", re.compile("bertviz: head view of 32 tokens"))
    expect(element).to_have_css("height", re.compile(r"^(7[5-9]|8|9)\d+(\.\d+)?px$"))
    assert (
        frame.locator("body").evaluate(
            "() => { try { return window.parent.document.title } catch (sealed) { return sealed.name } }"
        )
        == "SecurityError"
    )
    assert frame.locator("body").evaluate("() => fetch('/_stcore/health').then(() => 'answered', () => 'refused')") == "refused"


@pytest.mark.parametrize("view", ["head", "model", "neuron"])
def test_hostile_text_is_only_text(page_at, frame_of, view: str):
    page = page_at(f"/bertviz_page?text={quote(HOSTILE)}&pair={quote(HOSTILE)}&picture={view}")
    frame = frame_of(page)
    assert frame.locator("img").count() == 0
    assert frame.locator("script:not([nonce])").count() == 0


def test_views_and_texts_are_changed_and_come_back_by_their_link(page_at, frame_of, settle):
    page = page_at(f"/bertviz_page?text={quote(TEXT)}")
    frame_of(page)
    page.get_by_text("Model view", exact=True).click()
    page.wait_for_url(re.compile("picture=model"))
    frame = frame_of(page)
    expect(frame.locator("text", has_text="Heads").first).to_be_visible()
    page.get_by_label("Sentence", exact=True).fill("A bird sings.")
    page.wait_for_url(re.compile("text=A"))
    settle(page)
    page.reload()
    frame_of(page)
    assert page.get_by_label("Sentence", exact=True).input_value() == "A bird sings."
