"""The encoder: activations, layer norm, feed-forward and multi-head attention, a block of them, and the stack of blocks."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from tx_core.transformer.attention import Weigh, attend, attention_scores, attention_weights, merge_heads, softmax, split_heads
from tx_core.transformer.changed_run import VECTOR_PARTS, ChangeVectors, VectorChanges, unchanged, weigh_at
from tx_core.transformer.config import TransformerConfig
from tx_core.transformer.interventions import Intervention, Vectors, first_changed_layer
from tx_core.transformer.positions import rotate
from tx_core.transformer.trace import TracePart

PAD_MULTIPLE = 128
"""In bfloat16 on a CPU, rows are padded to a multiple of this: oneDNN compiles and caches one kernel per shape, which takes
gigabytes where there are many shapes."""
QUERY_PARTS: frozenset[TracePart] = frozenset({"query", "scores", "weights", "context"})
"""What is kept of every query."""
VALUE_PARTS: frozenset[TracePart] = frozenset({"value", "context"})
"""What cannot be kept without the values."""
TOKEN_PARTS = VECTOR_PARTS | {"hidden"}
"""What is kept of every token."""


def gelu(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """Multiply x by the standard normal distribution function at x (Hendrycks & Gimpel 2016).

    Written out to be read; the model calls PyTorch's own, which is faster, and tests hold both equal.
    """
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


ACTIVATION: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": functional.gelu,
    "gelu_new": partial(functional.gelu, approximate="tanh"),
    "relu": torch.relu,
}


def layer_norm(
    x: Float[Tensor, "... hidden"], weight: Float[Tensor, "hidden"], bias: Float[Tensor, "hidden"], eps: float
) -> Float[Tensor, "... hidden"]:
    """Normalise each token's vector to mean 0 and variance 1, then apply a learned scale and shift (Ba et al. 2016).

    Written out to be read; the model calls PyTorch's own, which is faster, and tests hold both equal.
    """
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.pow(2).mean(dim=-1, keepdim=True)
    return centred * torch.rsqrt(variance + eps) * weight + bias


class LayerNorm(nn.Module):
    """`layer_norm`, as PyTorch computes it, with its learned weight and bias."""

    def __init__(self, hidden_size: int, eps: float = 1e-12):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.bias = nn.Parameter(torch.zeros(hidden_size))
        self.eps = eps

    def forward(self, x: Float[Tensor, "... hidden"]) -> Float[Tensor, "... hidden"]:
        return torch.layer_norm(x, (x.shape[-1],), self.weight, self.bias, self.eps)

    __call__ = forward  # nothing here hooks into a call, and looking for hooks takes time


def linear(layer: nn.Linear, x: Float[Tensor, "... inputs"]) -> Float[Tensor, "... outputs"]:
    """Apply a linear layer. Calling the module itself looks for hooks first: a tenth of the run of a short text."""
    if x.dtype != torch.bfloat16 or x.device.type != "cpu":
        return functional.linear(x, layer.weight, layer.bias)
    rows = x.flatten(0, -2)
    padded = functional.pad(rows, (0, 0, 0, -len(rows) % PAD_MULTIPLE))
    return functional.linear(padded, layer.weight, layer.bias)[: len(rows)].view(*x.shape[:-1], -1)


class FeedForward(nn.Module):
    """Up projection, activation and down projection of each token's vector (Vaswani et al. 2017, section 3.3)."""

    def __init__(self, hidden_size: int, intermediate_size: int, activation: str = "gelu"):
        super().__init__()
        self.up = nn.Linear(hidden_size, intermediate_size)
        self.down = nn.Linear(intermediate_size, hidden_size)
        self.activation = ACTIVATION[activation]

    def forward(self, x: Float[Tensor, "... hidden"]) -> Float[Tensor, "... hidden"]:
        return linear(self.down, self.activation(linear(self.up, x)))

    __call__ = forward


def draw_weights(model: nn.Module, seed: int | torch.Generator, deviation: Callable[[str], float | None]) -> nn.Module:
    """Draw the weights of a model in evaluation mode: biases are 0, the scales of norms stay as they are.

    deviation: the standard deviation of normal weights, by their name; None for uniform ones as in Glorot & Bengio 2010.
    """
    generator = torch.Generator().manual_seed(seed) if isinstance(seed, int) else seed
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.dim() > 1 and (size := deviation(name)) is None:
            nn.init.xavier_uniform_(parameter, generator=generator)
        elif parameter.dim() > 1:
            nn.init.normal_(parameter, std=size, generator=generator)
    return model.eval()


class Wanted(NamedTuple):
    """What is wanted of a block. The default is everything.

    places: the positions whose new vectors are wanted; None for all. queries_alone: whether no other position need attend.
    values: whether anything beyond the weights is wanted.
    """

    places: Sequence[int] | None = None
    queries_alone: bool = False
    values: bool = True


EVERYTHING = Wanted()


class LayerAttention(NamedTuple):
    """The output and all intermediate results of one layer's attention; None for what nothing asked for.

    output: the result of the output projection, before residual connection and layer norm. scores: after scaling and bias, before
    mask and intervention. context: the sum of each head's values, weighted by `weights`.
    """

    output: Float[Tensor, "batch query hidden"] | None
    query: Float[Tensor, "batch head query head_dim"] | None
    key: Float[Tensor, "batch head key head_dim"] | None
    value: Float[Tensor, "batch head key head_dim"] | None
    scores: Float[Tensor, "batch head query key"] | None
    weights: Float[Tensor, "batch head query key"] | None
    context: Float[Tensor, "batch head query head_dim"] | None


class MultiHeadAttention(nn.Module):
    """Several attentions in parallel, each on its own projections (Vaswani et al. 2017, section 3.2.2)."""

    def __init__(self, hidden_size: int, num_heads: int, dropout: float = 0.0):
        super().__init__()
        self.num_heads = num_heads
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key = nn.Linear(hidden_size, hidden_size)
        self.value = nn.Linear(hidden_size, hidden_size)
        self.output = nn.Linear(hidden_size, hidden_size)
        self.dropout = dropout

    def forward(
        self,
        hidden: Float[Tensor, "batch query hidden"],
        source: Float[Tensor, "batch key hidden"] | None = None,
        mask: Bool[Tensor, "..."] | None = None,
        *,
        weigh: Weigh = attention_weights,
        angles: Float[Tensor, "token pair"] | None = None,
        wanted: Wanted = EVERYTHING,
        change: ChangeVectors = unchanged,
    ) -> LayerAttention:
        """Attend from `hidden` to `source`, or to `hidden` itself without a source. For the rest see `attention.attend`.

        angles: those by which queries and keys are rotated, see `positions.rotate`; the record has them rotated.
        change: what replaces the context, once computed.
        """
        source, rotation = hidden if source is None else source, angles
        if wanted.queries_alone:
            hidden, rotation = hidden[:, wanted.places], None if angles is None else angles[wanted.places]
            mask = mask[..., wanted.places, :] if mask is not None and mask.shape[-2] > 1 else mask
        query, key = self._in_heads(self.query, hidden), self._in_heads(self.key, source)
        if angles is not None:
            query, key = rotate(query, rotation), rotate(key, angles)
        if not wanted.values:
            scores = attention_scores(query, key)
            return LayerAttention(None, query, key, None, scores, weigh(scores, mask, softmax), None)
        value = self._in_heads(self.value, source)
        dropout = self.dropout if self.training else 0.0
        context, weights, scores = attend(query, key, value, mask, weigh=weigh, dropout=dropout)
        context = change("context", context, wanted.places if wanted.queries_alone else None)
        output = linear(self.output, merge_heads(context).to(hidden.dtype))
        return LayerAttention(output, query, key, value, scores, weights, context)

    __call__ = forward

    def _in_heads(
        self, projection: nn.Linear, x: Float[Tensor, "batch token hidden"]
    ) -> Float[Tensor, "batch head token head_dim"]:
        """Project and split into heads.

        bfloat16 becomes single precision: scores are more exact, and no kernel is compiled for every length of text.
        """
        part = split_heads(linear(projection, x), self.num_heads)
        if x.dtype == torch.bfloat16:
            return part.to(torch.float32, memory_format=torch.contiguous_format)
        return part


class EncoderBlock(nn.Module):
    """Self-attention, then feed-forward, each with a residual connection and a layer norm.

    norm_first: normalise before each sublayer (pre-norm, Xiong et al. 2020) instead of after it (post-norm, as BERT does).
    """

    def __init__(self, config: TransformerConfig, *, norm_first: bool = False):
        super().__init__()
        self.attention = MultiHeadAttention(config.hidden_size, config.num_heads, config.dropout)
        self.attention_norm = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.feed_forward = FeedForward(config.hidden_size, config.intermediate_size, config.activation)
        self.feed_forward_norm = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.dropout = nn.Dropout(config.dropout)
        self.norm_first = norm_first

    def forward(
        self,
        hidden: Float[Tensor, "batch token hidden"],
        mask: Bool[Tensor, "..."] | None = None,
        *,
        weigh: Weigh = attention_weights,
        angles: Float[Tensor, "token pair"] | None = None,
        wanted: Wanted = EVERYTHING,
        change: ChangeVectors = unchanged,
    ) -> tuple[Float[Tensor, "batch place hidden"], LayerAttention]:
        """Return the new vectors, at the places wanted, and what the attention computed."""
        source = self.attention_norm(hidden) if self.norm_first else hidden
        attention = self.attention(source, mask=mask, weigh=weigh, angles=angles, wanted=wanted, change=change)
        output = attention.output
        if wanted.places is not None:
            hidden = hidden[:, wanted.places]
            output = output if output is None or wanted.queries_alone else output[:, wanted.places]
        if output is not None:
            hidden = self.after_attention(hidden, output, change, wanted.places)
        return change("residual", hidden, wanted.places), attention

    __call__ = forward

    def after_attention(
        self,
        hidden: Float[Tensor, "batch token hidden"],
        output: Float[Tensor, "batch token hidden"],
        change: ChangeVectors = unchanged,
        places: Sequence[int] | None = None,
    ) -> Float[Tensor, "batch token hidden"]:
        """Run the rest of the block. hidden: its input. output: the attention's. change: what replaces the feed-forward's."""
        hidden = self._add(hidden, output)
        if self.norm_first:
            return self._add(hidden, change("mlp", self.feed_forward(self.feed_forward_norm(hidden)), places))
        hidden = self.attention_norm(hidden)
        return self.feed_forward_norm(self._add(hidden, change("mlp", self.feed_forward(hidden), places)))

    def _add(self, hidden: Tensor, part: Tensor) -> Tensor:
        return hidden + (self.dropout(part) if self.training else part)


class EncoderRun(NamedTuple):
    """The result of a stack of blocks.

    layers: for each layer, the parts of its self-attention that were kept, by name. hidden: the input and the output of every
    block, where "hidden" was kept; else empty. cross_layers: as `layers`, of a decoder's cross-attention.
    """

    output: Float[Tensor, "batch token hidden"]
    layers: list[dict[str, Tensor]]
    hidden: Sequence[Float[Tensor, "batch token hidden"]] = ()
    cross_layers: Sequence[dict[str, Tensor]] = ()


def select_parts(attention: LayerAttention, keep: Collection[str]) -> dict[str, Tensor]:
    """Select the parts of a layer's attention that are to be kept."""
    return {part: getattr(attention, part) for part in LayerAttention._fields if part in keep}


class Encoder(nn.Module):
    """A stack of encoder blocks, each reading the output of the one before (Vaswani et al. 2017, section 3.1)."""

    def __init__(self, config: TransformerConfig, *, norm_first: bool = False):
        super().__init__()
        self.blocks = nn.ModuleList(EncoderBlock(config, norm_first=norm_first) for _ in range(config.num_layers))

    def forward(
        self,
        hidden: Float[Tensor, "batch token hidden"],
        mask: Bool[Tensor, "..."] | None = None,
        *,
        keep: Collection[str] = (),
        interventions: Sequence[Sequence[Intervention]] = (),
        places: Sequence[int] | None = None,
        angles: Float[Tensor, "token pair"] | None = None,
        vectors: Mapping[str, Vectors] = {},
    ) -> EncoderRun:
        """Run every block.

        keep: the parts to keep, of `trace.ALL_PARTS` and of `Vectors`. interventions: those of each row of the batch; empty for
        none. With those of several runs for one row, every run begins where it first differs from the first run, from the
        vectors of that one. places: the positions whose last vectors are wanted; None for all. Nothing is computed for which
        nothing asks.
        angles: of rotary positions, in every layer. vectors: what interventions put in, by their kind.
        """
        order = list(range(len(hidden)))
        begun = [len(hidden)] * len(self.blocks)
        if len(interventions) > len(hidden):
            starts = [first_changed_layer(run, interventions[0], len(self.blocks) - 1) for run in interventions]
            starts[0] = 0
            order = sorted(range(len(starts)), key=starts.__getitem__)
            begun = [sum(start <= number for start in starts) for number in range(len(self.blocks))]
            interventions = [interventions[run] for run in order]
        changes = VectorChanges(interventions, vectors, VECTOR_PARTS & set(keep))
        layers, states, last = [], [hidden], len(self.blocks) - 1
        for number, block in enumerate(self.blocks):
            if begun[number] > len(hidden):  # runs begin from the vectors of the first
                hidden = torch.cat([hidden, hidden[:1].expand(begun[number] - len(hidden), -1, -1)])
            hidden, attention = block(
                hidden,
                mask,
                weigh=weigh_at(interventions[: len(hidden)], number),
                angles=angles,
                wanted=self._wanted(keep, interventions, places if number == last else None),
                change=lambda part, values, at=None, layer=number: changes.change(part, layer, values, at),
            )
            layers.append(select_parts(attention, keep) | {part: changes.kept[part][-1] for part in changes.keep})
            if "hidden" in keep:
                states.append(hidden)
        output = hidden if places is None or not TOKEN_PARTS & set(keep) else hidden[:, places]
        run = EncoderRun(output, layers, states if "hidden" in keep else ())
        return put_in_order(run, order) if len(order) > len(states[0]) else run

    def _wanted(
        self, keep: Collection[str], interventions: Sequence[Sequence[Intervention]], places: Sequence[int] | None
    ) -> Wanted:
        """Return what is wanted of a block. places: as in `forward`, of the last block."""
        if places is None or TOKEN_PARTS & set(keep):
            return EVERYTHING
        by_query = any(one.rule.by_query for run in interventions for one in run)
        alone = not (by_query or QUERY_PARTS & set(keep))
        return Wanted(places, alone, bool(places or VALUE_PARTS & set(keep)))


def put_in_order(run: EncoderRun, order: Sequence[int]) -> EncoderRun:
    """Put rows that began in some order into that of the runs; before a run began, it was as the first."""
    places = {number: place for place, number in enumerate(order)}

    def ordered(part: Float[Tensor, "begun ..."]) -> Float[Tensor, "run ..."]:
        return part[[places[number] if places[number] < len(part) else 0 for number in range(len(order))]]

    layers = [{name: ordered(part) for name, part in layer.items()} for layer in run.layers]
    return EncoderRun(ordered(run.output), layers, [ordered(state) for state in run.hidden])
