"""Masks and positions: who may look at whom, and how a model knows the order, with numbers computed again by the core."""

import math
import re
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Locator, Page, expect

from pages import contents
from pages.masks import texts
from pages.positions import texts as position_texts
from pages.positions.encodings import ENCODING_VIEWS
from pages.ui.canvas.texts import MATRICES
from pages.ui.shell.numbers import percent, small_number
from tests.support.seen import (
    PATIENCE,
    address,
    answered,
    choose,
    drawing,
    drawn,
    entries,
    fits,
    linked,
    main,
    picture,
    redrawn,
    says,
    sentence,
    write,
)
from tx_core.engine import catalogue
from tx_core.fill_mask.predictions import predict
from tx_core.lessons.masking import mask_of_kind, padded_pair, padded_scores
from tx_core.lessons.word_order import shuffle_test
from tx_core.transformer.interventions import Intervention

CAT = "The cat sat on the mat."
PATH = f"/masks?text={quote_plus(CAT)}"


def may_look(page: Page, query: str, key: str) -> Locator:
    """The first cell of the mask with these names."""
    return main(page).get_by_role("gridcell", name=MATRICES["maySee"].format(query=query, key=key), exact=True).first


def change_says(page: Page, kind: str) -> None:
    """Assert that the map of the change tells its largest change, as the core computes it."""
    masked = padded_scores(catalogue.load(catalogue.DEFAULT), CAT, 0).under(mask_of_kind(kind, 9, 9), 0, 0)
    largest = float(masked.effect.difference.abs().max())
    drawn(picture(page, rf"^{texts.CHANGE}\..*[+−-]{largest:.2f}"))


def test_padding_must_not_count_and_a_mask_changes_what_is_predicted(arrive, for_everybody):
    page = arrive("/masks")
    engine = catalogue.load(catalogue.DEFAULT)
    first, second = CAT, "It rained all day, so nobody went out."
    proof = padded_pair(engine, first, second).proof
    says(page, f"{proof.difference_unmasked:.3f}")
    drawn(picture(page, f"^{texts.CHANGE_BY_TOKEN}.*{min(proof.moved_unmasked):.3g}"))
    write(page, "It rained.", texts.SECOND_SENTENCE)
    proof = padded_pair(engine, first, "It rained.").proof
    says(page, f"{proof.difference_unmasked:.3f}")
    blank = "Yesterday the children [MASK] to school by bus."
    says(page, texts.RUN_TITLE)
    for kind, change in (("causal", "causal"), ("positions", "no_positions")):
        choose(page, texts.RUN_LABELS[kind])
        before, now = (
            predict(engine, blank, interventions=changes).blanks[0].predictions[0] for changes in ((), (Intervention(change),))
        )
        says(page, f"“{before.word}”", percent(before.probability))
        assert entries(page, texts.RUN_LABELS[kind].partition(" (")[0])[0].startswith(f"{now.word} ")
    page.go_back()
    answered(page)
    assert entries(page, texts.RUN_LABELS["causal"].partition(" (")[0])
    for_everybody(page)
    main(page).get_by_role("link", name=texts.SEE_CHANGED["fill_mask"]).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(contents.page("fill_mask").question)
    linked(page, text=blank, changes="causal")


def test_a_mask_is_painted_by_pointer_and_keyboard_and_stands_in_the_link(arrive, for_everybody):
    page = arrive(f"{PATH}&part=one")
    says(page, texts.MASK_NOTE.format(allowed=45, pairs=81))
    change_says(page, "causal")
    cell = may_look(page, "cat", "the")
    expect(cell).to_have_attribute("aria-selected", "true")
    cell.click()
    expect(cell).to_have_attribute("aria-selected", "false")
    says(page, texts.MASK_NOTE.format(allowed=44, pairs=81))
    page.wait_for_url(re.compile("kind=painted&mask=9-"))
    says(page, "cat → the", MATRICES["hidden"])
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    says(page, texts.MASK_NOTE.format(allowed=43, pairs=81))
    page.reload()
    expect(cell).to_have_attribute("aria-selected", "false", timeout=PATIENCE)
    says(page, texts.MASK_NOTE.format(allowed=43, pairs=81))
    may_look(page, "mat", "the").hover()
    page.mouse.down()
    for key in ("cat", "sat", "on"):  # a stroke paints all that it crosses
        may_look(page, "mat", key).hover()
    page.mouse.up()
    says(page, texts.MASK_NOTE.format(allowed=39, pairs=81))
    main(page).get_by_role("button", name=MATRICES["wholeRow"].format(name="sat")).click()
    says(page, texts.EMPTY_ROWS.format(tokens=texts.EMPTY_ROW.format(token="sat", row=5).partition(" (")[0]))
    choose(page, texts.WINDOW)
    linked(page, kind="window")
    expect(may_look(page, "cat", "sat")).to_have_attribute("aria-selected", "true")
    expect(may_look(page, "cat", "on")).to_have_attribute("aria-selected", "false")
    change_says(page, "window")
    page.go_back()
    expect(cell).to_have_attribute("aria-selected", "false", timeout=PATIENCE)
    for_everybody(page)


@pytest.mark.ci
def test_a_smaller_penalty_leaks_as_much_as_the_core_computes(arrive, for_everybody):
    page = arrive(f"{PATH}&part=penalty")
    masked = padded_scores(catalogue.load(catalogue.DEFAULT), CAT, 0).under(mask_of_kind("causal", 9, 9), 0, 0)
    for name in (texts.INFINITE, "−10,000", texts.UNMASKED):
        drawn(picture(page, f"^{re.escape(name)}"))
    slider = page.get_by_role("slider", name=texts.PENALTY)
    before = drawing(picture(page, "^−10,000"))
    slider.focus()
    page.keyboard.press("Home")
    page.wait_for_url(re.compile("penalty="))
    answered(page)
    penalty = float(address(page)["penalty"])
    says(page, texts.LEAK)
    says(page, small_number(masked.three_ways(penalty).leak))
    redrawn(picture(page, f"^−{abs(penalty):g}"), before)
    page.go_back()
    drawn(picture(page, "^−10,000"))
    for_everybody(page)


def shown(page: Page, part: str) -> None:
    """Choose a part or a view of the stage."""
    main(page).get_by_test_id("stage").get_by_role("button", name=part, exact=True).click()
    answered(page)


def test_an_encoding_of_positions_is_drawn_from_its_formula(arrive, for_everybody):
    page = arrive("/positions?length=8&width=8")
    picture_of = drawn(picture(page, "8 positions down, 8 dimensions across"))
    box = picture_of.bounding_box()
    picture_of.hover(position={"x": box["width"] * 0.6, "y": box["height"] * 0.6})
    readout = main(page).get_by_text(re.compile(r"^position \d · dimension \d$")).first
    expect(readout).to_be_visible()
    position, dimension = (int(one) for one in re.search(r"position (\d) · dimension (\d)", readout.inner_text()).groups())
    angle = position / 10_000 ** (2 * (dimension // 2) / 8)
    expected = math.cos(angle) if dimension % 2 else math.sin(angle)
    says(page, f"position {position} · dimension {dimension}", f"{expected:.2f}".replace("-", "−"))
    page.get_by_role("slider", name=position_texts.LENGTH).press("ArrowRight")
    linked(page, length="9", width="8")
    drawn(picture(page, "9 positions down, 8 dimensions across"))
    shown(page, "ALiBi")
    linked(page, scheme="alibi")
    expect(main(page).get_by_text(ENCODING_VIEWS["alibi"].map_title).first).to_be_visible()
    for look in ("waves", "similarity", "effect"):
        shown(page, position_texts.VIEWS[look])
        linked(page, look=look)
        fits(page)
    drawn(picture(page, "^Softmax"))
    page.reload()
    drawn(picture(page, "^Softmax"))
    for scheme in ("Shaw", "T5", "Rotary", "Learned", "Sinusoids"):
        shown(page, scheme)
        expect(main(page).get_by_role("alert").filter(has_text=re.compile("."))).to_have_count(0)
    for_everybody(page)


def test_shuffled_words_are_the_same_to_attention_without_positions(arrive, open_to_all, for_everybody):
    page = arrive("/positions?part=demands")
    says(page, "0.738")  # how consistent BERT's learned table is
    open_to_all(page)
    shown(page, position_texts.PARTS["shuffle"])
    expect(sentence(page)).not_to_have_value("", timeout=PATIENCE)
    engine, text = catalogue.load(catalogue.DEFAULT), sentence(page).input_value()
    found = shuffle_test(engine, text, 1)
    for name, guess in {
        position_texts.ORDERED_GUESS: found.ordered,
        position_texts.SHUFFLED_GUESS: found.shuffled,
        position_texts.UNORDERED_GUESS: found.without_ordered,
    }.items():
        chart = main(page).get_by_role("group", name=re.compile(f"^{name}"))
        chart.press("ArrowDown")
        share = percent(guess.shares[0])
        expect(chart).to_contain_text(re.compile(f"{re.escape(guess.words[0])}\\s*{re.escape(share)}"))
    drawn(picture(page, f"{found.with_positions.greatest_difference:.3f}"))
    again = shuffle_test(engine, text, 2)
    shown(page, position_texts.SHUFFLE_AGAIN)
    linked(page, seed="2")
    says(page, f"{again.with_positions.greatest_difference:.3f}")
    expect(main(page).get_by_role("row", name=" ".join([position_texts.SHUFFLED, *again.tokens_shuffled]))).to_be_visible()
    for_everybody(page)
