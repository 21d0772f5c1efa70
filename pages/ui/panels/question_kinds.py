"""How each kind of question of a lesson is asked, drawn, reported and edited; and what is said of each measure.

How it is answered: `QUESTION_KINDS` and `MEASURES` in tx_core/classroom, with the same keys. The texts of a kind stand in its
entry, so that a kind is added in these two places. The order is that of the editor's list.
"""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from pages.ui.panels import texts
from pages.ui.panels.question_view import Grid
from pages.ui.shell.numbers import percent, weight
from pages.ui.stage.tokens import escape_markdown
from tx_core.classroom.measures import MEASURES
from tx_core.classroom.questions import Question
from tx_core.engine.engine import ModelInfo

MAX_WORD_CHARACTERS, MAX_OPEN_CHARACTERS = 60, 1000
WITHOUT_SPECIAL = "Special tokens, such as [CLS] and [SEP], are not counted."
OF_ATTENTION = "Stronger colour = more attention. Point at a cell to read it."


@dataclass(frozen=True)
class QuestionView:
    """How a kind of question looks.

    Attributes:
        box: Draws the box or the list in which it is answered, with a key, and returns the guess; None for a grid.
        grid: The grid in which it is answered by a click; None for a box.
        lists: The labels of a list of rows and one of columns beside the grid; without them there is one list of all cells.
        in_words: Says what can be chosen where it need not be computed; None where it must be.
        revealed, right, wrong: The sentence where nobody guessed, for a right guess, and for one without a value.
    """

    name: str
    first_ask: str
    box: Callable[[Question, str], str | float | None] | None = None
    grid: Grid | None = None
    lists: tuple[str, ...] = ()
    in_words: Callable[[ModelInfo], str] | None = None
    revealed: str = texts.REVEALED
    right: str = texts.GUESS_IS_FIRST
    wrong: str = texts.GUESS_HAS_NO_SHARE


# The label of a box is not drawn, since the question stands above it; a screen reader is given it as it is written.


def ask_word(question: Question, key: str) -> str | None:
    """Draw a box for a word."""
    return st.text_input(question.ask, max_chars=MAX_WORD_CHARACTERS, key=key, label_visibility="collapsed")


def ask_text(question: Question, key: str) -> str | None:
    """Draw a box for a longer text."""
    return st.text_area(question.ask, max_chars=MAX_OPEN_CHARACTERS, key=key, label_visibility="collapsed")


def ask_number(question: Question, key: str) -> float | None:
    """Draw a box for a number."""
    width = MEASURE_TEXTS[question.answer.measure].width
    return st.number_input(question.ask, value=None, step=width, key=key, label_visibility="collapsed")


def ask_one_of(question: Question, key: str) -> str | None:
    """Draw the list of options."""
    return st.radio(
        question.ask, question.options, index=None, format_func=escape_markdown, key=key, label_visibility="collapsed"
    )


def heads_in_words(info: ModelInfo) -> str:
    """Name the heads of a model in one line."""
    return texts.HEADS.format(count=info.num_layers * info.num_heads, layers=info.num_layers, heads=info.num_heads)


QUESTION_VIEWS: dict[str, QuestionView] = {
    "token": QuestionView(
        "click a token",
        "Which word does it look at most?",
        grid=Grid(
            "row",
            alt="Choose a token. Arrow keys move, Enter chooses.",
            axes="",
            hint="Click or tap a token, or go to it with the arrow keys and press Enter.",
            scale=OF_ATTENTION,
        ),
    ),
    "cell": QuestionView(
        "click a cell of a map",
        "Which cell of this map will be the strongest?",
        grid=Grid(
            "map",
            alt="Choose a cell of the map. Arrow keys move, Enter chooses.",
            axes="query (looks) ↓  key (is looked at) →",
            hint="Click or tap a cell, or choose its row and column from the lists.",
            scale=OF_ATTENTION,
        ),
        lists=("Row: the token that looks", "Column: the token that is looked at"),
    ),
    "head": QuestionView(
        "choose a head",
        "Which head changes this prediction most?",
        grid=Grid(
            "wall",
            alt="Choose a head. Arrow keys move, Enter chooses.",
            axes="Layer ↓  Head →",
            hint="Click or tap a head (layer-head), or choose it from the list.",
            scale="Numbers are percent, colours follow their square root. Point at a cell to read it.",
        ),
        in_words=heads_in_words,
    ),
    "word": QuestionView("type a word", "Which word would you write?", ask_word),
    "choice": QuestionView("choose one of several", "Which of these is it?", ask_one_of),
    "number": QuestionView(
        "a number",
        "Which number do you expect?",
        ask_number,
        revealed="The model computes {answer}.",
        right="Right: you wrote {guess}, the model computes {answer}.",
        wrong="The model computes {answer}; you wrote {guess}.",
    ),
    "open": QuestionView("open, to discuss", "What do you think, and why?", ask_text),
}
"""The look of each kind, by the keys of `QUESTION_KINDS`."""


def grid_of(question: Question | None) -> Grid | None:
    """Return the grid in which a question is answered; None where there is none."""
    return QUESTION_VIEWS[question.kind].grid if question else None


@dataclass(frozen=True)
class MeasureText:
    """What is said of a measure.

    ask: the question that the editor suggests once the fields that it names are filled; "" for that of the kind. chart: the
    title of the bars of its options; "" where it has none. note: what its value is, where a student could not tell. right, wrong:
    the sentence for a right guess and for any other, in place of that of the kind. width: from one number to the next, where a
    number is asked for.
    """

    name: str
    ask: str = ""
    chart: str = ""
    note: str = ""
    right: str = ""
    wrong: str = ""
    width: float = 0.01


MEASURE_TEXTS: dict[str, MeasureText] = {
    "top_word": MeasureText("the most probable word at the blank, or the next", chart="Probability of each word"),
    "rank_of": MeasureText("the rank of a word at the blank, or as the next", "Which rank does “{word}” have?", width=1),
    "strongest_key": MeasureText(
        "the token that a token looks at most",
        "Which word does “{query}” look at most?",
        chart="Attention to each word",
        note=WITHOUT_SPECIAL,
    ),
    "strongest_cell": MeasureText("the strongest cell of a head's map", note=WITHOUT_SPECIAL),
    "attention_weight": MeasureText(
        "the weight from one token to another", "How much of its attention does “{query}” give to “{key}”, from 0 to 1?"
    ),
    "more_than_half": MeasureText(
        "whether a token gives more than half of its attention to another: “more than half” or “less than half”",
        "Does “{query}” give “{key}” more or less than half of its attention?",
        right="Right: {answer}, {share} of 1.",
        wrong="The model computes {answer}, {share} of 1; your guess was “{guess}”.",
    ),
    "head_with_largest_effect": MeasureText(
        "the head without which the prediction changes most",
        chart="Change of the prediction without each head (total variation)",
        note="Heads are named layer-head; a share is how much of the probability at the blank moves when the "
        "head is switched off.",
    ),
}
"""What is said of each measure, by the keys of `MEASURES`."""


def measured(value: float, measure: str) -> str:
    """Write a value of a measure: an attention weight as it stands beside a map, all else as percent."""
    return weight(value) if measure in MEASURES and MEASURES[measure].of_attention else percent(value)
