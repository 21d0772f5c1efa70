"""The parts of the page: one encoding from all sides (map, curves, distances, effect on scores), requirements, shuffled words."""

import math
from dataclasses import replace

import numpy as np
import streamlit as st

from pages.positions import texts
from pages.positions.encodings import ENCODING_VIEWS
from pages.positions.inputs import PAGE, PositionInputs, position_controls
from pages.ui.export.computation import Computation, call, computed, each, engine_call, named
from pages.ui.export.part import Part
from pages.ui.export.records import PartNumbers
from pages.ui.shell.address import set_values, value_of, widget_key
from pages.ui.shell.numbers import change_verdict, signed, small_number
from pages.ui.stage.charts import bars_drawing, lines_drawing, listing_drawing, matrix_drawing
from pages.ui.stage.pictures import Picture
from pages.ui.stage.sources import source
from pages.ui.stage.tokens import note_how_read
from tx_core.engine.bert_engine import BertEngine
from tx_core.errors import memory_checked
from tx_core.lessons import position_encodings, word_order
from tx_core.lessons.position_encodings import check_encodings, compared_encodings, learned_table
from tx_core.lessons.word_order import BlankGuess, ShuffleTest, shuffle_test
from tx_core.transformer import positions
from tx_core.transformer.positions import check_criteria, distance_spread

Shown = tuple[list[Picture], Computation, str]
"""What a view of an encoding draws, the computation of its numbers, and the axes of these."""


def run_part(inputs: PositionInputs, engine: BertEngine) -> Part:
    """Compute the part that is asked for; raise ExplorerError where the text cannot be read."""
    with memory_checked():
        part = {"ways": encoding_part, "demands": requirements_part, "shuffle": shuffle_part}[inputs.part](inputs, engine)
    by = None if "model" in part.numbers.source else (texts.NO_MODEL, "cpu")
    return replace(part, controls=position_controls(inputs, engine), by=by)


def encoding_part(asked: PositionInputs, engine: BertEngine) -> Part:
    """Draw an encoding from all sides; of each, the browser shows those of the view that the reader chooses."""
    inputs, view, look = asked.fitted(engine), ENCODING_VIEWS[asked.scheme], value_of(PAGE, "look")
    if inputs.encoding.vectors:
        set_values(PAGE, {"dims": inputs.dims})  # the box shows those that are drawn
    sides = {"map": encoding_map, "waves": waves, "similarity": by_distance, "effect": effect}
    shown = {name: draw(inputs, engine) for name, draw in sides.items()}
    _, numbers, axes = shown[look]
    about = {name: getattr(inputs, name) for name in ("scheme", "length", "width", "base", "head")}
    if view.of_model:
        about = source(engine.name) | about
    title = texts.EXPORT_ENCODING.format(encoding=view.name, view=texts.VIEWS[look])
    return Part(
        [picture for pictures, *_ in shown.values() for picture in pictures],
        PartNumbers(title, about, [named("numbers", numbers, axes)]),
        [view.text],
        formulas=[view.formula.replace("10000", str(inputs.base))],
        sources=view.code,
    )


def _entry(inputs: PositionInputs) -> Computation:
    return call(getattr, position_encodings, "ENCODINGS")[inputs.scheme]


def _vectors(inputs: PositionInputs) -> Computation:
    return _entry(inputs).vectors(inputs.length, inputs.width, float(inputs.base), engine_call(inputs))


def _scores(inputs: PositionInputs) -> Computation:
    """The scores of a sentence of one word repeated, with what the encoding changes of them."""
    settings = inputs.scheme, inputs.length, inputs.width, float(inputs.base), inputs.head - 1
    return call(position_encodings.encoding_scores, *settings, engine_call(inputs))


def encoding_map(inputs: PositionInputs, engine: BertEngine) -> Shown:
    """Draw the vector of each position, or the class of each distance, or what one head adds to each score."""
    view, rows = ENCODING_VIEWS[inputs.scheme], _numbers(inputs.length)
    if inputs.encoding.vectors:
        numbers, axes = _vectors(inputs), "position, dimension"
        cells = computed(numbers, engine).numpy()
        columns, cell = _numbers(cells.shape[1]), texts.VECTOR_CELL
        ends = {name: signed(end) for name, end in (("lowest", cells.min()), ("highest", cells.max()))}
        sentence = texts.VECTORS_ALT.format(positions=len(cells), dimensions=len(columns), **ends)
    else:
        has_classes, axes = inputs.encoding.distances, "query, key"
        biases = call(position_encodings.biases, inputs.scheme, inputs.length)
        numbers = _entry(inputs).distances(inputs.length) if has_classes else biases[inputs.head - 1]
        cells = computed(numbers, engine).numpy()
        columns, cell, sentence = rows, texts.PAIR_CELL, texts.PAIRS_ALT
    # Most numbers of a trained table are small, a few are large: the square root shows both.
    scale = {"limit": float(abs(cells).max()), "root": view.of_model, "numbered": True}
    scale["axes"] = texts.VECTOR_AXES if inputs.encoding.vectors else texts.PAIR_AXES
    drawing = matrix_drawing(view.map_title, "signed", cells, rows, columns, **scale)
    return [Picture(drawing, sentence, _in("map"), cell=cell)], numbers, axes


def waves(inputs: PositionInputs, engine: BertEngine) -> Shown:
    """Draw the chosen dimensions over positions, or what is added to scores over distances."""
    view = ENCODING_VIEWS[inputs.scheme]
    if inputs.encoding.vectors:
        numbers = _vectors(inputs)[:, inputs.dims].T
        cells = computed(_vectors(inputs), engine).numpy()
        series = {texts.CURVE_OF_DIMENSION.format(number=dim): cells[:, dim].tolist() for dim in inputs.dims}
        places, across, cell = range(inputs.length), texts.POSITION, texts.AT_POSITION
        sentence = texts.CURVES_BY_POSITION.format(names=", ".join(series)) if series else texts.NO_DIMENSION
    else:
        added = call(position_encodings.biases, inputs.scheme, inputs.length)[: view.max_curves]
        numbers = each(added, lambda bias: call(position_encodings.distance_profile, bias).mean)
        means = computed(numbers, engine)
        series = {view.curve_name.format(number=number): mean for number, mean in enumerate(means, start=1)}
        places, across, cell = range(1 - inputs.length, inputs.length), texts.DISTANCE_FROM_QUERY, texts.AT_DISTANCE
        sentence = view.curve_note
    if series:
        drawing = lines_drawing(texts.VIEWS["waves"], [str(place) for place in places], series, note=across)
    else:
        drawing = listing_drawing()
    return [Picture(drawing, sentence, _in("waves"), cell=cell)], numbers, "a row per curve"


def by_distance(inputs: PositionInputs, engine: BertEngine) -> Shown:
    """Draw how similar two positions are, or what their scores are, by their distance, with the range along the text."""
    of_words = inputs.encoding.adds_to == "word vectors"
    pairs = call(positions.similarity, _vectors(inputs)) if of_words else _scores(inputs).scores
    computation = call(position_encodings.distance_profile, pairs)
    profile, here = computed(computation, engine), inputs.length - 1
    title = texts.COSINE_TITLE if of_words else texts.SCORE_TITLE
    values = {"here": profile.mean[here], "next": profile.mean[here + 1], "far": profile.mean[-1]}
    sentence = texts.BY_DISTANCE.format(title=title, **values, last=here, spread=profile.spread)
    steps, band = [str(distance) for distance in profile.distance], (profile.lowest, profile.highest)
    drawing = lines_drawing(title, steps, {texts.MEAN: profile.mean}, band=band, note=texts.DISTANCE)
    picture = Picture(drawing, sentence, _in("similarity"), cell=texts.AT_DISTANCE)
    return [picture], computation.mean, "by distance, from the far left to the far right"


def effect(inputs: PositionInputs, engine: BertEngine) -> Shown:
    """Draw the scores and weights between copies of one word: all differences come from the positions alone."""
    computation = named("run", _scores(inputs))
    run, rows = computed(computation, engine), _numbers(inputs.length)
    scores = (run.scores - run.scores.mean()).numpy()
    limit, axes = float(abs(scores).max()), {"axes": texts.PAIR_AXES, "numbered": True}
    copies = texts.ONE_MASK if ENCODING_VIEWS[inputs.scheme].of_model else texts.ONE_RANDOM_WORD
    shown = (
        (matrix_drawing(texts.SCORES, "signed", scores, rows, rows, limit=limit, **axes), copies),
        (matrix_drawing(texts.WEIGHTS, "weights", run.weights.numpy(), rows, rows, **axes), texts.WEIGHTS_ALT),
    )
    pictures = [Picture(drawing, sentence, _in("effect"), cell=texts.PAIR_CELL) for drawing, sentence in shown]
    return pictures, computation.scores - computation.scores.mean(), "query, key"


def _in(look: str) -> dict[str, list[str]]:
    return {"look": [look]}


def _numbers(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


def requirements_part(inputs: PositionInputs, engine: BertEngine) -> Part:
    """Measure the requirements on encodings: a mark and the measured number for each."""
    sizes = {"length": inputs.length, "width": inputs.width, "base": float(inputs.base)}
    table = named("table", call(learned_table, engine_call(inputs)))
    computation = named("checked", call(check_encodings, inputs.width, sizes["base"], table, inputs.length))
    checked, learned = computed(computation, engine), computed(table, engine)[: inputs.length]
    names = [criterion.name.capitalize() for criterion in next(iter(checked.values()))]
    marks = {name: [f"{'✓' if one.holds else '✗'} {small_number(one.value)}" for one in some] for name, some in checked.items()}
    rows = [[name, *(cell.replace(" ", "\u00a0") for cell in measured)] for name, measured in marks.items()]
    values = np.array([[one.value for one in criteria] for criteria in checked.values()])
    drawing = listing_drawing(texts.MEASURED, [texts.COMPARED, *names], rows, values)
    numbers = named("numbers", each(computation.values(), lambda criteria: each(criteria, lambda criterion: criterion.value)))
    spreads = {"learned": checked["learned table"][-1].value, "random": checked["a new random table"][-1].value}
    said = {name: small_number(value) for name, value in (spreads | {"rest": distance_spread(learned[1:])}).items()}
    title = texts.EXPORT_REQUIREMENTS.format(length=inputs.length)
    return Part(
        [Picture(drawing, texts.LEARNED_TABLE_NOTE.format(**said))],
        PartNumbers(title, source(inputs.model, **sizes), [call(list, computation), numbers]),
        [texts.REQUIREMENTS_TEXT],
        lambda: st.caption(texts.REQUIREMENTS_CAPTION),
        [texts.REQUIREMENTS_FORMULA],
        sources=(check_criteria, compared_encodings),
    )


def shuffle_part(inputs: PositionInputs, engine: BertEngine) -> Part:
    """Draw both orders, how much each word's vector changes between them, and what is predicted for a blank."""
    computation = named("run", call(shuffle_test, engine_call(inputs), inputs.text, inputs.seed))
    run = computed(computation, engine)
    note_how_read(engine, inputs.text, key=widget_key(PAGE, "model"))
    rows = [[texts.ORDERED, *run.encoding.tokens], [texts.SHUFFLED, *run.tokens_shuffled]]
    orders = Picture(listing_drawing(texts.ORDERS, [texts.POSITION.capitalize(), *_numbers(len(run.order))], rows))
    changes = named("numbers", [computation.with_positions.by_token, computation.without_positions.by_token])
    shown = [computation.tokens_shuffled, changes, *(getattr(computation, name) for name in GUESSES)]
    about = inputs.about(seed=inputs.seed)
    return Part(
        [orders, _changes(run), *_guesses(run)],
        PartNumbers(texts.EXPORT_SHUFFLE, about, shown),
        [texts.SHUFFLE_TEXT],
        lambda: st.caption(texts.NO_BLANK) if run.ordered is None else None,
        [texts.SHUFFLE_FORMULA],
        sources=(word_order.shuffle_effect,),
    )


GUESSES = {"ordered": texts.ORDERED_GUESS, "shuffled": texts.SHUFFLED_GUESS, "without_ordered": texts.UNORDERED_GUESS}
"""What is predicted for the first blank in three runs; without positions both orders give one answer."""


def _changes(run: ShuffleTest) -> Picture:
    cells = np.array([run.with_positions.by_token, run.without_positions.by_token])
    rows, tokens = (texts.WITH_POSITIONS, texts.WITHOUT_POSITIONS), run.encoding.tokens
    drawing = matrix_drawing(texts.CHANGE_BY_TOKEN, "signed", cells, rows, tokens, limit=float(cells.max()))
    return Picture(drawing, describe_change(run), row=1, cell=texts.CHANGE_CELL)


def describe_change(run: ShuffleTest) -> str:
    """Return by how much words change when they are shuffled, with positions and without, and what that means."""
    same_order = run.tokens_shuffled == run.encoding.tokens
    changed, bare = run.with_positions.greatest_difference, run.without_positions.greatest_difference
    meaning = texts.SAME_ORDER if same_order else change_verdict(changed, texts.ORDER_MATTERS)
    bare_meaning = texts.SAME_ORDER if same_order else change_verdict(bare, texts.MORE_THAN_LITTLE)
    numbers = {"changed": small_number(changed), "bare": small_number(bare)}
    return texts.CHANGES.format(**numbers, meaning=meaning, bare_meaning=bare_meaning)


def _guesses(run: ShuffleTest) -> list[Picture]:
    """Draw what the model predicts for the first blank."""
    if run.ordered is None:
        return []
    shown: dict[str, BlankGuess] = {title: getattr(run, name) for name, title in GUESSES.items()}
    limit = math.ceil(10 * max(max(guess.shares) for guess in shown.values())) / 10
    return [Picture(bars_drawing(title, guess.words, guess.shares, limit=limit), row=2) for title, guess in shown.items()]
