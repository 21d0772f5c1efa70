"""Fill the blank: words and their bars, what a change of the model does to them, and two sentences side by side."""

import re
from collections.abc import Sequence
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Locator, Page, expect

from pages.fill_mask import texts
from pages.ui.shell.numbers import percent
from pages.ui.stage import browser_texts
from pages.ui.stage import texts as stage_texts
from tests.support.seen import answered, button, drawn, entries, linked, main, picture, says, sentence, silent, until
from tx_core.engine import catalogue
from tx_core.fill_mask.head_scan import Scan
from tx_core.fill_mask.predictions import Prediction, fill_jointly, predict
from tx_core.transformer.interventions import Intervention

SCHOOL = "Yesterday I [MASK] to school."
PATH = f"/fill_mask?text={quote_plus(SCHOOL)}"


def found(text: str, blank: int = 0, **options: object) -> Sequence[Prediction]:
    """The eight words that the model finds most likely at a blank."""
    return predict(catalogue.load(catalogue.DEFAULT), text, top_k=8, **options).blanks[blank].predictions


def bars_of(predictions: Sequence[Prediction]) -> list[str]:
    """What stands at the bars of these predictions."""
    return [" ".join(f"{one.word} {percent(one.probability)}".split()) for one in predictions]


def word(page: Page, name: str) -> Locator:
    """A word of the sentence, which a click makes a blank."""
    return main(page).get_by_role("group", name=stage_texts.WORD_BUTTONS).get_by_role("button", name=name, exact=True)


def follow(page: Page, names: str) -> None:
    """Write words to follow."""
    box = main(page).get_by_label(texts.PICTURE["followLabel"])
    box.fill(names)
    box.press("Enter")
    linked(page, named=names)
    answered(page)


def test_the_words_at_a_blank_are_the_model_s_and_a_click_makes_another_blank(arrive):
    page = arrive(PATH)
    predictions = found(SCHOOL)
    assert entries(page, texts.TOP_WORDS) == bars_of(predictions)
    says(page, f"“{predictions[0].word}”", percent(predictions[0].probability))
    follow(page, "went, came")
    shares = {one.word: one.probability for one in predictions}
    assert entries(page, texts.CHECKED_WORDS) == [
        " ".join(f"{name} {percent(shares[name])}".split()) for name in ("went", "came")
    ]
    first = main(page).get_by_role("list", name=texts.TOP_WORDS).get_by_role("listitem").first
    first.focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("listitem").and_(page.locator(":focus"))).to_have_accessible_description(predictions[1].sentence)
    page.keyboard.press("Tab")
    expect(page.get_by_role("listitem").and_(page.locator(":focus"))).to_have_count(0)
    drawn(picture(page, r"^Heatmap.*\[MASK\]"))
    word(page, "school").click()
    twice = "Yesterday I [MASK] to [MASK]."
    expect(sentence(page)).to_have_value(twice)
    linked(page, text=twice)
    answered(page)
    for blank in (0, 1):
        button(page, texts.BLANK.format(number=blank + 1)).click()
        answered(page)
        until(page, lambda blank=blank: entries(page, texts.TOP_WORDS) == bars_of(found(twice, blank)), "the words of the blank")
    linked(page, blank="2", focus="6")
    best = fill_jointly(catalogue.load(catalogue.DEFAULT), twice)[0]
    joint = main(page).get_by_role("group", name=re.compile(f"^{re.escape(texts.JOINT)}"))
    joint.press("ArrowDown")
    expect(joint).to_contain_text(percent(best.probability))
    page.reload()
    until(page, lambda: entries(page, texts.TOP_WORDS) == bars_of(found(twice, 1)), "the words of the second blank")
    word(page, "school").click()  # a blank gives its word back, after a reload, too
    expect(sentence(page)).to_have_value(SCHOOL)


@pytest.mark.ci
def test_blanks_are_filled_step_by_step_in_place(page_at):
    page = page_at(f"/fill_mask?text={quote_plus('I [MASK] a [MASK] of [MASK].')}")
    steps, words = page.get_by_test_id("fill-steps"), page.get_by_role("group", name=browser_texts.ROUTES["words"])
    push = lambda name: steps.get_by_role("button", name=name, exact=True).click()  # noqa: E731
    with silent(page):
        push(texts.STEPS["next"])
        expect(words.get_by_role("button", name="lot 1 · 69.1 %")).to_be_visible()
        steps.get_by_role("group", name=texts.STEPS["waiting"]).get_by_role("button", name=re.compile("^3: ")).click()
        expect(steps.get_by_role("button", name=texts.STEPS["orders"]["hand"])).to_have_attribute("aria-pressed", "true")
        linked(page, fill="hand-2-3")
        push(texts.STEPS["all"])
        expect(page.get_by_test_id("steps-said")).to_contain_text(re.compile("I have a lot of money.*all 6 orders", re.DOTALL))
        push(texts.STEPS["undo"])
        expect(words.get_by_role("button", name="[MASK]")).to_have_count(1)
        expect(words.get_by_role("button", name="lot 1 · 69.1 %")).to_be_visible()
        push(texts.STEPS["orders"]["left"])
        expect(words.get_by_role("button", name="[MASK]")).to_have_count(3)


MOVED = """async (button) => {
  const [bar] = button.getRootNode().querySelectorAll('.predictions .bar-fill')
  await Promise.all(bar.getAnimations().map(({ finished }) => finished))
  button.click()
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
  return bar.getAnimations().length
}"""


@pytest.mark.ci
def test_a_scan_sets_words_against_each_other_a_change_is_taken_back_and_bars_move_unless_nothing_may(page_at, for_everybody):
    page = page_at(f"{PATH}&heads=5-7")
    asked = page.get_by_label(texts.PICTURE["followLabel"])
    asked.fill("went, go")
    asked.press("Enter")
    expect(page.get_by_role("list", name=texts.PICTURE["followed"]).get_by_role("listitem")).to_have_count(2)
    answered(page)
    button(page, texts.SCAN_PICTURE["heads"]).click()
    cell = lambda name: page.get_by_role("gridcell", name=re.compile(name))  # noqa: E731
    expect(cell("^Layer 5, head 7: went: 83.5\\s% → 29.2\\s%; top prediction: go")).to_be_visible()
    layer, number = Scan(catalogue.load(catalogue.DEFAULT), SCHOOL).run().most_important
    says(page, "“went”", f"layer {layer + 1}, head {number + 1}")
    with silent(page):
        page.get_by_role("combobox", name=texts.SCAN_PICTURE["minus"]).select_option("go")
        expect(cell("^Layer 5, head 7: went − go: .*ratio 108 : 1 → ")).to_be_visible()
        cell("^Layer 2, head 6: went − go: ").click()
        linked(page, heads="2-6")
    answered(page)
    button(page, browser_texts.CONTROLS["offHead"].format(head="layer 2, head 6")).click()
    linked(page, changes="off~2-6")
    states = browser_texts.CHANGED["states"]
    expect(button(page, states["before"])).to_be_visible()
    answered(page)
    now = found(SCHOOL, interventions=(Intervention("off", 1, 5),))
    assert entries(page, texts.TOP_WORDS)[0] == bars_of(now)[0]
    for motion, state in (("no-preference", "before"), ("reduce", "after")):
        page.emulate_media(reduced_motion=motion)
        assert button(page, states[state]).evaluate(MOVED) == (motion == "no-preference")
    for_everybody(page)
    button(page, texts.PICTURE["undo"]).click()
    expect(page).not_to_have_url(re.compile("changes="))
    answered(page)
    assert entries(page, texts.TOP_WORDS) == bars_of(found(SCHOOL))
