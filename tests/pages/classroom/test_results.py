"""What a class is told of its own answers is counted by hand here, for each kind of question."""

from itertools import pairwise

import pytest

from pages.classroom import texts
from pages.classroom.results import Votes, guessed_cells, message, results
from tests.support.serving import ROOT
from tx_core.classroom.measures import Answer
from tx_core.classroom.questions import MAX_ANSWERS, RANGE, Question, normalised_gain
from tx_core.classroom.rooms import Room

MODEL = Answer("went", 0.8, ("went", "came", "got"), (0.8, 0.15, 0.05))
SOURCE = (ROOT / "assets" / "lessons" / "path.yaml").read_text("utf-8")


def question(kind: str, *options: str) -> Question:
    return Question.model_construct(ask="What?", kind=kind, options=options, tolerance=0.1, answer=None)


def shares(told: dict) -> dict[str, tuple[int, float]]:
    return {row["label"]: (row["count"], row["share"]) for row in told["rows"]}


def test_words_are_counted_whatever_their_case_and_spaces_beside_the_models_shares():
    told = results(question("word"), MODEL, Votes(["went", " Went", "go", "  came "]))
    assert shares(told) == {"went": (2, 0.5), "came": (1, 0.25), "go": (1, 0.25)}
    assert {row["label"]: row["model"] for row in told["rows"]} == {"went": 0.8, "came": 0.15, "go": None}
    assert [row["label"] for row in told["rows"] if row["right"]] == ["went"] and told["typed"]
    said = (texts.MOST.format(guess="went", count=2, total=4), texts.MODEL_SAYS.format(answer="went", hits=2, total=4))
    assert told["sentence"] == " ".join(said)
    told = results(question("word"), MODEL, Votes([f"word{number}" for number in range(40) for _ in range(2)]))
    assert len(told["rows"]) == MAX_ANSWERS and [row["label"] for row in told["rows"] if row["right"]] == ["went"]
    assert texts.NO_MAJORITY.format(count=2, total=80) in told["sentence"]


def test_options_and_tokens_stand_in_their_own_order_also_where_nobody_chose_them():
    told = results(question("choice", "got", "other", "went"), MODEL, Votes(["went"]))
    assert [(row["label"], row["count"]) for row in told["rows"]] == [("got", 0), ("other", 0), ("went", 1)]
    told = results(question("token"), MODEL, Votes(["came", "came"]))
    assert [(row["label"], row["count"]) for row in told["rows"]] == [("went", 0), ("came", 2), ("got", 0)]
    assert told["columns"]


def test_numbers_become_a_histogram_that_holds_every_number_and_the_models():
    model = Answer("0.60", 0.6)
    guesses = ["0", "0,1", "0.12", "0.99", "1", "0.6", "many", "nan", "1e300"]
    told = results(question("number"), model, Votes(guesses))
    assert [row["label"] for row in told["rows"]] == [
        RANGE.format(low=low, high=high) for low, high in pairwise(("0", "0.2", "0.4", "0.6", "0.8", "1"))
    ]
    assert [row["count"] for row in told["rows"]] == [3, 0, 0, 1, 2]
    assert [row["modelText"] for row in told["rows"] if row["modelText"]] == [texts.MODELS_NUMBER.format(value="0.6")]
    assert [at for at, row in enumerate(told["rows"]) if row["right"]] == [3]
    assert texts.MODEL_SAYS.format(answer="0.60", hits=1, total=9) in told["sentence"]
    assert len(results(question("number"), model, Votes([]))["rows"]) == 1


def test_an_open_question_is_to_be_discussed_and_a_vote_has_no_right_answer():
    said = (texts.NO_VOTES, texts.ONE_TO_DISCUSS, texts.TO_DISCUSS.format(count=2))
    assert [results(question("open"), None, Votes(["a", "b"][:count])) for count in range(3)] == [
        {"rows": [], "sentence": one} for one in said
    ]
    told = results(question("choice", "yes", "no"), None, Votes(["no", "no", "yes"]))
    assert told["sentence"] == texts.MOST.format(guess="no", count=2, total=3)
    assert told["model"] == ""


def room(**changes: object) -> Room:
    return Room(1, "ABCDEF", SOURCE, 3, 10, **({"step": 2, "students": 30, "answered": {2: 12}} | changes))


def test_before_the_answers_are_revealed_nobody_is_told_what_was_answered():
    for for_teacher in (True, False):
        told = message(room(), Votes(["Yesterday"] * 12, ["Yesterday"] * 9), for_teacher=for_teacher)
        assert told["results"] is None
        assert "Yesterday" not in str(told)
    assert message(room(), Votes(), for_teacher=True)["note"] == texts.ANSWERED.format(answered=12, students=30)
    assert "answered" not in message(room(), Votes(), for_teacher=False)
    told = message(room(left=3), Votes(), for_teacher=True)
    said = texts.ANSWERED.format(answered=12, students=27)
    assert (told["students"], told["note"]) == (27, texts.WITHOUT_LEFT.format(said=said, count=3))


def test_two_votes_stand_side_by_side_with_how_many_were_right_and_the_normalised_gain_of_those_who_voted_twice():
    both = [("went", "went"), *[("go", "went")] * 5, *[("go", "go")] * 3, ("went", "go")]
    votes = Votes([*(last for _, last in both), "came"], [*(first for first, _ in both), "came", "came"], both)
    told = results(question("word"), MODEL, votes)
    assert {row["label"]: (row["first"], row["share"]) for row in told["rows"]} == {
        "went": (2 / 12, 6 / 11),
        "go": (8 / 12, 4 / 11),
        "came": (2 / 12, 1 / 11),
    }
    shares = {"before": 2, "before_share": "20\u00a0%", "after": 6, "after_share": "60\u00a0%"}
    assert texts.GAIN.format(count=10, gain="0.50", **shares) in told["sentence"]  # (0.6 - 0.2) / (1 - 0.2)
    assert texts.FIRST_STANDS.format(count=2) in told["sentence"]
    said = results(question("word"), MODEL, votes._replace(both=both[:9]))["sentence"]
    few = texts.VOTED_TWICE.format(count=9, before=1, after=6, least=10)
    assert few in said and "normalised" not in said
    numbers = results(question("number"), Answer("0.60", 0.6), Votes(["0.6"], ["0.1", "0.2", "0.6"]))
    assert [sum(row[name] for row in numbers["rows"]) for name in ("first", "share")] == pytest.approx([1, 1])
    assert normalised_gain(0.5, 0.25) == -0.5 and normalised_gain(1, 1) is None
    vote = results(question("choice", "yes", "no"), None, Votes(["yes"], ["no", "no"]))
    assert texts.VOTED_FIRST.format(count=2) in vote["sentence"]


def test_guesses_are_placed_in_the_rows_and_columns_that_they_were_chosen_from():
    row = Answer("mary", 0.9, ("mary", "lost"), (0.9, 0.1), ("her",), ("mary", "lost"))
    assert guessed_cells(row, ["lost", "lost", "mary", "elsewhere"]) == (
        ("her", "mary", 0.25, texts.COUNT.format(count=1, share="25\u00a0%")),
        ("her", "lost", 0.5, texts.COUNT.format(count=2, share="50\u00a0%")),
    )
    names = tuple(f"{layer}-{head}" for layer in (1, 2) for head in (1, 2, 3))
    wall = Answer("1-1", 0.5, names, (0.1,) * 6, ("1", "2"), ("1", "2", "3"))
    assert [cell[:3] for cell in guessed_cells(wall, ["2-1", "1-3"])] == [("1", "3", 0.5), ("2", "1", 0.5)]
    assert guessed_cells(MODEL, ["went"]) == ()
