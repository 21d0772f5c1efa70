"""The encoder-decoder transformer: the encoder reads the source, the decoder writes the target (Vaswani et al. 2017)."""

import math
from collections.abc import Collection
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from tx_core.transformer.attention import causal_mask, combine
from tx_core.transformer.config import Seq2SeqConfig
from tx_core.transformer.layers import (
    Encoder,
    EncoderRun,
    FeedForward,
    LayerAttention,
    LayerNorm,
    MultiHeadAttention,
    draw_weights,
    select_parts,
)
from tx_core.transformer.positions import sinusoids


class DecoderBlock(nn.Module):
    """Self-attention, attention over the source, feed-forward (Vaswani et al. 2017, section 3.1).
    Of a config with norm_first, pre-norm; else post-norm, as in the paper.
    """

    def __init__(self, config: Seq2SeqConfig):
        super().__init__()
        size, heads, eps = config.hidden_size, config.num_heads, config.layer_norm_eps
        self.attention = MultiHeadAttention(size, heads, config.dropout)
        self.attention_norm = LayerNorm(size, eps)
        self.cross_attention = MultiHeadAttention(size, heads, config.dropout)
        self.cross_attention_norm = LayerNorm(size, eps)
        self.feed_forward = FeedForward(size, config.intermediate_size, config.activation)
        self.feed_forward_norm = LayerNorm(size, eps)
        self.dropout = nn.Dropout(config.dropout)
        self.norm_first = config.norm_first

    def forward(
        self,
        hidden: Float[Tensor, "batch token hidden"],
        source: Float[Tensor, "batch source_token hidden"],
        mask: Bool[Tensor, "..."] | None = None,
        source_mask: Bool[Tensor, "..."] | None = None,
    ) -> tuple[Float[Tensor, "batch token hidden"], LayerAttention, LayerAttention]:
        """Return the new vectors, and what the self-attention and the cross-attention computed.

        source: the encoder's output. mask: for the self-attention. source_mask: for the cross-attention.
        """
        if self.norm_first:
            own = self.attention(self.attention_norm(hidden), mask=mask)
            hidden = hidden + self.dropout(own.output)
            cross = self.cross_attention(self.cross_attention_norm(hidden), source, source_mask)
            hidden = hidden + self.dropout(cross.output)
            return hidden + self.dropout(self.feed_forward(self.feed_forward_norm(hidden))), own, cross
        own = self.attention(hidden, mask=mask)
        hidden = self.attention_norm(hidden + self.dropout(own.output))
        cross = self.cross_attention(hidden, source, source_mask)
        hidden = self.cross_attention_norm(hidden + self.dropout(cross.output))
        return self.feed_forward_norm(hidden + self.dropout(self.feed_forward(hidden))), own, cross


class Decoder(nn.Module):
    """A stack of decoder blocks that all attend to the same source."""

    def __init__(self, config: Seq2SeqConfig):
        super().__init__()
        self.blocks = nn.ModuleList(DecoderBlock(config) for _ in range(config.num_layers))

    def forward(
        self,
        hidden: Float[Tensor, "batch token hidden"],
        source: Float[Tensor, "batch source_token hidden"],
        mask: Bool[Tensor, "..."] | None = None,
        source_mask: Bool[Tensor, "..."] | None = None,
        *,
        keep: Collection[str] = (),
    ) -> EncoderRun:
        """Run every block. keep: the parts to keep, see `trace.ALL_PARTS`."""
        layers, cross_layers = [], []
        for block in self.blocks:
            hidden, own, cross = block(hidden, source, mask, source_mask)
            layers.append(select_parts(own, keep))
            cross_layers.append(select_parts(cross, keep))
        return EncoderRun(hidden, layers, cross_layers=cross_layers)


class Seq2SeqEmbeddings(nn.Module):
    """Word embeddings times √hidden, plus positional encodings (Vaswani et al. 2017, sections 3.4 and 3.5)."""

    def __init__(self, config: Seq2SeqConfig):
        super().__init__()
        self.words = nn.Embedding(config.vocab_size, config.hidden_size)
        self.register_buffer("waves", sinusoids(config.max_positions, config.hidden_size), persistent=False)
        self.scale = math.sqrt(config.hidden_size)
        self.max_positions = config.max_positions
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, ids: Int[Tensor, "batch token"]) -> Float[Tensor, "batch token hidden"]:
        """Embed the tokens. Raises ValueError for a sequence longer than max_positions."""
        tokens = ids.shape[1]
        if tokens > self.max_positions:
            raise ValueError(f"a sequence may have {self.max_positions} tokens, got {tokens}")
        return self.dropout(self.words(ids) * self.scale + self.waves[:tokens])


class Seq2SeqRun(NamedTuple):
    """The result of an encoder-decoder. logits: scores of the next word after each target token."""

    logits: Float[Tensor, "batch target vocab"]
    encoder: EncoderRun
    decoder: EncoderRun


class Seq2Seq(nn.Module):
    """The encoder-decoder. Pre-norm stacks end with a layer norm of their own (Xiong et al. 2020)."""

    def __init__(self, config: Seq2SeqConfig):
        super().__init__()
        self.config = config
        self.source_embeddings = Seq2SeqEmbeddings(config)
        self.target_embeddings = Seq2SeqEmbeddings(config)
        self.encoder = Encoder(config, norm_first=config.norm_first)
        self.decoder = Decoder(config)
        last = (config.hidden_size, config.layer_norm_eps)
        self.encoder_norm = LayerNorm(*last) if config.norm_first else nn.Identity()
        self.decoder_norm = LayerNorm(*last) if config.norm_first else nn.Identity()
        self.vocabulary = nn.Linear(config.hidden_size, config.vocab_size)

    def encode(
        self,
        source: Int[Tensor, "batch source"],
        source_mask: Bool[Tensor, "..."] | None = None,
        *,
        keep: Collection[str] = (),
    ) -> EncoderRun:
        """Encode the source once, for any number of decoding steps."""
        run = self.encoder(self.source_embeddings(source), source_mask, keep=keep)
        return run._replace(output=self.encoder_norm(run.output))

    def decode(
        self,
        memory: Float[Tensor, "batch source hidden"],
        target: Int[Tensor, "batch target"],
        source_mask: Bool[Tensor, "..."] | None = None,
        target_mask: Bool[Tensor, "..."] | None = None,
        *,
        keep: Collection[str] = (),
    ) -> tuple[Float[Tensor, "batch target vocab"], EncoderRun]:
        """Compute logits of the next word after each target token, under a causal mask. memory: the encoder's output."""
        causal = causal_mask(target.shape[1]).to(target.device)
        mask = combine(causal, target_mask)
        run = self.decoder(self.target_embeddings(target), memory, mask, source_mask, keep=keep)
        return self.vocabulary(self.decoder_norm(run.output)), run

    def forward(
        self,
        source: Int[Tensor, "batch source"],
        target: Int[Tensor, "batch target"],
        source_mask: Bool[Tensor, "..."] | None = None,
        target_mask: Bool[Tensor, "..."] | None = None,
        *,
        keep: Collection[str] = (),
    ) -> Seq2SeqRun:
        """Encode the source and compute logits of the target; the causal mask is always applied.

        source_mask: masks the padding of the source in self- and cross-attention. target_mask: masks that of the target.
        Both as from `padding_mask`, True = may be attended to. keep: the parts to keep, see `trace.ALL_PARTS`.
        """
        encoded = self.encode(source, source_mask, keep=keep)
        logits, decoded = self.decode(encoded.output, target, source_mask, target_mask, keep=keep)
        return Seq2SeqRun(logits, encoded, decoded)


def random_seq2seq(config: Seq2SeqConfig, seed: int) -> Seq2Seq:
    """Build an untrained transformer: matrices as in Glorot & Bengio (2010), embeddings of length about 1, biases 0."""
    return draw_weights(Seq2Seq(config), seed, lambda name: config.hidden_size**-0.5 if "embeddings" in name else None)


@torch.no_grad()
def greedy_decode(model: Seq2Seq, source: Int[Tensor, "batch source"], start: int, tokens: int) -> Int[Tensor, "batch target"]:
    """Decode greedily up to `tokens` tokens, the first of which is the start token."""
    memory = model.encode(source).output
    target = torch.full((len(source), 1), start, device=source.device)
    while target.shape[1] < tokens:
        logits, _ = model.decode(memory, target)
        target = torch.cat((target, logits[:, -1].argmax(dim=-1, keepdim=True)), dim=1)
    return target
