"""A run as the browser is sent it: labels and word groups in a JSON header, then the weights.

`pack_whole` sends all of a run at once, as a notebook does; pages send what is seen of a long one first
(`pages/ui/stage/packing.py`). What the header says is in assets/stage/README.md.
"""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256

import numpy as np
from jaxtyping import Float32, UInt8, UInt16

from tx_core.analysis.views import word_groups
from tx_core.transformer.trace import AttentionStack, Encoding, Trace

WIDEST_THUMBNAIL = 24
LARGEST_CODE = 65535


def codes(weights: Float32[np.ndarray, "*heads query key"]) -> UInt16[np.ndarray, "*heads query key"]:
    """Return the square root of each weight as a whole number, so that small weights keep their digits.

    A decoded weight is at most 3.1e-5 away and prints the same three decimals as the tensor's own value.
    Weights are taken as 0 to 1; rounding errors beyond are cut off. Raises ValueError for NaN.
    """
    exact = _checked(weights).astype(np.float64)
    code = np.rint(np.sqrt(exact) * LARGEST_CODE)
    printed = np.rint((code / LARGEST_CODE) ** 2 * 1000)
    code += np.sign(np.rint(exact * 1000) - printed)  # at most one step: across a rounding border
    return code.astype(np.uint16)


def thumbnails(weights: Float32[np.ndarray, "layer head query key"]) -> UInt8[np.ndarray, "layer head row column"]:
    """Shrink every head's map to at most 24 × 24 cells; each shows the strongest weight it stands for.

    The strongest, not the mean: a diagonal stays visible however long the sentence. Cells hold the square root, 0 to 255.
    """
    strongest = _strongest(_strongest(_checked(weights), axis=2), axis=3)
    return np.rint(np.sqrt(strongest) * 255).astype(np.uint8)


def _checked(weights: np.ndarray) -> np.ndarray:
    if np.isnan(weights.sum(dtype=np.float64)):
        raise ValueError("attention weights must be numbers, got NaN")
    return np.clip(weights, 0, 1)


def _strongest(weights: np.ndarray, axis: int) -> np.ndarray:
    size = weights.shape[axis]
    if size <= WIDEST_THUMBNAIL:
        return weights
    starts = np.arange(WIDEST_THUMBNAIL) * size // WIDEST_THUMBNAIL
    return np.maximum.reduceat(weights, starts, axis=axis)


def pack_whole(header: Mapping[str, object], runs: Mapping[str, tuple[str, Sequence[AttentionStack]]]) -> bytes:
    """Pack runs of a text that no address names, whole. runs: "run", and "before" where there is one, each with an identity."""
    told = {key: describe_run(identity.encode(), every_layer(stacks)) for key, (identity, stacks) in runs.items()}
    told |= {"stacks": [stack_header(stack) for stack in runs["run"][1]], "whole": True, "thumbnails": False}
    cells = [part for _, stacks in runs.values() for part in layer_codes(stacks, every_layer(stacks))]
    return join({"before": None, **header, **told}, cells)


def every_layer(stacks: Sequence[AttentionStack]) -> list[tuple[int, int]]:
    """Return the number of the stack and of the layer of all weights of a run."""
    return [(number, layer) for number, stack in enumerate(stacks) for layer in range(len(stack.weights))]


def describe_run(identity: bytes, included: Sequence[tuple[int, int]]) -> dict[str, object]:
    """Describe a run for the browser: what tells it from others, and the layers that go along."""
    return {"id": sha256(identity).hexdigest()[:16], "path": "", "included": included}


def layer_codes(stacks: Sequence[AttentionStack], included: Sequence[tuple[int, int]]) -> list[np.ndarray]:
    """Return the layers that go along, as they are sent."""
    return [codes(stacks[number].weights[layer]).astype("<u2") for number, layer in included]


def join(header: Mapping[str, object], parts: Sequence[np.ndarray]) -> bytes:
    """Return the header length (4 bytes, little endian), the header (JSON), and arrays."""
    written = json.dumps(header, separators=(",", ":"), ensure_ascii=False)
    words = written.encode(errors="backslashreplace")  # half a character, which UTF-8 has not, as JSON writes it
    return b"".join([len(words).to_bytes(4, "little"), words, *(part.tobytes() for part in parts)])


def stack_header(stack: AttentionStack) -> dict[str, object]:
    """Describe a stack for the browser: its sizes and the labels of both axes."""
    layers, heads = stack.weights.shape[:2]
    return {
        "kind": stack.kind,
        "layers": layers,
        "heads": heads,
        "queries": _axis(stack.query_tokens),
        "keys": _axis(stack.key_tokens),
    }


def _axis(encoding: Encoding) -> dict[str, object]:
    """Describe the tokens of an axis, and the words that they are pieces of."""
    groups = word_groups(encoding)
    numbers = [encoding.words[group[0]] for group in groups]
    words = [
        encoding.tokens[group[0]] if number is None else encoding.word_texts[number] or encoding.tokens[group[0]]
        for group, number in zip(groups, numbers, strict=True)
    ]
    return {
        "tokens": encoding.tokens,
        "special": [int(special) for special in encoding.special],
        "groups": groups,
        "words": words,
        "blanks": encoding.blanks,
    }


def sees_nothing_later(trace: Trace) -> bool:
    """Return whether no token may attend to a later one, as in a model that writes."""
    weights = trace.attention.weights
    square = trace.attention.kind == "self" and weights.shape[-1] > 1
    return square and not np.triu(weights[0], 1).any()
