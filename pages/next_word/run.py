"""Runs of the page: the beginning with what is written behind it, and what could follow each of its last tokens."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st
from jaxtyping import Float32, Int32

from pages.next_word.inputs import LISTED, MAX_WRITTEN, TEMPERATURES, sampling
from pages.ui.shell import cache
from pages.ui.shell.address import widget_key
from pages.ui.stage.changes import active_changes
from pages.ui.stage.inputs import AttentionRun, SentenceInputs, attention_run
from tx_core.analysis.probabilities import largest, rank_of
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine
from tx_core.errors import ModelUnavailable, memory_checked
from tx_core.fill_mask.next_words import NO_NEXT_WORD, next_logits, read_text, write_words
from tx_core.transformer.interventions import Intervention

ASKED = "to_write"
"""Session entry, by page: how many tokens a reader asked for."""


@dataclass(frozen=True)
class NextTokens:
    """What could follow each of the last tokens of a text: the first is the one before everything that was written.

    ids: the most likely tokens, best first. logits: theirs, less the largest. rest: for each of TEMPERATURES, the logarithm of
    the sum of exp(logit / temperature) over all other tokens. written: rank, counted from 1, and logit, less the largest, of
    each token that was written.
    """

    ids: Int32[np.ndarray, "place listed"]
    logits: Float32[np.ndarray, "place listed"]
    rest: Float32[np.ndarray, "place temperature"]
    others: int
    written: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class WritingRun:
    """What the page has computed.

    attention: the run, with the reader's changes and without. following: what could follow, with the changes. unchanged: the
    same without them; None where there are none. start: the position of the first written token. ended: whether no more can be
    written: the model ended the text, or there is no more space.
    """

    inputs: SentenceInputs
    engine: Engine
    attention: AttentionRun
    following: NextTokens
    unchanged: NextTokens | None
    start: int
    ended: bool


def writing_run(inputs: SentenceInputs) -> WritingRun:
    """Write what was asked for, run the model, and list what could follow. Raises ExplorerError."""
    page, card = inputs.page, catalogue.card(inputs.model)
    count = st.session_state.pop(widget_key(page, ASKED), 0)
    if not card.predicts_next:
        raise ModelUnavailable(NO_NEXT_WORD.format(title=card.title))
    engine = inputs.engine()
    read_text(engine, inputs.text, inputs.written)
    inputs = replace(inputs, written=_write(inputs, engine, count))
    attention = attention_run(inputs)
    changes = active_changes(page)
    following = next_tokens(engine, inputs, changes)
    encoding = attention.trace.attention.query_tokens
    last = inputs.written[-1:]
    full = len(inputs.written) >= MAX_WRITTEN or len(encoding) >= engine.info.max_tokens
    return WritingRun(
        inputs,
        engine,
        attention,
        following,
        next_tokens(engine, inputs, ()) if changes else None,
        len(encoding) - len(inputs.written),
        full or any(map(engine.tokenizer.is_special, last)),
    )


def _write(inputs: SentenceInputs, engine: Engine, count: int) -> tuple[int, ...]:
    """Write as many tokens as were asked for, if any, and remember them."""
    page = inputs.page
    name, seed = widget_key(page, "written"), st.session_state[widget_key(page, "seed")]
    if count := min(count, MAX_WRITTEN - len(inputs.written)):
        with memory_checked():
            changes = active_changes(page)
            asked = {"seed": seed, "sampling": sampling(page), "written": inputs.written, "interventions": changes}
            st.session_state[name] = write_words(engine, inputs.text, count, **asked)
    return st.session_state[name]


def next_tokens(engine: Engine, inputs: SentenceInputs, changes: Sequence[Intervention]) -> NextTokens:
    """Return what could follow the last token before those that were written, and each of these."""
    return cache.call(_next_tokens, engine, inputs.text, inputs.written, tuple(changes))


def _next_tokens(engine: Engine, text: str, written: tuple[int, ...], changes: tuple[Intervention, ...]) -> NextTokens:
    encoding = engine.encode(text, None, written)
    places = range(len(encoding) - 1 - len(written), len(encoding))
    return most_likely(next_logits(engine, encoding, places, changes), written)


def most_likely(logits: np.ndarray, written: Sequence[int]) -> NextTokens:
    """Return the most likely tokens of each place, what the others come to, and where those that were written stand."""
    ids = largest(logits, min(LISTED, logits.shape[-1]))
    relative = logits.astype(np.float64) - logits.max(axis=-1, keepdims=True)
    listed = np.take_along_axis(relative, ids, axis=-1)
    np.put_along_axis(relative, ids, -np.inf, axis=-1)
    with np.errstate(divide="ignore"):
        rest = np.stack([np.log(np.exp(relative / one).sum(axis=-1)) for one in TEMPERATURES], axis=-1)
    others = logits.shape[-1] - ids.shape[-1]
    stand = tuple((rank_of(row, one), float(row[one] - row.max())) for row, one in zip(logits, written, strict=False))
    return NextTokens(ids.astype(np.int32), listed.astype(np.float32), rest.astype(np.float32), others, stand)
