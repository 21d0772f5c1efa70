"""What all parts share: a computed part, the lists of heads and tokens in its toolbar, and how its numbers are offered below."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import streamlit as st

from pages.summaries import texts
from pages.ui.export.computation import Computation, evaluate, load_call, named, sentences_of
from pages.ui.export.menu import export_menu, offer_tables
from pages.ui.export.records import Code, DataTable, Export, table_files
from pages.ui.shell import cache
from pages.ui.shell.address import value_of
from pages.ui.shell.controls import head_name
from pages.ui.shell.frame import explain_computation
from pages.ui.stage.browser_texts import CONTROLS
from pages.ui.stage.charts import Drawing, listing_drawing
from pages.ui.stage.controls import Control
from pages.ui.stage.heads import all_heads
from pages.ui.stage.inputs import SentenceInputs
from pages.ui.stage.pictures import About, Picture
from pages.ui.stage.sources import Source, reading, source, title_stem
from pages.ui.stage.tokens import numbered_tokens
from pages.ui.stage.view_options import drop_missing_heads, heads_to_link, show_note, token_to_link
from tx_core.transformer.interventions import Head
from tx_core.transformer.trace import Encoding, Trace

PAGE = "summaries"
MOST_NUMBERS = 60_000
"""How many numbers are sent beyond those of the view: with those of all heads, or tokens, the browser looks around by itself."""


@dataclass(frozen=True)
class Explanation:
    """What stands below a part.

    Attributes:
        caveat: what it cannot show.
        text: what it shows, in Markdown.
        equations: in LaTeX.
        sources: the functions that compute it.
    """

    caveat: str
    text: str = ""
    equations: Sequence[str] = ()
    sources: Sequence[Callable[..., object]] = ()


@dataclass(frozen=True)
class PartRun:
    """A part of the page, computed.

    Attributes:
        title: what its exports are called.
        trace: the run that it sums up.
        controls, pictures, partial: as `pictures_stage` takes them.
        numbers: makes the table of what is looked at.
        code: computes it.
        below: what stands below the stage.
    """

    title: str
    trace: Trace
    controls: Sequence[Control]
    pictures: Sequence[Picture]
    numbers: Callable[[], DataTable]
    code: Code
    below: Explanation
    partial: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def about(self) -> About:
        """Describe what the pictures are of."""
        return About(self.title, self.source)

    @property
    def source(self) -> Source:
        """Name the run."""
        read = self.trace.attention.query_tokens
        return source(self.trace.model, text=read.text, pair=read.pair, **reading(read.special_tokens))


def words_picture(sentence: str = "", head: Sequence[str] = (), rows: Sequence[Sequence[str]] = (), **more: object) -> Picture:
    """Return a picture of a sentence, or of a small table of words, which has no numbers."""
    return Picture(listing_drawing("", head, rows), sentence, **more)


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
    """Return the place of the token that is looked at, and the list of those to choose from.

    By default it is the first blank, else the first word, or the last one.
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


def computed(inputs: SentenceInputs, trace: Trace, wanted: Computation, *chosen: object) -> Any:
    """Return the result of a computation that has a name, cached. chosen: what it depends on beside the run."""
    engine = inputs.engine()
    key = (PAGE, wanted.variable, cache.engine_key(engine), inputs.text, inputs.pair, *chosen)
    return cache.get_or_compute(key, lambda: evaluate(wanted, engine=engine, trace=trace))


def drawings_table(drawings: Sequence[Drawing], row_name: str) -> DataTable:
    """List the cells of matrices over the same rows and keys, one row each. row_name: "layer" or "query"."""
    first = drawings[0]
    keys = numbered_tokens(first.columns)
    names = keys if first.rows == first.columns else first.rows
    cells = np.stack([one.values for one in drawings], axis=-1).tolist()
    rows = [(name, key, *cells[row][column]) for row, name in enumerate(names) for column, key in enumerate(keys)]
    arrays = {re.sub(r"\W+", "_", one.title.lower()): one.values for one in drawings}
    labels = {"rows": np.array(first.rows, np.str_), "keys": np.array(first.columns, np.str_)}
    about = {"axes": texts.MATRIX_AXES[row_name]}
    return DataTable((row_name, "key", *(one.title for one in drawings)), rows, arrays | labels, about)


def show_below(run: PartRun) -> None:
    """Explain a part, and offer its numbers as a table and as files, and the code that computes them."""
    below = run.below
    explain_computation(*filter(None, [below.text]), formulas=below.equations, sources=below.sources)
    show_note(below.caveat, run.trace)
    offer_tables(PAGE, lambda: [run.numbers()])
    export_menu(PAGE, {run.title: lambda: _export(run)})


def _export(run: PartRun) -> Export:
    """Return numbers and code."""
    title = texts.HEADING.format(subject=run.title, model=run.about.source["model"])
    stem = title_stem(run.title, run.source)
    files = table_files(texts.ALL_NUMBERS, texts.ROWS, stem, run.numbers())
    return Export(title, stem, (files,), run.code, {**run.source, "shown": run.title})
