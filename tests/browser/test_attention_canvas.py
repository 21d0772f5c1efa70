"""The canvas component in a real browser, alone on a page: pointer, keyboard, phone, hostile tokens."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from pages.ui.canvas.texts import MAP
from tests.support.serving import serving

APP = Path(__file__).parent / "apps" / "attention"
PLAIN = ("--server.fileWatcherType", "none", "--client.toolbarMode", "minimal", "--browser.gatherUsageStats", "false")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(APP, tmp_path_factory.mktemp("canvas") / "log.txt", *PLAIN) as url:
        yield url


def cell(page: Page, query: int, key: int) -> dict[str, float]:
    canvas = page.get_by_test_id("attention-heatmap")
    expect(canvas).to_have_attribute("data-shape", re.compile("cell"))
    shape = json.loads(canvas.get_attribute("data-shape"))
    return {"x": shape["left"] + (key + 0.5) * shape["cell"], "y": shape["top"] + (query + 0.5) * shape["cell"]}


def head(page: Page, layer: int, number: int) -> Locator:
    return page.get_by_role("gridcell", name=f"Layer {layer}, head {number}", exact=True)


def focused(page: Page, place: str) -> None:
    expect(page.get_by_test_id("attention-map")).to_have_attribute("data-focus", place)


def linked(page: Page, words: str) -> None:
    page.wait_for_url(re.compile(f"{re.escape(words)}(&|$)"))


def test_a_click_chooses_a_head_and_shift_adds_another(page_at):
    page = page_at("/")
    head(page, 2, 3).click()
    linked(page, "heads=2-3")
    head(page, 1, 2).click(modifiers=["Shift"])
    linked(page, "heads=2-3_1-2")
    expect(page.get_by_role("gridcell", selected=True)).to_have_count(2)


def test_arrow_keys_walk_over_the_wall_and_choose(page_at):
    page = page_at("/?heads=1-1")
    head(page, 1, 1).focus()
    page.keyboard.press("ArrowRight")
    linked(page, "heads=1-2")
    page.keyboard.press("ArrowDown")
    linked(page, "heads=2-2")
    page.keyboard.press("End")
    linked(page, "heads=2-3")
    expect(head(page, 2, 3)).to_be_focused()
    page.keyboard.press("Control+Home")
    expect(head(page, 1, 1)).to_be_focused()


def test_a_repaint_leaves_the_keyboard_where_it_is(page_at):
    page = page_at("/?heads=1-1")
    head(page, 1, 1).focus()
    page.keyboard.press("Control+End")
    paints = page.locator(".wall").get_attribute("data-paints")
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".wall")).not_to_have_attribute("data-paints", paints)
    expect(head(page, 2, 3)).to_be_focused()
    expect(head(page, 1, 1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Control+Home")
    page.keyboard.press("Control+End")
    expect(page.locator(".wall-name")).to_have_text("Layer 2, head 3")  # where the keyboard stands, not what is chosen


def test_space_adds_and_removes_but_never_the_last_head(page_at):
    page = page_at("/?heads=1-1")
    head(page, 1, 1).focus()
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Space")
    linked(page, "heads=1-1_1-2")
    page.keyboard.press("Space")
    linked(page, "heads=1-1")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Space")
    expect(page.get_by_role("gridcell", selected=True)).to_have_count(1)


def test_the_tab_key_stops_once_in_the_wall_at_the_chosen_head(page_at):
    page = page_at("/?heads=2-2")
    expect(page.locator("[role=gridcell][tabindex='0']")).to_have_count(1)
    expect(head(page, 2, 2)).to_have_attribute("tabindex", "0")


def test_a_cell_tells_both_tokens_and_its_weight(page_at):
    page = page_at("/")
    page.get_by_test_id("attention-heatmap").hover(position=cell(page, 2, 1))
    expect(page.get_by_test_id("attention-tooltip")).to_have_text(re.compile(r"^flies → time[01]\.\d{3}$"))


def test_a_clicked_row_is_the_focused_token_until_escape(page_at):
    page = page_at("/")
    page.get_by_test_id("attention-heatmap").click(position=cell(page, 2, 1))
    linked(page, "token=3")
    focused(page, "2")
    readout = page.get_by_test_id("attention-readout")
    expect(readout).to_contain_text(MAP["looksMostAt"].format(token="flies"))
    values = [float(text) for text in page.get_by_test_id("attention-strongest").locator(".bar-value").all_inner_texts()]
    assert values == sorted(values, reverse=True)
    assert len(values) == 7
    assert sum(values) == pytest.approx(1, abs=0.004)
    page.keyboard.press("ArrowDown")
    linked(page, "token=4")
    page.keyboard.press("Escape")
    focused(page, "")
    expect(readout).to_contain_text("Choose a token")


def test_a_token_clicked_among_the_lines_is_focused(page_at):
    page = page_at("/")
    lines = page.get_by_test_id("attention-lines")
    expect(lines).to_have_attribute("data-shape", re.compile("row"))
    shape = json.loads(lines.get_attribute("data-shape"))
    lines.click(position={"x": shape["from"] - 12, "y": shape["top"] + 5.5 * shape["row"]})
    focused(page, "5")
    expect(page.get_by_test_id("attention-readout")).to_contain_text(MAP["looksMostAt"].format(token="arrow"))


def test_another_head_is_drawn_on_the_same_canvas(page_at):
    page = page_at("/?heads=1-1")
    canvas = page.get_by_test_id("attention-heatmap")
    expect(canvas).to_have_attribute("data-shape", re.compile("cell"))
    kept = canvas.element_handle()
    before = kept.evaluate("canvas => canvas.toDataURL()")
    head(page, 2, 2).click()
    linked(page, "heads=2-2")
    page.wait_for_function("([canvas, before]) => canvas.isConnected && canvas.toDataURL() !== before", arg=[kept, before])


def test_a_long_map_zooms_inside_its_box_and_never_widens_the_page(page_at):
    page = page_at("/?times=20", width=390)
    zoom = page.get_by_role("button", name="Zoom in")
    for _ in range(4):
        zoom.click()
    box = page.get_by_role("group", name=re.compile("^Heatmap"))
    assert box.evaluate("box => box.scrollWidth > box.clientWidth + 100")
    main = page.get_by_test_id("stMain")
    assert main.evaluate("main => main.scrollWidth - main.clientWidth") == 0
    box.focus()
    page.keyboard.press("End")
    focused(page, "139")
    expect(page.get_by_test_id("attention-readout")).to_contain_text(MAP["looksMostAt"].format(token="[SEP]"))


def test_hostile_tokens_are_drawn_as_text(page_at):
    page = page_at("/?hostile=1&token=1")
    expect(page.get_by_test_id("attention-readout")).to_contain_text(
        MAP["looksMostAt"].format(token="<img src=x onerror=alert(1)>")
    )
    listed = page.get_by_test_id("attention-strongest").locator(".bar-token").all_inner_texts()
    assert {r"\u0000\u202e", "(empty)", "</script><script>alert(2)</script>"} <= set(listed)
    page.get_by_test_id("attention-heatmap").hover(position=cell(page, 1, 0))
    expect(page.get_by_test_id("attention-tooltip")).to_contain_text("</script><script>alert(2)</script> → <img")
    assert page.locator("img[src=x]").count() == 0


def test_a_link_with_nonsense_shows_the_first_head(page_at):
    page = page_at("/?heads=99-99_x&token=-7")
    expect(head(page, 1, 1)).to_have_attribute("aria-selected", "true")
    focused(page, "")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_component_has_no_accessibility_violation(page_at, axe, width, dark):
    page = page_at("/?times=12&heads=1-2_2-1&token=4", width=width, dark=dark)
    focused(page, "3")
    page.get_by_role("button", name="Zoom in").click()
    axe(page)


def test_the_pictures_are_named_by_the_sentence_that_python_gave(page_at):
    page = page_at("/")
    for kind in ("Heatmap", "Lines"):
        name = f"{kind}. 'flies' gives most of its attention to 'time'."
        expect(page.get_by_role("img", name=name, exact=True)).to_be_visible()
