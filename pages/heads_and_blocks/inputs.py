"""What the page on blocks is asked: a sentence or two, a BERT, a block and a part of it, and what that part computes with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from pages.heads_and_blocks import texts
from pages.ui.export.computation import Computation, load_call
from pages.ui.export.records import PartNumbers
from pages.ui.shell import controls
from pages.ui.shell import texts as shell_texts
from pages.ui.shell.address import (
    Field,
    StageFields,
    ask_for_view,
    choice_field,
    flag_field,
    number_field,
    read_stage_address,
    set_values,
    text_field,
    value_of,
    values_of,
    view_parameters,
    widget_key,
)
from pages.ui.stage.inputs import ask_model, ask_sentences
from pages.ui.stage.matrices import Cell, cell_from_link, cell_to_link
from pages.ui.stage.sources import reading, source
from pages.ui.stage.texts import NEEDS_OWN_BERT, SECOND_SENTENCE
from pages.ui.stage.tokens import SPECIAL_FIELD
from tx_core.engine.bert_engine import BertEngine, OwnEngine
from tx_core.errors import ModelUnavailable

PAGE = "heads_and_blocks"
LAYERS, HEADS = controls.embedded_sizes()
MAX_LAYERS, MAX_HEADS = 48, 32
"""Of any model that a link may name."""
MAX_BLOCK_TOKENS = 512
MAX_DEPTH_SEEDS = 20
DIMENSIONS_SHOWN = (2, 16)
PARTS = ("heads", "embeddings", "feed", "norm", "depth", "journey")
"""By the names that the address gives them; the first is that of a visit without one."""
STEPS = ("adds", "joined", "sum", "norm", "widened", "bent", "output", "statistics", "normed", "ours")
"""Of the matrices of all parts."""
FIRST_CELLS = {
    "heads": Cell("lengths", 1, 6),
    "embeddings": Cell("sum", 1, 0),
    "feed": Cell("widened", 3, 1),
    "norm": Cell("normed", 1, 0),
}


def read_numbers(most: int) -> Callable[[str], list[int]]:
    """Make a reader of numbers as a link writes them, each from 1 to `most` and at most once: 1-2-5, or none."""

    def read(written: str) -> list[int]:
        words = [] if written == "none" else written.split("-")
        numbers = sorted(int(word) for word in words if word.isascii() and word.isdecimal())
        if len(numbers) < len(words) or any(not 0 < number <= most for number in numbers) or len(set(numbers)) < len(numbers):
            raise ValueError(f"must be numbers of 1 to {most}, each once")
        return numbers

    return read


def write_numbers(numbers: list[int]) -> str:
    """Write whole numbers for a link."""
    return "-".join(map(str, sorted(numbers))) or "none"


SETTINGS = (
    choice_field("part", PARTS),
    number_field("layer", 1, 1, MAX_LAYERS),
    Field("heads", list(range(1, HEADS + 1)), read_numbers(MAX_HEADS), write_numbers),
    choice_field("bend", tuple(texts.ACTIVATIONS)),
    choice_field("norm", tuple(texts.NORMS)),
    flag_field("cut"),
    number_field("seed", 1, 1, MAX_DEPTH_SEEDS),
)
FIELDS = StageFields(
    own=(
        text_field("text", "The old man drank a cup of [MASK] by the fire."),
        text_field("pair"),
        *SETTINGS,
        Field("model", "embedded", controls.read_model),
        SPECIAL_FIELD,
    ),
    looks=(
        Field("words", [4, 7, 9], read_numbers(MAX_BLOCK_TOKENS), write_numbers),
        Field("cell", FIRST_CELLS["heads"], cell_from_link, cell_to_link),
        choice_field("matrices", ("cell", "all", *STEPS)),
        flag_field("numbers"),
        number_field("dimensions", 5, *DIMENSIONS_SHOWN),
    ),
    first={},
)


@dataclass(frozen=True)
class BlockInputs:
    """What is computed, by the names of the fields; layer and heads are counted from 1."""

    text: str
    pair: str
    part: str
    layer: int
    heads: list[int]
    bend: str
    norm: str
    cut: bool
    seed: int
    model: str
    nospecial: bool

    @property
    def block(self) -> int:
        """The layer, counted from 0."""
        return self.layer - 1

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences that there are."""
        return (self.text, self.pair) if self.pair else (self.text,)

    @property
    def loaded(self) -> Computation:
        """The computation of the engine."""
        return load_call(self.model, not self.nospecial)

    def numbers(self, shown: Sequence[Computation], *used: str) -> PartNumbers:
        """Return what the part computes, for export. used: the settings that it depends on."""
        settings = vars(self) | {"words": value_of(PAGE, "words")}
        chosen = {name: settings[name] for name in used}
        about = source(self.model, text=self.text, pair=self.pair, **reading(not self.nospecial), **chosen)
        return PartNumbers(texts.EXPORT_TITLES[self.part].format(layer=self.layer), about, shown, texts.EXPORT_RESULT)

    def engine(self) -> BertEngine:
        """Return an engine with its weights in this process; raise ModelUnavailable for a model that our code does not run."""
        engine = controls.model_engine(self.model, bare=self.nospecial, weights=True)
        if not isinstance(engine, OwnEngine) or engine.info.predicts_next:
            raise ModelUnavailable(NEEDS_OWN_BERT.format(model=engine.title))
        return engine


def block_inputs() -> BlockInputs:
    """Read the address, draw the boxes, and return what is asked."""
    arriving = widget_key(PAGE, "text") not in st.session_state
    read_stage_address(PAGE, FIELDS)
    if arriving and "cell" not in view_parameters():
        set_values(PAGE, {"cell": FIRST_CELLS.get(value_of(PAGE, "part"))})
    labels = {"text": shell_texts.SENTENCE, "pair": SECOND_SENTENCE}
    ask = partial(ask_model, PAGE, lambda card: card.family == "bert", _keep_words)
    return ask_sentences(PAGE, labels, lambda: BlockInputs(**values_of(PAGE, FIELDS.own)), ask)


def fitted(inputs: BlockInputs, engine: BertEngine) -> BlockInputs:
    """Return what is asked with what the model has: its last block, and all its heads where all of another one were chosen."""
    info, state = engine.info, st.session_state
    layer = state[widget_key(PAGE, "layer")] = min(inputs.layer, info.num_layers)
    known, heads = f"{PAGE}_head_count", inputs.heads
    before = state.get(known, HEADS)
    if before != info.num_heads:
        # Heads in the link were chosen for this model, even where their number equals all heads of the one before.
        had_all = heads == list(range(1, before + 1)) and "heads" not in view_parameters()
        heads = list(range(1, info.num_heads + 1)) if had_all else [head for head in heads if head <= info.num_heads]
        state[widget_key(PAGE, "heads")] = heads
        state[known] = info.num_heads
    return replace(inputs, layer=layer, heads=sorted(heads))


def _keep_words() -> None:
    """Shift the followed positions by one where [CLS] is left out or added again."""
    step = -1 if value_of(PAGE, SPECIAL_FIELD.name) else 1
    # Positions count from 1 on screen. 0 would be [CLS], which is left out now.
    followed = [number + step for number in value_of(PAGE, "words")]
    ask_for_view(PAGE, {"words": [number for number in followed if number > 0]})
