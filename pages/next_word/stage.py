"""The stage of Next word: what it is told of what could follow, beside the run, and what it asks to write."""

from base64 import b64encode
from collections.abc import Mapping
from functools import partial

import numpy as np
import streamlit as st

from pages.next_word import texts
from pages.next_word.inputs import FIELDS, MAX_SEED, MAX_WRITTEN, TEMPERATURES, TOP_P, read_written, write_written
from pages.next_word.run import ASKED, NextTokens, WritingRun
from pages.ui.shell.address import is_offered, widget_key
from pages.ui.shell.fields import StageFields
from pages.ui.stage.attention import about_run, empty_stage, take_changes
from pages.ui.stage.charts import ONE_COLOUR
from pages.ui.stage.mount import Reported, mount
from pages.ui.stage.packing import pack_runs, shown_layers
from pages.ui.stage.routes import offered_routes
from pages.ui.stage.texts import AFTER, BEFORE, DELTA
from pages.ui.stage.tokens import SPECIAL_FIELD
from tx_core.engine.engine import Engine
from tx_core.fill_mask.next_words import next_word

MANY = 20
"""Tokens that one click writes."""
LABELS = texts.PICTURE | {
    "many": MANY,
    "mostSeed": MAX_SEED,
    "colour": ONE_COLOUR,
    "delta": DELTA,
    "sides": [BEFORE, AFTER],
}
OFFERED = ("temperature", "top_k", "top_p", "seed", "written")
"""What a level or a step of a lesson may leave out."""


def writing_stage(page: str, run: WritingRun) -> None:
    """Draw what could follow, what is written, and where the tokens look."""
    attention = run.attention
    trace, name = attention.trace, attention.name
    shown = shown_layers(trace, st.session_state[widget_key(page, "stack")], st.session_state[widget_key(page, "heads")])

    def pack(header: Mapping[str, object]) -> bytes:
        about = about_run(page, name, trace, attention.unchanged)
        asked = _wish_context(page)
        hidden = [*header["hidden"], *(name for name in OFFERED if not is_offered(name))]
        told = {"text": read_as(run), "labels": LABELS, "next": following(run), "asked": asked, "hidden": hidden}
        told["routes"] = offered_routes(name)
        return pack_runs({**header, **about, **told}, name, trace, attention.unchanged, shown)

    mount(page, _fields(page, run), pack, partial(take_wishes, page))


def _fields(page: str, run: WritingRun) -> StageFields:
    """Return the fields of the page: as long as nobody asks for another, the last token is the one that looks."""
    last = run.start - 1 + len(run.inputs.written)
    if st.session_state[widget_key(page, "focus")] is None:
        st.session_state[widget_key(page, "focus")] = last
    return FIELDS.with_default("focus", last)


def empty_writing_stage(page: str) -> None:
    """Draw a stage that shows nothing: it still writes the address."""
    empty_stage(page, FIELDS, partial(take_wishes, page), lambda _: {"labels": LABELS})


def read_as(run: WritingRun) -> str:
    """Return the beginning and what is written behind it as one text."""
    described = [_described(run.engine, piece) for piece in run.inputs.written]
    return run.inputs.text + "".join(text if joins else f" {text}" for _, _, text, joins in described)


def following(run: WritingRun) -> dict[str, object]:
    """Return what the browser needs to list what could follow each of the last tokens, whatever the temperature."""
    sides = {"after": run.following} | ({"before": run.unchanged} if run.unchanged else {})
    ids = sorted({*run.inputs.written, *(int(one) for side in sides.values() for one in np.unique(side.ids))})
    numbers = {piece: number for number, piece in enumerate(ids)}
    return {
        "beginning": run.inputs.text,
        "start": run.start,
        "written": [numbers[piece] for piece in run.inputs.written],
        "tokens": [_described(run.engine, piece) for piece in ids],
        "listed": run.following.ids.shape[-1],
        "vocabulary": run.following.ids.shape[-1] + run.following.others,
        "temperatures": TEMPERATURES,
        "topP": TOP_P,
        "ended": run.ended,
    } | {name: _packed(side, numbers) for name, side in sides.items()}


def _described(engine: Engine, piece: int) -> tuple[int, str, str, bool]:
    """Return a token's id, its label among others, its text behind others, and whether it joins the word before it."""
    word = next_word(engine.tokenizer, piece, 0.0)
    text = word.word or word.piece
    return piece, f"##{word.word}" if word.joins else text, text, word.joins or text in texts.CLOSING


def _packed(side: NextTokens, numbers: Mapping[int, int]) -> dict[str, object]:
    """Return the numbers of one side: arrays as the bytes of little-endian numbers."""
    ids = np.array([numbers[piece] for piece in side.ids.ravel().tolist()], "<u2")
    arrays = {"ids": ids, "logits": side.logits.astype("<f4"), "rest": side.rest.astype("<f4")}
    return {"stand": side.written} | {name: b64encode(array.tobytes()).decode() for name, array in arrays.items()}


def _wish_context(page: str) -> list[object]:
    """Return what a wish of the browser is about: the model, the beginning, how it is read, and what is written behind it."""
    names = ("model", "text", SPECIAL_FIELD.name, "written")
    model, text, bare, written = (st.session_state[widget_key(page, name)] for name in names)
    return [model, text, bare, write_written(written)]


def take_wishes(page: str, reported: Reported) -> None:
    """Apply what a reader asked for: to write, to put another token somewhere, to go back, or changes of the run."""
    name, count, put, keep = widget_key(page, "written"), *(reported.get(one) for one in ("write", "put", "keep"))
    written = st.session_state[name]
    if isinstance(count, int) and 0 < count <= MANY:
        st.session_state[widget_key(page, ASKED)] = count
    elif reported.get("about") != _wish_context(page):
        pass  # something else was typed or written since
    elif isinstance(put, list) and len(put) == 2 and all(isinstance(one, int) and one >= 0 for one in put):
        at, piece = put
        if at <= len(written) and at < MAX_WRITTEN:
            st.session_state[name] = read_written(write_written((*written[:at], min(piece, 9_999_999))))
    elif isinstance(keep, int) and 0 <= keep < len(written):
        st.session_state[name] = written[:keep]
    take_changes(page, reported)
