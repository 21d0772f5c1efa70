"""The interface of every model. Its methods are pure: nothing of a run is stored on the model.

It takes texts and returns arrays; `tensors` converts them for the engines that compute. This module imports no torch: a client
of Ray does not need it.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from jaxtyping import Float

from tx_core.engine.tokenizer import Tokenizer
from tx_core.errors import ModelUnavailable, TextProblem
from tx_core.settings import ASSETS, host_settings
from tx_core.transformer.config import AttentionKind
from tx_core.transformer.interventions import Intervention, RunLimits, Vectors
from tx_core.transformer.trace import Encoding, Trace, TracePart, Traces

RECORD_TOO_LARGE = (
    "What this view needs of such a long text takes {megabytes:,.0f} MB of memory, and this server allows {limit:,.0f} MB: "
    "shorten the text to {tokens:,} tokens, or choose a smaller model."
)
Result = TypeVar("Result")
SENTENCES = ASSETS / "sentences" / "everyday.txt"
"""The sentences that ship with the app, one a line."""
BATCH_TOKENS = 256
"""Of the texts that are run at once: of a large model, all vectors of a layer take gigabytes for many."""
WeightMeasure = Callable[[Any], Result]
"""A function of `tensors.LayerWeights`, the weights of each layer, that is called on their device."""


@dataclass(frozen=True)
class ModelInfo:
    """The sizes and abilities of a model.

    Attributes:
        family: Its architecture, by the transformers library's name.
        layers: Number of layers of each kind of attention, in the order of `Trace.stacks`.
        max_tokens: Longest input that it reads here, special tokens included.
        has_head: Whether the checkpoint has a head that scores the vocabulary.
        fills_blanks, predicts_next: Whether that head scores masked words, or the token that follows.
        num_segments: Number of segment embeddings, 0 for none.
        decoder_start: The id that the decoder of an encoder-decoder begins with, None for any other model.
        can_omit_positions: Whether a run can leave its position embeddings out (the intervention "no_positions").
        layer_numbers: The numbers, from 0, of the layers with attention among all layers of the model, where some have none (a
            convolution or a recurrence in its place); empty where all have.
        is_own: Whether our own layers run it, not those of the library.
    """

    family: str
    layers: dict[AttentionKind, int]
    num_heads: int
    hidden_size: int
    max_tokens: int
    has_head: bool
    fills_blanks: bool
    predicts_next: bool = False
    num_segments: int = 0
    decoder_start: int | None = None
    can_omit_positions: bool = False
    layer_numbers: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()
    is_own: bool = False

    @property
    def num_layers(self) -> int:
        """Number of layers of the first stack."""
        return self.layers["self"]

    @property
    def first_layer(self) -> dict[AttentionKind, int]:
        """Number of the first layer of each stack when all are numbered through; empty for one stack."""
        starts, total = {}, 0
        for kind, count in self.layers.items():
            starts[kind], total = total, total + count
        return starts if len(starts) > 1 else {}


@dataclass(frozen=True)
class ScoreGradients:
    """Log-probabilities (natural) of a word for each set of word vectors, or how far they exceed another word's, and their
    gradients.
    """

    scores: Float[np.ndarray, "step"]
    gradients: Float[np.ndarray, "step token embedding"]


@runtime_checkable
class Engine(Protocol):
    """The interface of every model, ours or the transformers library's.

    name: as in the catalogue. bfloat16: whether its device computes bfloat16 itself; emulated, that is far slower than single
    precision.
    """

    name: str
    title: str
    device: str
    info: ModelInfo
    tokenizer: Tokenizer
    bfloat16: bool

    def encode(self, text: str, pair: str | None = None, written: Sequence[int] = ()) -> Encoding:
        """Read the text; raise TextProblem when it is empty or too long for the model.

        For an encoder-decoder, this is the encoder's input; the pair is the decoder's. written: ids of tokens that follow the
        text, such as a model wrote (`next_words.write_words`); not of an encoder-decoder.
        """
        tokenizer, info = self.tokenizer, self.info
        if info.decoder_start is None:
            encoding = tokenizer.encode(text, pair)
            return check_token_count(tokenizer.append(encoding, written) if written else encoding, info.max_tokens)
        source = check_token_count(tokenizer.encode(text), info.max_tokens)
        pair = pair if pair and pair.strip() else None
        if pair is not None:
            check_token_count(tokenizer.encode(pair), info.max_tokens)
        return replace(source, pair=pair)

    def trace(
        self,
        text: str,
        pair: str | None = None,
        *,
        keep: Collection[str] = ("weights",),
        interventions: Sequence[Intervention] = (),
        written: Sequence[int] = (),
        vectors: Mapping[str, Vectors] = {},
    ) -> Trace:
        """Run the model once and keep the requested parts (`trace.ALL_PARTS`).

        written: as of `encode`. vectors: what "patch" and "mean" put in, by the kind of intervention; those of "mean" may be
        missing, for the mean of the app's sentences. Raises TextProblem as `encode` does, and ChangeProblem for interventions on
        what the run does not have, or without their vectors.
        """

    def traces(
        self,
        texts: Sequence[str],
        *,
        keep: Collection[str] = ("weights",),
        interventions: Sequence[Intervention] = (),
        vectors: Mapping[str, Vectors] = {},
    ) -> Traces:
        """Run the model on each text alone, with the same interventions, as `trace` does; raise what that raises."""
        sources, runs = [self.encode(text) for text in texts], {}
        for batch in batches_of_a_length(list(dict.fromkeys(sources))):
            runs |= zip(batch, self._traces(batch, keep, interventions, vectors), strict=True)
        return Traces(runs[source] for source in sources)

    def _traces(
        self,
        sources: Sequence[Encoding],
        keep: Collection[str],
        interventions: Sequence[Intervention],
        vectors: Mapping[str, Vectors],
    ) -> list[Trace]:
        """Run texts of one length; a model in this process runs them together."""
        return [self.trace(one.text, keep=keep, interventions=interventions, vectors=vectors) for one in sources]

    def blank_logits(
        self,
        rows: Sequence[Encoding],
        *,
        interventions: Sequence[Sequence[Intervention]] = (),
        vectors: Mapping[str, Vectors] = {},
    ) -> tuple[Float[np.ndarray, "_blank vocab"], ...]:
        """Score the whole vocabulary at every blank of every row, in one batch; every row has its own interventions.

        Of a model that predicts the next token, the scores at a "blank" are of what follows that token. vectors: what "patch" and
        "mean" put in, by the kind of intervention, in every row alike. Raises ValueError when the checkpoint has no head that
        scores the vocabulary, and ChangeProblem for interventions on what a row does not have, or without their vectors.
        """

    def vectors(
        self,
        encoding: Encoding,
        *,
        more: Sequence[Encoding] = (),
        interventions: Sequence[Intervention] = (),
        vectors: Mapping[str, Vectors] = {},
    ) -> Vectors:
        """Return what each layer of a run computes, in CPU memory, to be put into another run.

        more: rows as long as the first, run in one batch with it: their tokens follow, row by row.

        Raises ChangeProblem as `blank_logits` does, and ModelUnavailable where a model's layers cannot be located.
        """

    def over_weights(self, rows: Sequence[Encoding], measure: WeightMeasure, *, half: bool = False) -> Result:
        """Run the rows in one padded batch and return `measure` of the attention weights of the first stack's layers.

        Of an encoder-decoder, the encoder alone is run.
        `measure` is called on the model's device, and nothing else of the run is kept. Keys that are padding are masked,
        but queries that are padding still attend: ignore the rows of the weights beyond a text's tokens.
        half: compute in bfloat16 (`DeviceRunner.in_precision`).
        """

    def output_projection(self, layer: int) -> Float[np.ndarray, "head head_dim hidden"]:
        """Return each head's part of a layer's output projection, which maps its values to the layer's output.

        layer: of the first stack, from 0. Raises ModelUnavailable if the projection cannot be located.
        """

    def early_scores(
        self, states: Float[np.ndarray, "layer_and_embeddings hidden"]
    ) -> Float[np.ndarray, "layer_and_embeddings vocab"]:
        """Apply the model's head to one token's hidden states after every layer (logit lens).

        Raises ModelUnavailable for a model without a head, or whose head does not follow the first stack.
        """

    def embed(self, ids: Sequence[int]) -> Float[np.ndarray, "token embedding"]:
        """Return word vectors as `inputs_embeds` takes them, before positions and segments are added, in CPU memory."""

    def gradients(
        self,
        encoding: Encoding,
        inputs_embeds: Float[np.ndarray, "step token embedding"],
        position: int,
        word: int,
        against: int | None = None,
    ) -> ScoreGradients:
        """Differentiate the log-probability of a vocabulary entry at a position with respect to the word vectors of a text.

        inputs_embeds: sets of word vectors that replace those of the text's ids; positions and segments stay. against: an entry
        whose log-probability is subtracted.
        Raises ModelUnavailable for a model that fills no blanks, or whose head does not follow the first stack.
        """


def with_special_tokens(engine: Engine, added: bool) -> Engine:
    """Return the engine that reads texts with or without special tokens: the same model, another tokenizer.

    A model whose tokenizer adds them was trained with them. Where it adds none, the engine itself is returned.
    """
    tokenizer = engine.tokenizer if added else engine.tokenizer.without_special_tokens
    return engine if tokenizer is engine.tokenizer else replace(engine, tokenizer=tokenizer)


def check_token_count(encoding: Encoding, most: int) -> Encoding:
    """Return the encoding, or raise TextProblem that says by how much it is too long."""
    if len(encoding) > most:
        raise TextProblem(
            f"This text is {len(encoding):,} tokens long and the model reads at most {most:,}, "
            f"special tokens included: shorten it by {len(encoding) - most:,} tokens."
        )
    return encoding


def record_bytes(info: ModelInfo, sizes: Mapping[AttentionKind, tuple[int, int]], parts: Collection[TracePart]) -> int:
    """Return the bytes that a run will keep, without the logits at blanks, which are small.

    sizes: the number of queries and of keys of each stack.
    """
    numbers = 0
    for kind, (queries, keys) in sizes.items():
        vectors = queries * (("query" in parts) + ("context" in parts)) + keys * (("key" in parts) + ("value" in parts))
        maps = info.num_heads * queries * keys * (("weights" in parts) + ("scores" in parts))
        numbers += info.layers[kind] * (maps + vectors * info.hidden_size)
    if "hidden" in parts:
        numbers += (info.num_layers + 1) * sizes["self"][0] * info.hidden_size
    return 4 * numbers


def check_record(info: ModelInfo, sizes: Mapping[AttentionKind, tuple[int, int]], parts: Collection[TracePart]) -> int:
    """Return how many texts of these sizes a run may keep within what the host allows.

    Raises TextProblem, before anything is allocated, if it is none.
    """
    nbytes, most = record_bytes(info, sizes, parts), host_settings().max_record_megabytes * 1_000_000
    if nbytes > most:
        # The size grows at most with the square of the length.
        longest = int(max(max(pair) for pair in sizes.values()) * math.sqrt(most / nbytes))
        raise TextProblem(RECORD_TOO_LARGE.format(megabytes=nbytes / 1e6, limit=most / 1e6, tokens=longest))
    return most // max(nbytes, 1)


def run_limits(info: ModelInfo, sizes: Sequence[tuple[int, int]], vectors: Mapping[str, Vectors] = {}) -> RunLimits:
    """Return the limits of a run. sizes: the number of queries and of keys in every layer. vectors: those that are given."""
    return RunLimits(info.num_heads, sizes, info.max_tokens, info.can_omit_positions, {"mean": None} | vectors)


def mean_vectors(engine: "Engine", sentences: Sequence[str] = ()) -> Vectors:
    """Return the mean over all tokens of sentences of what each layer computes, for the intervention "mean".

    sentences: by default those that ship with the app, without those that are too long for the model. Raises what the engine's
    `encode` and `vectors` raise.
    """
    total, tokens, most = None, 0, engine.info.max_tokens
    rows = [engine.tokenizer.encode(one) for one in sentences or SENTENCES.read_text(encoding="utf-8").splitlines()]
    rows = [check_token_count(row, most) for row in rows if sentences or len(row) <= most]
    for first, *more in batches_of_a_length(rows):
        found = engine.vectors(first, more=more)
        sums = [part.sum(axis=-2, keepdims=True, dtype=np.float64) for part in (found.context, found.mlp, found.residual)]
        total = sums if total is None else [one + more for one, more in zip(total, sums, strict=True)]
        tokens += found.mlp.shape[-2]
    return Vectors(*((part / tokens).astype(np.float32) for part in total))


def batches_of_a_length(rows: Sequence[Encoding]) -> Iterator[list[Encoding]]:
    """Yield the rows in batches of one length, of at most BATCH_TOKENS tokens, or of one row."""
    for length, alike in groupby(sorted(rows, key=len), key=len):
        batch, size = list(alike), max(1, BATCH_TOKENS // length)
        yield from (batch[start : start + size] for start in range(0, len(batch), size))


def head_parts(weight: Float[np.ndarray, "hidden joined"], num_heads: int) -> Float[np.ndarray, "head head_dim hidden"]:
    """Split the weight of an output projection into one matrix per head."""
    return weight.T.reshape(num_heads, -1, weight.shape[0]).astype(np.float64)


NO_WORD_HEAD = "{title} has no masked-word head, so it cannot fill blanks. Choose a model that has one, such as BERT or RoBERTa."
HEAD_MISSING = (
    "The files of {title} hold no head that predicts words, whatever it was trained for. {limitation} "
    "Choose a model that has one, such as BERT or RoBERTa."
)


def no_head(title: str) -> ModelUnavailable:
    """Return the error for a model that cannot fill blanks at all."""
    return ModelUnavailable(NO_WORD_HEAD.format(title=title))


def head_missing(title: str, limitation: str) -> ModelUnavailable:
    """Return the error for a checkpoint that was saved without its head. limitation: what cannot be computed without it."""
    return ModelUnavailable(HEAD_MISSING.format(title=title, limitation=limitation))
