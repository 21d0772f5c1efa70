"""Compare: two sentences, heads or models side by side, in maps that belong together and in the vectors of a word."""

import re
from urllib.parse import quote_plus

from playwright.sync_api import Page, expect

from pages.compare import texts
from pages.ui.canvas.texts import COMPARISON
from tests.support.seen import (
    PATIENCE,
    address,
    answered,
    button,
    cell,
    choose,
    drawing,
    drawn,
    items,
    linked,
    main,
    picture,
    redrawn,
    says,
    sentence,
)
from tx_core.analysis.views import word_groups
from tx_core.analysis.word_comparison import cosines, spell_words, word_similarity, word_vectors
from tx_core.engine import catalogue

TEXTS = ("time flies like an arrow", "a fruit flies like a banana")  # what is common stands at other places
PATH = f"/compare?text={quote_plus(TEXTS[0])}&text_b={quote_plus(TEXTS[1])}&head=2-1&focus=5"
A, B, BOTH = "^A · ", "^B · ", f"^{texts.DIFFERENCE}"


def weight_of(text: str, layer: int, number: int, query: str, key: str) -> float:
    """What a word gives to another in a head, counted from 1."""
    stack = catalogue.load(catalogue.DEFAULT).trace(text).attention
    tokens = stack.query_tokens.tokens
    return float(stack.weights[layer - 1, number - 1, tokens.index(query), tokens.index(key)])


def largest_is(page: Page, key: str, one: float, other: float) -> None:
    """Assert that the sentence and the list name the largest difference at "flies", with its numbers in A and B."""
    says(page, "“flies”", f"{one:.2f}", f"“{key}”", f"{other:.2f}")
    assert f"flies → {key} {one:.3f} → {other:.3f}" in items(page, COMPARISON["largestDifferences"])[0]


def test_two_sentences_are_compared_in_maps_that_belong_together(arrive, for_everybody):
    page = arrive(PATH)
    for name in (A, B, BOTH):
        drawn(picture(page, name))
    numbers = [weight_of(text, 2, 1, "flies", "like") for text in TEXTS]
    largest_is(page, "like", *numbers)
    before = drawing(picture(page, B))
    one = picture(page, A)
    one.hover(position=cell(one, 2, 3))  # what is pointed at in A is marked in B
    redrawn(picture(page, B), before)
    expect(picture(page, B)).to_have_attribute("data-marks", '{"focus":3,"query":3,"key":4}')  # a place further than in A
    tip = main(page).get_by_text(re.compile(rf"^flies → like\s*A {numbers[0]:.3f} · B {numbers[1]:.3f}"))
    expect(tip).to_be_visible()
    page.mouse.move(0, 0)
    expect(tip).to_be_hidden()
    before = drawing(picture(page, B))
    main(page).get_by_role("group", name=re.compile(f"^{texts.DIFFERENCE}")).press("ArrowUp")
    says(page, COMPARISON["noDifference"][1].format(word="fruit"))  # it is in B only
    linked(page, focus="4")
    redrawn(picture(page, B), before)  # where its row is lit
    page.reload()
    says(page, COMPARISON["noDifference"][1].format(word="fruit"))
    page.go_back()
    answered(page)
    button(page, texts.SWAP).click()
    answered(page)
    expect(sentence(page, texts.SIDE_SENTENCES["A"])).to_have_value(TEXTS[1])
    button(page, texts.PIN).click()
    says(page, texts.SAME_SIDES)
    expect(sentence(page, texts.SIDE_SENTENCES["A"])).to_have_value(TEXTS[0])
    page.go_back()
    expect(sentence(page, texts.SIDE_SENTENCES["A"])).to_have_value(TEXTS[1], timeout=PATIENCE)
    answered(page)
    main(page).get_by_text(texts.TABLE).click()
    expect(main(page).get_by_test_id("stDataFrame")).to_have_count(1)
    for_everybody(page)


def test_the_vectors_of_a_word_are_compared_layer_by_layer(arrive):
    page = arrive(PATH)
    runs = [catalogue.load(catalogue.DEFAULT).trace(text, keep=("hidden",)) for text in TEXTS]
    groups = [word_groups(run.attention.query_tokens) for run in runs]
    spelled = [spell_words(run.attention.query_tokens, group) for run, group in zip(runs, groups, strict=True)]
    vectors = [word_vectors(run.hidden, group) for run, group in zip(runs, groups, strict=True)]
    alike = word_similarity(cosines(*vectors), *spelled, (2, 3))
    says(page, "“flies”", f"{alike.word[-1]:.2f}")
    chart = main(page).get_by_role("group", name=re.compile(f"^{texts.COSINES}"))
    drawn(chart.get_by_role("img"))
    chart.press("ArrowRight")
    chart.press("ArrowRight")
    told = main(page).get_by_role("status").filter(has_text=f"{alike.word[1]:#.3g}")
    for line in (alike.word, alike.shared, alike.mean):
        expect(told).to_contain_text(f"{line[1]:#.3g}".replace("-", "−"))
    chart.press("Escape")
    expect(told).to_have_count(0)


def test_b_may_differ_in_its_head_its_weights_or_a_part_that_is_switched_off(arrive, for_everybody):
    page = arrive(PATH)
    drawn(picture(page, B))
    choose(page, texts.VARIES["head"])
    main(page).get_by_role("combobox", name=texts.HEADS["B"], exact=True).fill("Layer 3, head 5")
    page.keyboard.press("Enter")
    linked(page, head_b="3-5", vary="head")
    answered(page)
    drawn(picture(page, f"{B}.*layer 3, head 5".replace("layer", "[Ll]ayer")))
    first = items(page, COMPARISON["largestDifferences"])[0]
    query, key = re.match(r"(\S+) → (\S+) ", first).groups()
    one, other = (weight_of(TEXTS[0], *head, query, key) for head in ((2, 1), (3, 5)))
    assert first.startswith(f"{query} → {key} {one:.3f} → {other:.3f}")
    says(page, texts.NO_COMMON_SPACE["head"])
    for name in ("untrained", "changes"):
        before = drawing(picture(page, B))
        choose(page, texts.VARIES[name])
        redrawn(drawn(picture(page, B)), before)
        assert address(page).get("vary") == name
    for_everybody(page)
