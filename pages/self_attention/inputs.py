"""What the page of self-attention is asked: a sentence, which head is computed on it and how, and a store of keys and values.

Nothing here imports torch: the first picture is drawn from a file while the model is being loaded.
"""

from dataclasses import dataclass

from pages.self_attention import texts
from pages.ui.shell import controls
from pages.ui.shell.address import KEPT_PARAMETERS, read_stage_address, set_values, value_of, view_parameters
from pages.ui.shell.fields import Field, StageFields, choice_field, flag_field, number_field, text_field
from pages.ui.shell.texts import SENTENCE
from pages.ui.stage.controls import Control, head_controls, matrix_controls, seed_control
from pages.ui.stage.inputs import PageInputs, ask_model, ask_sentences, input_values, may_be_bert
from pages.ui.stage.matrices import Cell, cell_from_link, cell_to_link
from pages.ui.stage.tokens import SPECIAL_FIELD
from pages.ui.stage.view_options import MAX_LAYERS_OR_HEADS
from tx_core.engine.catalogue import DEFAULT
from tx_core.errors import ExplorerError
from tx_core.lessons.key_value_store import EXAMPLE, LARGEST, WIDTH, Store, VectorRow
from tx_core.transformer.interventions import Head

PAGE = "self_attention"
DIMENSIONS_SHOWN = (2, 32)
"""The fewest and the most dimensions that can be shown; all are computed with."""
FIRST_TEXT = "The boy read a very old book."
FIRST_HEAD = {"layer": 2, "head": 6}
"""A head that finds the noun of an article and the object of a verb, one to four tokens ahead: what it looks at is no place."""
FIRST_CELL = Cell("matches", 4, 7)
"""How well the query of 'a' matches the key of 'book'."""
EARLIER_TEXT, EARLIER_HEAD = "time flies like an arrow", {"layer": 1, "head": 8}
"""What older links left out: the page opened on it when they were written."""
SEEDS = (1, 999)
MATRICES = ("cell", "all", "vectors", "matches", "scores", "masked", "weights", "context")
"""Which matrices are shown: those of the step that the chosen cell is of, all, or those of a step."""
QUERIES = ((0, 10, 0), (0, 0, 10), (10, 10, 0))
"""Queries of the store that are offered as buttons."""
QUERY_FIELDS = ("q1", "q2", "q3")

Table = tuple[tuple[VectorRow, VectorRow], ...]
"""The rows of a store: a key, and its value."""


def read_table(written: str) -> Table:
    """Read a table as a link writes it; raise ValueError for one that cannot be used."""
    rows = [tuple(float(number) for number in row.split("_")) for row in written.split("~")]
    if any(len(row) != 2 * WIDTH for row in rows):
        raise ValueError(f"every row must hold {2 * WIDTH} numbers")
    table = tuple((row[:WIDTH], row[WIDTH:]) for row in rows)
    try:
        store_of(table)
    except ExplorerError as problem:
        raise ValueError(str(problem)) from problem
    return table


def write_table(table: Table) -> str:
    """Write a table for a link."""
    return "~".join("_".join(f"{number:.10g}" for number in (*key, *value)) for key, value in table)


def read_number(written: str) -> float:
    """Read one number of the query from a link; raise ValueError for what is none, or too large."""
    number = float(written)
    if not abs(number) <= LARGEST:
        raise ValueError(f"must lie within ±{LARGEST:,.0f}")
    return number


def store_of(table: Table) -> Store:
    """Return the rows as a store; raise ExplorerError for one that cannot be used."""
    return Store(tuple(key for key, _ in table), tuple(value for _, value in table))


SETTINGS = (
    SPECIAL_FIELD,
    choice_field("weights", tuple(texts.PROJECTION_LABELS)),
    number_field("layer", 0, 1, MAX_LAYERS_OR_HEADS),
    number_field("head", 0, 1, MAX_LAYERS_OR_HEADS),
    number_field("seed", SEEDS[0], *SEEDS),
    choice_field("normalise", tuple(texts.NORMALISE_LABELS)),
    flag_field("unscaled"),
    flag_field("causal"),
)
"""What the toolbar of the stage asks to compute with."""
TEXT_AND_MODEL = text_field("text", FIRST_TEXT), Field("model", DEFAULT, controls.read_model)
STORE_FIELDS = (
    Field("store", tuple(zip(EXAMPLE.keys, EXAMPLE.values, strict=True)), read_table, write_table),
    *(Field(name, float(number), read_number, "{:.10g}".format) for name, number in zip(QUERY_FIELDS, QUERIES[0], strict=True)),
)
ANSWER = Field("answer", Cell("result", 0, 0), cell_from_link, cell_to_link)
FIELDS = StageFields(
    own=(*TEXT_AND_MODEL, *SETTINGS, *STORE_FIELDS),
    looks=(
        flag_field("numbers"),
        number_field("dimensions", 6, *DIMENSIONS_SHOWN),
        Field("cell", Cell("matches", 3, 2), cell_from_link, cell_to_link),
        choice_field("matrices", MATRICES),
        ANSWER,
    ),
    first={**FIRST_HEAD, "cell": FIRST_CELL},
)


@dataclass(frozen=True)
class HeadInputs(PageInputs):
    """What is computed, by the names of the fields; layer and head are counted from 1."""

    weights: str
    layer: int
    head: int
    seed: int
    normalise: str
    unscaled: bool
    causal: bool
    needs_own_bert = True


def head_inputs() -> HeadInputs:
    """Read the address, draw the box of the sentence, and return what is asked."""
    arriving = read_stage_address(PAGE, FIELDS)
    _complete_view(arriving)

    def read() -> HeadInputs:
        return HeadInputs(**input_values(PAGE, (*TEXT_AND_MODEL, *SETTINGS)))

    return ask_sentences(PAGE, {"text": SENTENCE}, read, lambda: ask_model(PAGE, may_be_bert))


def _complete_view(arriving: bool) -> None:
    """Fill in what an address leaves out: the first head beside a sentence alone, else what older links meant."""
    given = view_parameters().keys() - set(KEPT_PARAMETERS)
    for name, earlier in EARLIER_HEAD.items():
        if not value_of(PAGE, name):
            set_values(PAGE, {name: FIRST_HEAD[name] if given <= {"text"} else earlier})
    if arriving and given and "text" not in given:
        set_values(PAGE, {"text": EARLIER_TEXT})


def controls_of(weights: str, sizes: Head) -> list[Control]:
    """Return what the toolbar asks, for projections of this kind. sizes: the numbers of layers and of heads."""
    layers, heads = head_controls(*sizes)
    return [
        layers,
        *([heads] if weights == "trained" else []),
        Control("weights", "list", texts.PROJECTIONS, tuple(texts.PROJECTION_LABELS.items())),
        *([seed_control(SEEDS[1])] if weights == "random" else []),
        Control("normalise", "segments", texts.ATTENTION, tuple(texts.NORMALISE_LABELS.items()), texts.NORMALISE_HELP),
        Control("unscaled", "switch", texts.SCALED, help=texts.SCALED_HELP, inverted=True),
        Control("causal", "switch", texts.CAUSAL, help=texts.CAUSAL_HELP),
        *matrix_controls(DIMENSIONS_SHOWN),
    ]
