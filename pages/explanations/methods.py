"""The picture of the page: a row of each method, the words of sentence A as its columns; beside it where a word leads on."""

from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st

from pages.explanations import texts
from pages.explanations.inputs import PAGE, ExplanationInputs
from pages.explanations.recovery import explain_methods, find_recovery, show_recovery
from pages.ui.export.computation import call, computed, engine_call, named
from pages.ui.export.part import Part
from pages.ui.export.records import PartNumbers
from pages.ui.shell import cache
from pages.ui.shell.address import is_offered, widget_key
from pages.ui.shell.frame import page_address
from pages.ui.shell.numbers import signed
from pages.ui.stage.charts import Drawing, listing_drawing, matrix_drawing, numbered_once
from pages.ui.stage.inputs import check_pair
from pages.ui.stage.long_runs import LONGEST_SECONDS, is_asked_for, offer_long
from pages.ui.stage.pictures import Picture
from pages.ui.stage.tokens import note_how_read
from pages.ui.stage.view_options import heads_to_link, token_to_link
from tx_core.causal.deciding_words import PairExplanation, explain_pair, pair_runs, pair_seconds, quick_methods, read_pair
from tx_core.causal.explain import READS_ATTENTION, Explanation, explain, methods_of, side_by_side
from tx_core.engine.engine import Engine
from tx_core.engine.progress import AT_ONCE_SECONDS
from tx_core.errors import memory_checked

LEAST_ROW, TALLEST_ROW, WIDEST_ROW = 24, 34, 130
"""Pixels of a row, and of its name."""


def explanation_part(inputs: ExplanationInputs, engine: Engine) -> Part:
    """Explain the answer of A by every method. Raises ExplorerError where the texts or the model do not allow it."""
    recovery = find_recovery(inputs, engine)
    check_pair(inputs.text_b)
    with memory_checked():
        methods = _methods(inputs, engine)
        chosen = (methods,) if methods else ()
        pair = named("pair", call(explain_pair, engine_call(inputs), inputs.text, inputs.text_b, *chosen))
        found: PairExplanation = computed(pair, engine)
        leads = [_leads_on(inputs, engine, found)] if is_offered("links") else []
    answers = dict(zip(("answer", "other"), found.answers, strict=True))
    about = inputs.about(text=texts.BOTH.format(one=inputs.text, other=inputs.text_b))
    tables = [named(ask, call(side_by_side, getattr(pair, ask))).round(3) for ask in texts.ASKS]
    numbers = PartNumbers(texts.TITLES["rather"].format(**answers), about, tables)
    pictures = [*(_map(ask, found, getattr(found, ask), answers) for ask in texts.ASKS), *leads]
    sources = [explain]
    if "lrp" in methods_of(engine):
        from tx_core.transformer.relevance import AttnLRP  # with torch, which a server that asks models in Ray does not load

        sources.append(AttnLRP)
    note_how_read(engine, inputs.text, inputs.text_b, key=widget_key(PAGE, "model"))
    return Part(
        pictures,
        numbers,
        [texts.SHOWS],
        lambda: (explain_methods(), show_recovery(recovery)),
        sources=sources,
        run=recovery.run,
    )


def _methods(inputs: ExplanationInputs, engine: Engine) -> tuple[str, ...]:
    """Return the methods that do not take long, and offer the others; none for all of them."""
    read = read_pair(engine, inputs.text, inputs.text_b)
    every, seconds = methods_of(engine), pair_seconds(read.run, methods_of(engine))
    if seconds <= AT_ONCE_SECONDS or is_asked_for(PAGE, inputs):
        return ()
    quick = quick_methods(read.run, AT_ONCE_SECONDS)
    left = ", ".join(texts.METHODS[name] for name in every if name not in quick)
    told = {"model": engine.title, "tokens": len(read.run.encoding), "runs": pair_runs(read.run, every)[0]}
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(texts.LEFT_OUT.format(left=left, **told))
        if seconds <= LONGEST_SECONDS:
            offer_long(PAGE, inputs, seconds)
    return tuple(quick)


def _map(ask: str, found: PairExplanation, explanations: Sequence[Explanation], answers: Mapping[str, str]) -> Picture:
    """Draw what each method says of each word; the word in which the sentences differ in a frame, its rank at the row's end."""
    encoding = explanations[0].encoding
    rows, words = [texts.METHODS[one.method] for one in explanations], numbered_once(encoding.word_texts)
    drawing = matrix_drawing(texts.TITLES[ask].format(**answers), "signed", side_by_side(explanations), rows, words)
    drawing.chart.update(
        marked=found.word,
        byColumn=True,
        ends=[texts.ordinal(one.rank(found.word)) for one in explanations],
        leastRow=LEAST_ROW,
        tallestRow=TALLEST_ROW,
        widestRow=WIDEST_ROW,
        forgets={"word": ""},
    )
    numbers = [str(number + 1) for number in range(len(words))]
    details = [_read(one, word) for one in explanations for word in range(len(words))]
    return Picture(
        drawing,
        describe(ask, found, explanations, answers),
        {"ask": [ask]},
        share=3,
        cell=texts.CELL,
        details=details,
        chooses="word",
        choices=numbers * len(rows),
    )


def describe(ask: str, found: PairExplanation, explanations: Sequence[Explanation], answers: Mapping[str, str]) -> str:
    """Return which methods rank first the word in which the sentences differ, in words. ask: a key of `texts.ASKS`."""
    word = explanations[0].encoding.word_texts[found.word]
    first = [one.method for one in explanations if one.rank(found.word) == 1]
    named_first = ", ".join(texts.METHODS[name] for name in first) or texts.NONE
    reads = sum(name in READS_ATTENTION for name in first)
    said = texts.SAID[ask].format(word=word, **answers)
    return f"{said} {texts.FIRST.format(first=named_first, reads=reads, all=len(READS_ATTENTION))} {texts.SCALE}"


def _read(one: Explanation, word: int) -> str:
    """Return what is read of a cell."""
    if word not in one.words:
        return texts.NOT_RANKED
    score = one.scores[one.words.index(word)]
    ranked = {"rank": texts.ordinal(one.rank(word)), "words": len(one.words)}
    return texts.READ.format(score=signed(score, 3), meaning=texts.MEANINGS[one.method], **ranked)


def _leads_on(inputs: ExplanationInputs, engine: Engine, found: PairExplanation) -> Picture:
    """List where the chosen word leads on: the head by which the blank looks most at it, and its way in Patching."""
    encoding = found.rather[0].encoding
    blank, weights = encoding.blanks[0], cache.trace_with(engine, inputs.text).attention.weights
    columns = engine.encode(inputs.text_b).words  # of Patching, whose map has the tokens of B

    def leads(word: int) -> dict[str, object]:
        places = [at for at, number in enumerate(encoding.words) if number == word]
        looks = weights[:, :, blank, places].sum(axis=-1)
        look = {"heads": heads_to_link([np.unravel_index(looks.argmax(), looks.shape)]), "focus": token_to_link(blank)}
        pair = {"text_b": inputs.text_b, "cell": f"1-{columns.index(word) + 1}"}
        views = {"attention": look, "patching": pair}
        links = [page_address(page, inputs.in_link(text=inputs.text, **view)) for page, view in views.items()]
        return {"chart": {"title": texts.CHOSEN.format(word=encoding.word_texts[word]), "links": links}}

    listing: Drawing = listing_drawing(texts.CHOSEN.format(word=""), texts.LEADS_HEAD, texts.LEADS)
    listing.chart.update(leads(found.word)["chart"])
    places = range(len(encoding.word_texts))
    variants = {str(word + 1): leads(word) for word in places if word in encoding.words}
    return Picture(listing, texts.LEADS_ON, varies="word", variants=variants)
