"""Heads over many sentences: batches give what each sentence alone gives, in bounded memory, and nothing counts twice."""

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tx_core.analysis.patterns import PatternSums, entropy, mean_distance, normalised_entropy, pattern_sums
from tx_core.corpus import batches as sentence_batches
from tx_core.corpus.batches import MAX_BATCH_ROWS, batches
from tx_core.corpus.sentence_file import Notes, Sentences
from tx_core.corpus.statistics import FEWEST_TOKENS, PLACES, Reading, empty_ranking, read_all
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine
from tx_core.errors import Busy

WORDS = ["the", "old", "man", "saw", "a", "small", "dog,", "and", "it", "ran", "home", "when", "bread", "was", "cold", ";", "."]


def made(count: int, seed: int = 3, most: int = 24) -> Sentences:
    chance = random.Random(seed)
    texts = tuple(" ".join(chance.choices(WORDS, k=chance.randint(1, most))) for _ in range(count))
    return Sentences("made", texts, tuple(range(1, count + 1)), ())


@pytest.fixture
def of_family(engine: Engine, hub_engine) -> Callable[[str], Engine]:
    return lambda family: engine if family == catalogue.DEFAULT else hub_engine(family)


def one_at_a_time(engine: Engine, sentences: Sentences) -> tuple[PatternSums, np.ndarray, np.ndarray]:
    """The reference: each sentence alone, its full maps, the measures of a single run. Sums, means, and scores a text."""
    sums, totals, scores, tokens = None, 0.0, [], 0
    for text in sentences.texts:
        stack = engine.trace(text).attention
        weights, own = stack.weights.astype(np.float64), ~np.array(stack.query_tokens.special)
        alone = pattern_sums(stack.weights, stack.query_tokens)
        measured = np.stack([measure(weights)[..., own] for measure in (entropy, normalised_entropy, mean_distance)])
        sums = alone if sums is None else sums + alone
        totals, tokens = totals + measured.sum(axis=-1), tokens + own.sum()
        focused = 1 - measured[1].mean(axis=-1)
        scores.append(np.concatenate([alone.scores, focused[..., None]], axis=-1) * (1 if own.sum() >= FEWEST_TOKENS else np.nan))
    return sums, totals / tokens, np.stack(scores)


@pytest.mark.parametrize("family", [catalogue.DEFAULT, "gpt2"])
def test_batches_give_what_every_sentence_alone_gives(of_family, family: str):
    sentences = made(60 if family == catalogue.DEFAULT else 30, most=24 if family == catalogue.DEFAULT else 9)
    report = read_all(of_family(family), sentences)
    sums, means, scores = one_at_a_time(of_family(family), sentences)
    assert report.read == len(sentences) == report.sums.texts
    np.testing.assert_allclose(report.sums.shares, sums.shares, atol=1e-5, rtol=0)
    np.testing.assert_allclose(report.sums.scores, sums.scores, atol=1e-5, rtol=0)
    np.testing.assert_allclose([report.entropy, report.spread, report.distance], means, atol=1e-5, rtol=0)
    np.testing.assert_array_equal(report.sums.queries, sums.queries)
    assert np.abs(report.sums.votes - sums.votes).sum() <= 2  # a score may lie on the border of a name
    best = -np.sort(-np.nan_to_num(scores, nan=-np.inf), axis=0)[:PLACES]
    np.testing.assert_allclose(report.strongest.values, np.moveaxis(best, 0, -1), atol=1e-5, rtol=0)
    found = np.where(report.strongest.texts >= 0, report.strongest.texts, 0)
    named = np.take_along_axis(np.moveaxis(scores, 0, -1), found, axis=-1)
    np.testing.assert_allclose(named, np.where(np.isinf(report.strongest.values), named, report.strongest.values), atol=1e-5)


def test_in_half_precision_the_averages_are_nearly_the_same(engine: Engine):
    sentences = made(60)
    single, half = (read_all(engine, sentences, half=half) for half in (False, True))
    assert (single.half, half.half) == (False, True)
    assert not np.array_equal(half.entropy, single.entropy), "nothing was computed in bfloat16"
    np.testing.assert_allclose(half.sums.shares, single.sums.shares, atol=0.003, rtol=0)
    np.testing.assert_allclose(half.entropy, single.entropy, atol=0.005, rtol=0)
    np.testing.assert_allclose(half.distance, single.distance, atol=0, rtol=0.005)
    again = read_all(engine, sentences)
    np.testing.assert_array_equal(again.entropy, single.entropy, "the model itself is as it was")


def test_a_sentence_that_is_repeated_counts_each_time_and_is_ranked_once(engine: Engine):
    once = made(30)
    thrice = Sentences("made", once.texts * 3, tuple(range(1, 91)), ())
    alone, repeated = read_all(engine, once), read_all(engine, thrice)
    np.testing.assert_allclose(repeated.sums.given, 3 * alone.sums.given, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(repeated.strongest.values, alone.strongest.values, atol=1e-5, rtol=0)
    assert repeated.strongest.texts.max() < 30


def test_every_sentence_is_in_one_batch_and_batches_are_of_about_one_length(engine: Engine):
    sentences = made(1000)
    found = list(batches(engine, sentences.texts, sentences.lines, Notes()))
    assert sorted(number for batch in found for number in batch.numbers) == list(range(1000))
    assert all(len(batch.rows) <= MAX_BATCH_ROWS for batch in found)
    padded = sum(len(batch.rows) * max(map(len, batch.rows)) for batch in found)
    assert padded < 1.05 * sum(len(row) for batch in found for row in batch.rows)


def test_no_batch_holds_more_weights_than_allowed(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sentence_batches, "MAX_BATCH_WEIGHTS", 50_000)
    sentences = made(200)
    for batch in batches(engine, sentences.texts, sentences.lines, Notes()):
        weights = len(batch.rows) * max(map(len, batch.rows)) ** 2 * engine.info.num_layers * engine.info.num_heads
        assert weights <= 50_000 or len(batch.rows) == 1


def test_what_the_model_cannot_read_is_left_out_by_line_and_reason(engine: Engine):
    texts = ("The dog ran.", "tea " * 300, "\u200b", "Bread is cold.")
    report = read_all(engine, Sentences("mine", texts, (2, 5, 7, 9), ()))
    assert report.read == 2
    assert report.complete
    assert {one.why: one.lines for one in report.left_out} == {
        sentence_batches.TOO_MANY_TOKENS_IN_LINE.format(most=engine.info.max_tokens): (5,),
        sentence_batches.NOTHING_TO_READ: (7,),
    }


def test_it_reports_as_it_goes_can_be_stopped_and_then_holds_no_model(engine: Engine):
    reading = Reading(engine, made(400))
    assert reading.report is None
    updates = reading.updates()
    first = next(updates)
    assert 0 < first.done < first.total == 400
    half = reading.report
    assert half.read == first.done
    assert not half.complete
    updates.close()
    assert reading.report.read == first.done
    assert reading._engine is None


def test_a_busy_host_is_waited_for(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    refusals, measure = [Busy("Later."), Busy("Later.")], type(engine).over_weights

    def over_weights(*asked: object, **precision: object) -> object:
        if refusals:
            raise refusals.pop()
        return measure(*asked, **precision)

    monkeypatch.setattr(type(engine), "over_weights", over_weights)
    reading = Reading(engine, made(10, most=1))
    assert [step.done for step in reading.updates()] == [0, 0, 10]
    assert reading.report.sums.texts == 10


@given(arrays(np.float64, (11, 2, 3, 2), elements=st.floats(0, 1)), st.integers(1, 11))
def test_the_strongest_are_those_of_a_full_sort_however_the_texts_arrive(values: np.ndarray, cut: int):
    kept = empty_ranking(2, 3, 2, 4)
    for part in np.array_split(np.arange(11), [cut]):
        if len(part):
            kept = kept.among(values[part], part)
    np.testing.assert_array_equal(kept.values, np.moveaxis(-np.sort(-values, axis=0)[:4], 0, -1))
    taken = np.take_along_axis(np.moveaxis(values, 0, -1), kept.texts, axis=-1)
    np.testing.assert_array_equal(taken, kept.values)
    assert all(len(set(row)) == 4 for row in kept.texts.reshape(-1, 4).tolist())
