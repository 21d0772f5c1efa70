"""What a class answered at a step, counted and set beside the model's answer: plain data that every browser of a room draws.

This module imports no torch: it is used while a room is told of a change.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from pages.classroom import texts
from pages.ui.shell.numbers import measured, whole_percent
from tx_core.classroom.lesson_file import Lesson, Question, Step, read_lesson
from tx_core.classroom.room_records import TEACHER, State

MAX_ROWS, BINS = 8, 8
Row = dict[str, object]


@lru_cache(maxsize=32)
def lesson_of(source: str) -> Lesson:
    """Read the lesson of a room from its file; raises LessonProblem."""
    return read_lesson(source.encode())


def message(state: State, guesses: Mapping[int, Sequence[str]], role: str, step: int | None = None) -> dict[str, object]:
    """Return the message for a member's browser: the step that is shown, and the class's results once they are revealed.

    guesses: those of the revealed steps that are needed, by step. step: the member's own, where it is not the room's.
    """
    room, at = state.room, step or state.room.step
    told: dict[str, object] = {
        "version": room.version,
        "step": at,
        "together": room.together,
        "revealed": sorted(state.revealed),
        "results": None,
        "sentence": state.sentence if at == room.step else None,
    }
    question = lesson_of(room.source).steps[at - 1].question
    if at in state.revealed:
        told["results"] = results(question, state.revealed[at], guesses.get(at, ()))
    asks = question is not None
    if role == TEACHER:
        answered = state.answered.get(at, 0) if asks else None
        return told | {"answered": answered, "students": state.students, "note": progress(answered, state.students)}
    return told | {"note": waiting(state, at, asks)}


def progress(answered: int | None, students: int) -> str:
    """Return in words how many have answered, or how many are here where no question is asked (`answered` is None)."""
    if not students:
        return texts.NOBODY_YET
    if answered is None:
        return (texts.ONE_IS_HERE if students == 1 else texts.ARE_HERE).format(students=students)
    return texts.ANSWERED.format(answered=answered, students=students)


def waiting(state: State, step: int, asks: bool) -> str:
    """Return what a student reads below their guess; "" where no question is asked, since the view is there at once."""
    if not asks:
        return ""
    if step in state.revealed:
        return texts.REVEALED
    return texts.WAITING if state.room.together else texts.OWN_PACE


def sentence_of(step: Step) -> str:
    """Return the text that a step's question is about, its blanks as people write them; "" for none."""
    measure = step.question.answer if step.question else None
    return (measure.text if measure else step.view.get("text", "")).replace("[MASK]", "___").replace("<mask>", "___")


def results(question: Question | None, answer: Mapping[str, object], guesses: Sequence[str]) -> dict[str, object]:
    """Count the guesses of a class, beside the model's answer where there is one, with one sentence that compares them."""
    if question is None or question.kind == "open":
        return {"rows": [], "sentence": texts.TO_DISCUSS.format(count=len(guesses))}
    rows = histogram(question, answer, guesses) if question.kind == "number" else option_rows(question, answer, guesses)
    return {
        "rows": rows,
        "columns": question.kind == "token",
        "map": class_map(question, answer, guesses),
        "class": texts.OF_CLASS,
        "model": texts.OF_MODEL if any(row["model"] is not None for row in rows) else "",
        "title": question.ask,
        "sentence": sentence(rows, answer, len(guesses), right_numbers(question, answer, guesses)),
    }


def option_rows(question: Question, answer: Mapping[str, object], guesses: Sequence[str]) -> list[Row]:
    """Return a row for each option, in the order offered; for words, heads and cells, the most frequent and the right one."""
    names, counts = count_words(guesses, [*question.options, *answer.get("options", ())])
    model = {name.casefold(): share for name, share in zip(answer.get("options", ()), answer.get("shares", ()), strict=True)}
    right = str(answer.get("right", "")).casefold()
    kept = list(names)
    if question.kind in ("word", "head", "cell"):
        kept = sorted(names, key=lambda name: (-counts[name], -model.get(name, 0.0)))[:MAX_ROWS]
        if right and right not in kept:  # it takes the last row, so that the right answer is always shown
            kept = [*kept[: MAX_ROWS - 1], right]
    elif question.kind == "choice":
        kept = [option.casefold() for option in question.options]
    measure = question.answer.measure if question.answer else ""
    rows = [row(names.get(name, name), counts[name], len(guesses), model.get(name), name == right, measure) for name in kept]
    for one in rows:
        if model and one["model"] is None:
            one["modelText"] = texts.NOT_LISTED.format(count=len(model))
    return rows


def count_words(guesses: Sequence[str], known: Sequence[str] = ()) -> tuple[dict[str, str], Counter[str]]:
    """Count guesses whatever their capitals and spaces: the spelling of each, known or the first, and how many there are."""
    written = [" ".join(guess.split()) for guess in guesses]
    names: dict[str, str] = {}
    for name in [*known, *written]:
        names.setdefault(name.casefold(), name)
    return names, Counter(name.casefold() for name in written)


def guessed_words(guesses: Sequence[str]) -> tuple[tuple[str, float, str], ...]:
    """Return each guessed word, the most frequent first, with its share of the guesses as a number and in words."""
    names, counts = count_words(guesses)
    rows = [row(names[word], count, len(guesses), None, False) for word, count in counts.most_common()]
    return tuple((one["label"], one["share"], one["text"]) for one in rows)


def class_map(question: Question, answer: Mapping[str, object], guesses: Sequence[str]) -> dict[str, object] | None:
    """Return the model's map with the guesses per cell or head; None where the answer has no rows and columns.

    The cells go row by row: the model's shares in thousandths, and how many guessed a cell, of those that somebody guessed.
    """
    counts = guesses_by_place(answer, guesses)
    if question.kind not in ("cell", "head") or counts is None:
        return None
    return {
        "rows": list(answer["rows"]),
        "columns": list(answer["columns"]),
        "axes": texts.MAP_AXES[question.kind],
        "model": [round(1000 * share) for share in answer["shares"]],
        "guesses": counts,
        "total": len(guesses),
        "right": list(answer["options"]).index(answer["right"]),
    }


def guesses_by_place(answer: Mapping[str, object], guesses: Sequence[str]) -> list[tuple[int, int]] | None:
    """Count the guesses of each cell that somebody guessed, row by row; None where nothing is in rows and columns."""
    options = list(answer.get("options", ()))
    if not options or len(options) != len(answer.get("rows", ())) * len(answer.get("columns", ())):
        return None
    places = {name: place for place, name in enumerate(options)}
    return sorted(Counter(places[guess] for guess in guesses if guess in places).items())


def guessed_cells(answer: Mapping[str, object], guesses: Sequence[str]) -> tuple[tuple[str, str, float, str], ...]:
    """Return each guessed cell: the names of its row and column, its share of the guesses, and the share in words."""
    width = max(1, len(answer.get("columns", ())))
    counted = [(place, row("", count, len(guesses), None, False)) for place, count in guesses_by_place(answer, guesses) or ()]
    return tuple(
        (answer["rows"][place // width], answer["columns"][place % width], one["share"], one["text"]) for place, one in counted
    )


def histogram(question: Question, answer: Mapping[str, object], guesses: Sequence[str]) -> list[Row]:
    """Return the histogram of guessed numbers in equal ranges, one of which holds the model's number."""
    value = float(answer["value"])
    numbers = [float(number) for number in (guess.replace(",", ".") for guess in guesses) if is_number(number)]
    edges = round_edges(min([*numbers, value]), max([*numbers, value]))
    counts = np.histogram(numbers, edges)[0]
    place = min(int(np.searchsorted(edges, value, side="right")) - 1, len(counts) - 1)
    labels = [texts.RANGE.format(low=f"{low:.3g}", high=f"{high:.3g}") for low, high in pairwise(edges)]
    rows = [
        row(label, int(count), len(guesses), None, at == place)
        for at, (label, count) in enumerate(zip(labels, counts, strict=True))
    ]
    rows[place] |= {"modelText": texts.MODELS_NUMBER.format(value=f"{value:.3g}")}
    return rows


def right_numbers(question: Question, answer: Mapping[str, object], guesses: Sequence[str]) -> int | None:
    """Count the numbers that are as near to the model's as the question asks for; None where no number is asked for."""
    if question.kind != "number":
        return None
    numbers = [float(number) for number in (guess.replace(",", ".") for guess in guesses) if is_number(number)]
    return sum(abs(number - float(answer["value"])) <= question.tolerance for number in numbers)


def round_edges(low: float, high: float) -> np.ndarray:
    """Cut the numbers from low to high into at most BINS ranges that end at round numbers."""
    span = max(high - low, 1e-6 * max(1.0, abs(high)))
    power = 10.0 ** np.floor(np.log10(span / (BINS - 1)))
    step = next(step for step in power * np.array([1, 2, 5, 10]) if step * (BINS - 1) >= span)
    first, last = np.floor(low / step), max(np.ceil(high / step), np.floor(low / step) + 1)
    return np.round(np.arange(first, last + 1) * step, 12)


def is_number(written: str) -> bool:
    """Return whether a guess is a finite number of a size that can be drawn."""
    try:
        return abs(float(written)) < 1e9
    except ValueError:
        return False


def row(label: str, count: int, total: int, model: float | None, right: bool, measure: str = "") -> Row:
    """Write one row: how many guessed this, and what the model gives it, a number of that measure."""
    share = count / total if total else 0.0
    return {
        "label": label,
        "share": share,
        "text": texts.COUNT.format(count=count, share=whole_percent(share)),
        "model": model,
        "modelText": "" if model is None else measured(model, measure),
        "right": right,
        "count": count,
    }


def sentence(rows: Sequence[Row], answer: Mapping[str, object], total: int, hits: int | None) -> str:
    """Compare the class with the model in one sentence. hits: the right guesses; None where they are those of a row."""
    most = sorted(rows, key=lambda one: -one["count"])[:2]
    if not total:
        return texts.NO_GUESSES.format(answer=answer["right"]) if "right" in answer else texts.NO_VOTES
    first = texts.MOST.format(guess=most[0]["label"], count=most[0]["count"], total=total)
    if len(most) > 1 and most[1]["count"] == most[0]["count"]:
        tie = texts.ALL_DIFFERENT if most[0]["count"] == 1 else texts.NO_MAJORITY
        first = tie.format(count=most[0]["count"], total=total)
    if "right" not in answer:
        return first
    if hits is None:
        hits = sum(one["count"] for one in rows if one["right"])
    return f"{first} {texts.MODEL_SAYS.format(answer=answer['right'], hits=hits, total=total)}"
