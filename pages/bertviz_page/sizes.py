"""How much bertviz can draw before a browser freezes, measured: what is left out then, and what is refused."""

from collections.abc import Sequence
from dataclasses import dataclass

from tx_core.errors import TextProblem
from tx_core.transformer.trace import AttentionStack

MAX_SENT_NUMBERS = 600_000
"""Numbers sent at once: twelve layers of twelve heads on 64 tokens, some 2 s until drawn on a small machine."""
MAX_MODEL_LINES = 150_000
"""Lines drawn at once: the browser needs some 3 s for them. 32 tokens in twelve layers of twelve heads."""
MAX_LAYER_LINES = 200_000
"""128 tokens in twelve heads: 3 to 4 s."""


@dataclass(frozen=True)
class Load:
    """What a view would send and draw: of all layers, and of one. shape: layer, head, query, key of the largest stack."""

    numbers: int
    numbers_of_a_layer: int
    lines: int
    lines_of_a_layer: int
    shape: tuple[int, int, int, int]


def load_of(view: str, stacks: Sequence[AttentionStack]) -> Load:
    """Count what a view of these stacks, all with as many layers, would send and draw."""
    cells = sum(heads * queries * keys for _, heads, queries, keys in (stack.weights.shape for stack in stacks))
    layers = len(stacks[0].weights)
    more = 0
    if view == "neuron":
        more = sum(part.shape[1] * part.shape[2] * part.shape[3] for part in (stacks[0].query, stacks[0].key))
    sent = cells * (2 if view != "neuron" and any(1 in stack.query_tokens.segments for stack in stacks) else 1) + more
    at_once = {"head": cells, "model": cells, "neuron": stacks[0].weights[0, 0].size}[view]
    lines = at_once * layers if view == "model" else at_once
    return Load(
        sent * layers, sent, lines, at_once, max((stack.weights.shape for stack in stacks), key=lambda shape: shape[2] * shape[3])
    )


def one_layer_only(view: str, stacks: Sequence[AttentionStack]) -> bool:
    """Tell whether all layers at once would be too heavy; raise TextProblem where a single one would be, too."""
    load = load_of(view, stacks)
    if load.numbers_of_a_layer > MAX_SENT_NUMBERS or load.lines_of_a_layer > MAX_LAYER_LINES:
        _, heads, queries, keys = load.shape
        raise TextProblem(
            f"bertviz draws a line for every pair of tokens in every head: here {heads} × {queries} × {keys} for a single "
            "layer, and a browser stands still over so many. Shorten the text, choose a smaller model, or look at this text "
            "on the attention page."
        )
    return load.numbers > MAX_SENT_NUMBERS or load.lines > (MAX_MODEL_LINES if view == "model" else MAX_LAYER_LINES)
