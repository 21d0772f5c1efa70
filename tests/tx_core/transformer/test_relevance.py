"""AttnLRP: the changed gradients are those of its rules, in plain operations whose factors are held fixed."""

import math

import torch
from torch import Tensor
from torch.nn.functional import gelu

from tests.support.torch_weights import SMALL_BERT, shake
from tx_core.transformer.bert import Bert, random_bert
from tx_core.transformer.relevance import AttnLRP

IDS, PLACE, WORD = torch.tensor([[3, 7, 1, 9, 4]]), 2, 6


def run(model: Bert) -> tuple[Tensor, Tensor]:
    vectors = model.words(IDS).detach().requires_grad_()
    return vectors, model.predict(model(IDS, inputs_embeds=vectors).output[:, PLACE])[0, WORD]


def by_rules(model: Bert, vectors: Tensor) -> Tensor:
    """The logit, so that its gradient follows Achtibat et al. 2024: propositions 3.3 and 3.4, equation 9."""

    def norm(layer, x: Tensor) -> Tensor:
        return (x - x.mean(-1, keepdim=True)) / x.std(-1, correction=0, keepdim=True).detach() * layer.weight + layer.bias

    def activate(x: Tensor) -> Tensor:
        return x * (gelu(x) / x).detach()

    def product(one: Tensor, other: Tensor) -> Tensor:
        return (one @ other.detach() + one.detach() @ other) / 2

    hidden = norm(model.embeddings.norm, vectors[0] + model.embeddings.positions.weight[:5] + model.embeddings.segments.weight[0])
    for block in model.encoder.blocks:
        own = block.attention
        query, key, value = (part(hidden).view(5, 3, 4).transpose(0, 1) for part in (own.query, own.key, own.value))
        weights = (product(query, key.transpose(1, 2)) / math.sqrt(4)).softmax(-1)
        hidden = norm(block.attention_norm, hidden + own.output(product(weights, value).transpose(0, 1).flatten(1)))
        fed = block.feed_forward.down(activate(block.feed_forward.up(hidden)))
        hidden = norm(block.feed_forward_norm, hidden + fed)
    return model.head.vocabulary(norm(model.head.norm, activate(model.head.dense(hidden[PLACE]))))[WORD]


def test_the_changed_gradients_are_those_of_the_rules_and_the_numbers_and_later_gradients_stay():
    model = shake(random_bert(SMALL_BERT, 1).double(), 2)
    vectors, before = run(model)
    (plain,) = torch.autograd.grad(before, vectors)
    with AttnLRP():
        seen, logit = run(model)
        (found,) = torch.autograd.grad(logit, seen)
    torch.testing.assert_close(logit, before)
    (expected,) = torch.autograd.grad(by_rules(model, vectors), vectors)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-8)
    assert (found - plain).abs().max() > 1e-3
    again, after = run(model)
    torch.testing.assert_close(torch.autograd.grad(after, again)[0], plain)
