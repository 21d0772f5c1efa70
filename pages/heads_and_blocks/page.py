"""What is a block made of? Embeddings, heads, feed-forward, norms and skip connections, each on the reader's own sentence."""

import streamlit as st

from pages.ui.shell.frame import open_page

PAGE = "heads_and_blocks"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.heads_and_blocks import depth, texts
from pages.heads_and_blocks import parts as block_parts
from pages.ui.canvas.matrix_cells import Cell, cell_from_link, cell_to_link
from pages.ui.panels.parts_page import Part, PartsPage, parts_page
from pages.ui.shell import controls
from pages.ui.shell.address import Field, choice_field, flag_field, number_field, text_field, widget_key

LAYERS, HEADS = controls.embedded_sizes()
MAX_BLOCK_TOKENS = 512
PARTS = {
    "embeddings": Part("Embeddings", block_parts.embeddings, texts.embeddings),
    "heads": Part("Heads", block_parts.heads, texts.heads),
    "feed": Part("Feed-forward", block_parts.feed_forward, texts.feed_forward),
    "norm": Part("Layer norm", block_parts.norm, texts.norm),
    "depth": Part("Skips and depth", depth.depth, texts.depth),
    "journey": Part("A word's way", depth.journey, texts.journey),
}
FIRST_PART = "heads"
FIRST_CELLS = {
    "heads": Cell("output", 8, 1),
    "feed": Cell("widened", 3, 1),
    "norm": Cell("normed", 1, 0),
    "embeddings": Cell("sum", 1, 0),
}


def read_numbers(most: int) -> "Field":
    """Read whole numbers as a link writes them, each from 1 to `most`: 1-2-5, or none."""

    def read(written: str) -> list[int]:
        parts = [] if written == "none" else written.split("-")
        numbers = sorted(int(part) for part in parts if part.isascii() and part.isdecimal())
        if len(numbers) < len(parts) or any(not 0 < number <= most for number in numbers) or len(set(numbers)) < len(numbers):
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
    number_field("layer", 1, 1, LAYERS),
    Field("heads", list(range(1, HEADS + 1)), read_numbers(HEADS), write_numbers),
    choice_field("bend", ("gelu", "relu")),
    choice_field("norm", ("attention", "feed_forward", "embeddings")),
    flag_field("cut"),
    number_field("seed", 1, 1, 20),
    Field("words", [4, 7, 9], read_numbers(MAX_BLOCK_TOKENS), write_numbers),
    Field("cell", FIRST_CELLS[FIRST_PART], cell_from_link, cell_to_link),
)


def choose_first_cell() -> None:
    """Explain a cell of the part that the reader turned to."""
    st.session_state[widget_key(PAGE, "cell")] = FIRST_CELLS.get(st.session_state[widget_key(PAGE, "part")])


WAYS = ("attention", "self_attention", "bert")
parts_page(PartsPage(PAGE, FIELDS, PARTS, WAYS, choose_first_cell), badge)
