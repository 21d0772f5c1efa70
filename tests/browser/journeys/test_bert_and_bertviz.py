"""Our BERT beside others', and the views of bertviz in their sealed frame."""

import re
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from pages.bert import texts
from pages.ui.stage.browser_texts import EXPORT
from tests.browser.conftest import SILENT
from tests.support.seen import (
    PATIENCE,
    address,
    answered,
    button,
    drawn,
    head,
    linked,
    main,
    picture,
    says,
    sentence,
    write,
)

CUP = "A cup of [MASK]."
PATH = f"/bert?text={quote_plus(CUP)}"
TIME = "Time flies like an arrow."
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> ; // HACK: \u202eabc"
SMALL_NUMBER = re.compile(r"(\d\.\d) × 10[⁻−]([⁰¹²³⁴⁵⁶⁷⁸⁹]+)")


@pytest.mark.ci
def test_our_bert_gives_the_numbers_of_hugging_face_s(arrive, for_everybody):
    page = arrive(PATH)
    for name in (texts.MAX_HIDDEN, texts.MAX_WEIGHTS, texts.MAX_LOGITS):
        says(page, name)
    found = SMALL_NUMBER.findall(main(page).inner_text())
    assert len(found) >= 3
    powers = [int(power.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789"))) for _, power in found]
    assert min(powers) >= 5  # largest differences of hidden states, weights and logits: 9.9 × 10⁻⁵ at most
    button(page, texts.STATES["compare"]["before"]).click()
    linked(page, compared="before")
    head(page, 4, 3).click()
    linked(page, heads="4-3", compared="before")
    page.reload()
    drawn(picture(page, "Layer 4, head 3.*10⁻"))
    for_everybody(page)


def untrained_says(page: Page) -> None:
    """Assert that a head chosen on the wall is shown as trained and as untrained, with how much of it lies elsewhere."""
    head(page, 4, 5).click()
    linked(page, heads="4-5")
    button(page, texts.STATES["random"]["before"]).click()
    drawn(picture(page, "Layer 4, head 5.*Untrained, 0\\.\\d\\d of this head"))


def labels_say(page: Page) -> None:
    """Assert that the trained head gives two numbers for the sentence, and a random one as many as are asked for."""
    linked(page, part="labels")
    says(page, texts.TRAINED_HEAD, "(1, 7, 256)", "(1, 2)")
    main(page).get_by_role("combobox", name=texts.LABEL_KIND).select_option("first")
    linked(page, part="labels", kind="first")
    says(page, texts.UNTRAINED_HEAD, "(1, 7, 256)", "(1, 3)")


def family_says(page: Page) -> None:
    """Assert that the parameters of a published configuration are counted."""
    linked(page, part="family")
    says(page, "108,891,648")  # of BERT base without heads and pooler


@pytest.mark.ci
def test_an_untrained_model_heads_for_labels_and_successors_stand_beside_it(arrive, parts_for_everybody):
    page = arrive(f"{PATH}&part=labels")
    looks = {"labels": labels_say, "random": untrained_says, "family": family_says}
    parts_for_everybody(page, {texts.PARTS[part]: look for part, look in looks.items()})


def frame_of(page: Page) -> FrameLocator:
    """The drawing of bertviz, once it is there."""
    answered(page)
    frame = main(page).locator("iframe").content_frame
    expect(frame.locator("svg line").first).to_be_attached(timeout=PATIENCE)
    return frame


def test_the_head_view_of_bertviz_keeps_its_choices_in_the_link(arrive, page_at, for_everybody):
    page = arrive(f"/bertviz?text={quote(TIME)}&pair={quote('Fruit flies like a banana.')}")
    frame = frame_of(page)
    expect(frame.locator("text").filter(has_text=re.compile("^arrow$"), visible=True).first).to_be_visible()
    frame.locator("#layer").select_option("2")  # bertviz counts from 0
    linked(page, layer="3")
    frame.locator("#filter").select_option(label="Sentence A -> Sentence B")
    linked(page, layer="3", filter="4")
    answered(page)
    expect(frame.locator("#layer")).to_have_value("2")
    other = frame_of(page_at(page.url.removeprefix(page.evaluate("location.origin"))))
    expect(other.locator("#layer")).to_have_value("2")
    assert other.locator("#left text").all_text_contents() == frame.locator("#left text").all_text_contents()
    for_everybody(page)
    expect(frame.locator("body")).to_have_css("color", "rgb(232, 237, 242)")


@pytest.mark.ci
def test_the_model_and_neuron_views_of_bertviz_come_back_and_are_saved(arrive, for_everybody, tmp_path: Path):
    page = arrive(f"/bertviz?text={quote(TIME)}")
    frame_of(page)
    button(page, "Model view").click()
    linked(page, picture="model")
    expect(frame_of(page).locator("text", has_text="Heads").first).to_be_visible()
    tall = main(page).locator("iframe").evaluate("frame => frame.offsetHeight")
    button(page, "Neuron view").click()
    linked(page, picture="neuron")
    frame = frame_of(page)
    shown = main(page).locator("iframe").element_handle()
    page.wait_for_function("([frame, tall]) => frame.offsetHeight < tall", arg=[shown, tall])
    frame.locator("#layer").select_option("1")
    frame.locator("#att_head").select_option("2")
    frame.locator("body").evaluate("() => window.parent.postMessage({ choice: 'layer=1&head=2&token=4' }, '*')")
    linked(page, picture="neuron", layer="2", head="3", token="5")
    write(page, "A bird sings.")  # in which the token is another one
    linked(page, picture="neuron", layer="2", head="3", text="A bird sings.")
    page.reload()
    expect(frame_of(page).locator("#att_head")).to_have_value("2")
    expect(sentence(page)).to_have_value("A bird sings.")
    button(page, EXPORT["menu"]).click()
    with page.expect_download() as download:
        button(page, EXPORT["webPage"]).click()
    download.value.save_as(tmp_path / "alone.html")
    alone = page.context.new_page()
    alone.goto((tmp_path / "alone.html").as_uri())
    expect(alone.locator("#att_head")).to_have_value("2")
    alone.close()
    for_everybody(page)


@pytest.mark.ci
def test_nothing_gets_out_of_the_frame_of_bertviz(arrive):
    page = arrive(f"/bertviz?text={quote(HOSTILE)}&pair={quote(HOSTILE)}&layer=2", expect=("violates",))
    for view in ("Head view", "Model view", "Neuron view"):
        button(page, view).click()
        body = frame_of(page).locator("body")
        assert body.evaluate("() => document.images.length + document.querySelectorAll('script:not([nonce])').length") == 0
        sealed = "() => { try { return window.parent.document.title } catch (sealed) { return sealed.name } }"
        assert body.evaluate(sealed) == "SecurityError"
        assert body.evaluate("() => fetch('/_stcore/health').then(() => 'answered', () => 'refused')") == "refused"
    button(page, "Head view").click()
    body, before = frame_of(page).locator("body"), address(page)
    for told in ("'layer=99'", "'<img src=x onerror=alert(1)>'", "'layer=2'.repeat(10000)", "['layer=2']", "{ layer: 2 }"):
        body.evaluate(f"() => window.parent.postMessage({{ choice: {told} }}, '*')")
    page.wait_for_function(SILENT)
    answered(page)
    assert address(page) == before
    assert page.locator("img[src='x']").count() == 0
