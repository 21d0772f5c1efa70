"""The views of bertviz in their sealed frame."""

import re
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from pages.bertviz_page import texts
from pages.ui.stage.browser_texts import EXPORT
from tests.browser.conftest import SILENT
from tests.support.seen import address, answered, button, linked, main, saved, until

TIME = "Time flies like an arrow."
HOSTILE = "</script><img src=x onerror=alert(1)> ; // HACK: \u202e"  # short: all pairs of its tokens are drawn


def frame_of(page: Page) -> FrameLocator:
    """The drawing of bertviz, once it is there."""
    answered(page)
    frame = main(page).locator("iframe").content_frame
    expect(frame.locator("svg line").first).to_be_attached()
    return frame


def test_the_head_view_of_bertviz_keeps_its_choices_in_the_link_and_in_a_file(arrive, for_everybody, tmp_path: Path):
    page = arrive(f"/bertviz?text={quote(TIME)}&pair={quote('Fruit flies like a banana.')}")
    frame = frame_of(page)
    expect(frame.locator("text").filter(has_text=re.compile("^arrow$"), visible=True).first).to_be_visible()
    frame.locator("#layer").select_option("2")  # bertviz counts from 0
    linked(page, layer="3")
    frame.locator("#filter").select_option(label="Sentence A -> Sentence B")
    linked(page, layer="3", filter="4")
    answered(page)
    expect(frame.locator("#layer")).to_have_value("2")
    shown = frame.locator("#left text").all_text_contents()
    page.reload()
    frame = frame_of(page)
    expect(frame.locator("#layer")).to_have_value("2")
    assert frame.locator("#left text").all_text_contents() == shown
    button(page, EXPORT["menu"]).click()
    (tmp_path / "alone.html").write_bytes(saved(page, EXPORT["webPage"]).read_bytes())
    page.keyboard.press("Escape")
    alone = page.context.new_page()
    alone.goto((tmp_path / "alone.html").as_uri())
    expect(alone.locator("#layer")).to_have_value("2")
    alone.close()
    for_everybody(page)
    expect(frame.locator("body")).to_have_css("color", "rgb(232, 237, 242)")


@pytest.mark.ci
def test_nothing_gets_out_of_the_frame_of_bertviz(arrive):
    page = arrive(f"/bertviz?text={quote(HOSTILE)}&layer=2", expect=("violates",))
    for view in ("Head view", "Model view", "Neuron view"):
        button(page, view).click()
        body = frame_of(page).locator("body")
        assert body.evaluate("() => document.images.length + document.querySelectorAll('script:not([nonce])').length") == 0
        sealed = "() => { try { return window.parent.document.title } catch (sealed) { return sealed.name } }"
        assert body.evaluate(sealed) == "SecurityError"
        assert body.evaluate("() => fetch('/_stcore/health').then(() => 'answered', () => 'refused')") == "refused"
    before = address(page)
    for told in ("'layer=99'", "'<img src=x onerror=alert(1)>'", "{ layer: 2 }"):
        body.evaluate(f"() => window.parent.postMessage({{ choice: {told} }}, '*')")
    page.wait_for_function(SILENT)
    answered(page)
    assert address(page) == before
    frame_of(page).locator("#att_head").select_option("2")
    linked(page, picture="neuron", head="3")
    page.reload()
    expect(frame_of(page).locator("#att_head")).to_have_value("2")
    assert page.locator("img[src='x']").count() == 0


@pytest.mark.ci
def test_a_drawing_of_as_many_tokens_as_the_model_reads_is_as_wide_as_its_frame(arrive):
    page = arrive(f"/bertviz?text={quote(' '.join(['tea'] * 126))}")  # an error of its script would fail the test
    frame = frame_of(page)
    expect(frame.locator("#right text")).to_have_count(128)
    expect(frame.get_by_text(texts.LAYER)).to_be_visible()
    body = frame.locator("body")
    drawn = "() => Math.max(...Array.from(document.querySelectorAll('#right text'), (one) => one.getBoundingClientRect().right))"
    until(page, lambda: body.evaluate(drawn) > 0.85 * body.evaluate("() => innerWidth"), "a drawing as wide as its frame")
