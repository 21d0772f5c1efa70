"""Sizes of small models; and our weights copied into PyTorch's own modules, so that both can be asked the same question."""

import torch
from torch import nn

from tx_core.transformer.config import BertConfig, CausalConfig, Seq2SeqConfig
from tx_core.transformer.layers import EncoderBlock, FeedForward, LayerNorm, MultiHeadAttention
from tx_core.transformer.seq2seq import DecoderBlock

SIZES = {"hidden_size": 12, "num_layers": 2, "num_heads": 3, "intermediate_size": 20, "dropout": 0.0}
SMALL_BERT = BertConfig(**SIZES, vocab_size=23, max_positions=10, num_segments=2, activation="gelu", layer_norm_eps=1e-12)
SMALL_SEQ2SEQ = Seq2SeqConfig(**SIZES, vocab_size=11, max_positions=9, norm_first=False, activation="relu", layer_norm_eps=1e-5)
SMALL_CAUSAL = CausalConfig(**SIZES, vocab_size=53, max_positions=24, rotary_base=100.0, activation="gelu", layer_norm_eps=1e-5)


@torch.no_grad()
def shake(module: nn.Module, seed: int = 0) -> nn.Module:
    """Set every parameter, norms and biases too, to a value that a mistake would not leave unnoticed."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in module.parameters():
        parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.3)
    return module.eval()


def copied(theirs: nn.Module, ours: nn.Module) -> None:
    theirs.load_state_dict(ours.state_dict())


@torch.no_grad()
def copy_attention(theirs: nn.MultiheadAttention, ours: MultiHeadAttention) -> None:
    projections = (ours.query, ours.key, ours.value)
    theirs.in_proj_weight.copy_(torch.cat([linear.weight for linear in projections]))
    theirs.in_proj_bias.copy_(torch.cat([linear.bias for linear in projections]))
    copied(theirs.out_proj, ours.output)


def copy_feed_forward(theirs: nn.Module, ours: FeedForward, norm: nn.LayerNorm, our_norm: LayerNorm) -> None:
    copied(theirs.linear1, ours.up)
    copied(theirs.linear2, ours.down)
    copied(norm, our_norm)


def torch_encoder_layer(ours: EncoderBlock, intermediate_size: int, activation: str) -> nn.TransformerEncoderLayer:
    theirs = nn.TransformerEncoderLayer(**_sizes(ours, intermediate_size, activation))
    copy_attention(theirs.self_attn, ours.attention)
    copied(theirs.norm1, ours.attention_norm)
    copy_feed_forward(theirs, ours.feed_forward, theirs.norm2, ours.feed_forward_norm)
    return theirs.eval()


def torch_decoder_layer(ours: DecoderBlock, intermediate_size: int, activation: str) -> nn.TransformerDecoderLayer:
    theirs = nn.TransformerDecoderLayer(**_sizes(ours, intermediate_size, activation))
    copy_attention(theirs.self_attn, ours.attention)
    copy_attention(theirs.multihead_attn, ours.cross_attention)
    copied(theirs.norm1, ours.attention_norm)
    copied(theirs.norm2, ours.cross_attention_norm)
    copy_feed_forward(theirs, ours.feed_forward, theirs.norm3, ours.feed_forward_norm)
    return theirs.eval()


def _sizes(ours: EncoderBlock | DecoderBlock, intermediate_size: int, activation: str) -> dict[str, object]:
    return {
        "d_model": ours.attention.query.in_features,
        "nhead": ours.attention.num_heads,
        "dim_feedforward": intermediate_size,
        "dropout": 0.0,
        "activation": activation,
        "layer_norm_eps": ours.attention_norm.eps,
        "batch_first": True,
        "norm_first": ours.norm_first,
    }
