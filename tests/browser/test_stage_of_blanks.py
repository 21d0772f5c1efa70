"""The stage of Fill the blank: it looks without a server and sends nothing for it, moves its bars, and is in sight on arrival."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from pages.fill_mask import texts
from pages.ui.stage import browser_texts
from tests.support.seen import dismiss_lost_connection
from tests.support.serving import ROOT

SCHOOL = f"/fill_mask?text={quote_plus('Yesterday I [MASK] to school.')}"


def arrived(page: Page, path: str) -> Page:
    page.goto(path)
    expect(page.get_by_test_id("stage-headline")).not_to_be_empty()
    return page


def said_of_head(page: Page) -> Locator:
    """What the stage says of the head; what it says of routes is there too, and hidden."""
    return page.get_by_test_id("stage-said").filter(visible=True)


def first_bar(page: Page) -> str:
    """The most likely word and its number."""
    return " ".join(page.get_by_role("list", name=texts.TOP_WORDS).get_by_role("listitem").first.inner_text().split())


def test_looking_works_with_the_server_gone(profile: BrowserContext, start_server: Callable):
    page = profile.new_page()
    page.set_viewport_size({"width": 1280, "height": 800})
    with start_server(ROOT) as url:
        arrived(page, f"{url}{SCHOOL}&changes=off~5-7&heads=5-7")
        page.wait_for_function("() => document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'")
    dismiss_lost_connection(page)
    said = said_of_head(page)
    assert first_bar(page) == "go 56.2 %"
    page.get_by_role("button", name=browser_texts.CHANGED["states"]["before"], exact=True).click()
    assert first_bar(page) == "go 0.77 %"
    page.get_by_role("button", name=browser_texts.CHANGED["states"]["difference"], exact=True).click()
    assert first_bar(page) == "go +55.4"
    page.get_by_role("gridcell", name=re.compile("^Layer 6, head 2")).click()
    expect(said).to_contain_text("Layer 6, head 2.")
    page.get_by_role("group", name=re.compile("^Heatmap")).press("ArrowUp")
    expect(said).to_contain_text("“i”")
    page.get_by_role("button", name=browser_texts.CONTROLS["hide"], exact=True).click()
    page.wait_for_url(re.compile("heads=6-2.*hide=1.*focus=3.*compared=difference"))
    page.close()


@pytest.mark.ci
def test_blanks_are_filled_step_by_step_in_place_and_nothing_is_sent(page_at: Callable[..., Page]):
    page = page_at(f"/fill_mask?text={quote_plus('I [MASK] a [MASK] of [MASK].')}")
    expect(page.get_by_test_id("stage-headline")).not_to_be_empty()
    page.wait_for_function("() => document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'")
    sent, explained = [], re.compile("/terms.js$|/glossary.json$")  # the words that are explained come last on any page
    page.on("request", lambda request: explained.search(request.url) or sent.append(request.url))
    steps, words = page.get_by_test_id("fill-steps"), page.get_by_role("group", name=browser_texts.ROUTES["words"])
    press = lambda name: steps.get_by_role("button", name=name, exact=True).click()  # noqa: E731
    press(texts.STEPS["next"])
    expect(words.get_by_role("button", name="lot 1 · 69.1 %")).to_be_visible()
    steps.get_by_role("group", name=texts.STEPS["waiting"]).get_by_role("button", name=re.compile("^3: ")).click()
    expect(steps.get_by_role("button", name=texts.STEPS["orders"]["hand"])).to_have_attribute("aria-pressed", "true")
    page.wait_for_url(re.compile("fill=hand-2-3"))
    press(texts.STEPS["all"])
    expect(page.get_by_test_id("steps-said")).to_contain_text("I have a lot of money.")
    expect(page.get_by_test_id("steps-said")).to_contain_text("all 6 orders")
    press(texts.STEPS["undo"])
    expect(words.get_by_role("button", name="[MASK]")).to_have_count(1)
    press(texts.STEPS["orders"]["left"])
    expect(words.get_by_role("button", name="[MASK]")).to_have_count(3)
    assert not sent


def test_looking_sends_nothing(page_at: Callable[..., Page]):
    sent = []
    page = page_at(
        f"{SCHOOL}&changes=off~5-7",
        prepare=lambda page: page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame))),
    )
    expect(page.get_by_test_id("stage-headline")).not_to_be_empty()
    page.wait_for_timeout(1500)  # the browser has told of its state by then
    requests, before = [], len(sent)
    page.on("request", lambda request: requests.append(request.url))
    for state in ("before", "difference", "after"):
        page.get_by_role("button", name=browser_texts.CHANGED["states"][state], exact=True).click()
    page.get_by_role("gridcell", name=re.compile("^Layer 3, head 3")).click()
    page.wait_for_url(re.compile("heads=3-3"))
    page.wait_for_timeout(500)
    assert (requests, len(sent) - before) == ([], 0)


def test_of_a_list_alone_one_click_shows_where_the_blank_looks(page_at: Callable[..., Page]):
    page = page_at(f"{SCHOOL}&only_list=1&heads=2-3")
    expect(page.get_by_test_id("stage-headline")).to_contain_text("“went”")
    expect(page.get_by_test_id("attention-heatmap")).to_be_hidden()
    page.get_by_role("button", name=texts.PICTURE["where"], exact=True).click()
    expect(said_of_head(page)).to_contain_text("Layer 2, head 3. “[MASK]”")
    expect(page.get_by_test_id("attention-heatmap")).to_be_visible()
    page.wait_for_url(re.compile(r"^(?!.*only_list).*heads=2-3.*focus=4"))


def test_heads_are_scanned_once_and_looked_at_without_the_server(page_at: Callable[..., Page]):
    sent = []
    page = page_at(
        f"{SCHOOL}&named=went,go&heads=5-7",
        prepare=lambda page: page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame))),
    )
    scan = page.get_by_role("button", name=texts.SCAN_PICTURE["heads"], exact=True)
    scan.click()
    head = page.get_by_role("gridcell", name=re.compile("^Layer 5, head 7: went: 83.5\\s% → 29.2\\s%; top prediction: go"))
    expect(head).to_be_visible()
    page.wait_for_timeout(500)
    requests, before = [], len(sent)
    page.on("request", lambda request: requests.append(request.url))
    page.get_by_role("combobox", name=texts.SCAN_PICTURE["minus"]).select_option("go")
    expect(page.get_by_role("gridcell", name=re.compile("^Layer 5, head 7: went − go: .*ratio 108 : 1 → "))).to_be_visible()
    page.get_by_role("gridcell", name=re.compile("^Layer 2, head 6: went − go: ")).click()
    page.wait_for_url(re.compile("heads=2-6"))
    scan.click()
    expect(page.get_by_role("gridcell", name="Layer 5, head 7", exact=True)).to_be_visible()
    page.wait_for_timeout(500)
    assert (requests, len(sent) - before) == ([], 0)
    page.get_by_role("button", name=re.compile("^Switch off")).first.click()
    expect(page.get_by_test_id("stage-headline")).to_contain_text("Without layer 2, head 6")
    scan.click()
    expect(page.get_by_role("button", name=texts.SCAN_PICTURE["again"])).to_be_visible()  # it is still that of before


def test_a_word_that_is_half_typed_is_there_after_a_reload(page_at: Callable[..., Page]):
    page = page_at(SCHOOL)
    asked = page.get_by_label(texts.PICTURE["followLabel"])
    asked.press_sequentially("came, go")
    page.reload()
    expect(asked).to_have_value("came, go")
    asked.press("Enter")
    expect(page.get_by_role("list", name=texts.PICTURE["followed"]).get_by_role("listitem")).to_have_count(2)
    page.reload()
    expect(asked).to_have_value("came, go")


def test_a_web_page_of_the_view_works_from_a_file(page_at: Callable[..., Page], tmp_path: Path):
    page = page_at(f"{SCHOOL}&changes=off~5-7")
    expect(page.get_by_test_id("stage-headline")).not_to_be_empty()
    page.get_by_role("button", name=browser_texts.EXPORT["menu"], exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name=browser_texts.EXPORT["webPage"], exact=True).click()
    file = tmp_path / "view.html"
    download.value.save_as(file)
    alone, wrong = page.context.new_page(), []
    alone.on("pageerror", lambda error: wrong.append(str(error)))
    alone.goto(file.as_uri())
    assert first_bar(alone) == "go 56.2 %"
    alone.get_by_role("button", name=browser_texts.CHANGED["states"]["before"], exact=True).click()
    assert first_bar(alone) == "go 0.77 %"
    alone.get_by_role("gridcell", name=re.compile("^Layer 6, head 2")).click()
    expect(said_of_head(alone)).to_contain_text("Layer 6, head 2.")
    assert wrong == []
    alone.close()


MOVED = """() => document.querySelector('.st-key-fill_mask_stage [data-mounted]').shadowRoot
  .querySelectorAll('.predictions .bar-fill')[0].getAnimations().length"""


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_bars_move_to_their_new_length_unless_nothing_may_move(page_at: Callable[..., Page], motion: str):
    page = page_at(f"{SCHOOL}&changes=off~5-7")
    page.emulate_media(reduced_motion=motion)
    expect(page.get_by_test_id("stage-headline")).not_to_be_empty()
    page.wait_for_timeout(500)
    button = page.get_by_role("button", name=browser_texts.CHANGED["states"]["before"], exact=True)
    button.evaluate("button => button.click()")
    moving = page.evaluate(
        f"() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(({MOVED})()))))"
    )
    assert moving == (motion == "no-preference")


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_the_picture_comes_first(page_at: Callable[..., Page], width: int, height: int):
    page = page_at("/fill_mask", width=width)
    page.set_viewport_size({"width": width, "height": height})
    expect(page.get_by_test_id("stage-headline")).not_to_be_empty()
    page.wait_for_timeout(300)
    box = page.get_by_test_id("stage").bounding_box()
    if width == 390:
        assert box["y"] <= 520
        assert box["height"] >= 300
    else:
        assert box["height"] >= 560
        assert height - box["y"] >= 0.6 * box["height"]
        assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight") / height <= 2.5
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
