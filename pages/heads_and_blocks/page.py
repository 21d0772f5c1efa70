"""What is a block made of? Embeddings, heads, feed-forward, norms and skip connections, each on the reader's own sentence."""

from collections.abc import Callable

import streamlit as st

from pages.ui.shell.frame import open_page

PAGE = "heads_and_blocks"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.heads_and_blocks import depth, parts, texts
from pages.heads_and_blocks.depth import MAX_DEPTH_SEEDS
from pages.heads_and_blocks.export import with_export
from pages.ui.canvas.matrix_view import Cell, cell_from_link, cell_to_link
from pages.ui.panels.parts_page import Part, PartsPage, parts_page
from pages.ui.panels.tokens import SPECIAL_FIELD
from pages.ui.shell import controls
from pages.ui.shell.address import Field, choice_field, flag_field, number_field, text_field, widget_key
from tx_core.engine.bert_engine import BertEngine

LAYERS, HEADS = controls.embedded_sizes()
MAX_LAYERS, MAX_HEADS = 48, 32
# Of any model that a link may name.
MAX_BLOCK_TOKENS = 512
PARTS = {
    "embeddings": Part(texts.EMBEDDINGS, with_export("embeddings", parts.draw_embeddings), parts.introduce_embeddings),
    "heads": Part(texts.HEADS, with_export("heads", parts.draw_heads), parts.introduce_heads),
    "feed": Part(texts.FEED_FORWARD, with_export("feed", parts.draw_feed_forward), parts.introduce_feed_forward),
    "norm": Part(texts.NORM, with_export("norm", parts.draw_norm), parts.introduce_norm),
    "depth": Part(texts.DEPTH, with_export("depth", depth.draw_depth), depth.introduce_depth),
    "journey": Part(texts.WORD_PATH, with_export("journey", depth.draw_word_path), depth.introduce_word_path),
}
FIRST_PART = "heads"
# The part that a visit begins with.
FIRST_CELLS = {
    "heads": Cell("output", 8, 1),
    "feed": Cell("widened", 3, 1),
    "norm": Cell("normed", 1, 0),
    "embeddings": Cell("sum", 1, 0),
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


FIELDS = (
    text_field("text", "The old man drank a cup of [MASK] by the fire."),
    text_field("pair"),
    choice_field("part", (FIRST_PART, *(part for part in PARTS if part != FIRST_PART))),
    number_field("layer", 1, 1, MAX_LAYERS),
    Field("heads", list(range(1, HEADS + 1)), read_numbers(MAX_HEADS), write_numbers),
    Field("model", "embedded", controls.read_model),
    SPECIAL_FIELD,
    choice_field("bend", tuple(texts.ACTIVATIONS)),
    choice_field("norm", tuple(texts.NORMS)),
    flag_field("cut"),
    number_field("seed", 1, 1, MAX_DEPTH_SEEDS),
    Field("words", [4, 7, 9], read_numbers(MAX_BLOCK_TOKENS), write_numbers),
    Field("cell", FIRST_CELLS[FIRST_PART], cell_from_link, cell_to_link),
)


def choose_first_cell() -> None:
    """Choose the first cell of the part that the reader has opened."""
    st.session_state[widget_key(PAGE, "cell")] = FIRST_CELLS.get(st.session_state[widget_key(PAGE, "part")])


WAYS = ("attention", "self_attention", "bert")


def keep_words() -> None:
    """Shift the followed positions by one where [CLS] is left out or added again."""
    step = -1 if st.session_state[widget_key(PAGE, SPECIAL_FIELD.name)] else 1
    # Positions count from 1 on screen. 0 would be [CLS], which is left out now.
    followed = [number + step for number in st.session_state[widget_key(PAGE, "words")]]
    st.session_state[widget_key(PAGE, "words")] = [number for number in followed if number > 0]


parts_page(
    PartsPage(PAGE, FIELDS, PARTS, WAYS, on_part=choose_first_cell, families=("bert",), engine=BertEngine, on_reading=keep_words),
    badge,
)
