"""What the page is asked: a beginning, a model that writes, what it has written so far, and how the next token is drawn."""

from dataclasses import replace
from operator import attrgetter

import streamlit as st

from pages.next_word import texts
from pages.ui.shell.address import ask_for_view, page_view, widget_key
from pages.ui.shell.examples import Example, hint, offer_examples
from pages.ui.shell.fields import Field, StageFields, check, choice_field, number_field
from pages.ui.stage import view_options
from pages.ui.stage.changes import CHANGES_FIELD
from pages.ui.stage.inputs import SentenceInputs, input_fields, sentence_inputs
from pages.ui.stage.routes import BESIDE_LOOKS
from pages.ui.stage.view_options import COMPARED
from tx_core.engine.catalogue import WRITER
from tx_core.fill_mask.blanks import before_blank
from tx_core.fill_mask.next_words import Sampling

MAX_WRITTEN = 60
"""Tokens that are written behind a beginning, at most: each is sent with what else could have stood there."""
LISTED = 200
"""The most likely tokens of each place that are sent, at most."""
TEMPERATURES = tuple(round(0.1 * tenths, 1) for tenths in range(1, 21))
TOP_P = tuple(round(0.05 * step, 2) for step in range(1, 21))
MAX_SEED = 9999
HEADS = ((2, 1),)
"""The head of the first view: of the embedded writer, one that looks at other words than the last and the first."""


BEGINNINGS = tuple(Example(text, notice, {"text": text}) for text, notice in texts.BEGINNINGS)


def read_written(written: str) -> tuple[int, ...]:
    """Read ids of tokens as a link writes them, 12.345.6; raise ValueError for anything else. The model may still lack them."""
    ids = tuple(map(int, written.split("."))) if written else ()
    if write_written(ids) != written or len(ids) > MAX_WRITTEN or any(not 0 <= one < 10_000_000 for one in ids):
        raise ValueError(f"written must be at most {MAX_WRITTEN} numbers of tokens, such as 12.345.6")
    return ids


def write_written(ids: tuple[int, ...]) -> str:
    """Write ids of tokens as a link does."""
    return ".".join(map(str, ids))


def _share_field(name: str, options: tuple[float, ...]) -> Field[float]:
    """Return a field that takes one of a few numbers, 1 by default."""
    write = "{:g}".format
    return Field(name, 1.0, lambda written: float(check(written, list(map(write, options)))), write)


FIELDS = StageFields(
    (*input_fields(BEGINNINGS[0].title, model=WRITER), Field("written", (), read_written, write_written), CHANGES_FIELD),
    (
        *view_options.view_fields(HEADS),
        choice_field("compared", COMPARED),
        number_field("at", 0, 0, MAX_WRITTEN),
        _share_field("temperature", TEMPERATURES),
        number_field("top_k", 0, 0, LISTED),
        _share_field("top_p", TOP_P),
        number_field("seed", 1, 1, MAX_SEED),
        *BESIDE_LOOKS,
    ),
    carried=before_blank,
)


def writing_inputs(page: str) -> SentenceInputs:
    """Read the address, draw the box and the beginnings, and return what is asked.

    What was written belongs to its beginning, model and reading: with another of them it is gone.
    """
    state, name = st.session_state, widget_key(page, "written")
    inputs = sentence_inputs(page, FIELDS, offers=attrgetter("predicts_next"), counts=False)
    asked = (page_view(page).arrivals, inputs.text, inputs.model, inputs.bare)
    before = state.get(f"{page}_begun", asked)
    if before != asked and before[0] == asked[0]:
        state[name] = ()
    state[f"{page}_begun"] = asked
    usual = {"written": (), "changes": (), "at": 0, "focus": None}
    offer_examples(
        page,
        BEGINNINGS,
        lambda one: one.title == inputs.text,
        lambda chosen: ask_for_view(page, usual | chosen.view),
        lambda one: hint(one) if inputs.model == WRITER else "",
    )
    return replace(inputs, written=state[name])


def sampling(page: str) -> Sampling:
    """Return how the next token is drawn, as the browser shows it."""
    return Sampling(*(st.session_state[widget_key(page, name)] for name in ("temperature", "top_k", "top_p")))
