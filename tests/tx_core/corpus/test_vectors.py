"""Vectors of tokens: the plane of scikit-learn's PCA, turned and nothing else; and probes, held against one written out."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.linalg import orthogonal_procrustes
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from sklearn.metrics.pairwise import cosine_similarity

from tx_core.corpus import vectors as module
from tx_core.corpus.sentence_file import Sentences, embedded_sentences
from tx_core.corpus.vectors import (
    NOT_ANNOTATED,
    NOTHING_READ,
    ProbeScores,
    neighbour_map,
    probe,
    project,
    token_vectors,
)
from tx_core.engine.engine import Engine
from tx_core.errors import TextProblem

PROBED = 20
FLIES = ["time flies like an arrow", "fruit flies like a banana"]


@pytest.fixture(scope="module")
def probed(engine: Engine) -> ProbeScores:
    return probe(engine, some_sentences(PROBED))


def some_sentences(count: int) -> Sentences:
    every = embedded_sentences()
    return replace(every, texts=tuple(text for text in every.texts if text in every.annotated)[:count])


def test_tokens_lie_in_the_plane_of_scikit_learns_pca_each_layer_turned_to_the_one_before(engine: Engine):
    found, vectors = project(engine, FLIES), token_vectors(engine, FLIES).vectors
    assert [token.text for token in found.tokens[5:]] == FLIES[1].split()
    before = None
    for layer, (places, one) in enumerate(zip(found.places, vectors, strict=True)):
        pca = PCA(2).fit(one.astype(np.float64))
        plane = pca.transform(one.astype(np.float64)) / np.sqrt(one.astype(np.float64).var(axis=0).sum())
        np.testing.assert_allclose(found.explained[layer], pca.explained_variance_ratio_, atol=1e-6)
        np.testing.assert_allclose(places @ places.T, plane @ plane.T, atol=1e-5)  # alike but for turning and mirroring
        if before is not None:
            np.testing.assert_allclose(places, plane @ orthogonal_procrustes(plane, before)[0], atol=1e-5)
        before = places


@pytest.mark.parametrize("shape", [(7, 11), (11, 7), (1, 5), (2, 5), (6, 1)])
def test_a_plane_is_that_of_singular_values_with_fewer_tokens_than_dimensions_and_with_more(shape):
    vectors = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    places, explained = module._principal_plane(vectors)
    centred = vectors - vectors.mean(axis=0, dtype=np.float64)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    plane = (left * sizes)[:, :2] / max(np.sqrt((sizes**2).sum() / len(vectors)), 1e-9)
    np.testing.assert_allclose(places @ places.T, plane @ plane.T, atol=1e-6)
    shares = sizes[:2] ** 2 / max((sizes**2).sum(), 1e-9)
    np.testing.assert_allclose(explained[: len(shares)], shares, atol=1e-6)


def test_a_neighbour_map_is_that_of_scikit_learn_each_layer_turned_to_the_one_before(engine: Engine):
    found, vectors = project(engine, FLIES, "tsne"), token_vectors(engine, FLIES).vectors
    assert (found.method, found.tokens) == ("tsne", project(engine, FLIES).tokens)
    for places, one in zip(found.places, vectors, strict=True):
        reference = TSNE(perplexity=3, metric="cosine", init="pca", random_state=0).fit_transform(one).astype(np.float64)
        plane = (reference - reference.mean(axis=0)) / np.sqrt(reference.var(axis=0).sum())
        np.testing.assert_allclose(places @ places.T, plane @ plane.T, atol=1e-5)
    turned = [orthogonal_procrustes(after, before)[0] for before, after in pairwise(found.places)]
    np.testing.assert_allclose(turned, [np.eye(2)] * (len(vectors) - 1), atol=1e-5)
    with pytest.raises(TextProblem, match="needs 5 tokens, got 2"):
        project(engine, ["time flies"], "tsne")
    with pytest.raises(ValueError, match="got umap"):
        project(engine, FLIES, "umap")
    assert not neighbour_map(np.ones((6, 8))).any()


def test_neighbours_and_repeated_words_are_by_cosines_in_all_dimensions(engine: Engine):
    found, vectors = project(engine, FLIES), token_vectors(engine, FLIES).vectors
    for layer, one in enumerate(vectors):
        cosines = cosine_similarity(one)
        np.testing.assert_allclose(found.repeated["flies"][layer], cosines[1, 6], atol=1e-5)
        different = [cosines[at, to] for at in range(10) for to in range(10) if at != to and {at, to} not in ({1, 6}, {2, 7})]
        np.testing.assert_allclose(found.different[layer], np.mean(different), atol=1e-5)
        np.fill_diagonal(cosines, -1)
        np.testing.assert_allclose(found.similarities[layer], np.sort(cosines)[:, :-4:-1], atol=1e-5)
        np.testing.assert_array_equal(found.nearest[layer, :, 0], cosines.argmax(axis=1))
    assert set(found.repeated) == {"flies", "like"}


def test_one_token_and_equal_tokens_lie_in_the_middle_and_the_same_text_twice_on_itself(engine: Engine):
    assert not project(engine, ["hi"]).places.any()
    twice = project(engine, FLIES[:1] * 2).places
    np.testing.assert_allclose(twice[:, :5], twice[:, 5:], atol=1e-5)


def test_what_cannot_be_read_is_left_out_and_no_more_is_read_than_can_be_shown(engine: Engine, monkeypatch):
    monkeypatch.setattr(module, "MOST_TOKENS", most := 60)
    with pytest.raises(TextProblem, match="no text yet"):
        project(engine, ["  "])
    with pytest.raises(TextProblem, match=NOTHING_READ):
        project(engine, ["", " "])
    found = project(engine, ["", *["مرحبا <b> 🙂"] * 1000])
    assert found.left_out == 1001 - len(found.texts)
    assert most - 10 < len(found.tokens) <= most


def test_annotation_reaches_the_tokens_of_its_word_and_stays_away_where_words_do_not_fit(engine: Engine):
    sentences = some_sentences(5)
    words = [sentences.words_of(number) for number in range(5)]
    for token in token_vectors(engine, sentences).tokens:
        assert token.word == words[token.sentence][token.number]
    broken = replace(sentences, annotated={text: found[1:] for text, found in sentences.annotated.items()})
    assert {token.word.upos for token in token_vectors(engine, broken).tokens} == {""}


def test_probes_agree_with_one_written_out_and_are_tested_on_other_sentences_only(engine: Engine, probed: ProbeScores):
    sentences, layer, found = some_sentences(PROBED), 2, probed
    words, vectors = module._labelled_words(token_vectors(engine, sentences, 3000), "upos")
    assert words.tests.sum(axis=0).tolist() == [1] * len(words.labels)
    for task, labels in (("correct", words.labels), ("control_correct", words.control)):
        agreed = []
        for test in words.tests[:1]:
            assert not set(words.sentence[test]) & set(words.sentence[~test])
            predicted = softmax_regression(vectors[layer, ~test], labels[~test], vectors[layer, test])
            agreed += (getattr(found, task)[layer, test] == (predicted == labels[test])).tolist()
        assert np.mean(agreed) > 0.99
    form_of = {}
    for token in token_vectors(engine, sentences, 3000).tokens:
        form_of.setdefault((token.sentence, token.number), token.word)
    kept = [one.form.casefold() for one in form_of.values() if one.upos in found.labels]
    assert len(set(zip(kept, words.control, strict=True))) == len(set(kept))  # one meaningless label for all its occurrences
    assert found.majority == max(np.unique(words.labels, return_counts=True)[1]) / len(kept)


def softmax_regression(vectors: np.ndarray, labels: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Predict labels by a logistic regression with the same penalty, by gradients of torch."""
    names, answers = np.unique(labels, return_inverse=True)
    mean, spread = vectors.mean(axis=0), vectors.std(axis=0)
    x, y = torch.tensor((vectors - mean) / spread, dtype=torch.float64), torch.tensor(answers)
    weight = torch.zeros(x.shape[1], len(names), dtype=torch.float64, requires_grad=True)
    bias = torch.zeros(len(names), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([weight, bias], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        value = 0.1 * torch.nn.functional.cross_entropy(x @ weight + bias, y, reduction="sum") + (weight**2).sum() / 2
        value.backward()
        return value

    optimiser.step(loss)
    scores = torch.tensor((test - mean) / spread, dtype=torch.float64) @ weight + bias
    return names[scores.argmax(dim=1).numpy()]


def test_intervals_are_those_of_sentences_drawn_again(probed: ProbeScores):
    found = probed
    chance, drawn = np.random.default_rng(1), []
    words = [np.flatnonzero(found.sentence == number) for number in range(PROBED)]
    for _ in range(500):
        again = np.concatenate([words[number] for number in chance.integers(0, PROBED, PROBED)])
        drawn.append(found.correct[:, again].mean(axis=1) - found.control_correct[:, again].mean(axis=1))
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    rows = found.rows()
    np.testing.assert_allclose([row["selectivity low"] for row in rows], low, atol=0.02)
    np.testing.assert_allclose([row["selectivity high"] for row in rows], high, atol=0.02)
    np.testing.assert_allclose([row["selectivity"] for row in rows], found.selectivity)


def test_repeated_sentences_count_once_and_a_single_label_is_what_a_probe_answers(engine: Engine, probed: ProbeScores):
    once = some_sentences(PROBED)
    twice = probe(engine, replace(once, texts=once.texts * 2, lines=once.lines * 2))
    np.testing.assert_array_equal(twice.correct, probed.correct)
    assert module._train(np.eye(3), np.array(["NOUN"] * 3)).predict(np.zeros((1, 3))) == ["NOUN"]


def test_a_probe_reads_no_more_sentences_than_have_so_many_tokens_and_says_how_many(engine: Engine, probed: ProbeScores, host):
    sentences = some_sentences(60)
    assert probed.read == PROBED
    sizes = [sum(number is not None for number in engine.encode(text).words) for text in sentences.texts]
    fitting = next(count for count in range(len(sizes), 0, -1) if sum(sizes[:count]) <= 300)
    assert PROBED < fitting < 60 and probe(engine, sentences, most=300).read == fitting
    host(max_record_megabytes=1)
    with pytest.raises(TextProblem, match="The vectors of 3,000 tokens of Tiny BERT .* take 22 MB"):
        probe(engine, sentences)


def test_a_probe_says_what_it_lacks(engine: Engine):
    plain = replace(some_sentences(9), annotated={})
    with pytest.raises(TextProblem, match=NOT_ANNOTATED):
        probe(engine, plain)
    with pytest.raises(TextProblem, match="two labels of 10 words each"):
        probe(engine, some_sentences(3))
    with pytest.raises(TextProblem, match="finds 0 sentences and 0 such labels"):
        probe(engine, some_sentences(9), "feats")
