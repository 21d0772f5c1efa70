"""What a class answered at a step, counted and set beside the model's answer: plain data that every browser of a room draws.

This module imports no torch: it is used while a room is told of a change.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pages.classroom import texts
from pages.ui.panels.question_kinds import grid_of
from pages.ui.shell.numbers import percent, whole_percent
from tx_core.classroom.lesson_file import Lesson, Step, read_lesson
from tx_core.classroom.measures import Answer, read_answer
from tx_core.classroom.questions import (
    QUESTION_KINDS,
    AnswerCount,
    Question,
    count_names,
    count_places,
    count_right,
    normalised_gain,
)

if TYPE_CHECKING:
    from tx_core.classroom.rooms import Room, Rooms


@lru_cache(maxsize=32)
def lesson_of(source: str) -> Lesson:
    """Read the lesson of a room from its file; raises LessonProblem."""
    return read_lesson(source.encode())


LEAST_FOR_GAIN = 10
"""From how many students on, who voted twice, a gain is computed."""


class Votes(NamedTuple):
    """The votes of a class at a step.

    last: those that stand. first: those of before its discussion; None where there was none. both: first and last of each student
    who voted again, if only to keep the vote.
    """

    last: Sequence[str] = ()
    first: Sequence[str] | None = None
    both: Sequence[tuple[str, str]] = ()


class Compared(NamedTuple):
    """How many students voted twice, how many of them were right before the discussion and after it, and the normalised gain,
    None where there is none."""

    count: int
    before: int
    after: int
    gain: float | None


def votes_of(rooms: "Rooms", room: "Room", number: int) -> Votes:
    """Return what a class has guessed at a step, hidden words left out."""

    def is_shown(*texts: str | None) -> bool:
        return all(text is not None and not room.hides(number, text) for text in texts)

    votes = rooms.votes(room, number)
    last = [vote.standing for vote in votes if is_shown(vote.standing)]
    if number not in room.discussed:
        return Votes(last)
    both = [(vote.first, vote.last) for vote in votes if is_shown(vote.first, vote.last)]
    return Votes(last, [vote.first for vote in votes if is_shown(vote.first)], both)


def shows_votes(room: "Room", number: int) -> bool:
    """Return whether everybody sees what the class guessed at a step: all of it, or its first vote."""
    return number in room.revealed or room.discussed.get(number, False)


def message(room: "Room", votes: Votes, *, for_teacher: bool, step: int | None = None) -> dict[str, object]:
    """Return the message for a member's browser: the step that is shown, and the class's results once they are revealed.

    votes: where `shows_votes`. step: the member's own, where it is not the room's.
    """
    at = step or room.step
    told: dict[str, object] = {
        "version": room.version,
        "step": at,
        "together": room.together,
        "revealed": sorted(room.revealed),
        "discussed": sorted(room.discussed),
        "results": None,
        "sentence": room.sentence if at == room.step else None,
        "timer": room.timer if at == room.step else None,
    }
    question = lesson_of(room.source).steps[at - 1].question
    if at in room.revealed:
        told["results"] = results(question, answer_of(room, at), votes)
    elif shows_votes(room, at):
        told["results"] = results(question, None, Votes(votes.first or ()))
    asks = question is not None
    if for_teacher:
        answered = room.answered.get(at, 0) if asks else None
        students = room.students - (room.left if asks else 0)
        said = progress(answered, students, again=at in room.discussed)
        if asks and room.left:
            said = texts.WITHOUT_LEFT.format(said=said, count=room.left)
        return told | {"answered": answered, "students": students, "note": said, "first": room.discussed.get(at, False)}
    return told | {"note": waiting(room, at) if asks else ""}


def progress(answered: int | None, students: int, again: bool = False) -> str:
    """Return in words how many have answered (`again`: the second vote), or are here, where no question is asked (`answered` is
    None).
    """
    if not students:
        return texts.NOBODY_YET
    if answered is None:
        return (texts.ONE_IS_HERE if students == 1 else texts.ARE_HERE).format(students=students)
    return (texts.ANSWERED_AGAIN if again else texts.ANSWERED).format(answered=answered, students=students)


def waiting(room: "Room", step: int) -> str:
    """Return what a student reads below their guess."""
    if step in room.revealed:
        return texts.REVEALED
    if step in room.discussed:
        return texts.DISCUSS_NOW
    return texts.WAITING if room.together else texts.OWN_PACE


def sentence_of(step: Step) -> str:
    """Return the text that a step's question is about, its blanks as people write them; "" for none."""
    measure = step.question.answer if step.question else None
    return (measure.text if measure else step.view.get("text", "")).replace("[MASK]", "___").replace("<mask>", "___")


def answer_of(room: "Room", number: int) -> Answer | None:
    """Return the model's answer at a step as the room keeps it; None where it is not revealed, or to be discussed."""
    return read_answer(room.revealed.get(number))


def results(question: Question | None, answer: Answer | None, votes: Votes) -> dict[str, object]:
    """Count the guesses of a class, beside the model's answer where there is one, with one sentence that compares them."""
    guesses, first, _ = votes
    kind = QUESTION_KINDS[question.kind] if question else None
    if kind is None or kind.count is None:
        said = {0: texts.NO_VOTES, 1: texts.ONE_TO_DISCUSS}.get(len(guesses), texts.TO_DISCUSS)
        return {"rows": [], "sentence": said.format(count=len(guesses))}
    counts = kind.count(question, answer, guesses, first or ())
    hits = count_right(question, answer, guesses)
    grid = grid_of(question)
    compared = [] if first is None else votes_in_words(question, answer, votes)
    return {
        "rows": [row(one, len(guesses), model_text(one, answer), first) for one in counts],
        "typed": kind.any_word,
        "columns": grid is not None and grid.layout == "row",
        "class": texts.OF_CLASS if first is None else texts.SECOND_VOTE,
        "first": "" if first is None else texts.FIRST_VOTE,
        "model": texts.OF_MODEL if any(one.share is not None for one in counts) else "",
        "title": question.ask,
        "sentence": " ".join([sentence(counts, answer, len(guesses), hits), *compared]),
    }


def model_text(count: AnswerCount, answer: Answer | None) -> str:
    """Return what the model says of one answer, in words; "" where that is nothing. Shares are percent, as the class's are."""
    if count.share is not None:
        return percent(count.share)
    if answer and answer.options:
        return texts.NOT_LISTED.format(count=len(answer.options))
    return texts.MODELS_NUMBER.format(value=f"{answer.value:.3g}") if count.right else ""


def votes_in_words(question: Question, answer: Answer | None, votes: Votes) -> list[str]:
    """Compare the votes before and after a discussion in sentences: of how many, how many were right, and the gain."""
    said, compared = [texts.VOTED_FIRST.format(count=len(votes.first))], compare_votes(question, answer, votes)
    if compared and compared.count:
        shares = [whole_percent(right / compared.count) for right in compared[1:3]]
        template = texts.GAIN if compared.count >= LEAST_FOR_GAIN else texts.VOTED_TWICE
        gain = texts.NO_GAIN if compared.gain is None else f"{compared.gain:.2f}"
        values = {"before": compared.before, "after": compared.after, "before_share": shares[0], "after_share": shares[1]}
        said = [template.format(count=compared.count, gain=gain, least=LEAST_FOR_GAIN, **values)]
    if stands := len(votes.first) - len(votes.both):
        said.append(texts.FIRST_STANDS.format(count=stands))
    return said


def compare_votes(question: Question, answer: Answer | None, votes: Votes) -> Compared | None:
    """Count the right votes of those who voted before and after a discussion; None without one, or without a right answer."""
    if not answer or votes.first is None:
        return None
    before, after = (count_right(question, answer, [vote[at] for vote in votes.both]) for at in (0, 1))
    count = len(votes.both)
    return Compared(count, before, after, normalised_gain(before / count, after / count) if count >= LEAST_FOR_GAIN else None)


def row(count: AnswerCount, total: int, model_says: str, first: Sequence[str] | None) -> dict[str, object]:
    """Return one row: how many guessed this, also before a discussion, and what the model gives it."""
    share, said = share_of_class(count.count, total)
    before = {} if first is None else dict(zip(("first", "firstText"), share_of_class(count.first, len(first)), strict=True))
    return {
        "label": count.answer,
        "share": share,
        "text": said,
        "model": count.share,
        "modelText": model_says,
        "right": count.right,
        "count": count.count,
        **before,
    }


def share_of_class(count: int, total: int) -> tuple[float, str]:
    """Return which share of a class a count is, as a number and in words."""
    share = count / total if total else 0.0
    return share, texts.COUNT.format(count=count, share=whole_percent(share))


def guessed_words(guesses: Sequence[str]) -> tuple[tuple[str, float, str], ...]:
    """Return each guessed word, the most frequent first, with its share of the guesses as a number and in words."""
    names, counts = count_names(guesses)
    return tuple((names[word], *share_of_class(count, len(guesses))) for word, count in counts.most_common())


def guessed_cells(answer: Answer | None, guesses: Sequence[str]) -> tuple[tuple[str, str, float, str], ...]:
    """Return each guessed cell: the names of its row and column, its share of the guesses, and the share in words."""
    width = len(answer.columns) if answer else 0
    return tuple(
        (answer.rows[place // width], answer.columns[place % width], *share_of_class(count, len(guesses)))
        for place, count in count_places(answer, guesses) or ()
    )


def sentence(counts: Sequence[AnswerCount], answer: Answer | None, total: int, hits: int | None) -> str:
    """Compare the class with the model in one sentence. hits: the right guesses; None where there is no right one."""
    if not total or not counts:
        return texts.NO_GUESSES.format(answer=answer.right) if answer else texts.NO_VOTES
    most = sorted(counts, key=lambda one: -one.count)[:2]
    first = texts.MOST.format(guess=most[0].answer, count=most[0].count, total=total)
    if len(most) > 1 and most[1].count == most[0].count:
        tie = texts.ALL_DIFFERENT if most[0].count == 1 else texts.NO_MAJORITY
        first = tie.format(count=most[0].count, total=total)
    return f"{first} {texts.MODEL_SAYS.format(answer=answer.right, hits=hits, total=total)}" if answer else first
