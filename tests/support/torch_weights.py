"""Copy our weights into PyTorch's own modules, so that both can be asked the same question."""

import torch
from torch import nn

from tx_core.transformer.layers import EncoderBlock, FeedForward, LayerNorm, MultiHeadAttention
from tx_core.transformer.seq2seq import DecoderBlock


@torch.no_grad()
def shake(module: nn.Module, seed: int = 0) -> nn.Module:
    """Give every parameter, norms and biases too, a value that a mistake would not leave unnoticed."""
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
    theirs = nn.TransformerEncoderLayer(
        ours.attention.query.in_features,
        ours.attention.num_heads,
        intermediate_size,
        dropout=0.0,
        activation=activation,
        layer_norm_eps=ours.attention_norm.eps,
        batch_first=True,
        norm_first=ours.norm_first,
    )
    copy_attention(theirs.self_attn, ours.attention)
    copied(theirs.norm1, ours.attention_norm)
    copy_feed_forward(theirs, ours.feed_forward, theirs.norm2, ours.feed_forward_norm)
    return theirs.eval()


def torch_decoder_layer(ours: DecoderBlock, intermediate_size: int, activation: str) -> nn.TransformerDecoderLayer:
    theirs = nn.TransformerDecoderLayer(
        ours.attention.query.in_features,
        ours.attention.num_heads,
        intermediate_size,
        dropout=0.0,
        activation=activation,
        layer_norm_eps=ours.attention_norm.eps,
        batch_first=True,
        norm_first=ours.norm_first,
    )
    copy_attention(theirs.self_attn, ours.attention)
    copy_attention(theirs.multihead_attn, ours.cross_attention)
    copied(theirs.norm1, ours.attention_norm)
    copied(theirs.norm2, ours.cross_attention_norm)
    copy_feed_forward(theirs, ours.feed_forward, theirs.norm3, ours.feed_forward_norm)
    return theirs.eval()
