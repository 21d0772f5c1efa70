"""AttnLRP: what the changed gradients give is what its rules give, written out one by one, and nothing is lost on the way."""

import math

import torch

from tx_core.transformer.bert import Bert, random_bert
from tx_core.transformer.config import BertConfig
from tx_core.transformer.relevance import AttnLRP

CONFIG = BertConfig(11, 12, 2, 3, 20, 9, "gelu", 1e-5, 0.0, 2)
IDS, PLACE, WORD = torch.tensor([[3, 7, 1, 9, 4]]), 2, 6


def drawn_bert() -> Bert:
    """An untrained BERT with large weights, and with biases that are not 0."""
    model, generator = random_bert(CONFIG, 1).double(), torch.Generator().manual_seed(2)
    for parameter in model.parameters():
        parameter.data += 0.4 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    return model


class WrittenOut:
    """The rules of Achtibat et al. 2024, each as the paper writes it, with ε = 0; `kept` sums what they leave on the way."""

    def __init__(self):
        self.kept = 0.0

    def linear(self, x, weight, bias, relevance):
        """Equation 8."""
        shares = relevance / (x @ weight.T + bias)
        self.kept += float((bias * shares).sum())
        return x * (shares @ weight)

    def add(self, one, other, relevance):
        """Equation 8 of a sum."""
        return one / (one + other) * relevance, other / (one + other) * relevance

    def norm(self, layer, x, relevance):
        """Proposition 3.4: dividing by the deviation hands on all relevance; subtracting the mean and scaling are linear."""
        centred = x - x.mean(-1, keepdim=True)
        normal = centred / (centred.pow(2).mean(-1, keepdim=True) + layer.eps).sqrt()
        relevance = self.linear(normal, torch.diag(layer.weight), layer.bias, relevance)
        size = x.shape[-1]
        return self.linear(x, torch.eye(size).double() - 1 / size, torch.zeros(size), relevance)

    def product(self, terms, total, relevance):
        """Proposition 3.3: either factor of each term gets half. terms: along the last axis; total: their sum."""
        return terms * (relevance / (2 * total))[..., None]

    def attention(self, layer, x, relevance):
        parts = [part(x).view(len(x), layer.num_heads, -1).transpose(0, 1) for part in (layer.query, layer.key, layer.value)]
        query, key, value = parts
        scores = query @ key.transpose(1, 2) / math.sqrt(query.shape[-1])
        weights = scores.softmax(-1)
        context = weights @ value
        relevance = self.linear(context.transpose(0, 1).flatten(1), layer.output.weight, layer.output.bias, relevance)
        relevance = relevance.view(len(x), layer.num_heads, -1).transpose(0, 1)
        mixed = torch.einsum("hqk,hkd->hqdk", weights, value)
        half = self.product(mixed, context, relevance)
        of_weights, of_value = half.sum(2), half.sum(1).transpose(1, 2)
        of_scores = scores * (of_weights - weights * of_weights.sum(-1, keepdim=True))  # proposition 3.1
        self.kept += float(of_weights.sum() - of_scores.sum())
        matched = torch.einsum("hqd,hkd->hqkd", query, key) / math.sqrt(query.shape[-1])
        half = self.product(matched, scores, of_scores)
        sides = zip((layer.query, layer.key, layer.value), (half.sum(2), half.sum(1), of_value), strict=True)
        return sum(self.linear(x, part.weight, part.bias, side.transpose(0, 1).flatten(1)) for part, side in sides)

    def block(self, block, x, relevance):
        attended = block.attention(x[None]).output[0]
        middle = block.attention_norm(x + attended)
        fed = block.feed_forward(middle)
        one, other = self.add(middle, fed, self.norm(block.feed_forward_norm, middle + fed, relevance))
        up, down = block.feed_forward.up, block.feed_forward.down
        other = self.linear(torch.nn.functional.gelu(up(middle)), down.weight, down.bias, other)
        other = self.linear(middle, up.weight, up.bias, other)  # equation 9: an activation function hands on all relevance
        one, other = self.add(x, attended, self.norm(block.attention_norm, x + attended, one + other))
        return one + self.attention(block.attention, x, other)

    def words(self, model: Bert):
        """From the logit of a word at a place back to the word vectors."""
        words, given = (
            model.words(IDS)[0],
            model.embeddings.positions.weight[: IDS.shape[1]] + model.embeddings.segments.weight[0],
        )
        states = [model.embeddings.norm(words + given)]
        for block in model.encoder.blocks:
            states.append(block(states[-1][None])[0][0])
        head, last = model.head, states[-1][PLACE]
        dense = head.dense(last)
        normal = head.norm(torch.nn.functional.gelu(dense))
        relevance = torch.zeros(CONFIG.vocab_size).double()
        relevance[WORD] = head.vocabulary(normal)[WORD]
        relevance = self.linear(normal, head.vocabulary.weight, head.vocabulary.bias, relevance)
        relevance = self.norm(head.norm, torch.nn.functional.gelu(dense), relevance)
        at_place = self.linear(last, head.dense.weight, head.dense.bias, relevance)
        relevance = torch.zeros_like(states[-1])
        relevance[PLACE] = at_place
        for block, state in zip(reversed(model.encoder.blocks), reversed(states[:-1]), strict=True):
            relevance = self.block(block, state, relevance)
        one, other = self.add(words, given, self.norm(model.embeddings.norm, words + given, relevance))
        self.kept += float(other.sum())
        return one.sum(-1)


def run(model: Bert) -> tuple[torch.Tensor, torch.Tensor]:
    """The word vectors, and the logit that a gradient is taken of."""
    vectors = model.words(IDS).detach().requires_grad_()
    return vectors, model.predict(model(IDS, inputs_embeds=vectors).output[:, PLACE])[0, WORD]


def test_the_changed_gradients_give_what_the_rules_give_and_every_share_of_the_logit_is_accounted_for():
    model = drawn_bert()
    with AttnLRP():
        vectors, logit = run(model)
        (gradient,) = torch.autograd.grad(logit, vectors)
    rules = WrittenOut()
    with torch.no_grad():
        expected = rules.words(model)
    torch.testing.assert_close((gradient * vectors)[0].sum(-1).detach(), expected, rtol=1e-6, atol=1e-8)
    assert abs(float(expected.sum()) + rules.kept - logit.item()) < 1e-8


def test_the_numbers_of_the_run_stay_and_gradients_are_as_before_after_it():
    model = drawn_bert()
    vectors, before = run(model)
    (plain,) = torch.autograd.grad(before, vectors)
    with AttnLRP():
        _, changed = run(model)
    again, after = run(model)
    torch.testing.assert_close(changed, before)
    torch.testing.assert_close(torch.autograd.grad(after, again)[0], plain)
