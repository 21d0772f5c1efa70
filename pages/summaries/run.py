"""What all parts share: how a part is made, and the lists of heads and tokens in its toolbar."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages.summaries import texts
from pages.ui.export.computation import Computation, load_call, named, sentences_of
from pages.ui.export.part import Part
from pages.ui.export.records import PartNumbers
from pages.ui.shell.address import value_of
from pages.ui.shell.controls import head_name
from pages.ui.stage.browser_texts import CONTROLS
from pages.ui.stage.controls import Control
from pages.ui.stage.heads import all_heads
from pages.ui.stage.pictures import Picture
from pages.ui.stage.sources import reading, source
from pages.ui.stage.tokens import numbered_tokens
from pages.ui.stage.view_options import drop_missing_heads, heads_to_link, show_note, token_to_link
from tx_core.transformer.interventions import Head
from tx_core.transformer.trace import Encoding, Trace

PAGE = "summaries"
MOST_NUMBERS = 60_000
"""How many numbers are sent beyond those of the view: with those of all heads, or tokens, the browser looks around by itself."""


def part_of(
    trace: Trace, title: str, pictures: Sequence[Picture], numbers: Sequence[Computation], caveat: str, *prose: str, **more: Any
) -> Part:
    """Return a part. numbers: what its code computes. caveat: what it cannot show. more: as of `Part`."""
    read = trace.attention.query_tokens
    about = source(trace.model, text=read.text, pair=read.pair, **reading(read.special_tokens))
    return Part(pictures, PartNumbers(title, about, numbers), prose, lambda: show_note(caveat, trace), **more)


def in_link(head: Head) -> str:
    """Write a head as a link does."""
    return heads_to_link([head])


def ask_head(layers: int, heads: int) -> tuple[Head, Control]:
    """Return the head that is looked at, and the list of all of them; note which heads of a link the model lacks."""
    if missing := drop_missing_heads(PAGE, layers, heads):
        st.info(missing)
    head = value_of(PAGE, "heads")[0]
    options = tuple((link, head_name(one)) for link, one in all_heads(layers, heads).items())
    arrows = CONTROLS["headBefore"], CONTROLS["headAfter"]
    return head, Control("heads", "list", texts.HEAD_LIST, options, fallback=in_link(head), arrows=arrows)


def ask_token(encoding: Encoding, places: Sequence[int], label: str, *, last: bool = False) -> tuple[int, Control]:
    """Return the place of the token that is looked at, by default the first blank, else first or last word, and the list to
    choose.
    """
    words = [place for place in places if not encoding.special[place]]
    first = next(iter((*encoding.blanks, *(reversed(words) if last else words), *places)))
    asked = value_of(PAGE, "token")
    place = asked if asked in places else first
    labels = numbered_tokens(encoding.tokens)
    options = tuple((token_to_link(one), labels[one]) for one in places)
    return place, Control("token", "list", label, options, labelled=True, fallback=token_to_link(place))


def engine_of(trace: Trace) -> Computation:
    """Return the computation of the engine of a run."""
    return load_call(trace.model, trace.attention.query_tokens.special_tokens)


def trace_call(engine: Computation, trace: Trace, **keywords: object) -> Computation:
    """Return the computation of a run that was made."""
    return named("trace", engine.trace(*sentences_of(trace.attention.query_tokens), **keywords))
