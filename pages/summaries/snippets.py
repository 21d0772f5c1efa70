"""Python for the parts of the summaries page by this project."""

from typing import TYPE_CHECKING

from pages.ui.export.project_code import header

if TYPE_CHECKING:
    from tx_core.transformer.trace import Trace


def core_glance(title: str, trace: "Trace") -> str:
    """Write the code that names and measures every head."""
    return _core(
        title,
        trace,
        ("import numpy as np\n", "from tx_core import load\nfrom tx_core.analysis import measures, patterns"),
        [
            f"stack = engine.trace({_sentences(trace)}).attention",
            "asked = ~np.array(stack.query_tokens.special)  # the text's own tokens",
            "kinds = patterns.name_heads(patterns.pattern_sums(stack.weights, stack.query_tokens))",
            "spread = np.stack([measures.relative_entropy(layer[:, asked]).mean(-1) for layer in stack.weights])",
            "distance = np.stack([measures.distance(layer)[:, asked].mean(-1) for layer in stack.weights])",
            "",
            'print(*kinds, spread.round(3), distance.round(2), sep="\\n")',
        ],
    )


def core_layers(title: str, trace: "Trace", place: int, flows: bool) -> str:
    """Write the code for one token's attention through the layers."""
    row_shares = ["from tx_core.analysis.value_weighted import row_shares"] if flows else []
    return _core(
        title,
        trace,
        ("from tx_core import load\nfrom tx_core.analysis import rollout", *row_shares),
        [
            f"weights = engine.trace({_sentences(trace)}).attention.weights",
            f"in_layer = weights[:, :, {place}].mean(axis=1)",
            f"rolled = rollout.rollout(weights)[:, {place}]",
            *([f"flow = row_shares(rollout.flow(weights, {place}))"] if flows else []),
            "",
            f'print(in_layer.round(3), rolled.round(3),{" flow.round(3)," if flows else ""} sep="\\n")',
        ],
    )


def core_values(title: str, trace: "Trace", head: tuple[int, int]) -> str:
    """Write the code for the lengths of what a head mixes."""
    layer, number = head
    return _core(
        title,
        trace,
        ("from tx_core import load", "from tx_core.analysis.value_weighted import row_shares, value_weighted"),
        [
            f'stack = engine.trace({_sentences(trace)}, keep=("weights", "value")).attention',
            f"found = value_weighted(engine, stack, {layer})",
            f"weights = stack.weights[{layer}, {number}]",
            f"by_values, together = row_shares(found.mixed[{number}]), row_shares(found.together)",
            "",
            'print(weights.round(3), by_values.round(3), together.round(3), sep="\\n")',
        ],
    )


def core_alike(title: str, trace: "Trace", chosen: int) -> str:
    """Write the code that compares a head with every other."""
    return _core(
        title,
        trace,
        ("from tx_core import load\nfrom tx_core.analysis import similarity",),
        [
            f"found = similarity.likeness(engine.trace({_sentences(trace)}).attention.weights)",
            "places = similarity.head_map(found)",
            f"alike = found[{chosen}]",
            "",
            'print(places.round(3), alike.round(3), sep="\\n")',
        ],
    )


def core_lens(title: str, trace: "Trace", place: int, listed: int) -> str:
    """Write the code that reads an answer off every layer."""
    return _core(
        title,
        trace,
        ("from tx_core import load", "from tx_core.analysis.logit_lens import logit_lens"),
        [
            f'trace = engine.trace({_sentences(trace)}, keep=("hidden",))',
            f"found = logit_lens(engine, trace, {place}, top_k={listed})",
            "shares, probability, rank = found.shares, found.probability, found.rank",
            "",
            'print(*found.words, shares.round(4), probability.round(4), rank, sep="\\n")',
        ],
    )


def core_owed(title: str, trace: "Trace", place: int, word: int) -> str:
    """Write the code for attention and gradients of an answer."""
    text = repr(trace.attention.query_tokens.text)
    return _core(
        title,
        trace,
        ("from tx_core import load", "from tx_core.analysis.attribution import attribute"),
        [
            f"attention = engine.trace({text}).attention.weights[:, :, {place}].mean(axis=(0, 1))",
            f"found = attribute(engine, engine.encode({text}), {place}, {word})",
            "gradient_input, integrated = found.gradient_input, found.integrated",
            "",
            'print(attention.round(3), gradient_input.round(3), integrated.round(3), sep="\\n")',
        ],
    )


def _core(title: str, trace: "Trace", imported: tuple[str, ...], lines: list[str]) -> str:
    return "\n".join([*header(title, trace.model, "\n".join(imported)), *lines, ""])


def _sentences(trace: "Trace") -> str:
    source = trace.attention.query_tokens
    return repr(source.text) + (f", {source.pair!r}" if source.pair else "")
