"""The pictures of the page: one encoding (map, curves, distances, effect on scores), requirements, and shuffled words."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from pages.positions import texts
from pages.positions.encodings import ENCODING_VIEWS, Choice
from pages.ui.export.computation import call, load_call, named
from pages.ui.export.records import PartNumbers
from pages.ui.shell.numbers import rounding_verdict, small_number
from pages.ui.stage.charts import (
    Chart,
    Drawing,
    bars_drawing,
    lines_chart,
    lines_drawing,
    listing_chart,
    matrix_drawing,
    probability_chart,
)
from pages.ui.stage.pictures import Picture
from pages.ui.stage.sources import reading, source
from tx_core.engine.engine import Engine
from tx_core.lessons.position_encodings import Table
from tx_core.lessons.word_order import BlankGuess, ShuffleTest, shuffle_test
from tx_core.transformer.positions import Criterion, distance_spread


def encoding_pictures(choice: Choice) -> list[Picture]:
    """Draw an encoding from all sides; of each, the browser shows those of the view that the reader chooses."""
    return [encoding_map(choice), waves(choice), by_distance(choice), *effect(choice)]


def encoding_map(choice: Choice) -> Picture:
    """Draw the vector of each position, or what is added to each score."""
    view, positions = ENCODING_VIEWS[choice.scheme], _numbers(choice.length)
    if choice.encoding.vectors:
        cells = choice.computed(choice.vectors).numpy()
        columns, cell = _numbers(cells.shape[1]), texts.VECTOR_CELL
        ends = {name: f"{end:.2f}".replace("-", "−") for name, end in (("lowest", cells.min()), ("highest", cells.max()))}
        sentence = texts.VECTORS_ALT.format(positions=len(cells), dimensions=len(columns), **ends)
        axes = texts.VECTOR_AXES
    else:
        cells = choice.computed(choice.pairs).numpy()
        columns, cell, sentence, axes = positions, texts.PAIR_CELL, texts.PAIRS_ALT, texts.PAIR_AXES
    # Most numbers of a trained table are small, a few are large: the square root shows both.
    limit = float(abs(cells).max())
    scale = {"limit": limit, "root": view.of_model, "axes": axes, "numbered": True}
    return Picture(matrix_drawing(view.map_title, "signed", cells, positions, columns, **scale), sentence, _in("map"), cell=cell)


def waves(choice: Choice) -> Picture:
    """Draw the chosen dimensions over positions, or what is added to scores over distances."""
    view = ENCODING_VIEWS[choice.scheme]
    if choice.encoding.vectors:
        cells = choice.computed(choice.vectors).numpy()
        series = {texts.CURVE_OF_DIMENSION.format(number=dim): cells[:, dim].tolist() for dim in choice.dims}
        places, across, cell = range(choice.length), texts.POSITION, texts.AT_POSITION
        sentence = texts.CURVES_BY_POSITION.format(names=", ".join(series)) if series else texts.NO_DIMENSION
    else:
        means = choice.computed(choice.curves(view.max_curves))
        series = {view.curve_name.format(number=number): mean for number, mean in enumerate(means, start=1)}
        places, across, cell = range(1 - choice.length, choice.length), texts.DISTANCE_FROM_QUERY, texts.AT_DISTANCE
        sentence = view.curve_note
    if not series:
        return _words(listing_chart("", [], []), sentence, "waves")
    chart = lines_chart(texts.VIEWS["waves"], [str(place) for place in places], series, note=across)
    return Picture(lines_drawing(chart), sentence, _in("waves"), cell=cell)


def by_distance(choice: Choice) -> Picture:
    """Draw how similar two positions are, or what their scores are, by their distance, with the range along the text."""
    of_words = choice.encoding.adds_to == "word vectors"
    profile, text = choice.computed(choice.profile), texts.COSINE_BY_DISTANCE if of_words else texts.SCORE_BY_DISTANCE
    here = choice.length - 1
    values = {"here": profile.mean[here], "next": profile.mean[here + 1], "far": profile.mean[-1]}
    sentence = text.format(**values, last=here, spread=profile.spread)
    title = texts.COSINE_TITLE if of_words else texts.SCORE_TITLE
    steps, band = [str(distance) for distance in profile.distance], (profile.lowest, profile.highest)
    chart = lines_chart(title, steps, {texts.MEAN: profile.mean}, band=band, note=texts.DISTANCE)
    return Picture(lines_drawing(chart), sentence, _in("similarity"), cell=texts.AT_DISTANCE)


def effect(choice: Choice) -> list[Picture]:
    """Draw the scores and weights between copies of one word: all differences come from the positions alone."""
    run, positions = choice.computed(choice.scores), _numbers(choice.length)
    scores = (run.scores - run.scores.mean()).numpy()
    limit, axes = float(abs(scores).max()), {"axes": texts.PAIR_AXES, "numbered": True}
    copies = texts.ONE_MASK if ENCODING_VIEWS[choice.scheme].of_model else texts.ONE_RANDOM_WORD
    shown = (
        (matrix_drawing(texts.SCORES, "signed", scores, positions, positions, limit=limit, **axes), copies),
        (matrix_drawing(texts.WEIGHTS, "weights", run.weights.numpy(), positions, positions, **axes), texts.WEIGHTS_ALT),
    )
    return [Picture(drawing, sentence, _in("effect"), cell=texts.PAIR_CELL) for drawing, sentence in shown]


def _in(look: str) -> dict[str, list[str]]:
    return {"look": [look]}


def _numbers(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


def requirements_picture(checked: Mapping[str, Sequence[Criterion]], sentence: str) -> Picture:
    """Draw the requirements as a table: a mark and the measured number for each encoding."""
    names = [criterion.name.capitalize() for criterion in next(iter(checked.values()))]
    marks = {name: [f"{'✓' if one.holds else '✗'} {small_number(one.value)}" for one in some] for name, some in checked.items()}
    rows = [[name, *(cell.replace(" ", "\u00a0") for cell in measured)] for name, measured in marks.items()]
    numbers = np.array([[one.value for one in criteria] for criteria in checked.values()])
    chart = listing_chart(texts.MEASURED, [texts.COMPARED, *names], rows)
    return Picture(Drawing(chart, tuple(checked), tuple(names), numbers), sentence)


def describe_learned_table(checked: Mapping[str, Sequence[Criterion]], table: Table) -> str:
    """Return how consistent a learned table is, with position 0 and without it, compared with a random one."""
    learned, random = (checked[name][-1].value for name in ("learned table", "a new random table"))
    shown = {"learned": learned, "rest": distance_spread(table[1:]), "random": random}
    return texts.LEARNED_TABLE_NOTE.format(**{name: small_number(value) for name, value in shown.items()})


def shuffle_pictures(run: ShuffleTest) -> list[Picture]:
    """Draw both orders, how much each word's vector changes between them, and what is predicted for a blank."""
    return [_orders(run), _changes(run), *_guesses(run)]


def _orders(run: ShuffleTest) -> Picture:
    """Write both orders, position by position."""
    rows = [[texts.ORDERED, *run.encoding.tokens], [texts.SHUFFLED, *run.tokens_shuffled]]
    return _words(listing_chart(texts.ORDERS, [texts.POSITION.capitalize(), *_numbers(len(run.order))], rows))


def _words(chart: Chart, sentence: str = "", look: str = "") -> Picture:
    """Show a table of words, which has no numbers for export."""
    return Picture(Drawing(chart, (), (), np.empty((0, 0))), sentence, _in(look) if look else {})


def _changes(run: ShuffleTest) -> Picture:
    cells = np.array([run.with_positions.by_token, run.without_positions.by_token])
    rows, tokens = (texts.WITH_POSITIONS, texts.WITHOUT_POSITIONS), run.encoding.tokens
    drawing = matrix_drawing(texts.CHANGE_BY_TOKEN, "signed", cells, rows, tokens, limit=float(cells.max()))
    return Picture(drawing, describe_change(run), row=1, cell=texts.CHANGE_CELL)


def describe_change(run: ShuffleTest) -> str:
    """Return by how much words change when they are shuffled, with positions and without, and what that means."""
    same_order = run.tokens_shuffled == run.encoding.tokens
    changed, bare = run.with_positions.greatest_difference, run.without_positions.greatest_difference
    meaning = texts.SAME_ORDER if same_order else rounding_verdict(changed, texts.ORDER_MATTERS)
    bare_meaning = texts.SAME_ORDER if same_order else rounding_verdict(bare, texts.MORE_THAN_ROUNDING)
    numbers = {"changed": small_number(changed), "bare": small_number(bare)}
    return texts.CHANGES.format(**numbers, meaning=meaning, bare_meaning=bare_meaning)


def _guesses(run: ShuffleTest) -> list[Picture]:
    """Draw what the model predicts for the first blank in three runs; without positions both orders give one answer."""
    if run.ordered is None:
        return []
    shown = (
        (texts.ORDERED_GUESS, run.ordered),
        (texts.SHUFFLED_GUESS, run.shuffled),
        (texts.UNORDERED_GUESS, run.without_ordered),
    )
    limit = math.ceil(10 * max(max(guess.shares) for _, guess in shown)) / 10
    return [_guess(title, guess, limit) for title, guess in shown]


def _guess(title: str, guess: BlankGuess, limit: float) -> Picture:
    return Picture(bars_drawing(probability_chart(title, guess.words, guess.shares, limit=limit)), row=2)


def shuffle_numbers(engine: Engine, text: str, seed: int) -> PartNumbers:
    """Return what a shuffle test is computed of."""
    special = engine.tokenizer.special_tokens
    run = named("run", call(shuffle_test, load_call(engine.name, special), text, seed))
    numbers = named("numbers", [run.with_positions.by_token, run.without_positions.by_token])
    shown = [run.tokens_shuffled, numbers, run.ordered, run.shuffled, run.without_ordered]
    about = source(engine.name, text=text, **reading(special), seed=seed)
    return PartNumbers(texts.EXPORT_SHUFFLE, about, shown, texts.EXPORT_RESULT)
