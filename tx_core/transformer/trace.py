"""The frozen record that a run returns: its arrays, together with the tokens that they belong to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from html import escape
from itertools import product
from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Float

from tx_core.transformer.config import AttentionKind
from tx_core.transformer.interventions import Intervention

if TYPE_CHECKING:
    import pandas

TracePart = Literal["query", "key", "value", "scores", "weights", "context", "hidden", "blank_logits"]
ALL_PARTS: tuple[TracePart, ...] = ("query", "key", "value", "scores", "weights", "context", "hidden", "blank_logits")
"""The parts that a run can keep: see `AttentionStack`, `Trace.hidden` and `Trace.blank_logits`."""

MOST_TOKENS_IN_TABLE, LONGEST_LINE = 40, 160
"""Of a trace in a notebook."""


@dataclass(frozen=True)
class Encoding:
    """A text as the model reads it, with one entry per token in `ids`, `tokens`, `segments`, `special` and `words`.

    Attributes:
        tokens: as a reader should see them.
        special: whether the token is a mark such as [CLS], added or typed.
        words: the number of the word that the token belongs to, counted through both sentences; None for special tokens.
        blanks, unknown: positions of the mask token, and of tokens that the vocabulary does not have.
        special_tokens: False where the text was read without the special tokens that the model's tokenizer adds.
        written: ids of the tokens at the end that a model wrote; `text` is without them.
    """

    text: str
    pair: str | None
    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    segments: tuple[int, ...]
    special: tuple[bool, ...]
    words: tuple[int | None, ...]
    word_texts: tuple[str, ...]
    blanks: tuple[int, ...]
    unknown: tuple[int, ...]
    special_tokens: bool = True
    written: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def starts_sentence(self, position: int) -> bool:
        """Return whether the token at a position is the first of its sentence, special tokens aside."""
        return position == 0 or self.special[position - 1] or self.segments[position] != self.segments[position - 1]


def plain_encoding(
    tokens: Sequence[str], ids: Sequence[int], special: Sequence[bool] | None = None, unknown: Sequence[int] = ()
) -> Encoding:
    """Encode a text that has no word pieces: whole words or numbers, each token a word of its own unless it is special.

    unknown: positions of words that the vocabulary does not have.
    Raises ValueError unless there are as many tokens as ids.
    """
    if len(tokens) != len(ids):
        raise ValueError(f"every id must have one token, got {len(ids)} ids and {len(tokens)} tokens")
    special = tuple(special) if special is not None else (False,) * len(ids)
    word_texts = tuple(token for token, mark in zip(tokens, special, strict=True) if not mark)
    numbers = iter(range(len(word_texts)))
    return Encoding(
        text=" ".join(word_texts),
        pair=None,
        ids=tuple(ids),
        tokens=tuple(tokens),
        segments=(0,) * len(ids),
        special=special,
        words=tuple(None if mark else next(numbers) for mark in special),
        word_texts=word_texts,
        blanks=(),
        unknown=tuple(unknown),
    )


def axes(source: Encoding, target: Encoding | None) -> dict[AttentionKind, tuple[Encoding | None, Encoding | None]]:
    """Return the query tokens and the key tokens of each kind of attention."""
    return {"self": (source, source), "decoder": (target, target), "cross": (target, source)}


@dataclass(frozen=True)
class AttentionStack:
    """One kind of attention in all layers, with the tokens of both axes. Parts that were not kept are None.

    Attributes:
        weights: attention weights; each row sums to 1, to 0 where a query may attend nowhere, or to less than 1 where padding
            that is not masked took the rest (the intervention "no_padding_mask").
        scores: scores after scaling and bias, before the mask and before any intervention on their layer.
        context: the sum of the values, weighted by `weights`.
        scales: the factor of the products of queries and keys in the scores of each layer, such as 1 in T5; empty for 1/√head_dim
            in all.
    """

    kind: AttentionKind
    query_tokens: Encoding
    key_tokens: Encoding
    weights: Float[np.ndarray, "layer head query key"] | None = None
    scores: Float[np.ndarray, "layer head query key"] | None = None
    query: Float[np.ndarray, "layer head query head_dim"] | None = None
    key: Float[np.ndarray, "layer head key head_dim"] | None = None
    value: Float[np.ndarray, "layer head key head_dim"] | None = None
    context: Float[np.ndarray, "layer head query head_dim"] | None = None
    scales: tuple[float, ...] = ()


@dataclass(frozen=True, repr=False)
class Trace:
    """The result of one run, with its input and interventions.

    Attributes:
        stacks: the attentions, the encoder's first.
        hidden: the vectors after the embeddings and after each layer of the first stack; None where they were not kept.
        interventions: in canonical order.
        notice: a sentence for the reader where something was not as requested; else "".
        blank_logits: the scores of the whole vocabulary at every blank; None where they were not kept, and where the text has no
            blank or the model fills none.
    """

    model: str
    device: str
    stacks: tuple[AttentionStack, ...]
    hidden: Float[np.ndarray, "layer_and_embeddings token hidden"] | None = None
    interventions: tuple[Intervention, ...] = ()
    notice: str = ""
    blank_logits: Float[np.ndarray, "blank vocab"] | None = None

    def __repr__(self) -> str:
        """Return what it holds in a few lines: the text, the tokens, and the shape of each array."""
        read = self.attention.query_tokens
        arrays = [f"{one.kind} attention: {_shapes(one)}" for one in self.stacks]
        others = [f"{name} {array.shape}" for name in ("hidden", "blank_logits") if (array := getattr(self, name)) is not None]
        changes = [f"changed by {', '.join(map(repr, self.interventions))}"] if self.interventions else []
        lines = [
            f"Trace of {self.model} on {self.device}: {read.text!r}{'' if read.pair is None else f' and {read.pair!r}'}",
            f"{len(read)} tokens: {' '.join(read.tokens)}",
            *arrays,
            *others,
            *changes,
        ]
        return "\n  ".join(_shortened(line) for line in lines)

    def _repr_html_(self) -> str:
        """Return the lines and, where weights were kept, the mean over layers and heads of the first stack as a table."""
        lines = f"<pre>{escape(repr(self))}</pre>"
        weights, queries = self.attention.weights, self.attention.query_tokens.tokens
        if weights is None or max(weights.shape[2:]) > MOST_TOKENS_IN_TABLE:
            return lines
        mean = weights.mean(axis=(0, 1))
        keys = "".join(f"<th>{escape(token)}</th>" for token in self.attention.key_tokens.tokens)
        rows = [
            f"<tr><th>{escape(query)}</th>"
            + "".join(f'<td style="background: rgba(31, 119, 180, {share:.3f})">{share:.2f}</td>' for share in row)
            + "</tr>"
            for query, row in zip(queries, mean.tolist(), strict=True)
        ]
        caption = "Mean attention of all layers and heads: each row is a token that looks"
        return f"{lines}<table><caption>{caption}</caption><tr><th></th>{keys}</tr>{''.join(rows)}</table>"

    def to_pandas(self) -> "pandas.DataFrame":
        """Return every attention weight as a row: attention, layer and head (from 0), query, key, their tokens, and the weight.

        Raises ValueError where no weights were kept.
        """
        import pandas  # here: it takes a tenth of a second, and no page of a run needs it

        if any(stack.weights is None for stack in self.stacks):
            raise ValueError('the trace must have kept "weights"')
        tables = []
        for stack in self.stacks:
            axes = ("layer", "head", "query", "key")
            index = pandas.MultiIndex.from_tuples(product(*map(range, stack.weights.shape)), names=axes)
            table = pandas.DataFrame({"weight": stack.weights.ravel()}, index=index).reset_index()
            for axis, read in (("query", stack.query_tokens), ("key", stack.key_tokens)):
                table.insert(table.columns.get_loc(axis) + 1, f"{axis}_token", [read.tokens[at] for at in table[axis]])
            table.insert(0, "attention", stack.kind)
            tables.append(table)
        return pandas.concat(tables, ignore_index=True)

    @property
    def attention(self) -> AttentionStack:
        """The first stack: the self-attention of every model that has only one."""
        return self.stacks[0]

    @property
    def nbytes(self) -> int:
        """The size of all arrays in bytes, by which caches are bounded."""
        arrays = [self.hidden, self.blank_logits, *(getattr(stack, f.name) for stack in self.stacks for f in fields(stack))]
        return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))


class Traces(tuple[Trace, ...]):
    """The traces of several texts, in their order."""

    __slots__ = ()

    def __repr__(self) -> str:
        return _shortened(f"Traces of {len(self)} texts: {', '.join(repr(trace.attention.query_tokens.text) for trace in self)}")

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the table of every trace as `Trace.to_pandas` does, one after another; the index "text" names its text.

        Raises ValueError where no weights were kept, and without any trace.
        """
        import pandas

        texts = [trace.attention.query_tokens.text for trace in self]
        return pandas.concat([trace.to_pandas() for trace in self], keys=texts, names=["text", "row"])


def _shapes(stack: AttentionStack) -> str:
    arrays = {field.name: getattr(stack, field.name) for field in fields(stack)}
    return ", ".join(f"{name} {array.shape}" for name, array in arrays.items() if isinstance(array, np.ndarray)) or "nothing kept"


def _shortened(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"


@dataclass(frozen=True)
class ReferenceRun:
    """The output of another implementation on the same text, for comparison."""

    hidden: Float[np.ndarray, "layer_and_embeddings token hidden"]
    weights: Float[np.ndarray, "layer head query key"]
    logits: Float[np.ndarray, "token vocab"]


def check_parts(keep: Iterable[str]) -> frozenset[TracePart]:
    """Return the parts to keep; raise ValueError for a part that no run has."""
    parts = frozenset(keep)
    unknown = parts - set(ALL_PARTS)
    if unknown:
        raise ValueError(f"keep must be among {', '.join(ALL_PARTS)}, got {', '.join(sorted(unknown))}")
    return parts
