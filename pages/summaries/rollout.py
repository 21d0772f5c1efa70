"""One token's attention through the layers: per layer, as attention rollout, and as attention flow."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from pages.summaries import texts
from pages.summaries.run import MOST_NUMBERS, ask_token, engine_of, part_of, trace_call
from pages.ui.export.computation import Computation, call, computed, named
from pages.ui.export.part import Part
from pages.ui.export.records import drawings_table
from pages.ui.stage.charts import listing_drawing, matrix_drawing
from pages.ui.stage.inputs import SentenceInputs
from pages.ui.stage.pictures import Picture
from pages.ui.stage.tokens import numbered_tokens
from pages.ui.stage.view_options import token_to_link
from tx_core.analysis import rollout
from tx_core.analysis.value_weighted import row_shares
from tx_core.engine.engine import Engine
from tx_core.errors import TextProblem
from tx_core.transformer.trace import Trace

EQUATIONS = (
    r"\bar A = \tfrac12 A + \tfrac12 I",
    r"R_\ell = \bar A_\ell\,R_{\ell-1}\;",  # ends in a space: a trailing index is two pixels wider than its box
)
NUM_LARGEST = 3

Maps = dict[str, Float[np.ndarray, "layer token"]]


def sum_up(_inputs: SentenceInputs, engine: Engine, trace: Trace) -> Part:
    """Compute attention by layer and rollout for every token, if they are few, and flow for the one that is looked at."""
    encoding, weights = trace.attention.query_tokens, trace.attention.weights
    place, control = ask_token(encoding, range(len(encoding)), texts.ASK_QUERY)
    in_layer, rolled = weights.mean(axis=1), computed(rollout_call(trace), engine, trace=trace)
    problem = ""
    try:
        flow = {texts.FLOW: computed(numbers(trace, place)[-1], engine, trace=trace)}
    except TextProblem as too_long:
        problem, flow = str(too_long), {}
    sent = range(len(encoding)) if 2 * rolled.size <= MOST_NUMBERS else [place]
    maps = {one: {texts.IN_LAYER: in_layer[:, one], texts.ROLLED: rolled[:, one]} for one in sent}
    maps[place] |= flow
    pictures = [picture for one, shown in maps.items() for picture in _pictures(encoding.tokens, one, shown)]
    if problem:
        pictures.append(Picture(listing_drawing(), problem, row=2))
    shown = [picture.drawing for picture in _pictures(encoding.tokens, place, maps[place])]
    return part_of(
        trace,
        texts.ROLLOUT_SUBJECT.format(token=numbered_tokens(encoding.tokens)[place]),
        pictures,
        [one.round(3) for one in numbers(trace, place)[: 3 if flow else 2]],
        texts.ROLLOUT_CAVEAT,
        texts.ROLLOUT_TEXT,
        formulas=EQUATIONS,
        sources=(rollout.add_residual, rollout.rollout, rollout.flow),
        table=lambda: drawings_table(shown),
        partial={"token": [token_to_link(place)]} if flow or len(sent) == 1 else {},
        controls=[control],
    )


def _pictures(tokens: Sequence[str], place: int, shown: Maps) -> list[Picture]:
    """Draw maps of layers × tokens on one colour scale."""
    limit = max(float(cells.max()) for cells in shown.values())
    layers = [texts.LAYER.format(layer=number + 1) for number in range(len(shown[texts.IN_LAYER]))]
    when = {"token": [token_to_link(place)]}
    return [
        Picture(
            matrix_drawing(title, "weights", cells, layers, tokens, limit=limit, root=True),
            describe_last_layer(tokens, place, cells),
            when,
            row,
            cell=texts.ROLLOUT_CELL,
        )
        for row, (title, cells) in enumerate(shown.items())
    ]


def describe_last_layer(tokens: Sequence[str], place: int, cells: Float[np.ndarray, "layer token"]) -> str:
    """Return a sentence on the tokens with the largest shares in the last layer."""
    labels = numbered_tokens(tokens)
    largest = np.argsort(-cells[-1], kind="stable")[:NUM_LARGEST]
    shares = ", ".join(f"{labels[key]} {cells[-1, key]:.2f}" for key in largest)
    return texts.LAST_LAYER.format(token=labels[place], shares=shares)


def weights_of(trace: Trace) -> Computation:
    """Return the computation of all weights."""
    return named("weights", trace_call(engine_of(trace), trace).attention.weights)


def rollout_call(trace: Trace) -> Computation:
    """Return the computation of the rollout of every token."""
    return named("every", call(rollout.rollout, weights_of(trace)))


def numbers(trace: Trace, place: int) -> list[Computation]:
    """Return the computation of one token's attention through the layers."""
    weights = weights_of(trace)
    in_layer = named("in_layer", weights[:, :, place].mean(axis=1))
    rolled = named("rolled", rollout_call(trace)[:, place])
    return [in_layer, rolled, named("by_flow", call(row_shares, call(rollout.flow, weights, place)))]
