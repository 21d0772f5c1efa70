"""From lines to batches: packing, order and resuming; and words to guess, with the schedule of learning."""

import itertools
from dataclasses import asdict, replace

import numpy as np
import pytest

from tests.support.small_training import write_corpus
from tx_core.training.pretraining.batches import BatchStream, Packer, StreamPosition, continuing_pieces, mask_words
from tx_core.training.pretraining.corpus import read_corpus, tokenise
from tx_core.training.pretraining.settings import MaskingSettings, PackingSettings, ScheduleSettings
from tx_core.training.pretraining.training import (
    batches_to_an_update,
    learning_rate,
    mask_rate,
    rate_after_freeze,
    training_progress,
)
from tx_core.training.pretraining.vocabulary import CLS_ID, MASK_ID, PAD_ID, SEP_ID, SPECIAL_TOKENS, learn_vocabulary, pieces_of

SETTINGS = PackingSettings(buckets=(8, 16, 32), batch_tokens=96, block_lines=40)


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    sources = read_corpus(write_corpus(folder), "cpu")
    backend = learn_vocabulary(sources, 100)
    return tokenise(sources, backend, folder / "cache"), pieces_of(backend)


def packer(texts, **changes):
    return Packer(*texts, PackingSettings(**{**vars(SETTINGS), **changes}))


@pytest.mark.parametrize("single_share", [0.0, 0.4, 1.0])
def test_every_piece_of_every_line_comes_in_exactly_one_example(texts, single_share):
    cutter = packer(texts, single_share=single_share)
    made = cutter.examples(cutter.order(seed=1, number=0), np.random.default_rng(2))
    for place, source in enumerate(texts[0]):
        seen = np.zeros(len(source.ids), dtype=int)
        for example in (example for example in made if example.source == place):
            seen[example.start : example.end] += 1
        assert (seen == 1).all()


def test_single_examples_are_whole_sentences(texts):
    cutter = packer(texts, single_share=1.0)
    full_stop = texts[1].index(".")
    for example in cutter.examples(cutter.order(1, 0), np.random.default_rng(2)):
        stretch = texts[0][example.source].ids[example.start : example.end].tolist()
        assert stretch.count(full_stop) == 1 and stretch[-1] == full_stop
        assert example.middle == example.end


def test_pairs_are_split_where_a_sentence_ends(texts):
    cutter = packer(texts, single_share=0.0, pair_share=1.0)
    made = cutter.examples(cutter.order(1, 0), np.random.default_rng(2))
    pairs = [example for example in made if example.middle < example.end]
    full_stop = texts[1].index(".")
    assert len(pairs) > 20
    assert all(texts[0][pair.source].ids[pair.middle - 1] == full_stop for pair in pairs)


def test_paragraphs_fill_the_rooms_that_fit_however_many_buckets_there_are(texts):
    longest = {}
    for buckets in ((8, 16, 32), tuple(range(8, 33))):
        settings = replace(SETTINGS, buckets=buckets, rooms=(16, 32, 64), single_share=0.0)
        assert settings.fitting_rooms == (16, 32)
        cutter = Packer(texts[0], texts[1], settings)
        longest[buckets] = [example.tokens for example in cutter.examples(cutter.order(1, 0), np.random.default_rng(2))]
    assert len(set(map(tuple, longest.values()))) == 1
    assert replace(SETTINGS, rooms=(64,)).fitting_rooms == (32,)


def test_a_pass_reads_each_source_as_often_as_its_weight_says(texts):
    long, short = texts[0]
    cutter = Packer([replace(long, weight=2.0), replace(short, weight=0.25)], texts[1], SETTINGS)
    order = cutter.order(seed=5, number=0)
    assert (order[:, 0] == 0).sum() == 60
    assert 15 <= (order[:, 0] == 1).sum() <= 45
    other = cutter.order(seed=5, number=1)
    assert set(order[order[:, 0] == 1, 1]) != set(other[other[:, 0] == 1, 1])


def test_batches_have_constant_tokens_and_the_marks_and_segments_of_bert(texts):
    for batch in itertools.islice(BatchStream(packer(texts, pair_share=1.0, single_share=0.3), seed=0), 60):
        assert batch.ids.size == 96 and batch.ids.shape[1] in SETTINGS.buckets
        for ids, segments, length in zip(batch.ids, batch.segments, batch.lengths, strict=True):
            assert ids[0] == CLS_ID and ids[length - 1] == SEP_ID
            assert (ids[length:] == PAD_ID).all() and (ids[:length] != PAD_ID).all()
            closing = np.flatnonzero(ids == SEP_ID)
            assert len(closing) in (1, 2)
            expected = np.zeros(len(ids), dtype=int)
            if len(closing) == 2:
                expected[closing[0] + 1 : closing[1] + 1] = 1
            assert segments.tolist() == expected.tolist()


@pytest.mark.parametrize("after", [1, 7, 40])
def test_a_stream_set_to_a_saved_place_goes_on_as_if_never_stopped(texts, after):
    whole = [batch.ids for batch in itertools.islice(BatchStream(packer(texts), seed=3), 70)]
    stopped = BatchStream(packer(texts), seed=3)
    for _ in itertools.islice(stopped, after):
        pass
    place = StreamPosition(**asdict(stopped.place))
    resumed = [batch.ids for batch in itertools.islice(BatchStream(packer(texts), 3, place), 70 - after)]
    assert all(np.array_equal(a, b) for a, b in zip(whole[after:], resumed, strict=True))


def test_settings_give_the_rule_and_the_value():
    with pytest.raises(ValueError, match=r"rising order, got \(64, 32\)"):
        PackingSettings(buckets=(64, 32))
    with pytest.raises(ValueError, match=r"rooms must be lengths of 8 or more, got \(2, 32\)"):
        PackingSettings(rooms=(2, 32))
    with pytest.raises(ValueError, match="hold the longest bucket, 128, got 100"):
        PackingSettings(batch_tokens=100)
    with pytest.raises(ValueError, match=r"pair_share must lie in \[0, 1\], got 1\.5"):
        PackingSettings(pair_share=1.5)


PIECES = [*SPECIAL_TOKENS, *(f"word{n}" for n in range(40)), *(f"##end{n}" for n in range(15))]
CONTINUES = continuing_pieces(PIECES)


def word_rows(rows=400, seed=0):
    """Rows of [CLS], two-piece and one-piece words, [SEP], padding."""
    chance = np.random.default_rng(seed)
    words = chance.integers(5, 45, (rows, 12))
    ends = chance.integers(45, 60, (rows, 6))
    body = np.empty((rows, 18), dtype=np.int64)
    body[:, 0::3], body[:, 1::3], body[:, 2::3] = words[:, :6], ends, words[:, 6:]
    edge = np.ones((rows, 1), dtype=np.int64)
    return np.concatenate((edge * CLS_ID, body, edge * SEP_ID, edge * PAD_ID), axis=1)


def mask_rows(rate=0.2, **settings):
    ids = word_rows()
    return ids, mask_words(ids, CONTINUES, rate, MaskingSettings(**settings), np.random.default_rng(7))


@pytest.mark.parametrize("rate", [0.15, 0.4])
def test_the_share_of_chosen_pieces_is_the_rate(rate):
    ids, result = mask_rows(rate)
    assert result.chosen.sum() / (400 * 18) == pytest.approx(rate, abs=0.025)
    assert ids.shape == result.ids.shape


def test_marks_and_padding_are_never_chosen():
    ids, result = mask_rows(0.9)
    assert not result.chosen[np.isin(ids, (CLS_ID, SEP_ID, PAD_ID))].any()


def test_all_pieces_of_a_word_are_chosen_together():
    ids, result = mask_rows(0.3)
    goes_on = CONTINUES[ids]
    assert (result.chosen[:, 1:][goes_on[:, 1:]] == result.chosen[:, :-1][goes_on[:, 1:]]).all()


def test_every_example_has_a_word_to_guess():
    _, result = mask_rows(0.001)
    assert result.chosen.any(axis=1).all()


def test_of_the_chosen_eight_tenths_are_blanked_and_one_tenth_replaced():
    ids, result = mask_rows(0.5)
    shown, original = result.ids[result.chosen], ids[result.chosen]
    assert (shown == MASK_ID).mean() == pytest.approx(0.8, abs=0.02)
    assert ((shown != MASK_ID) & (shown != original)).mean() == pytest.approx(0.1, abs=0.02)
    assert (result.ids == ids)[~result.chosen].all()
    assert shown[shown != MASK_ID].min() >= len(SPECIAL_TOKENS)


def test_shares_are_a_setting():
    _, result = mask_rows(0.5, blanked=1.0, replaced=0.0)
    assert (result.ids[result.chosen] == MASK_ID).all()
    with pytest.raises(ValueError, match="sum to 1 at most"):
        MaskingSettings(blanked=0.9, replaced=0.2)


def test_the_rate_rises_to_its_peak_and_falls_to_nothing():
    settings = ScheduleSettings(steps=100, peak_rate=2e-3, warm_up=0.1)
    assert learning_rate(settings, 0.05) == pytest.approx(1e-3)
    assert learning_rate(settings, 0.1) == pytest.approx(2e-3)
    assert learning_rate(settings, 0.55) == pytest.approx(1e-3)
    assert learning_rate(settings, 1.0) == 0
    assert learning_rate(settings, 0.0) > 0


def test_the_rate_rises_once_more_when_held_weights_are_let_go():
    settings = ScheduleSettings(steps=100, warm_up=0.1, freeze_old=0.3)
    shares = [rate_after_freeze(settings, done) / learning_rate(settings, done) for done in (0.05, 0.29, 0.3, 0.35, 0.4, 0.9)]
    assert shares == pytest.approx([1, 1, 1e-3, 0.5, 1, 1])
    for never in (ScheduleSettings(steps=100, warm_up=0.1, freeze_old=0.0), ScheduleSettings(steps=100, warm_up=0.0)):
        for done in (0.0, 0.05, 0.3):
            assert rate_after_freeze(never, done) == learning_rate(never, done)


def test_the_end_comes_by_steps_or_by_time():
    assert training_progress(ScheduleSettings(steps=50), step=25, seconds=1e9) == 0.5
    assert training_progress(ScheduleSettings(minutes=10.0), step=10**9, seconds=150.0) == 0.25
    with pytest.raises(ValueError, match="steps or minutes above 0"):
        ScheduleSettings(steps=0, minutes=0.0)


def test_fewer_blanks_and_larger_batches_late_in_the_run():
    assert mask_rate(MaskingSettings(rate=0.3, final_rate=0.1), 0.5) == pytest.approx(0.2)
    settings = ScheduleSettings(steps=1, accumulate=2, grown=5, grow_after=0.6)
    assert [batches_to_an_update(settings, done) for done in (0.0, 0.59, 0.6, 1.0)] == [2, 2, 5, 5]
