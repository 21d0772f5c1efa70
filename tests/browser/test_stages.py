"""The stage of every page: in sight on arrival, looked at without asking its server, and saved as a page that needs none."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote_plus

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from pages import contents
from pages.bert import texts as bert_texts
from pages.compare import texts as compare_texts
from pages.encoder_decoder import texts as copy_texts
from pages.explanations import texts as explanation_texts
from pages.fill_mask import texts as fill_texts
from pages.heads_and_blocks import texts as block_texts
from pages.masks import texts as mask_texts
from pages.next_word import texts as next_texts
from pages.patching import texts as patching_texts
from pages.positions.encodings import ENCODING_VIEWS
from pages.ui.shell.numbers import percent
from pages.ui.stage import browser_texts
from pages.ui.stage import texts as stage_texts
from pages.vectors import texts as vector_texts
from tests.browser.conftest import go_by_history
from tests.browser.journeys.test_across_pages import LOADED
from tests.browser.journeys.test_presenter import NOTE_WRITING, fills_the_screen
from tests.support.seen import (
    answered,
    comes_first,
    drawing,
    fits,
    press,
    redrawn,
    said,
    saved,
    silent,
    stage,
    until,
)
from tx_core import load
from tx_core.analysis.probabilities import largest
from tx_core.analysis.views import view
from tx_core.causal.cut_effects import CutEffects, cut_effects
from tx_core.fill_mask.next_words import Sampling, next_logits
from tx_core.training.stored import stored_copy

PANCAKES = "A pancake and Mary's unbelievable keys."
FLIES = ("time flies like an arrow", "a fruit flies like a banana")  # what is common stands at other places
CUPBOARD = "The key to the big old cabinets [MASK] on the table."
CAT = "The cat sat on the mat."
OLD_MAN = "The old man went to the"
WRITTEN = load("writer").tokenizer.pieces("door and began to")


def look_at_attention(page: Page) -> None:
    """Choose heads by pointer and Shift, a row, whole words, no special tokens, another scale and lines."""
    stage(page).get_by_role("gridcell", name="Layer 2, head 1", exact=True).click()
    expect(said(page)).to_contain_text("Layer 2, head 1.")
    stage(page).get_by_role("gridcell", name="Layer 2, head 8", exact=True).click(modifiers=["Shift"])
    expect(said(page)).to_contain_text("Mean of 2 heads.")
    stage(page).get_by_role("group", name=re.compile("^Heatmap")).press("ArrowUp")
    press(page, browser_texts.CONTROLS["words"])
    press(page, browser_texts.CONTROLS["hide"])
    shown = view(load("embedded").trace(PANCAKES).attention, merge_words=True, hide_special=True)
    row = shown.weights[1, [0, 7]].mean(0)[shown.queries.index("pancake")]
    expect(said(page)).to_contain_text("Of its attention to the words shown")
    expect(said(page)).to_contain_text(re.compile(rf"{row.max():.2f}.*“{shown.keys[row.argmax()]}”"))
    press(page, browser_texts.CONTROLS["view"])
    heat = stage(page).get_by_test_id("attention-heatmap")
    before = drawing(heat)
    stage(page).get_by_label(browser_texts.CONTROLS["scale"]).select_option("viridis")
    redrawn(heat, before)
    stage(page).get_by_role("button", name=browser_texts.CONTROLS["shows"]["lines"], exact=True).click()
    expect(stage(page).get_by_test_id("attention-lines")).to_be_visible()


def look_at_blank(page: Page) -> None:
    """Look at the words before and after a change, at their difference, and at another head and row."""
    words = page.get_by_role("list", name=fill_texts.TOP_WORDS).get_by_role("listitem")
    for state, share in {"after": "56.2", "before": "0.77", "difference": "+55.4"}.items():
        press(page, browser_texts.CHANGED["states"][state])
        expect(words.first).to_have_text(re.compile(rf"^go\s*{re.escape(share)}"), use_inner_text=True)
    page.get_by_role("gridcell", name=re.compile("^Layer 6, head 2")).click()
    page.get_by_role("group", name=re.compile("^Heatmap")).press("ArrowUp")
    expect(said(page)).to_contain_text("“i”")


def look_at_comparison(page: Page) -> None:
    """Go through states, rows, heads and words, and see the sentence follow."""
    labels = compare_texts.PICTURE

    def weight_of(text: str) -> float:
        stack = load("embedded").trace(text).attention
        flies, like = (stack.query_tokens.tokens.index(word) for word in ("flies", "like"))
        return float(stack.weights[1, 0, flies, like])

    one, other = map(weight_of, FLIES)
    expect(said(page)).to_contain_text(f"“flies” gives {one:.2f} of its attention to “like” in A and {other:.2f} in B")
    for state, name in labels["states"].items():
        stage(page).get_by_role("group", name=labels["which"]).get_by_role("button", name=name, exact=True).click()
        expect(stage(page)).to_have_attribute("data-compared", state)
    press(page, labels["states"]["difference"])
    heatmap = stage(page).get_by_role("group", name=re.compile("heat", re.IGNORECASE)).first
    heatmap.press("ArrowUp")
    expect(said(page)).to_contain_text("“fruit”, the marked row, has no partner")
    heatmap.press("ArrowDown")
    stage(page).get_by_role("gridcell", name=re.compile("^Layer 3, head 5")).click()
    expect(said(page)).to_contain_text("Layer 3, head 5.")
    stage(page).get_by_label(labels["word"], exact=True).select_option("like")
    expect(stage(page)).to_have_attribute("data-word", "like")


def step(page: Page, title: str) -> None:
    """Look at a step of a computation, by what comes of it."""
    stage(page).get_by_role("button", name=re.compile(f": {title}$")).click()


def steps(page: Page) -> Locator:
    """Return the computation with its row of steps."""
    return stage(page).get_by_test_id("matrix-steps")


def look_at_head(page: Page) -> None:
    """Walk steps, cells, numbers and dimensions, and see the sum follow."""
    total = stage(page).get_by_test_id("stage-sum")
    step(page, "Weights")
    stage(page).get_by_role("group", name=re.compile("^Weights")).press("ArrowUp")
    expect(steps(page)).to_have_attribute("data-chosen", "weights-4-8")
    expect(said(page)).to_contain_text("“read” gives")
    step(page, "Vectors")
    expect(total).to_contain_text("dimension ")
    canvas = stage(page).get_by_test_id("matrix-query")
    before = drawing(canvas)
    press(page, browser_texts.MATRICES["numbers"])
    redrawn(canvas, before)
    stage(page).get_by_role("button", name=browser_texts.MATRICES["allSteps"]).click()
    expect(stage(page).get_by_test_id("matrix-weights")).to_be_visible()
    expect(total).to_be_in_viewport(ratio=1)  # beside every step
    step(page, "Dot products")


def look_at_block(page: Page) -> None:
    """Walk the steps of the heads and their cells, and see the sum follow."""
    step(page, block_texts.MATRICES["heads"]["output"][0])
    expect(page.get_by_test_id("stage-sum")).to_contain_text("dimension ")
    stage(page).get_by_role("group", name=re.compile("^Output")).press("ArrowDown")
    step(page, block_texts.ADDS_TITLE)
    expect(page.get_by_test_id("matrix-lengths")).to_be_visible()


def look_at_bert(page: Page) -> None:
    """Look at both runs and what differs, at another block and its head."""
    for state in ("before", "difference", "after"):
        press(page, bert_texts.STATES[state])
        expect(stage(page)).to_have_attribute("data-compared", state)
    architecture = page.get_by_test_id("architecture")
    architecture.get_by_role("button", name=re.compile("^Block 4")).click()
    expect(stage(page)).to_have_attribute("data-heads", "4-3")
    expect(architecture.get_by_role("img", name=re.compile("^Attention: "))).to_be_visible()
    expect(said(page)).to_contain_text("no weight of ours differs")


def may_look(page: Page, query: str, key: str) -> Locator:
    """Return the first cell of the mask with these names."""
    return stage(page).get_by_role("gridcell", name=mask_texts.PICTURE["maySee"].format(query=query, key=key), exact=True).first


def allows(page: Page, pairs: int) -> None:
    """Wait until the mask of 9 tokens allows so many pairs."""
    expect(stage(page).get_by_text(mask_texts.PICTURE["allowed"].format(allowed=pairs, pairs=81))).to_be_visible()


def paint(page: Page) -> None:
    """Paint by pointer, keyboard and stroke, hide a row, and look at another mask."""
    may_look(page, "cat", "the").click()
    allows(page, 44)
    expect(said(page)).to_have_text(mask_texts.PICTURE["hidden"].format(query="cat", key="the"))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    allows(page, 43)
    may_look(page, "mat", "the").hover()
    page.mouse.down()
    for key in ("cat", "sat", "on"):  # a stroke paints all that it crosses
        may_look(page, "mat", key).hover()
    page.mouse.up()
    allows(page, 39)
    press(page, mask_texts.PICTURE["wholeRow"].format(name="sat"))
    expect(stage(page).get_by_test_id("mask-notes")).to_contain_text(mask_texts.PICTURE["emptyRow"].format(token="sat", row=4))
    stage(page).get_by_role("combobox", name=mask_texts.MASK, exact=True).select_option("window")
    expect(may_look(page, "cat", "on")).to_have_attribute("aria-selected", "false")
    press(page, mask_texts.STATES["all"])
    press(page, mask_texts.STATES["after"])


def charts(page: Page) -> Locator:
    """Return the charts that are shown."""
    return stage(page).get_by_test_id("chart")


DECLARED = "[role=toolbar] :is(select, input, button[aria-pressed]):enabled"
"""The controls that a page declares for its pictures; where there is no server, those that only look."""
NAMES = "all => all.map((one) => one.getAttribute('aria-label') ?? one.textContent)"
PICTURED = "node => [node.innerText, ...[...node.querySelectorAll('canvas')].map((one) => one.toDataURL())].join()"


def looks_of(alone: Page) -> list[str]:
    """Name the controls of a stage that was saved as a page: all of them only look."""
    charts(alone).first.wait_for()
    return stage(alone).locator(DECLARED).filter(visible=True).evaluate_all(NAMES)


@contextmanager
def changes(page: Page, what: str) -> Iterator[None]:
    """Wait until something else is seen than before."""
    before = stage(page).evaluate(PICTURED)
    yield
    until(page, lambda: stage(page).evaluate(PICTURED) != before, f"a change by {what}")


def look_at_pictures(page: Page, looks: list[str]) -> None:
    """Use every control that only looks, and choose in the first picture by keys: each time something else is seen."""
    for name in looks:
        one = stage(page).get_by_label(name, exact=True).or_(stage(page).get_by_role("button", name=name, exact=True)).first
        if one.get_attribute("aria-pressed") == "true":
            continue
        with changes(page, name):
            if (other := one.locator("option:not(:checked)")).count():
                one.select_option(other.first.get_attribute("value"))
            else:
                one.press("ArrowLeft")  # of a slider
                one.press("Enter")
    picture = charts(page).first.get_by_role("group").first
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowUp"):
        picture.press(key)
    with changes(page, "a choice by keys"):
        picture.press("Enter")
        picture.press("Escape")


def look_at_training(page: Page) -> None:
    """Go through the training by button, slider and curve, and choose another kind of attention in the architecture."""
    press(page, stage_texts.UNTRAINED_MOMENT)
    slider = stage(page).get_by_role("slider", name=browser_texts.TRAINING["moments"])
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    expect(said(page)).to_contain_text("After 10 of 200 batches: 0 of 9")
    written = next(record.probe.written for record in stored_copy().records if record.done == 10)
    cells = stage(page).get_by_role("row").filter(has_text=copy_texts.OUTPUT).get_by_role("cell")
    expect(cells.first).to_have_text(str(written[0]))
    curve = stage(page).get_by_role("group", name=re.compile(f"^{copy_texts.CURVES[0]}"))
    curve.press("End")
    curve.press("Enter")
    expect(said(page)).to_contain_text(re.compile("After 200 of 200 batches.*9 of 9"))
    stage(page).get_by_role("button", name=copy_texts.BOXES["decoder"]).click()
    expect(stage(page).get_by_role("combobox", name=browser_texts.CONTROLS["stack"])).to_have_value("decoder")
    press(page, stage_texts.UNTRAINED_MOMENT)


def look_at_next_word(page: Page) -> None:
    """Look at other places with other temperatures and cuts: their bars are those of the core. Then at another head."""
    engine = load("writer")
    encoding = engine.encode(OLD_MAN, None, WRITTEN)
    logits = next_logits(engine, encoding, range(len(encoding) - 1 - len(WRITTEN), len(encoding)))
    for at, *how in ((2, 0.6, 0, 1.0), (4, 1.0, 0, 0.6), (0, 1.7, 20, 0.8)):
        if at:
            page.get_by_test_id("written").locator(f"[data-at='{at}']").click()
        else:
            press(page, next_texts.PICTURE["next"])
        for name, value in zip(("temperature", "topK", "topP"), how, strict=True):
            page.get_by_role("combobox", name=next_texts.PICTURE[name], exact=True).select_option(f"{value:g}")
        shares = Sampling(*how).shares(logits[at - 1 if at else -1])
        best = np.sort(shares[largest(shares, 12)])[::-1]
        expected = [percent(share).replace("\xa0", " ").split()[0] for share in best if share > 0]
        lines = page.get_by_role("listbox", name=next_texts.PICTURE["likely"]).get_by_role("option").all_inner_texts()
        assert [line.split()[-2] for line in lines][: len(expected)] == expected
    page.get_by_role("gridcell", name=re.compile("^Layer 5, head 3")).click()
    expect(said(page)).to_contain_text("Layer 5, head 3.")
    expect(stage(page)).to_contain_text(browser_texts.AHEAD)


def reached(found: CutEffects, least: float, most: float = np.inf) -> int:
    """Count the arcs of an effect below `most` into the blank, and into tokens that an arc of at least `least` leads to."""
    tokens, counted = [found.place], 0
    for token in tokens:
        effects = np.abs(np.nan_to_num(found.effect[:, token]))
        counted += int(((effects >= least) & (effects < most)).sum())
        tokens += [key for key in dict.fromkeys(np.argwhere(effects >= least)[:, 1].tolist()) if key not in tokens]
    return counted


def wait_for_routes(page: Page) -> None:
    """Wait until every arc is there that may be drawn, of both kinds."""
    for by, lines in (("mixed", "of what enters the blank comes from"), ("effect", "")):
        expect(stage(page)).to_have_attribute("data-measured", "true")
        press(page, browser_texts.ROUTES["byOptions"][by])
        expect(stage(page)).to_have_attribute("data-arcs", re.compile("[1-9]"))
        page.get_by_test_id("routes").press("Home")
        expect(said(page)).to_contain_text(lines)
    page.get_by_test_id("routes").press("Escape")


def look_at_routes(page: Page) -> None:
    """Draw fewer arcs, and those of one layer; play them, which moves."""
    page.emulate_media(reduced_motion="no-preference")
    found = cut_effects(load("embedded"), CUPBOARD)
    stage(page).get_by_label(browser_texts.ROUTES["least"]).select_option("0.5")
    expect(stage(page)).to_have_attribute("data-arcs", str(reached(found, 0.1) - reached(found, 0.1, 0.5)))
    page.get_by_test_id("routes").press("ArrowDown")
    press(page, browser_texts.ROUTES["stepDown"])
    expect(stage(page)).to_have_attribute("data-layer", "4")
    expect(said(page)).to_contain_text("Layer 4: “")
    press(page, browser_texts.ROUTES["play"])
    expect(stage(page)).to_have_attribute("data-layer", "")


class Stage(NamedTuple):
    """A view of a page with a stage: its link, texts of its figure on arrival, `look` around in it, what the link holds then.

    Without `look`, a stage of pictures, whose controls are all used.
    table: the button that saves its numbers, and a line of them. arrived: waits until all of it is there.
    """

    path: str
    figure: set[str]
    address: str
    look: Callable[[Page], None] | None = None
    table: tuple[str, str] | None = None
    arrived: Callable[[Page], None] = lambda page: None


def wait_for_library(page: Page) -> None:
    """Wait for the run of Hugging Face's model, which is loaded in the background."""
    expect(page.get_by_role("button", name=bert_texts.STATES["before"], exact=True)).to_be_visible()


STAGES = {
    "start": Stage(
        f"/?text={quote_plus(CUPBOARD)}&least=0.1&level=advanced",
        {"key", "table", "is"},
        "least=0.5",
        look_at_routes,
        arrived=wait_for_routes,
    ),
    "attention": Stage(
        f"/attention?text={quote_plus(PANCAKES)}&heads=2-8&focus=4",
        {"pan", "mary"},
        "heads=2-1_2-8 words=1 hide=1 show=lines scale=viridis",
        look_at_attention,
        (browser_texts.EXPORT["csv"], f"# {browser_texts.TEXTS['csvRounded']}\n{browser_texts.TEXTS['csvCorner']},1 [CLS],2 a"),
    ),
    "fill_mask": Stage(
        f"/fill_mask?text={quote_plus('Yesterday I [MASK] to school.')}&changes=off~5-7&heads=5-7",
        {"school", "Before", "After", "Difference"},
        "heads=6-2 focus=3 compared=difference",
        look_at_blank,
    ),
    "compare": Stage(
        f"/compare?text={quote_plus(FLIES[0])}&text_b={quote_plus(FLIES[1])}&head=2-1&focus=5",
        {"B − A", "A: time", "flies", compare_texts.PICTURE["hatched"]},
        "head=3-5 focus=5 word=4-5",
        look_at_comparison,
    ),
    "patching": Stage(
        "/patching?level=advanced",
        {"key", "are · B patched"},
        "cell=6-3",
        table=(browser_texts.PICTURES["csv"], f"{patching_texts.TITLE},1,key,0.93"),
    ),
    "explanations": Stage(
        "/explanations?level=advanced",
        {"letter", explanation_texts.METHODS["rollout"], "2nd"},
        "word=3 ask=alone",
    ),
    "summaries": Stage("/summaries", {"All heads: kind of head"}, "heads=1-3 colour=grammar"),
    "many_sentences": Stage("/many_sentences", {"Kind of head"}, "heads=1-3 colour=distance"),
    "importance": Stage("/importance?level=advanced", {"Layer 5, head 3", "2.29"}, "what=layer head=6-mlp"),
    "vectors": Stage(
        "/vectors?level=advanced",
        {"flies", "arrow", "A: time flies like an arrow", vector_texts.TITLES[1].format(layer=6)},
        "layer=5 colour=word token=2",
        table=(browser_texts.PICTURES["csv"], f"{vector_texts.TITLES[1].format(layer=6)},time,x in layer 6,-0.1548"),
    ),
    "claims": Stage("/claims", {"Fill the blank", "69 of 69"}, "show=fails made=fill_mask"),
    "next_word": Stage(
        f"/next_word?text={quote_plus(OLD_MAN)}&written={'.'.join(map(str, WRITTEN))}",
        {"door", browser_texts.AHEAD},
        "heads=5-3 temperature=1.7 top_k=20 top_p=0.8",
        look_at_next_word,
    ),
    "self_attention": Stage(
        f"/self_attention?text={quote_plus('The boy read a very old book.')}&layer=2&head=6&cell=matches-5-8",
        {"book", "Dot products", "Query"},
        "numbers=1 cell=matches-4-",
        look_at_head,
    ),
    "heads_and_blocks": Stage(
        f"/heads_and_blocks?text={quote_plus('A cat sat on the [MASK].')}", {"cat", "head 3"}, "cell=lengths-3-1", look_at_block
    ),
    "bert": Stage(
        f"/bert?text={quote_plus('A cat sat on the [MASK].')}", {"cat"}, "heads=4-3", look_at_bert, arrived=wait_for_library
    ),
    "masks": Stage(
        f"/masks?part=one&text={quote_plus(CAT)}",
        {"cat", mask_texts.MATRICES["mask"][0], mask_texts.MATRICES["weights"][0]},
        "kind=window mask=9-",
        paint,
        (browser_texts.PICTURES["csv"], f"{mask_texts.MATRICES['weights'][0]},cat,the (2),0.000000"),
    ),
    "positions": Stage("/positions?part=ways&scheme=alibi&length=9", {ENCODING_VIEWS["alibi"].map_title}, "look=effect"),
    "encoder_decoder": Stage("/encoder_decoder?level=advanced", {"start", "4 → 62"}, "kind=decoder moment=0", look_at_training),
}
"""By the key of a page. The classifier's is that of the encoder-decoder; bertviz draws in its own frame."""

SAID = "[data-testid=stage-said], .chart-said"
"""What a stage says of what is shown, whatever it draws."""


def test_every_page_with_a_stage_is_walked():
    assert {page.key for page in contents.PAGES if page.computes} - {"classifier", "bertviz_page"} == STAGES.keys()


LONG_LINES = """() => [...document.querySelectorAll('[data-testid=stMain] [data-testid=stMarkdownContainer] p')]
  .filter((line) => line.clientWidth > 48 * parseFloat(getComputedStyle(line).fontSize)).map((line) => line.textContent)"""
"""Paragraphs that are wider than some 90 letters."""


@pytest.mark.parametrize("key", STAGES)
def test_a_stage_is_in_sight_is_saved_looks_without_asking_its_server_and_comes_back(page_at, tmp_path: Path, key: str):
    case = STAGES[key]
    page = page_at(case.path, prepare=lambda page: page.add_init_script(NOTE_WRITING))
    for width, height in ((1280, 800), (390, 844), (1280, 800)):
        page.set_viewport_size({"width": width, "height": height})
        comes_first(page) if width > 390 or key not in LOADED else fits(page)  # those come first in test_across_pages
    case.arrived(page)
    press(page, browser_texts.EXPORT["menu"])
    drawn = ElementTree.parse(saved(page, browser_texts.EXPORT["svg"]))
    assert case.figure <= {element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")}
    if case.table:
        name, line = case.table
        assert line in saved(page, name).read_text("utf-8")
    file = tmp_path / "alone.html"
    file.write_bytes(saved(page, browser_texts.EXPORT["webPage"]).read_bytes())
    page.keyboard.press("Escape")
    alone, wrong = page.context.new_page(), []
    alone.on("pageerror", lambda error: wrong.append(str(error)))
    alone.on("request", lambda request: request.url.startswith(("file:", "data:", "blob:")) or wrong.append(request.url))
    alone.goto(file.as_uri())
    look = case.look or partial(look_at_pictures, looks=looks_of(alone))
    look(alone)
    assert wrong == []
    page.bring_to_front()
    with silent(page):
        look(page)
        page.wait_for_url(lambda url: all(part in url for part in case.address.split()))
    shown = stage(page).locator(SAID).filter(visible=True)
    seen = shown.all_inner_texts()
    assert seen
    page.set_viewport_size({"width": 390, "height": 844})
    page.reload()
    expect(shown).to_have_text(seen, use_inner_text=True)
    fits(page)
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.wait_for_function("() => document.querySelector('[data-testid=stMain]').clientWidth > 1280")
    assert page.evaluate(LONG_LINES) == []
    page.keyboard.press("p")
    fills_the_screen(page)


PARTS = (
    *(f"/masks?part={part}" for part in ("penalty", "batch", "why")),
    *(f"/summaries?level=advanced&part={part}" for part in ("layers", "sinks", "lens")),
    *("/positions?level=advanced", "/classifier?", "/classifier?model=own", "/bertviz?"),
)
"""Other views of pages, and pages that no other test here opens: their picture comes first."""
LOWER = (
    "/positions?part=demands",
    *(f"/summaries?level=advanced&part={part}" for part in ("values", "alike", "owed")),
    *(f"/heads_and_blocks?part={part}" for part in ("embeddings", "feed", "norm", "depth", "journey")),
    *(f"/bert?part={part}" for part in ("labels", "family")),
    *("/compare?vary=changes", "/encoder_decoder?part=inside"),
    *(f"/{page}?level=advanced" for page in ("patching", "explanations", "importance", "vectors")),
)
"""Views whose pictures are lower, or whose pages are longer; and those that are walked above, for axe."""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_picture_of_every_part_comes_first_and_nothing_is_a_barrier(page_at, axe, dark: bool):
    """Each part is looked at in one theme, and by axe at one width: colours and controls are those of other parts."""
    paths = (*PARTS[dark::2], *LOWER[dark::2])
    page = page_at(paths[0], dark=dark)
    for number, path in enumerate(paths):
        if number:
            go_by_history(page, path)
        for width, height in ((1280, 800), (390, 844)):
            page.set_viewport_size({"width": width, "height": height})
            answered(page)
            comes_first(page) if path in PARTS else fits(page)
            if (width == 390) == number % 2:
                axe(page)
