"""Fill the blank: words and their bars, what a change of the model does to them, and two sentences side by side."""

import re
from collections.abc import Sequence
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Locator, Page, expect

from pages.fill_mask import texts
from pages.ui.canvas.texts import CHANGED_MAP
from pages.ui.panels import texts as panel_texts
from pages.ui.shell.numbers import percent
from tests.support.messages import name_in_head
from tests.support.seen import (
    address,
    answered,
    button,
    choose,
    drawn,
    entries,
    head,
    linked,
    main,
    picture,
    says,
    sentence,
    switch,
    until,
    write,
)
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
    return (
        main(page)
        .get_by_role("toolbar", name=panel_texts.WORD_BUTTONS)
        .get_by_role("button", name=re.compile(rf"^{re.escape(name)}\W*$"))
    )


def test_the_words_at_a_blank_are_the_model_s_and_a_click_makes_another_blank(arrive, for_everybody):
    page = arrive(f"{PATH}&named=went,+go")
    predictions = found(SCHOOL)
    assert entries(page, texts.TOP_WORDS) == bars_of(predictions)
    says(page, f"“{predictions[0].word}”", percent(predictions[0].probability))
    followed = {one.word: one.probability for one in predictions}
    assert entries(page, texts.CHECKED_WORDS)[:2] == [
        " ".join(f"{name} {percent(followed[name])}".split()) for name in ("went", "go")
    ]
    first = main(page).get_by_role("list", name=texts.TOP_WORDS).get_by_role("listitem").first
    first.focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("listitem").and_(page.locator(":focus"))).to_have_accessible_description(predictions[1].sentence)
    page.keyboard.press("Escape")
    drawn(picture(page, r"^Heatmap.*\[MASK\]"))
    word(page, "school").click()
    twice = "Yesterday I [MASK] to [MASK]."
    expect(sentence(page)).to_have_value(twice)
    linked(page, text=twice)
    answered(page)
    for blank in (0, 1):
        assert entries(page, texts.BLANK.format(number=blank + 1)) == bars_of(found(twice, blank))
    best = fill_jointly(catalogue.load(catalogue.DEFAULT), twice)[0]
    assert entries(page, texts.JOINT)[0].endswith(" ".join(percent(best.probability).split()))
    page.reload()
    assert entries(page, texts.BLANK.format(number=2)) == bars_of(found(twice, 1))
    word(page, "school").click()  # a blank gives its word back, after a reload, too
    expect(sentence(page)).to_have_value(SCHOOL)
    answered(page)
    for_everybody(page)


def test_a_change_moves_the_bars_where_they_stand_and_a_scan_finds_the_head_that_matters(arrive, for_everybody):
    page = arrive(f"{PATH}&heads=5-7")
    bars = main(page).get_by_role("list", name=texts.TOP_WORDS)
    expect(bars.get_by_role("listitem")).to_have_count(8)
    before = bars.bounding_box()["height"]
    button(page, panel_texts.SWITCH_OFF_HEAD.format(layer=5, head=7)).click()
    linked(page, changes="off~5-7")
    now, was = found(SCHOOL, interventions=(Intervention("off", 4, 6),))[0], found(SCHOOL)[0]
    says(page, f"“{now.word}”", percent(now.probability), f"“{was.word}”", percent(was.probability))
    answered(page)
    first = entries(page, texts.TOP_WORDS)[0]
    assert first.startswith(now.word) and f"→ {' '.join(percent(now.probability).split())}" in first
    assert bars.bounding_box()["height"] == pytest.approx(before, abs=2)
    row = bars.get_by_role("listitem").first
    was_share, now_share = map(float, re.search(r"([\d.]+)(?: %)? → ([\d.]+)", first).groups())

    def longer() -> bool:
        old, new = (row.locator(f".bar.{side}").bounding_box()["width"] for side in ("before", "after"))
        return new > old

    until(page, lambda: longer() == (now_share > was_share), "a bar that is longer for a larger share")
    drawn(picture(page, f"^{CHANGED_MAP['titles'][2]}"))
    button(page, name_in_head("off", 5, 7), exact=False).click()
    expect(page).not_to_have_url(re.compile("changes="))
    answered(page)
    assert entries(page, texts.TOP_WORDS) == bars_of(found(SCHOOL))
    main(page).get_by_text(texts.SCAN).click()
    layer, number = Scan(catalogue.load(catalogue.DEFAULT), SCHOOL).run().most_important
    says(page, f"“{was.word}”", f"layer {layer + 1}, head {number + 1}")
    scanned = main(page).get_by_role("gridcell", name=re.compile(rf"^Layer {layer + 1}, head {number + 1}: .*{now.word}"))
    scanned.click()
    linked(page, changes=f"off~{layer + 1}-{number + 1}")
    expect(scanned).to_have_attribute("aria-selected", "true")
    expect(bars.get_by_role("listitem").first).to_be_in_viewport()
    answered(page)
    for_everybody(page)


@pytest.mark.ci
def test_two_sentences_stand_side_by_side_and_the_options_say_what_they_do(arrive, for_everybody):
    page = arrive("/fill_mask")
    one, other = "The man worked as a [MASK].", "The woman worked as a [MASK]."
    choose(page, "A man, a woman")
    expect(sentence(page, texts.SECOND_SENTENCE)).to_have_value(other)
    linked(page, compare="1")
    expect(main(page).get_by_role("list", name=texts.TOP_WORDS)).to_have_count(4)  # of each, and of both
    assert [entries(page, texts.TOP_WORDS, number) for number in (0, 1)] == [bars_of(found(text)) for text in (one, other)]
    switch(page, texts.COMPARE)
    assert entries(page, texts.TOP_WORDS) == bars_of(found(one))
    button(page, panel_texts.OPTIONS).click()
    temperature = page.get_by_role("slider", name=panel_texts.TEMPERATURE)
    temperature.focus()
    page.keyboard.press("End")
    answered(page)
    warm = float(address(page)["temperature"])
    assert warm > 1
    assert entries(page, texts.TOP_WORDS) == bars_of(found(one, temperature=warm))
    says(page, panel_texts.TEMPERATURE_CHANGED.format(temperature=warm))
    page.keyboard.press("Escape")
    write(page, "The cat sleeps.")
    says(page, "There is no blank yet.")
    button(page, texts.BLANK_LAST_WORD, exact=False).click()
    expect(sentence(page)).to_have_value("The cat [MASK].")
    answered(page)
    for_everybody(page)


def test_what_is_typed_at_a_blank_is_read_at_once_and_nothing_flickers(arrive):
    page = arrive("/fill_mask?text=___+you")
    bars = main(page).get_by_role("list", name=texts.TOP_WORDS)
    bars.get_by_role("listitem").first.wait_for()
    node = bars.element_handle()
    sentence(page).press("End")
    sentence(page).press_sequentially(" very much.", delay=10)
    linked(page, text="___ you very much.")
    answered(page)
    expect(sentence(page)).to_be_focused()
    assert entries(page, texts.TOP_WORDS) == bars_of(found("___ you very much."))
    assert node.evaluate("node => node.isConnected")
    page.go_back()
    assert entries(page, texts.TOP_WORDS)
    expect(sentence(page)).not_to_have_value("___ you very much.")
    head(page, 1, 1).click()
    linked(page, heads="1-1")
