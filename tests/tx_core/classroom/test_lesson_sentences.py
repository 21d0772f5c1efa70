"""What lessons say beside the answers to their questions is true of the models."""

import numpy as np
import pytest

from tests.support.serving import ROOT
from tx_core.classroom.lesson_file import Lesson, Step, open_lesson
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine
from tx_core.fill_mask.next_words import next_logits, read_text
from tx_core.fill_mask.predictions import predict, tempered
from tx_core.transformer.interventions import Intervention

GPT_3 = 175e9
"""Weights of the largest model of Brown et al. 2020."""


def lesson(name: str) -> Lesson:
    return open_lesson(ROOT / "assets" / "lessons" / f"{name}.yaml")


def step(name: str, title: str) -> Step:
    (found,) = (one for one in lesson(name).steps if one.title == title)
    return found


@pytest.fixture(scope="module")
def writer() -> Engine:
    return catalogue.load(catalogue.WRITER)


def shares_after(writer: Engine, text: str, temperature: float = 1.0, written: tuple[int, ...] = ()) -> np.ndarray:
    encoding = read_text(writer, text, written)
    return tempered(next_logits(writer, encoding, [len(encoding) - 1])[0], temperature)


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def test_at_a_temperature_of_2_the_wide_field_shrinks_and_the_narrow_ones_together_outweigh_it(writer):
    said = step("how-a-model-writes", "Rare words, too")
    one, two = (shares_after(writer, said.view["text"], temperature) for temperature in (1.0, 2.0))
    time, surprise = (writer.tokenizer.entry(word) for word in ("time", "surprise"))
    assert f"“time” falls from {one[time] * 100:.0f} to {percent(two[time])}" in said.text
    assert two[time] > 10 * np.sort(two)[-2]  # far from alike
    assert np.sort(two)[-2] < 0.02 and two[time] < 0.5 and "No other word has more than 2 %" in said.text
    assert 150 < 1 + (one > one[surprise]).sum() < 250 and "200th" in said.question.ask
    assert f"{len(one):,}" in said.question.ask


def test_at_a_temperature_of_a_fifth_the_likeliest_word_is_almost_always_drawn(writer):
    said = step("how-a-model-writes", "Almost always the likeliest")
    written = tuple(int(number) for number in said.view["written"].split("."))
    ranks = []
    for place, entry in enumerate(written):
        share = shares_after(writer, said.view["text"], 0.2, written[:place])
        ranks.append(1 + (share > share[entry]).sum())
    assert (ranks.count(1), ranks.count(2)) == (18, 2)
    assert "18 of these 20 words were the likeliest, and two the second" in said.then
    assert "almost never" in said.text


def test_a_head_finds_the_word_that_followed_last_time_in_a_repeated_phrase_and_hardly_among_random_words(writer):
    said = step("how-a-model-writes", "Where does it look?")
    for word in ("car", "hat", "house", "book"):
        stack = writer.trace(f"Tom has a red {word}. Mary has a red").attention
        assert stack.weights[5, 7, -1, stack.key_tokens.tokens.index(word)] > 0.85 and f"“{word}”" in said.then + said.notes
    names = [writer.tokenizer.backend.id_to_token(entry) for entry in range(300, 4000)]
    words = [name for name in names if name.isalpha() and len(name) > 2]
    looks, logs = [], []
    for draw in np.random.default_rng(0).permutation(len(words))[:150].reshape(15, 10):
        drawn = [words[place] for place in draw]
        weights = writer.trace(" ".join(drawn * 2)).attention.weights[5, 7]
        looks.append(np.mean([weights[place + len(drawn), place + 1] for place in range(1, len(drawn) - 1)]))
        logs.append(np.log(shares_after(writer, " ".join(drawn + drawn[:-1]))[writer.tokenizer.entry(drawn[-1])]))
    assert np.mean(looks) == pytest.approx(0.16, abs=0.03) and "0.16" in said.notes
    assert np.median(np.exp(logs)) < 0.01  # the word that would be copied: not repeated
    assert "Elhage et al. 2021" in said.notes and "This is known as" not in said.notes


def test_a_model_before_chatgpt_has_as_many_times_the_weights_as_is_said(writer):
    weights = sum(one.numel() for one in writer.model.parameters())
    said = step("how-a-model-writes", "And ChatGPT?").text
    assert f"about {round(GPT_3 / weights, -3):,.0f} times" in said and "not published" in said


def test_a_causal_mask_hides_two_tokens_from_the_blank_of_peru_and_one_of_them_suffices(engine):
    said = step("masks-and-order", "Looking back only")
    text = said.view["text"]
    tokens = engine.encode(text).tokens
    blank = tokens.index("[MASK]")
    assert tokens[blank + 1 :] == (".", "[SEP]") and "hides the full stop and [SEP]" in said.text

    def lima(*hidden: int, changes: tuple[Intervention, ...] = ()) -> float:
        cut = [Intervention("cut", positions=(blank, place)) for place in hidden]
        listed = predict(engine, text, interventions=[*changes, *cut], top_k=3).blanks[0].predictions
        return next(one.probability for one in listed if one.word == "lima")

    causal = lima(changes=(Intervention("causal"),))
    assert f"falls from {100 * lima():.0f} to {percent(causal)}" in said.then
    assert min(lima(blank + 1), lima(blank + 2)) > 0.96 and "96 %" in said.then
    assert lima(blank + 1, blank + 2) < 0.15 and "below 15 %" in said.then


def test_the_past_of_yesterday_stays_under_a_causal_mask_and_is_not_there_without_it(engine):
    listed = {
        day: [
            one.word
            for one in predict(engine, f"{day} I [MASK] to school.", interventions=[Intervention("causal")]).blanks[0].predictions
        ]
        for day in ("Yesterday", "Tomorrow")
    }
    assert (listed["Yesterday"][0], listed["Tomorrow"][0]) == ("was", "will")


def test_a_head_of_the_first_layer_goes_by_position_whatever_the_words(engine):
    for text in ("time flies like an arrow", "cheese flies like an arrow", "colorless green ideas sleep furiously"):
        weights = engine.trace(text).attention.weights[0, 7, 1:-1]
        assert weights.diagonal(0)[1:].min() > 0.9
    one, other = (
        engine.trace(text).attention.weights[0, 1, 2, 3] for text in ("time flies like an arrow", "fruit flies like a banana")
    )
    assert one == pytest.approx(other, abs=0.001)


def test_the_object_is_found_past_another_noun_where_two_words_ahead_would_be_that_noun(engine):
    said = step("what-do-heads-look-at", "Move the object")
    stack = engine.trace(said.view["text"]).attention
    verb = int(said.view["focus"]) - 1
    assert (
        stack.query_tokens.tokens[verb] == said.question.answer.query and f"“{stack.query_tokens.tokens[verb + 2]}”" in said.text
    )
    row = stack.weights[1, 5, verb]
    assert stack.key_tokens.tokens[int(row.argmax())] == "coffee" and 0.5 < row.max() < 0.9


def test_another_order_mostly_brings_another_word_with_positions_and_not_without(engine):
    said = step("path", "Order")
    words = said.view["text"].removesuffix(".").split()
    orders = [" ".join(np.random.default_rng(seed).permutation(words)) + "." for seed in range(12)]

    def firsts(*changes: Intervention) -> list[str]:
        return [predict(engine, order, interventions=changes, top_k=1).blanks[0].predictions[0].word for order in orders]

    others = sum(word != "went" for word in firsts())
    assert len(orders) / 2 < others < len(orders) and "mostly changes" in said.then
    assert len(set(firsts(Intervention("no_positions")))) == 1
