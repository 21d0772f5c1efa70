"""bertviz in a real browser: its three views draw in a sealed frame, ask no server, and no text gets out of them."""

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from pages.ui.export.texts import SAVE_WEB_PAGE, TITLE_WITHOUT_FIGURE, WEB_PAGE

TEXT = "Time flies like an arrow."
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> ; // HACK: \u202eabc"


@pytest.fixture
def frame_of(settle) -> Iterator:
    """The drawing within the page's frame, once it is there."""

    def find(page: Page) -> FrameLocator:
        settle(page)
        frame = page.frame_locator("iframe[data-testid='framed']")
        expect(frame.locator("svg line").first).to_be_attached(timeout=60_000)
        return frame

    return find


RIGHT_EDGE = """() => Math.max(...Array.from(document.querySelectorAll("svg *"), (part) => part.getBoundingClientRect())
    .filter((part) => part.width > 0 && part.height > 0).map((part) => part.right)) / window.innerWidth"""


@pytest.mark.parametrize(("view", "least"), [("head", 0.45), ("model", 0.9), ("neuron", 0.9)])
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_each_view_draws_its_lines_in_light_and_dark_and_fills_its_box_where_that_is_wide(
    page_at, frame_of, axe, view: str, least: float, width: int, dark: bool
):
    page = page_at(f"/bertviz?text={quote(TEXT)}&picture={view}", width=width, dark=dark)
    frame = frame_of(page)
    if width == 1280:
        assert least <= frame.locator("body").evaluate(RIGHT_EDGE) <= 1.01
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
    page = page_at(f"/bertviz?text={quote('tea ' * 30)}", expect=("violates",))
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
    page = page_at(f"/bertviz?text={quote(HOSTILE)}&pair={quote(HOSTILE)}&picture={view}")
    frame = frame_of(page)
    assert frame.locator("img").count() == 0
    assert frame.locator("script:not([nonce])").count() == 0


def test_views_and_texts_are_changed_and_come_back_by_their_link(view_at, frame_of, settle):
    page = view_at(f"/bertviz?text={quote(TEXT)}")
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
    expect(page.get_by_label("Sentence", exact=True)).to_have_value("A bird sings.")


PAIR = "Fruit flies like a banana."
SQUARES = "() => Array.from(document.querySelectorAll('#vis svg > g:last-child > rect'), (square) => square.__data__)"
MARK = "() => { window.staysUntilLoadedAgain = true; }"
IS_MARKED = "() => window.staysUntilLoadedAgain === true"


def asked(page: Page) -> dict[str, str]:
    """What the address holds, without the texts."""
    return {name: value for name, (value,) in parse_qs(urlsplit(page.url).query).items() if name not in ("text", "pair")}


def expect_address(page: Page, **parts: str) -> None:
    """Wait until the address holds just this beside the texts."""
    page.wait_for_url(
        lambda url: (
            {name: value for name, (value,) in parse_qs(urlsplit(url).query).items() if name not in ("text", "pair")} == parts
        ),
        timeout=60_000,
    )


def inside(frame: FrameLocator, script: str) -> object:
    return frame.locator("body").evaluate(script)


def test_layer_heads_and_filter_of_the_head_view_stand_in_the_link_and_never_load_the_frame_anew(
    view_at, page_at, frame_of, settle
):
    page = view_at(f"/bertviz?text={quote(TEXT)}&pair={quote(PAIR)}")
    frame = frame_of(page)
    inside(frame, MARK)
    frame.locator("#layer").select_option("2")
    expect_address(page, layer="3")
    squares = frame.locator("#vis svg > g:last-child > rect")
    squares.nth(1).dblclick()
    expect_address(page, layer="3", heads="2")
    squares.nth(3).click()
    expect_address(page, layer="3", heads="2_4")
    frame.locator("#filter").focus()
    frame.locator("#filter").select_option(label="Sentence A -> Sentence B")
    expect_address(page, layer="3", heads="2_4", filter="4")
    settle(page)
    assert inside(frame, IS_MARKED)
    on = inside(frame, SQUARES)
    assert [place for place, is_on in enumerate(on) if is_on] == [1, 3]
    expect(frame.locator("#filter")).to_be_focused()

    other = frame_of(page_at(page.url.removeprefix(page.evaluate("location.origin"))))
    expect(other.locator("#layer")).to_have_value("2")
    expect(other.locator("#filter")).to_have_value("3")
    assert inside(other, SQUARES) == on
    assert other.locator("#left text").all_text_contents() == frame.locator("#left text").all_text_contents()
    assert other.locator("#attention line").count() == frame.locator("#attention line").count()


def test_back_and_forward_bring_the_choices_within_the_frame_back(view_at, frame_of, settle):
    page = view_at(f"/bertviz?text={quote(TEXT)}")
    frame = frame_of(page)
    frame.locator("#layer").select_option("1")
    expect_address(page, layer="2")
    frame.locator("#layer").select_option("3")
    expect_address(page, layer="4")
    page.go_back()
    expect_address(page, layer="2")
    expect(frame.locator("#layer")).to_have_value("1")
    frame_of(page)
    frame.locator("#layer").select_option("3")
    expect_address(page, layer="4")
    page.go_back()
    expect_address(page, layer="2")
    page.go_back()
    expect_address(page)
    expect(frame.locator("#layer")).to_have_value("0")
    page.go_forward()
    expect_address(page, layer="2")
    expect(frame.locator("#layer")).to_have_value("1")


def test_the_head_that_was_enlarged_in_the_model_view_is_enlarged_again(view_at, page_at, frame_of, settle):
    page = view_at(f"/bertviz?text={quote(TEXT)}&picture=model")
    frame = frame_of(page)
    inside(frame, MARK)
    frame.locator("#attn_background_2_1 ~ rect").click()
    expect_address(page, picture="model", layer="3", head="2", enlarged="1")
    assert inside(frame, IS_MARKED)
    other = frame_of(page_at(page.url.removeprefix(page.evaluate("location.origin"))))
    expect(other.locator("text.detail")).to_have_text("Layer 2, Head 1")
    frame.locator("#attn_background_2_1 ~ rect").click()
    expect_address(page, picture="model", layer="3", head="2")
    expect(frame.locator(".detail")).to_have_count(0)
    assert inside(frame, IS_MARKED)


def test_layer_head_and_the_expanded_token_of_the_neuron_view_stand_in_the_link(view_at, page_at, frame_of, settle):
    page = view_at(f"/bertviz?text={quote(TEXT)}&picture=neuron")
    frame = frame_of(page)
    inside(frame, MARK)
    frame.locator("#layer").select_option("1")
    frame.locator("#att_head").select_option("2")
    expect_address(page, picture="neuron", layer="2", head="3")
    frame.locator("#collapsed #leftText > g").nth(3).hover()
    frame.locator("#collapsed #leftText > g").nth(3).locator("rect").last.click()
    expect_address(page, picture="neuron", layer="2", head="3", token="4")
    assert inside(frame, IS_MARKED)
    other = frame_of(page_at(page.url.removeprefix(page.evaluate("location.origin"))))
    expect(other.locator("#expanded")).to_have_attribute("visibility", "visible")
    expect(other.locator("#layer")).to_have_value("1")
    expect(other.locator("#att_head")).to_have_value("2")
    shown = "() => Array.from(document.querySelectorAll('#expanded .dotproduct'), (one) => one.dataset.value)"
    assert inside(other, shown) == inside(frame, shown)
    page.get_by_label("Sentence", exact=True).fill("A bird sings.")
    expect_address(page, picture="neuron", layer="2", head="3")


def test_a_choice_outlives_another_theme_and_is_in_the_file_that_is_exported(page_at, frame_of, settle, darken, tmp_path):
    page = page_at(f"/bertviz?text={quote(TEXT)}&picture=neuron")
    frame = frame_of(page)
    frame.locator("#att_head").select_option("2")
    expect_address(page, picture="neuron", head="3")
    darken(page)
    expect(frame.locator("body")).to_have_class("dark neuron", timeout=60_000)  # at once: nothing was clicked
    expect(frame.locator("#att_head")).to_have_value("2")
    frame.locator("#layer").select_option("1")
    frame_of(page)
    expect(frame.locator("#layer")).to_have_value("1")
    expect(frame.locator("#att_head")).to_have_value("2")
    page.get_by_text(TITLE_WITHOUT_FIGURE).click()
    page.get_by_test_id("stExpander").get_by_text(WEB_PAGE, exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name=SAVE_WEB_PAGE).click()
    file = tmp_path / "alone.html"
    download.value.save_as(file)
    alone = page.context.new_page()
    alone.goto(file.as_uri())
    expect(alone.locator("#layer")).to_have_value("1")
    expect(alone.locator("#att_head")).to_have_value("2")
    alone.close()


def test_a_long_text_keeps_its_one_layer_and_what_is_chosen_in_it(view_at, frame_of, settle):
    page = view_at(f"/bertviz?text={quote('tea ' * 120)}&picture=neuron&layer=3&head=2&token=2")
    frame = frame_of(page)
    expect(frame.locator("#layer option")).to_have_text(["2"])
    expect(frame.locator("#att_head")).to_have_value("1")
    expect(frame.locator("#expanded")).to_have_attribute("visibility", "visible")
    inside(frame, MARK)
    frame.locator("#att_head").select_option("3")
    expect_address(page, picture="neuron", layer="3", head="4", token="2")
    assert inside(frame, IS_MARKED)


def test_a_choice_is_taken_from_the_frame_alone_and_nothing_that_it_tells_is_more_than_a_choice(view_at, frame_of, settle):
    page = view_at(f"/bertviz?text={quote(TEXT)}&layer=2")
    frame = frame_of(page)
    inside(frame, MARK)
    page.evaluate("window.postMessage({ choice: 'layer=2' }, '*')")
    for told in ("'layer=99'", "'<img src=x onerror=alert(1)>'", "'layer=2'.repeat(10000)", "['layer=2']", "{ layer: 2 }"):
        inside(frame, f"() => window.parent.postMessage({{ choice: {told} }}, '*')")
    inside(frame, "() => window.parent.postMessage(null, '*')")
    page.wait_for_timeout(1000)
    settle(page)
    assert asked(page) == {"layer": "2"}
    inside(frame, "() => window.parent.postMessage({ choice: 'layer=3' }, '*')")
    expect_address(page, layer="4")
    assert inside(frame, IS_MARKED)
    assert page.locator("img[src='x']").count() == 0
