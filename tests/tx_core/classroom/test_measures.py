"""The answers of a lesson are the model's own numbers, taken another way here."""

import math
import re

import numpy as np
import pytest

from tests.support.serving import ROOT
from tx_core import Intervention
from tx_core.analysis.probabilities import probabilities
from tx_core.causal.cut_effects import cut_effects
from tx_core.causal.importance import importance
from tx_core.causal.patch import patch
from tx_core.causal.prompt_sets import kept_scores, prompt_set
from tx_core.classroom.lesson_file import open_lesson
from tx_core.classroom.measures import HALVES, MAX_CELL_TOKENS, Answer, Measure, compute_answer
from tx_core.classroom.questions import Question, grade
from tx_core.errors import LessonProblem
from tx_core.fill_mask.next_words import Sampling, next_logits, read_text, write_words

BLANK = "Yesterday I [MASK] to school."
KEYS = "Mary lost her keys."
LESSONS = {path.stem: open_lesson(path) for path in (ROOT / "assets" / "lessons").glob("*.yaml")}
STEPS = {step.title: step for step in LESSONS["path"].steps}


def answer(engine, **measure) -> Answer:
    return compute_answer(engine, Measure(**measure))


def vocabulary_shares(engine, text: str, *interventions: Intervention) -> tuple[np.ndarray, list[str]]:
    """Softmax over the vocabulary at the first blank, straight from the logits, and the words."""
    logits = engine.blank_logits([engine.encode(text)], interventions=[interventions])[0][0].astype(float)
    shares = np.exp(logits - logits.max())
    return shares / shares.sum(), [engine.tokenizer.word(entry) for entry in range(len(logits))]


@pytest.mark.parametrize("changes", [(), (Intervention("off", layer=4, head=6),)], ids=["plain", "a head off"])
def test_the_top_words_are_those_of_the_softmax(engine, changes):
    found = answer(engine, measure="top_word", text=BLANK, changes="off~5-7" if changes else "")
    shares, words = vocabulary_shares(engine, BLANK, *changes)
    order = np.argsort(-shares)[: len(found.options)]
    assert found.options == tuple(words[entry] for entry in order)
    assert np.allclose(found.shares, shares[order], atol=1e-6)
    assert (found.right, found.value) == (found.options[0], found.shares[0])


def test_a_question_about_a_blank_reads_its_text_as_the_pages_do(engine):
    read = answer(engine, measure="top_word", text="My dog [MASK] bread.")
    assert answer(engine, measure="top_word", text="My dog eats bread") == read
    assert answer(engine, measure="top_word", text="My dog ___ bread") == read
    score = compute_answer(engine, Measure(measure="rank_of", text="My dog eats bread", word=read.options[1]))
    assert score.value == 2


def test_the_strongest_key_is_that_of_the_trace_and_no_special_token(engine):
    trace = engine.trace(KEYS)
    row = trace.attention.weights[1, 7, trace.attention.query_tokens.tokens.index("her")]
    found = answer(engine, measure="strongest_key", text=KEYS, head="2-8", query="her")
    assert found.options == ("mary", "lost", "her", "keys", ".")
    assert np.allclose(found.shares, row[1:-1])
    weight = answer(engine, measure="attention_weight", text=KEYS, head="2-8", query="her", key="mary")
    assert weight.value == pytest.approx(float(row[1]))
    halves = [answer(engine, measure="more_than_half", text=KEYS, head="2-8", query="her", key=key) for key in ("mary", "lost")]
    assert [(one.right, one.value) for one in halves] == [
        ("more than half", weight.value),
        ("less than half", pytest.approx(float(row[2]))),
    ]
    question = STEPS["Compute it"].question
    assert question.options == HALVES and compute_answer(engine, question.answer).right == HALVES[0]
    assert found.right == found.options[int(np.argmax(row[1:-1]))]
    resting = answer(engine, measure="strongest_key", text="We stayed at home because it rained.", head="2-5", query="home")
    assert "[CLS]" not in resting.options
    twice = answer(engine, measure="strongest_key", text="The dog saw the cat.", head="1-2", query="the (2)")
    assert twice.options == ("the", "dog", "saw", "the (2)", "cat", ".")


def test_the_strongest_cell_is_the_largest_weight_between_words(engine):
    trace = engine.trace(KEYS)
    weights = trace.attention.weights[1, 7, 1:-1, 1:-1]
    found = answer(engine, measure="strongest_cell", text=KEYS, head="2-8")
    row, column = np.unravel_index(weights.argmax(), weights.shape)
    assert found.rows == found.columns == trace.attention.query_tokens.tokens[1:-1]
    assert found.right == f"{found.rows[row]} → {found.columns[column]}"
    assert found.value == pytest.approx(float(weights.max()))
    assert np.allclose(np.reshape(found.shares, weights.shape), weights)
    assert found.options[1] == f"{found.rows[0]} → {found.columns[1]}"


@pytest.mark.parametrize("changes", ["", "causal"])
def test_a_rank_counts_the_words_with_a_larger_share(engine, changes: str):
    shares, words = vocabulary_shares(engine, BLANK, *([Intervention("causal")] if changes else []))
    found = answer(engine, measure="rank_of", text=BLANK, word="walked", changes=changes)
    assert found.value == 1 + (shares > shares[words.index("walked")]).sum()
    assert found.right == f"{found.value:.0f}"


def test_the_head_with_the_largest_effect_is_that_of_switching_each_off(engine):
    found = answer(engine, measure="head_with_largest_effect", text=BLANK)
    before, _ = vocabulary_shares(engine, BLANK)
    for name in (found.right, "1-1", "6-8"):
        layer, head = (int(number) - 1 for number in name.split("-"))
        after, _ = vocabulary_shares(engine, BLANK, Intervention("off", layer=layer, head=head))
        assert found.shares[found.options.index(name)] == pytest.approx(np.abs(after - before).sum() / 2, abs=1e-5)
    assert found.value == max(found.shares)


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("query", {"measure": "strongest_key", "head": "2-8", "query": "dog"}),
        ("key", {"measure": "attention_weight", "head": "2-8", "query": "her", "key": "dog"}),
        ("head", {"measure": "strongest_key", "head": "7-1", "query": "her"}),
        ("head", {"measure": "strongest_key", "head": "0-1", "query": "her"}),
        ("changes", {"measure": "strongest_key", "head": "2-8", "query": "her", "changes": "explode"}),
        ("text", {"measure": "strongest_cell", "head": "2-8", "text": "a " * (MAX_CELL_TOKENS + 1)}),
        ("word", {"measure": "rank_of", "text": BLANK, "word": "😀"}),
    ],
)
def test_what_the_text_or_the_model_lacks_is_a_problem_of_the_lesson_and_names_the_field(engine, field, wrong):
    with pytest.raises(LessonProblem) as raised:
        answer(engine, **{"text": KEYS} | wrong)
    assert raised.value.field == field


def test_a_guessed_word_gets_its_own_share_and_rank(engine):
    question = Question(ask="Which?", kind="word", answer=Measure(measure="top_word", text=BLANK))
    right = compute_answer(engine, question.answer)
    shares, words = vocabulary_shares(engine, BLANK)
    for guess in ("Went ", "walked", "banana"):
        verdict = grade(engine, question, right, guess)
        share = shares[words.index(guess.strip().casefold())]
        assert verdict.share == pytest.approx(share, rel=1e-4)
        assert verdict.rank == 1 + (shares > share).sum()
        assert verdict.right == (guess == "Went ")


def test_a_number_is_right_within_its_tolerance(engine):
    question = Question(
        ask="What?",
        kind="number",
        tolerance=0.05,
        answer=Measure(measure="attention_weight", text=KEYS, head="2-8", query="her", key="mary"),
    )
    right = Answer("0.86", 0.86)
    guesses = {"0.86": True, "0,9": True, "0.95": False, "-1": False, "a lot": False}
    assert {guess: grade(engine, question, right, guess).right for guess in guesses} == guesses


def test_the_sums_of_a_question_and_its_labels_are_right_and_of_as_many_numbers_as_said(engine):
    text = STEPS["Compute it"].text
    sums = re.findall(r"([\d ×+]+) = (\d+)", text)
    assert [sum(math.prod(map(int, product.split("×"))) for product in terms.split("+")) for terms, _ in sums] == [6, 3]
    assert [int(total) for _, total in sums] == [6, 3]
    size = engine.info.hidden_size // engine.info.num_heads
    assert f"each has {size} numbers" in text and f"the square root of {size}" in text


def test_what_the_lesson_on_writing_says_of_the_writer_is_so(writer):
    """The texts that are shown were drawn at the temperature of the view."""
    steps = {step.title: step for step in LESSONS["how-a-model-writes"].steps}
    written = {}
    for title in ("Almost always the likeliest", "Rare words, too", "Another branch"):
        view = steps[title].view
        ids = tuple(map(int, view["written"].split(".")))
        sampling = Sampling(float(view["temperature"]))
        assert write_words(writer, view["text"], len(ids), seed=int(view["seed"]), sampling=sampling) == ids
        written[title] = [writer.tokenizer.word(one) for one in ids]
    assert " ".join(written["Almost always the likeliest"]).count("a man who was") == 3
    assert written["Rare words, too"][0] == "surprise"
    before_boy = written["Another branch"][: written["Another branch"].index("boy")]
    assert "girl" in answer(writer, measure="top_word", text=" ".join(["Once upon a", *before_boy])).options


def test_what_the_lesson_on_patching_says_of_the_model_is_so(engine):
    """Where the answer is kept, which head carries it, and in the forty prompts of Importance."""
    mary, john = "Mary lost [MASK] keys.", "John lost [MASK] keys."
    vectors, heads = (patch(engine, source=mary, target=john, answers=("her", "his"), what=what) for what in ("residual", "head"))
    assert [f"{share:.2f}" for share in (*vectors.source_probabilities[:1], *vectors.target_probabilities[:1])] == [
        "0.93",
        "0.01",
    ]
    assert f"{vectors.probabilities[2, 1, 0]:.2f}" == "0.91" and np.delete(vectors.effect[2], 1).max() < 0.01
    assert [f"{effect:.2f}" for effect in vectors.effect[2:5, 3]] == ["0.00", "0.70", "1.00"]
    assert f"{heads.probabilities[3, 5, 0]:.2f}" == "0.73" and np.sort(heads.effect, axis=None)[-2] < 0.2
    found = importance(engine, prompt_set("gender"), kept_in=kept_scores("gender", "off"))
    at = found.components.index(Intervention("off", 3, 5))
    numbers = (found.effects[:, at].mean(), *found.intervals[:, at], found.turned[at] * 40)
    assert [f"{number:.2f}" for number in numbers] == ["1.50", "1.12", "1.86", "10.00"]


def test_a_word_behind_a_text_is_scored_by_its_pieces_one_after_the_other(writer):
    question = LESSONS["how-a-model-writes"].steps[0].question
    right = compute_answer(writer, question.answer)
    (first, *rest), written, share = writer.tokenizer.pieces("timepiece"), (), 1.0
    for piece in (first, *rest):
        logits = next_logits(writer, encoding := read_text(writer, "Once upon a", written), [len(encoding) - 1])[0]
        share, written = share * probabilities(logits)[piece], (*written, piece)
    verdict = grade(writer, question, right, "timepiece")
    assert rest
    assert (verdict.share, verdict.rank) == (pytest.approx(share), None)
    rare = grade(writer, question, right, "surprise")
    assert (rare.right, rare.rank) == (False, 207)


# What recaps and steps say beside what assets/lessons/claims.json claims: each sentence in “” stands in a lesson.


def test_each_token_takes_from_every_other_as_much_as_its_weight_says(engine):
    """“A few of the 32 bring most of the score.” “‘mary’ brings most”, in every dimension."""
    found = engine.trace(KEYS, keep=("query", "key", "value", "weights", "context")).attention
    (layer, head), (her, mary) = (1, 7), (3, 1)
    products = found.query[layer, head, her] * found.key[layer, head, mary]
    assert len(products) == 32
    assert products[np.argsort(-np.abs(products))][:6].sum() > 0.75 * products.sum()
    mixed = found.weights[layer, head, her][:, None] * found.value[layer, head]
    np.testing.assert_allclose(mixed.sum(0), found.context[layer, head, her], atol=1e-5)
    assert (np.abs(mixed).argmax(0) == mary).all()


def test_in_the_first_picture_of_the_path_the_country_comes_from_the_city_in_layers_4_and_5(engine):
    found = cut_effects(engine, STEPS["Guess"].view["text"])
    strongest = [np.unravel_index(one, found.effect.shape) for one in np.argsort(-found.effect, axis=None)[:2]]
    assert {(layer + 1, query, found.encoding.tokens[key]) for layer, query, key in strongest} == {
        (layer, found.place, "paris") for layer in (4, 5)
    }


def test_heads_look_at_a_fixed_distance_or_rest_and_a_row_is_a_whole(engine):
    """“Some heads mostly look at a fixed distance, …, and some often rest on [CLS] and [SEP].”"""
    attention = engine.trace("We stayed at home because it rained all night.").attention
    np.testing.assert_allclose(attention.weights.sum(-1), 1, atol=1e-5)
    for head, distance in ((7, -1), (1, 1)):
        assert np.diagonal(attention.weights[0, head], distance)[1:-1].min() > 0.9
    rests = attention.weights[..., np.array(attention.key_tokens.special)].sum(-1).mean(-1)
    assert 0.4 < rests.mean() < 0.6  # “about half, over all heads”
    assert rests[1, 4] > rests.mean() + 0.1  # the head that the view shows


def test_padding_that_is_not_hidden_takes_attention(engine):
    """“In the head shown, the blank now gives most of its attention to [PAD].”"""
    step = STEPS["Hide: the padding"]
    text, (layer, head) = step.view["text"], (int(number) - 1 for number in step.view["heads"].split("-"))
    padded = engine.trace(text, interventions=[Intervention("no_padding_mask", value=16.0)]).attention
    blank = padded.query_tokens.tokens.index("[MASK]")
    assert int(step.view["focus"]) == blank + 1
    assert padded.weights[layer, head, blank].sum() < 0.5
