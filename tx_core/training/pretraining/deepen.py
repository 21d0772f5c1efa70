"""Going on from a trained model with more blocks: the new ones at first change next to nothing."""

from dataclasses import replace

import torch

from tx_core.bert import Bert, random_bert
from tx_core.layers import EncoderBlock, LayerNorm


def deepened(trained: Bert, num_layers: int) -> Bert:
    """Spread new blocks evenly among those of a trained model, the last at its end.

    A new block is the one before it with the two matrices and biases that add to a token's vector at zero, as in LLaMA
    Pro (Wu et al. 2024). Being post-norm, it norms that vector twice all the same: its norms put back the mean and the
    deviation that the block before leaves, one number each for all tokens.
    Raises ValueError when num_layers is less than the model has.
    """
    old = trained.config.num_layers
    if num_layers < old:
        raise ValueError(f"a model of {old} layers cannot be deepened to {num_layers}")
    new = num_layers - old
    after = [round(number * old / new) for number in range(1, new + 1)]
    model = random_bert(replace(trained.config, num_layers=num_layers), 0, with_head=trained.head is not None)
    _take_over(model, trained)
    place = 0
    for number, block in enumerate(trained.encoder.blocks, start=1):
        model.encoder.blocks[place].load_state_dict(block.state_dict())
        place += 1
        for _ in range(after.count(number)):
            model.encoder.blocks[place].load_state_dict(block.state_dict())
            _silence(model.encoder.blocks[place])
            place += 1
    return model


def _take_over(model: Bert, trained: Bert) -> None:
    kept = {name: tensor for name, tensor in trained.state_dict().items() if not name.startswith("encoder.")}
    model.load_state_dict(kept, strict=False)


@torch.no_grad()
def _silence(block: EncoderBlock) -> None:
    for part in (block.attention.output, block.feed_forward.narrow):
        part.weight.zero_()
        part.bias.zero_()
    mean, deviation = _left_by(block.feed_forward_norm)
    for norm in (block.attention_norm, block.feed_forward_norm):
        norm.weight.fill_(deviation)
        norm.bias.fill_(mean)


def _left_by(norm: LayerNorm) -> tuple[float, float]:
    """Give the mean and the deviation over a vector's numbers that a norm leaves, were they independent before it."""
    squares = norm.weight.pow(2).mean() + norm.bias.pow(2).mean()
    mean = norm.bias.mean()
    return mean.item(), (squares - mean.pow(2)).sqrt().item()
