"""What a prediction depends on: attention from the blank beside gradients of the answer, token by token."""

import numpy as np
from jaxtyping import Float

from pages.summaries import texts
from pages.summaries.run import PAGE, ask_token, engine_of, part_of, trace_call
from pages.ui.export.computation import Computation, call, computed, evaluate, named
from pages.ui.export.part import Part
from pages.ui.shell import cache
from pages.ui.shell.address import value_of
from pages.ui.shell.numbers import percent, signed
from pages.ui.stage.charts import listing_drawing, signed_drawing
from pages.ui.stage.controls import Control
from pages.ui.stage.inputs import SentenceInputs
from pages.ui.stage.pictures import Picture
from pages.ui.stage.texts import BLANK
from pages.ui.stage.tokens import numbered_tokens
from pages.ui.stage.view_options import token_to_link
from tx_core.analysis import attribution
from tx_core.analysis.attribution import Attribution
from tx_core.engine.engine import Engine
from tx_core.errors import TextProblem
from tx_core.fill_mask.predictions import encode_with_blanks, predict
from tx_core.transformer.trace import Trace

TOP_K = 5
"""Answers that a reader may choose from."""
EQUATION = r"(v - v') \cdot \int_0^1 \nabla_{\!v} \log p\,\bigl(v' + t\,(v - v')\bigr)\,dt"


def sum_up(inputs: SentenceInputs, engine: Engine, trace: Trace) -> Part:
    """Compute what one answer at one blank depends on."""
    if inputs.pair:
        raise TextProblem(texts.SINGLE_SENTENCE)
    encode_with_blanks(engine, inputs.text)  # refuses a model that only writes on: `predict` lists what may follow
    filling = cache.call(predict, engine, inputs.text, top_k=TOP_K)
    place, blanks = ask_token(filling.encoding, filling.encoding.blanks, BLANK)
    words = next(blank for blank in filling.blanks if blank.place == place).predictions
    rank = min(value_of(PAGE, "rank"), len(words))
    labels = [texts.ANSWER_OPTION.format(word=one.label, probability=percent(one.probability)) for one in words]
    answers = tuple((str(number), label) for number, label in enumerate(labels, start=1))
    word = words[rank - 1].id
    attribution.check_attribution_length(engine, filling.encoding)
    attention, gradients = numbers(trace, place, word)
    attributed, weights = computed(gradients, engine, trace=trace), evaluate(attention, trace=trace)
    charts = {
        texts.BLANK_ATTENTION: weights,
        texts.GRADIENT_INPUT: attributed.gradient_input,
        texts.INTEGRATED: attributed.integrated,
    }
    tokens = numbered_tokens(attributed.encoding.tokens)
    bars = [signed_drawing(title, tokens, one.tolist(), limit=float(np.abs(one).max())) for title, one in charts.items()]
    agreement = Picture(listing_drawing(), describe_agreement(attributed, weights), row=1)
    return part_of(
        trace,
        texts.ATTRIBUTION_SUBJECT.format(word=attributed.word),
        [*map(Picture, bars), agreement],
        _rounded(attention, gradients),
        texts.ATTRIBUTION_CAVEAT,
        texts.ATTRIBUTION_TEXT,
        formulas=[EQUATION],
        sources=(attribution.attribute, attribution.integrated_gradients),
        partial={"token": [token_to_link(place)], "rank": [str(rank)]},
        controls=[blanks, Control("rank", "list", texts.ASK_ANSWER, answers, labelled=True, fallback=str(rank))],
    )


def describe_agreement(attributed: Attribution, weights: Float[np.ndarray, "token"]) -> str:
    """Return the words' effect on the prediction, and how far attention and gradients rank them alike, as a sentence."""
    special = attributed.encoding.special
    # Ranks compare the words of the text only: no special tokens, and not the blank itself.
    own = [place for place, mark in enumerate(special) if not mark and place != attributed.place]
    agreement = {
        name: signed(attribution.rank_agreement(weights[own], np.abs(values[own])))
        for name, values in (("integrated", attributed.integrated), ("gradient_input", attributed.gradient_input))
    }
    return texts.ATTRIBUTIONS.format(
        word=attributed.word,
        baseline=signed(attributed.baseline),
        score=signed(attributed.score),
        change=signed(attributed.score - attributed.baseline),
        total=signed(attributed.integrated.sum()),
        **agreement,
    )


def numbers(trace: Trace, place: int, word: int) -> tuple[Computation, Computation]:
    """Return the computation of the attention from a blank, and that of the gradients of an answer."""
    engine, text = engine_of(trace), trace.attention.query_tokens.text
    attention = named("attention", trace_call(engine, trace).attention.weights[:, :, place].mean(axis=(0, 1)))
    return attention, named("attributed", call(attribution.attribute, engine, engine.encode(text), place, word))


def _rounded(attention: Computation, attributed: Computation) -> list[Computation]:
    gradients = [named(name, getattr(attributed, name)) for name in ("gradient_input", "integrated")]
    return [one.round(3) for one in (attention, *gradients)]
