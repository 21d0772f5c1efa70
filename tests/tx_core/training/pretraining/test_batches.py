"""From lines to batches: packing, order and resuming; and words to guess."""

import itertools

import numpy as np
import pytest

from tests.support.small_training import write_corpus
from tx_core.training.pretraining import batches as module
from tx_core.training.pretraining.batches import Packer, Packing, mask_words
from tx_core.training.pretraining.corpus import read_corpus, tokenise
from tx_core.training.pretraining.vocabulary import CLS_ID, MASK_ID, PAD_ID, SEP_ID, SPECIAL_TOKENS, learn_vocabulary, pieces_of

PACKING = Packing(32, 96, (24, 32), 0.5, 0.5)


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    sources = read_corpus(write_corpus(folder), "cpu")
    backend = learn_vocabulary(sources, 100)
    return tokenise(sources, backend, folder / "cache"), pieces_of(backend)


def packer(texts, **changes):
    return Packer(*texts, PACKING._replace(**changes))


@pytest.mark.parametrize("single_share", [0.0, 0.4])
def test_every_piece_of_every_line_comes_in_exactly_one_example(texts, single_share):
    cutter = packer(texts, single_share=single_share)
    made = cutter.examples(cutter.order(seed=1, number=0), np.random.default_rng(2))
    for place, source in enumerate(texts[0]):
        seen = np.zeros(len(source.ids), dtype=int)
        for example in (example for example in made if example.source == place):
            seen[example.start : example.end] += 1
        assert (seen == 1).all()


def test_pairs_are_split_where_a_sentence_ends(texts):
    cutter = packer(texts, single_share=0.0, pair_share=1.0)
    made = cutter.examples(cutter.order(1, 0), np.random.default_rng(2))
    pairs = [example for example in made if example.middle < example.end]
    full_stop = texts[1].index(".")
    assert len(pairs) > 20
    assert all(texts[0][pair.source].ids[pair.middle - 1] == full_stop for pair in pairs)


def test_batches_have_as_many_tokens_as_fit_and_the_marks_and_segments_of_bert(texts):
    for batch in itertools.islice(packer(texts, pair_share=1.0, single_share=0.3).batches(seed=0), 60):
        width = batch.ids.shape[1]
        assert width in PACKING.buckets and batch.ids.shape[0] == 96 // width
        for ids, segments, length in zip(batch.ids, batch.segments, batch.lengths, strict=True):
            assert ids[0] == CLS_ID and ids[length - 1] == SEP_ID
            assert (ids[length:] == PAD_ID).all() and (ids[:length] != PAD_ID).all()
            closing = np.flatnonzero(ids == SEP_ID)
            assert len(closing) in (1, 2)
            expected = np.zeros(len(ids), dtype=int)
            if len(closing) == 2:
                expected[closing[0] + 1 : closing[1] + 1] = 1
            assert segments.tolist() == expected.tolist()


@pytest.mark.parametrize("after", [1, 40])
def test_batches_go_on_from_any_number_as_if_never_stopped(texts, after, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_LINES", 40)
    whole = [batch.ids for batch in itertools.islice(packer(texts).batches(seed=3), 70)]
    resumed = [batch.ids for batch in itertools.islice(packer(texts).batches(seed=3, skip=after), 70 - after)]
    assert all(np.array_equal(a, b) for a, b in zip(whole[after:], resumed, strict=True))


PIECES = [*SPECIAL_TOKENS, *(f"word{n}" for n in range(40)), *(f"##end{n}" for n in range(15))]
CONTINUES = np.array([piece.startswith("##") for piece in PIECES])


def mask_rows(rate: float, rows: int = 400):
    """Rows of [CLS], two-piece and one-piece words, [SEP], padding: their ids, those that are shown, and the chosen places."""
    chance = np.random.default_rng(0)
    words = chance.integers(5, 45, (rows, 12))
    ends = chance.integers(45, 60, (rows, 6))
    body = np.empty((rows, 18), dtype=np.int64)
    body[:, 0::3], body[:, 1::3], body[:, 2::3] = words[:, :6], ends, words[:, 6:]
    edge = np.ones((rows, 1), dtype=np.int64)
    ids = np.concatenate((edge * CLS_ID, body, edge * SEP_ID, edge * PAD_ID), axis=1)
    return ids, *mask_words(ids, CONTINUES, rate, np.random.default_rng(7))


@pytest.mark.parametrize("rate", [0.15, 0.4])
def test_whole_words_are_chosen_at_the_rate_and_never_marks_or_padding(rate):
    ids, _, chosen = mask_rows(rate)
    assert chosen.sum() / (400 * 18) == pytest.approx(rate, abs=0.025)
    assert not chosen[np.isin(ids, (CLS_ID, SEP_ID, PAD_ID))].any()
    goes_on = CONTINUES[ids]
    assert (chosen[:, 1:][goes_on[:, 1:]] == chosen[:, :-1][goes_on[:, 1:]]).all()


def test_of_the_chosen_eight_tenths_are_blanked_and_one_tenth_replaced():
    ids, shown, chosen = mask_rows(0.5)
    read, original = shown[chosen], ids[chosen]
    assert (read == MASK_ID).mean() == pytest.approx(0.8, abs=0.02)
    assert ((read != MASK_ID) & (read != original)).mean() == pytest.approx(0.1, abs=0.02)
    assert (shown == ids)[~chosen].all()
    assert read[read != MASK_ID].min() >= len(SPECIAL_TOKENS)
