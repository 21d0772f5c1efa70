"""Heads as points on a map: similar heads lie close together, and a table lists the nearest."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pages.summaries import texts
from pages.summaries.kinds import summary_of
from pages.summaries.run import ask_head, engine_of, in_link, part_of, trace_call
from pages.ui.export.computation import Computation, call, computed, named
from pages.ui.export.part import Part
from pages.ui.export.records import DataTable, table_of
from pages.ui.shell.controls import head_name
from pages.ui.stage.charts import Drawing, PointKind, kinds_of_points, listing_drawing
from pages.ui.stage.heads import KindStyle, all_heads, grammar_columns, kind_styles
from pages.ui.stage.inputs import SentenceInputs
from pages.ui.stage.pictures import Picture
from pages.ui.stage.view_options import head_in_sentence
from tx_core.analysis import similarity
from tx_core.engine.engine import Engine
from tx_core.transformer.interventions import Head
from tx_core.transformer.trace import Trace

NUM_NEIGHBOURS = 5
EQUATIONS = (
    r"\text{similarity}(a, b) = 1 - \mathrm{JS}(a, b)",
    r"\mathrm{JS}(a,b) = H\bigl(\tfrac{a+b}{2}\bigr) - \tfrac12 H(a) - \tfrac12 H(b)",
)


@dataclass(frozen=True)
class HeadMap:
    """All heads on a map, numbered through the layers."""

    similarities: Float[np.ndarray, "head other"]
    positions: Float[np.ndarray, "head axis"]
    heads: tuple[Head, ...]
    kinds: tuple[KindStyle, ...]

    @property
    def labels(self) -> list[str]:
        """Label every head: layer-head."""
        return [in_link(head) for head in self.heads]

    def nearest(self, chosen: int) -> list[tuple[int, float]]:
        """Return the heads most similar to one, each with its similarity, most similar first."""
        return similarity.most_similar_heads(self.similarities, chosen, NUM_NEIGHBOURS)


def sum_up(inputs: SentenceInputs, engine: Engine, trace: Trace) -> Part:
    """Compute the map, and the nearest heads of every head."""
    stack = trace.attention
    summary, looks = summary_of(inputs, stack), kind_styles(stack.query_tokens)
    similarities = computed(similarities_call(trace), engine, trace=trace)
    kinds = tuple(looks[one.kind] for one in summary.patterns)
    shape = stack.weights.shape[:2]
    heads = HeadMap(similarities, similarity.classical_mds(similarities), tuple(all_heads(*shape).values()), kinds)
    head, control = ask_head(*shape)
    chosen = heads.heads.index(head)
    return part_of(
        trace,
        texts.SIMILARITY_TITLE,
        [_map(heads), _nearest(heads)],
        numbers(trace, chosen),
        texts.SIMILARITY_CAVEAT,
        texts.SIMILARITY_TEXT,
        formulas=EQUATIONS,
        sources=(similarity.head_similarity, similarity.classical_mds),
        table=lambda: _table(trace.model, heads, chosen),
        controls=[control],
    )


def _map(heads: HeadMap) -> Picture:
    """Draw all heads; whichever is chosen is large, with its name and lines to its nearest."""
    variants = {}
    for number, label in enumerate(heads.labels):
        right, down = name_offset(heads.positions, number)
        name = {"text": label, "right": right, "down": down}
        neighbours = [other for other, _ in heads.nearest(number)]
        variants[label] = {"chart": {"chosen": number, "neighbours": neighbours, "name": name}}
    details = [f"{head_name(head)}: {kind.word}" for head, kind in zip(heads.heads, heads.kinds, strict=True)]
    kinds = kinds_of_points([PointKind(kind.word, kind.colour, kind.symbol) for kind in heads.kinds])
    chart = {"kind": "points", "title": texts.SIMILARITY_TITLE, "places": heads.positions.tolist(), "kinds": kinds}
    chart |= variants[heads.labels[0]]["chart"]
    drawing = Drawing(chart, tuple(heads.labels), ("x", "y"), heads.positions)
    choosing = {"chooses": "heads", "choices": heads.labels, "varies": "heads", "variants": variants}
    sentence = texts.MAP_CORRELATION.format(correlation=similarity.mds_correlation(heads.similarities))
    return Picture(drawing, sentence, share=3, details=details, **choosing)


def _nearest(heads: HeadMap) -> Picture:
    """List the nearest of every head; a click on one chooses it."""
    variants = {}
    for number, label in enumerate(heads.labels):
        nearest = heads.nearest(number)
        rows = [[head_name(heads.heads[other]), heads.kinds[other].word, f"{share:.3f}"] for other, share in nearest]
        title = texts.NEAREST_TITLE.format(head=head_in_sentence(heads.heads[number]))
        variants[label] = {
            "chart": {"title": title, "rows": rows},
            "choices": [heads.labels[other] for other, _ in nearest],
        }
    return Picture(listing_drawing(head=texts.SIMILARITY_COLUMNS), share=2, chooses="heads", varies="heads", variants=variants)


def _table(model: str, heads: HeadMap, chosen: int) -> DataTable:
    """List every head with its place on the map and its similarity to the chosen one."""
    rows = [
        {
            "layer": layer + 1,
            "head": head + 1,
            "kind": heads.kinds[number].word,
            "x": float(heads.positions[number, 0]),
            "y": float(heads.positions[number, 1]),
            texts.SIMILARITY_TO_CHOSEN: float(heads.similarities[chosen, number]),
        }
        | grammar_columns(model, (layer, head))
        for number, (layer, head) in enumerate(heads.heads)
    ]
    return table_of(rows)


def similarities_call(trace: Trace) -> Computation:
    """Return the computation of the similarity of every two heads."""
    return named("similarities", call(similarity.head_similarity, trace_call(engine_of(trace), trace).attention.weights))


def numbers(trace: Trace, chosen: int) -> list[Computation]:
    """Return the computation of the map of the heads, and of the similarity of one to every other."""
    similarities = similarities_call(trace)
    positions = named("positions", call(similarity.classical_mds, similarities))
    return [positions.round(3), named("similar", similarities[chosen]).round(3)]


NAME_REACH = (30.0, 24.0)
"""Pixels from the chosen point to the middle of its name, sideways and up or down."""
MAP_PIXELS = 400
"""About the width of the map, by which the distance of a name from other points is judged."""


def name_offset(places: Float[np.ndarray, "one axis"], chosen: int) -> tuple[float, float]:
    """Return where the chosen point's name stands, in pixels to its right and below: where it is farthest from all others."""
    scale = MAP_PIXELS / (np.ptp(places, axis=0).max() + 1e-9)
    others = np.delete(places - places[chosen], chosen, axis=0) * scale * [1, -1]
    tried = [(NAME_REACH[0] * np.cos(turn), NAME_REACH[1] * np.sin(turn)) for turn in np.arange(16) * np.pi / 8]
    right, down = max(tried, key=lambda offset: np.hypot(*(others - offset).T).min(initial=np.inf))
    return float(right), float(down)
