"""One way of telling positions, drawn: its map, its waves, how alike positions are, and what it does to scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from pages.ui.canvas.figures import QUIET
from pages.ui.canvas.mask_grid import ATTENTION, Matrices, Matrix, Naming, matrices, show_matrices
from pages.ui.canvas.prefetch import Prefetch
from pages.ui.shell.numbers import small_number
from tx_core.lessons import position_encodings
from tx_core.lessons.position_encodings import VECTORS
from tx_core.transformer import positions
from tx_core.transformer.positions import Criterion

if TYPE_CHECKING:
    from tx_core.engine.bert_engine import BertEngine

PAIRS = Naming("looks at", "position ", "position ", numbered=True, axes=ATTENTION)
VIEWS = {"map": "Map", "waves": "Waves", "similarity": "By distance", "effect": "Effect on scores"}


@dataclass(frozen=True)
class Choice:
    """What the reader asks for. head is counted from 0; dims are dimensions of the vectors."""

    scheme: str
    length: int
    width: int
    base: float
    head: int
    dims: tuple[int, ...]
    engine: "BertEngine"

    def table(self) -> "position_encodings.Table":
        """Give the positions' vectors, a row for each, to compute with."""
        return {
            "sinusoidal": lambda: positions.sinusoids(self.length, self.width, self.base),
            "learned": lambda: position_encodings.learned_table(self.engine)[: self.length],
            "rotary": lambda: position_encodings.rotary_cosines_and_sines(self.length, self.width, self.base),
        }[self.scheme]()

    def vectors(self) -> np.ndarray:
        """Give the positions' vectors, a row for each, to draw."""
        return self.table().numpy()


def draw(view: str, choice: Choice, key: str, prefetch: Prefetch | None = None) -> None:
    """Draw one view of one way. prefetch: what the controls around its map lead to."""
    if view == "map":
        show_matrices(map_of(choice).drawn(), key=key, prefetch=prefetch)
        return
    {"waves": draw_waves, "similarity": draw_similarity, "effect": draw_effect}[view](choice, key)


def map_of(choice: Choice) -> Matrices:
    """Give the vectors of all positions, or what each query adds to its score with each key."""
    places = tuple(str(place) for place in range(choice.length))
    if choice.scheme in VECTORS:
        cells = choice.vectors()
        limit = float(abs(cells).max())
        told = f"{cells.shape[0]} positions down, {cells.shape[1]} dimensions across, values from −{limit:.2f} to {limit:.2f}."
        title = "Cosines, then sines, of the angles" if choice.scheme == "rotary" else "The vector of each position"
        shown = [Matrix(title, "signed", cells, told, limit, root=choice.scheme == "learned", note=told)]
        naming = Naming("·", "position ", "dimension ", numbered=True, axes=("position", "dimension"))
        return Matrices(places, tuple(str(column) for column in range(cells.shape[1])), tuple(shown), naming=naming)
    if choice.scheme == "alibi":
        cells, title = position_encodings.biases("alibi", choice.length)[choice.head].numpy(), "What is added to each score"
    else:
        cells = position_encodings.distance_map(choice.scheme, choice.length).numpy()
        title = "The bucket of each distance" if choice.scheme == "t5" else "Distances, clipped at 16"
    told = "Query down, key across. Every diagonal has one value: only the distance counts."
    shown = [Matrix(title, "signed", cells, told, float(abs(cells).max()), note=told)]
    return Matrices(places, places, tuple(shown), naming=PAIRS)


def draw_waves(choice: Choice, key: str) -> None:
    """Draw chosen dimensions over positions, or what every head adds over distances."""
    from pages.positions.curves import curves

    if choice.scheme in VECTORS:
        cells = choice.vectors()
        series = {f"dimension {dim}": cells[:, dim].tolist() for dim in choice.dims if dim < cells.shape[1]}
        places, across = range(choice.length), "position"
        if not series:
            st.info("Choose a dimension to see its wave.")
            return
    else:
        added = position_encodings.biases(choice.scheme, choice.length)
        name = "word" if choice.scheme == "shaw" else "head"
        few = added[:2] if choice.scheme == "shaw" else added
        series = {f"{name} {number + 1}": position_encodings.distance_profile(bias).mean for number, bias in enumerate(few)}
        places, across = range(1 - choice.length, choice.length), "distance from query to key"
    told = f"{len(series)} curves over the {across}: {', '.join(series)}."
    st.plotly_chart(curves(places, series, across=across, dark=_dark()), key=key, config=QUIET, alt=told)
    if choice.scheme not in VECTORS:
        st.caption(f"What each {name} adds to a score, by how far the key stands before (−) or after the query.")


def draw_similarity(choice: Choice, key: str) -> None:
    """Draw how alike two positions are by their distance, with the range along the text."""
    from pages.positions.curves import curve_in_range

    if choice.scheme in ("sinusoidal", "learned"):
        found = position_encodings.distance_profile(positions.similarity(choice.table()))
        what = "Cosine of the angle between two positions' vectors"
    else:
        found = position_encodings.distance_profile(_scores(choice).scores)
        what = "Score between two copies of one word"
    told = (
        f"{what}, by distance: {found.mean[choice.length - 1]:.2f} at distance 0, {found.mean[choice.length]:.2f} at 1, "
        f"{found.mean[-1]:.2f} at {choice.length - 1}; the widest range at one distance is {found.spread:.2f}."
    )
    figure = curve_in_range(found.distance, found.mean, found.lowest, found.highest, across="distance", dark=_dark())
    st.plotly_chart(figure, key=key, config=QUIET, alt=told)
    st.caption(told)


def draw_effect(choice: Choice, key: str) -> None:
    """Draw the scores and weights between copies of one word: whatever differs comes from the positions alone."""
    found = _scores(choice)
    places = [str(place) for place in range(choice.length)]
    scores = (found.scores - found.scores.mean()).numpy()
    shown = [
        Matrix("Scores, their mean taken off", "signed", scores, "Scores between copies of one word.", float(abs(scores).max())),
        Matrix("Weights", "weights", found.weights.numpy(), "Softmax of the scores; without positions all would be equal."),
    ]
    matrices(places, places, shown, key=key, across=2, naming=PAIRS)
    source = "the model's first layer reads nothing but copies of [MASK]" if choice.scheme == "learned" else "one random word"
    st.caption(f"The same word stands everywhere ({source}), so whatever differs comes from the positions alone.")


def draw_verdicts(found: Mapping[str, Sequence[Criterion]], key: str) -> None:
    """Draw the demands as a table: a mark and the measured number for each way."""
    demands = [criterion.name for criterion in next(iter(found.values()))]
    cells = [[f"{'✓' if one.holds else '✗'} {small_number(one.value)}" for one in criteria] for criteria in found.values()]
    columns = {demand.capitalize(): [row[place] for row in cells] for place, demand in enumerate(demands)}
    st.dataframe({"Way": list(found), **columns}, hide_index=True, key=key)


def _scores(choice: Choice) -> "position_encodings.PositionScores":
    return position_encodings.encoding_scores(choice.scheme, choice.length, choice.width, choice.base, choice.head, choice.engine)


def _dark() -> bool:
    return st.context.theme.type == "dark"
