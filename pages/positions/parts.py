"""The parts of the page: what each computes, shows in the stage, explains below it, and exports."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from pages.positions import texts
from pages.positions.drawings import (
    describe_learned_table,
    encoding_pictures,
    requirements_picture,
    shuffle_numbers,
    shuffle_pictures,
)
from pages.positions.encodings import ENCODING_VIEWS, encoding_numbers, requirements_numbers
from pages.positions.inputs import PAGE, PositionInputs
from pages.ui.export.records import PartNumbers
from pages.ui.shell import cache
from pages.ui.shell.address import set_values, value_of, widget_key
from pages.ui.shell.frame import show_source
from pages.ui.shell.level import show_formula
from pages.ui.stage.pictures import Picture
from pages.ui.stage.tokens import note_special_tokens, warn_of_unknown
from tx_core.engine.bert_engine import BertEngine
from tx_core.errors import memory_checked
from tx_core.lessons import word_order
from tx_core.lessons.position_encodings import check_encodings, compared_encodings, learned_table
from tx_core.transformer.positions import check_criteria


@dataclass(frozen=True)
class PartRun:
    """A part of the page, computed.

    Attributes:
        engine: the model that computed it; None where formulas alone did.
        pictures: of the stage.
        numbers: what they are computed of.
        explain: writes what stands below the stage.
    """

    engine: BertEngine | None
    pictures: Sequence[Picture]
    numbers: PartNumbers
    explain: Callable[[], None]


def run_part(inputs: PositionInputs, engine: BertEngine) -> PartRun:
    """Compute the part that is asked for; raise ExplorerError where the text cannot be read."""
    with memory_checked():
        return {"ways": _encoding, "demands": _requirements, "shuffle": _shuffle}[inputs.part](inputs, engine)


def _encoding(inputs: PositionInputs, engine: BertEngine) -> PartRun:
    """One encoding, seen from four sides."""
    encoding, choice = ENCODING_VIEWS[inputs.scheme], inputs.choice(engine)
    if choice.encoding.vectors:
        set_values(PAGE, {"dims": list(choice.dims)})  # the box shows those that are drawn

    def explain() -> None:
        st.markdown(encoding.text)
        show_formula(encoding.formula.replace("10000", str(inputs.base)))
        show_source(*encoding.code)

    numbers = encoding_numbers(value_of(PAGE, "look"), choice)
    return PartRun(engine if encoding.of_model else None, encoding_pictures(choice), numbers, explain)


def _requirements(inputs: PositionInputs, engine: BertEngine) -> PartRun:
    """The requirements on encodings, measured on the spot."""
    table, base = learned_table(engine), float(inputs.base)
    checked = check_encodings(inputs.width, base, table, inputs.length)
    picture = requirements_picture(checked, describe_learned_table(checked, table[: inputs.length]))

    def explain() -> None:
        st.markdown(texts.REQUIREMENTS_TEXT)
        st.caption(texts.REQUIREMENTS_CAPTION)
        show_formula(texts.REQUIREMENTS_FORMULA)
        show_source(check_criteria, compared_encodings)

    return PartRun(engine, [picture], requirements_numbers(inputs.length, inputs.width, base), explain)


def _shuffle(inputs: PositionInputs, engine: BertEngine) -> PartRun:
    """The words in another order, and what the model makes of them."""
    key = (PAGE, cache.engine_key(engine), inputs.text, inputs.seed)
    run = cache.get_or_compute(key, partial(word_order.shuffle_test, engine, inputs.text, inputs.seed))
    note_special_tokens(engine, run.encoding.special_tokens)
    warn_of_unknown([run.encoding], engine.name, widget_key(PAGE, "model"))

    def explain() -> None:
        if run.ordered is None:
            st.caption(texts.NO_BLANK)
        st.markdown(texts.SHUFFLE_TEXT)
        show_formula(texts.SHUFFLE_FORMULA)
        show_source(word_order.embed, word_order.shuffle_effect)

    return PartRun(engine, shuffle_pictures(run), shuffle_numbers(engine, inputs.text, inputs.seed), explain)
