"""All heads of a model in one picture: a table of layers × heads, in which a click chooses one."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from pages.ui.canvas.attention_view import heads_to_link
from pages.ui.canvas.drawings import Drawing
from pages.ui.canvas.head_table import CellsAndLegend, grid_chart
from pages.ui.stage.controls import numbered
from pages.ui.stage.pictures import Picture
from pages.ui.stage.texts import CONTROLS
from tx_core.transformer.interventions import Head

MOST_BESIDE = 8
"""Heads of a layer that leave room for something beside their table."""


def all_heads(layers: int, heads: int) -> dict[str, Head]:
    """Return every head by its name in links, layer by layer."""
    return {heads_to_link([head]): head for head in np.ndindex(layers, heads)}


def draw_heads(
    titles: Mapping[str, str],
    drawn: Mapping[str, CellsAndLegend],
    numbers: Mapping[str, Float[np.ndarray, "layer head"]],
    shape: tuple[int, int],
    sentences: Mapping[str, str],
) -> list[Picture]:
    """Draw all heads in each of the colours; without numbers of its own, a colour has the strengths of its cells.

    Everything is by the name of the colour, a look of the page.
    """
    layers, heads = shape
    sides = ((layers, CONTROLS["layerNumber"]), (heads, CONTROLS["headNumber"]))
    names = [tuple(label for _, label in numbered(count, text)) for count, text in sides]

    def draw(colour: str) -> Picture:
        cells, legend = drawn[colour]
        rows = [cells[start : start + heads] for start in range(0, len(cells), heads)]
        strengths = np.array([[one.strength for one in row] for row in rows])
        chart = grid_chart(rows, legend, None) | {"title": titles[colour]}
        drawing = Drawing(chart, *names, numbers.get(colour, strengths))
        shown = {"colour": [colour]}
        return Picture(
            drawing, sentences.get(colour, ""), shown, share=3.0, chooses="heads", choices=list(all_heads(layers, heads))
        )

    return [draw(colour) for colour in titles]


def beside_heads(heads: int, share: float) -> dict[str, object]:
    """Return where the picture of the chosen head stands: beside the table where there is room, else below.

    share: of the width of the row, of which the table has 3.
    """
    return {"row": 0, "share": share} if heads <= MOST_BESIDE else {"row": 1}
