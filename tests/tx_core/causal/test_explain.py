"""Explanations of an answer: each method against the transformers library's BERT, asked as its authors define it."""

import numpy as np
import pytest
import torch
import transformers

from pages.explanations.texts import MEANINGS
from pages.summaries.texts import ATTRIBUTION_CAVEAT
from tx_core import explain
from tx_core.analysis.attribution import attribute
from tx_core.analysis.rollout import rollout
from tx_core.analysis.value_weighted import row_shares, value_weighted
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


def by_the_library(engine, model, method: str) -> list[float]:
    """By how much a word's absence lowers the score of the answer above the other one, in the library's model, word by word."""
    encoding, layers = engine.encode(TEXT), model.bert.encoder.layer
    (place,) = encoding.blanks
    groups = [[at for at, one in enumerate(encoding.words) if one == word] for word in (0, 1, 2, 3, 4, 6)]
    assert [encoding.word_texts[word] for word in (0, 1, 4, 6)] == ["The", "trumpeters", "house", "loud"] and len(groups[1]) > 1
    words = [engine.tokenizer.entry(word) for word in ("are", AGAINST)]

    def score(ids, at=place) -> float:
        with torch.no_grad():
            one, other = model(torch.tensor([ids])).logits[0, at].log_softmax(-1)[words]
        return float(one - other)

    def lost(group: list[int]) -> float:
        if method == "erasure":
            return plain - score([engine.tokenizer.mask_id if at in group else one for at, one in enumerate(encoding.ids)])
        if method == "removal":
            left = [one for at, one in enumerate(encoding.ids) if at not in group]
            return plain - score(left, place - sum(at < place for at in group))
        others, fall = [at for at in range(len(encoding)) if at not in group], 0.0
        for layer in layers:  # each in turn gets a mask of its own, in which only the word's tokens see the word
            hidden = torch.zeros(1, 1, len(encoding), len(encoding))
            hidden[0, 0, torch.tensor(others)[:, None], torch.tensor(group)] = torch.finfo(torch.float32).min

            def mask(_, given, named, hidden=hidden):
                return (given[0], hidden, *given[2:]), {name: one for name, one in named.items() if name != "attention_mask"}

            hook = layer.attention.self.register_forward_pre_hook(mask, with_kwargs=True)
            fall += plain - score(encoding.ids)
            hook.remove()
        return fall

    plain = score(encoding.ids)
    return [lost(group) for group in groups]


@pytest.mark.parametrize("method", ["erasure", "removal", "routes"])
def test_what_takes_a_word_away_is_what_its_authors_define_on_the_library_s_model(engine, theirs, method: str):
    found = explain(engine, TEXT, method, against=AGAINST)
    assert [found.encoding.word_texts[word] for word in found.words] == ["The", "trumpeters", "near", "my", "house", "loud"]
    np.testing.assert_allclose(found.scores, by_the_library(engine, theirs, method), atol=2e-3, rtol=1e-3)


def test_the_other_methods_sum_over_a_word_s_tokens_what_the_blank_gets_of_them(engine):
    """Their parts are held against other libraries in tests/tx_core/analysis."""
    encoding = engine.encode(TEXT)
    (place,), (answer, other) = encoding.blanks, (engine.tokenizer.entry(word) for word in ("are", AGAINST))
    stack, owed = engine.trace(TEXT, keep=("weights", "value")).attention, attribute(engine, encoding, place, answer, other)
    looks = stack.weights[:, :, place]
    expected = {
        "largest_head": looks.max((0, 1)),
        "last_layer": looks[-1].mean(0),
        "all_layers": looks.mean((0, 1)),
        "rollout": rollout(stack.weights)[-1][place],
        "value_weighted": sum(row_shares(value_weighted(engine, stack, layer).together)[place] for layer in range(6)) / 6,
        "gradient_input": owed.gradient_input,
        "integrated": owed.integrated,
    }
    assert {*expected, "erasure", "removal", "routes", "lrp"} == {*METHODS}
    for method, tokens in expected.items():
        found = explain(engine, TEXT, method, against=AGAINST)
        summed = [sum(tokens[at] for at, one in enumerate(encoding.words) if one == word) for word in found.words]
        np.testing.assert_allclose(found.scores, summed, atol=1e-5, err_msg=method)


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


def test_relevance_that_goes_to_biases_and_positions_is_left_out_so_that_the_words_have_another_sum_than_the_logit(engine):
    """What the page says of AttnLRP."""
    sums = []
    for text in ("The keys to the old cabinets [MASK] here.", "I drink a cup of [MASK] every morning."):
        encoding = engine.encode(text)
        logits = engine.blank_logits([encoding])[0][0]
        relevance = engine.relevance(encoding, encoding.blanks[0], int(logits.argmax()))
        sums.append(sum(one for one, special in zip(relevance, encoding.special, strict=True) if not special) / logits.max())
    assert sums == pytest.approx([0.56, 0.81], abs=0.02)


def test_integrated_gradients_miss_what_knowing_the_words_changed_by_no_more_than_is_said(engine):
    gaps = []
    for text in ("The bird that we saw in the trees [MASK] blue.", "Yesterday I [MASK] to school."):
        encoding = engine.encode(text)
        found = attribute(engine, encoding, encoding.blanks[0], int(engine.blank_logits([encoding])[0][0].argmax()))
        gaps.append(abs(found.integrated.sum() - (found.score - found.baseline)))
    assert 0.005 < gaps[0] < 0.02 and gaps[1] < 0.001
    assert "to within 0.02" in ATTRIBUTION_CAVEAT


def test_gradient_x_input_is_that_of_its_authors_the_gradient_times_the_vector(engine):
    assert "Simonyan" not in MEANINGS["gradient_input"]  # theirs is the size of the gradient alone
    encoding = engine.encode("Yesterday I [MASK] to school.")
    found = attribute(engine, encoding, encoding.blanks[0], int(engine.blank_logits([encoding])[0][0].argmax()))
    assert found.gradient_input.min() < 0 < found.gradient_input.max()
