"""A head's weights beside the lengths of the vectors that it adds (Kobayashi et al. 2020)."""

import numpy as np

from pages.summaries import texts
from pages.summaries.run import MOST_NUMBERS, ask_head, engine_of, in_link, part_of, trace_call
from pages.ui.export.computation import Computation, call, computed, named
from pages.ui.export.part import Part
from pages.ui.export.records import DataTable
from pages.ui.shell.controls import head_name
from pages.ui.stage.charts import listing_drawing, matrix_drawing
from pages.ui.stage.heads import all_heads
from pages.ui.stage.inputs import SentenceInputs
from pages.ui.stage.pictures import Picture
from pages.ui.stage.tokens import numbered_tokens
from pages.ui.stage.view_options import head_in_sentence
from tx_core.analysis import value_weighted
from tx_core.analysis.value_weighted import ValueWeighted, row_shares, total_shares
from tx_core.engine.engine import Engine, head_parts
from tx_core.transformer.interventions import Head
from tx_core.transformer.trace import AttentionStack, Trace

EQUATIONS = (r"\lVert \alpha_{ij}\, f(x_j) \rVert", r"f(x) = (x W^V + b^V)\, W^O")


def sum_up(_inputs: SentenceInputs, engine: Engine, trace: Trace) -> Part:
    """Compute weights and weighted lengths: of all heads of a short text, of the layer of a longer one, of one head else."""
    stack = trace.attention
    head, control = ask_head(*stack.weights.shape[:2])
    every = list(all_heads(*stack.weights.shape[:2]).values())
    cells = 2 * stack.weights[head].size
    in_layer = [one for one in every if one[0] == head[0]]
    sent = next((some for some in (every, in_layer) if len(some) * cells <= MOST_NUMBERS), [head])
    pictures, said = [], {}
    for layer in sorted({layer for layer, _ in sent}):
        weighted = computed(numbers(trace, (layer, 0))[0], engine, trace=trace)
        of_layer = [one for one in sent if one[0] == layer]
        pictures += _maps(stack, of_layer, weighted)
        said |= {in_link(one): {"sentence": describe_lengths(stack, one, weighted)} for one in of_layer}
    pictures.append(Picture(listing_drawing(), row=1, varies="heads", variants=said))

    def table() -> DataTable:
        return _table(stack, head, computed(numbers(trace, head)[0], engine, trace=trace))

    return part_of(
        trace,
        texts.VALUES_SUBJECT.format(head=head_in_sentence(head)),
        pictures,
        [one.round(3) for one in numbers(trace, head)[1:]],
        texts.VALUES_CAVEAT,
        texts.VALUES_TEXT,
        formulas=EQUATIONS,
        sources=(value_weighted.value_weighted, head_parts),
        table=table,
        partial={} if len(sent) == len(every) else {"heads": [in_link(one) for one in sent]},
        controls=[control],
    )


def _maps(stack: AttentionStack, heads: list[Head], weighted: ValueWeighted) -> list[Picture]:
    """Draw the maps of some heads of a layer, and that of the whole layer, on one colour scale."""
    tokens, by_values, layer = stack.query_tokens.tokens, row_shares(weighted.mixed), heads[0][0]
    together = row_shares(weighted.together)
    numbers_of_heads = [head for _, head in heads]
    limit = max(float(cells.max()) for cells in (stack.weights[layer, numbers_of_heads], by_values[numbers_of_heads], together))

    def draw(title: str, cells: np.ndarray, shown: list[Head]) -> Picture:
        drawing = matrix_drawing(title, "weights", cells, tokens, tokens, limit=limit, root=True, note=texts.ROWS_SUM_TO_1)
        return Picture(drawing, when={"heads": [in_link(one) for one in shown]})

    of_heads = [
        picture
        for head in heads
        for picture in (
            draw(texts.HEAD_WEIGHTS.format(head=head_in_sentence(head)), stack.weights[head], [head]),
            draw(texts.HEAD_BY_VALUES, by_values[head[1]], [head]),
        )
    ]
    return [*of_heads, draw(texts.LAYER_BY_VALUES.format(layer=layer + 1), together, heads)]


def describe_lengths(stack: AttentionStack, head: Head, weighted: ValueWeighted) -> str:
    """Return a sentence on the longest and the shortest value, and the token whose share changes most."""
    labels, lengths = numbered_tokens(stack.key_tokens.tokens), weighted.values[head[1]]
    shortest, longest = int(lengths.argmin()), int(lengths.argmax())
    weights, shares = stack.weights[head].mean(axis=0), row_shares(weighted.mixed[head[1]]).mean(axis=0)
    totals = total_shares(weighted.mixed[head[1]])
    moved = int(np.abs(shares - weights).argmax())
    return texts.LENGTHS.format(
        head=head_name(head),
        longest=labels[longest],
        longest_length=lengths[longest],
        shortest=labels[shortest],
        shortest_length=lengths[shortest],
        moved=labels[moved],
        weight=weights[moved],
        share=shares[moved],
        total=totals[moved],
    )


def _table(stack: AttentionStack, head: Head, weighted: ValueWeighted) -> DataTable:
    """List what each token receives and contributes."""
    mixed = weighted.mixed[head[1]]
    columns = (
        numbered_tokens(stack.key_tokens.tokens),
        stack.weights[head].mean(axis=0).astype(float).tolist(),
        weighted.values[head[1]].astype(float).tolist(),
        row_shares(mixed).mean(axis=0).astype(float).tolist(),
        total_shares(mixed).astype(float).tolist(),
    )
    return DataTable(texts.VALUES_COLUMNS, list(zip(*columns, strict=True)))


def numbers(trace: Trace, head: Head) -> list[Computation]:
    """Return the computation of a layer's value-weighted attention, and of the three maps that are drawn of it."""
    engine, (layer, number) = engine_of(trace), head
    stack = named("stack", trace_call(engine, trace, keep=("weights", "value")).attention)
    weighted = named("weighted", call(value_weighted.value_weighted, engine, stack, layer))
    weights = named("weights", stack.weights[layer, number])
    by_values = named("by_values", call(row_shares, weighted.mixed[number]))
    together = named("together", call(row_shares, weighted.together))
    return [weighted, weights, by_values, together]
