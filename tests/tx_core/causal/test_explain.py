"""Explanations of an answer: each method against the transformers library's BERT, asked as its authors define it."""

import numpy as np
import pytest
import torch
import transformers

from tx_core import explain
from tx_core.causal.explain import METHODS, NO_OTHER_WORD, NOT_OUR_LAYERS, READS_ATTENTION, methods_of, side_by_side
from tx_core.causal.patch import NOT_ONE_TOKEN
from tx_core.engine import catalogue
from tx_core.engine.hub import load
from tx_core.errors import ModelUnavailable, TextProblem

TEXT, AGAINST = "The trumpeters near my house [MASK] loud!", "is"  # “trumpeters” is several tokens


@pytest.fixture(scope="module")
def theirs():
    return transformers.AutoModelForMaskedLM.from_pretrained(
        catalogue.MODELS / "embedded", attn_implementation="eager", dtype=torch.float32
    ).eval()


class Reference:
    """The same question, put to the library's model in plain loops."""

    def __init__(self, engine, model):
        self.model, self.encoding = model, engine.encode(TEXT)
        (self.place,) = self.encoding.blanks
        self.mask = engine.tokenizer.mask_id
        self.groups = [[at for at, one in enumerate(self.encoding.words) if one == word] for word in (0, 1, 2, 3, 4, 6)]
        assert [self.encoding.word_texts[word] for word in (0, 1, 4, 6)] == ["The", "trumpeters", "house", "loud"]
        assert len(self.groups[1]) > 1
        self.words = (engine.tokenizer.entry("are"), engine.tokenizer.entry(AGAINST))

    def score(self, ids, place=None) -> float:
        with torch.no_grad():
            logs = self.model(torch.tensor([ids])).logits[0, self.place if place is None else place].log_softmax(-1)
        return float(logs[self.words[0]] - logs[self.words[1]])

    def erasure(self):
        ids = self.encoding.ids
        return [
            self.score(ids) - self.score([self.mask if at in group else one for at, one in enumerate(ids)])
            for group in self.groups
        ]

    def removal(self):
        ids = self.encoding.ids
        return [
            self.score(ids) - self.score(
                [one for at, one in enumerate(ids) if at not in group], self.place - sum(at < self.place for at in group)
            )
            for group in self.groups
        ]  # fmt: skip

    def routes(self):
        """Each layer in turn gets a mask of its own, in which only the word's tokens see the word."""
        found = []
        for group in self.groups:
            fall, others = 0.0, [at for at in range(len(self.encoding)) if at not in group]
            for layer in self.model.bert.encoder.layer:
                hidden = torch.zeros(1, 1, len(self.encoding), len(self.encoding))
                hidden[0, 0, torch.tensor(others)[:, None], torch.tensor(group)] = torch.finfo(torch.float32).min

                def mask(_, given, named, hidden=hidden):
                    return (given[0], hidden, *given[2:]), {name: one for name, one in named.items() if name != "attention_mask"}

                hook = layer.attention.self.register_forward_pre_hook(mask, with_kwargs=True)
                fall += self.score(self.encoding.ids)
                hook.remove()
            found.append(len(self.model.bert.encoder.layer) * self.score(self.encoding.ids) - fall)
        return found

    def maps(self) -> list[torch.Tensor]:
        with torch.no_grad():
            return [one[0] for one in self.model(torch.tensor([self.encoding.ids]), output_attentions=True).attentions]

    def summed(self, tokens):
        return [float(sum(tokens[at] for at in group)) for group in self.groups]

    def largest_head(self):
        return self.summed(torch.stack(self.maps())[:, :, self.place].amax((0, 1)))

    def last_layer(self):
        return self.summed(self.maps()[-1][:, self.place].mean(0))

    def all_layers(self):
        return self.summed(torch.stack(self.maps())[:, :, self.place].mean((0, 1)))

    def rollout(self):
        reached = torch.eye(len(self.encoding))
        for layer in self.maps():
            reached = (layer.mean(0) / 2 + torch.eye(len(self.encoding)) / 2) @ reached
        return self.summed(reached[self.place])

    def value_weighted(self):
        states = []
        hooks = [
            layer.attention.self.value.register_forward_hook(lambda _, given, value: states.append(value[0].detach()))
            for layer in self.model.bert.encoder.layer
        ]
        shares = torch.zeros(len(self.encoding))
        for weights, value, layer in zip(self.maps(), states, self.model.bert.encoder.layer, strict=True):
            size, lengths = value.shape[1] // len(weights), []
            for key in range(len(self.encoding)):
                parts = [
                    weights[head, self.place, key] * value[key, head * size : (head + 1) * size] for head in range(len(weights))
                ]
                lengths.append((layer.attention.output.dense.weight.detach() @ torch.cat(parts)).norm())
            shares += torch.stack(lengths) / sum(lengths) / len(states)
        for hook in hooks:
            hook.remove()
        return self.summed(shares)

    def _gradient(self, vectors):
        vectors = vectors.clone().requires_grad_()
        logs = self.model(inputs_embeds=vectors[None]).logits[0, self.place].log_softmax(-1)
        return torch.autograd.grad(logs[self.words[0]] - logs[self.words[1]], vectors)[0]

    def _vectors(self, ids):
        return self.model.bert.embeddings.word_embeddings(torch.tensor(ids)).detach()

    def gradient_input(self):
        vectors = self._vectors(self.encoding.ids)
        return self.summed((self._gradient(vectors) * vectors).sum(-1))

    def integrated(self):
        """Even steps, many of them; what the method sums up is checked by completeness, too."""
        vectors = self._vectors(self.encoding.ids)
        blanked = [one if special else self.mask for one, special in zip(self.encoding.ids, self.encoding.special, strict=True)]
        base, steps = self._vectors(blanked), 400
        total = sum(self._gradient(base + (step + 0.5) / steps * (vectors - base)) for step in range(steps)) / steps
        owed = (total * (vectors - base)).sum(-1)
        assert float(owed.sum()) == pytest.approx(self.score(self.encoding.ids) - self.score(blanked), abs=0.02)
        return self.summed(owed)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "lrp"])  # tests/tx_core/transformer/test_relevance.py
def test_a_method_is_what_its_authors_define_on_the_library_s_model(engine, theirs, method: str):
    found = explain(engine, TEXT, method, against=AGAINST)
    assert [found.encoding.word_texts[word] for word in found.words] == ["The", "trumpeters", "near", "my", "house", "loud"]
    expected = getattr(Reference(engine, theirs), method)()
    np.testing.assert_allclose(found.scores, expected, atol=0.01 if method == "integrated" else 2e-3, rtol=1e-3)


def test_lrp_of_two_answers_is_the_difference_of_that_of_either(engine):
    encoding = engine.encode(TEXT)
    one, other = (engine.tokenizer.entry(word) for word in ("are", "is"))
    parts = [engine.relevance(encoding, encoding.blanks[0], word) for word in (one, other)]
    both = engine.relevance(encoding, encoding.blanks[0], one, other)
    np.testing.assert_allclose(both, parts[0] - parts[1], atol=1e-4)
    found = explain(engine, TEXT, "lrp", against="is")
    assert found.scores[1] == pytest.approx(sum(both[at] for at, word in enumerate(encoding.words) if word == 1))


def test_what_only_reads_attention_cannot_be_asked_against_another_answer(engine):
    for method in METHODS:
        plain, rather = explain(engine, TEXT, method), explain(engine, TEXT, method, against=AGAINST)
        assert np.allclose(plain.scores, rather.scores) == (method in READS_ATTENTION)


def test_words_are_ranked_from_the_largest_score_ties_last_and_listed_in_a_table(engine):
    found = explain(engine, "The dogs [MASK] hungry.")
    table = found.to_pandas()
    assert list(table.columns) == ["method", "word", "text", "score", "rank"]
    assert table.text.tolist() == ["The", "dogs", "hungry"] and table.word.tolist() == [0, 1, 3]
    assert table.sort_values("score", ascending=False)["rank"].tolist() == [1, 2, 3]
    tied = type(found)(found.method, found.encoding, found.answer, None, found.words, np.array([0.5, -2.0, 0.5]))
    assert [tied.rank(word) for word in found.words] == [2, 3, 2]
    np.testing.assert_array_equal(side_by_side([tied]), [[0.25, -1, np.nan, 0.25, np.nan]])


def test_what_cannot_be_explained_is_refused(engine, writer, checkpoint):
    with pytest.raises(ValueError, match="must be one of erasure"):
        explain(engine, TEXT, "guess")
    with pytest.raises(TextProblem, match=NO_OTHER_WORD):
        explain(engine, "[MASK]!")
    with pytest.raises(TextProblem, match="choose two words"):
        explain(engine, TEXT, against="are")
    with pytest.raises(TextProblem, match=NOT_ONE_TOKEN.partition("{")[2].partition("}")[2][:20]):
        explain(engine, TEXT, against="trumpeters")
    with pytest.raises(ModelUnavailable):
        explain(writer, "The dogs")
    library = load.load_engine(checkpoint("roberta"), "roberta", "Roberta")
    assert "lrp" not in methods_of(library) and "lrp" in methods_of(engine)
    with pytest.raises(ModelUnavailable, match=NOT_OUR_LAYERS.partition("{")[0]):
        explain(library, "time flies ___ an arrow", "lrp")
