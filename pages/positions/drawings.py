"""The drawings of the page: one encoding (its map, its curves, its distances, its effect on scores), and shuffled words."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.positions import texts
from pages.positions.encodings import ENCODING_VIEWS, Choice
from pages.ui.canvas import drawings
from pages.ui.canvas.charts import DASHES, INK, LINE_COLOURS, ONE_COLOUR, lines_chart, plain, probability_chart, show_bars
from pages.ui.canvas.mask_grid import Heatmap, Matrices, Naming, matrices, show_matrices
from pages.ui.canvas.plotly_figures import show_plotly
from pages.ui.canvas.prefetch import Picture, Prefetch, read_number, read_option
from pages.ui.canvas.texts import QUERY_KEY_AXES
from pages.ui.export.computation import call, load_call, named
from pages.ui.export.lessons import PartNumbers
from pages.ui.export.records import reading, source
from pages.ui.shell import cache
from pages.ui.shell.frame import preformatted
from pages.ui.shell.numbers import rounding_verdict, small_number
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine
from tx_core.lessons.position_encodings import Table
from tx_core.lessons.word_order import BlankGuess, ShuffleEffect, ShuffleTest, shuffle_test
from tx_core.transformer.positions import Criterion, distance_spread

SHADE = "rgba(63, 131, 207, 0.22)"
HEIGHT = 340


def curves(places: Sequence[int], series: Mapping[str, Sequence[float]], *, across: str, dark: bool = False) -> go.Figure:
    """Draw a curve for each series over positions or distances; `across` names what runs along.

    Raises ValueError for a series that does not have a number for each place.
    """
    for name, values in series.items():
        if len(values) != len(places):
            raise ValueError(f"every place needs a number, got {len(places)} places and {len(values)} numbers of {name}")
    lines = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": list(places),
            "y": list(values),
            "name": plain(name),
            "line": {"color": LINE_COLOURS[number % len(LINE_COLOURS)], "dash": DASHES[number % len(DASHES)], "width": 2},
            "hovertemplate": "%{x}: %{y:.3f}<extra>" + plain(name) + "</extra>",
        }
        for number, (name, values) in enumerate(series.items())
    ]
    return go.Figure(lines, _layout(across, dark, legend=len(lines) > 1))


def curve_in_range(
    places: Sequence[int],
    mean: Sequence[float],
    lowest: Sequence[float],
    highest: Sequence[float],
    *,
    across: str,
    dark: bool = False,
) -> go.Figure:
    """Draw a mean with the range around it as a band; where there is no band, all values are the same."""
    there = list(places)
    band = {
        "type": "scatter",
        "mode": "lines",
        "x": there + there[::-1],
        "y": [*highest, *list(lowest)[::-1]],
        "fill": "toself",
        "fillcolor": SHADE,
        "line": {"width": 0},
        "hoverinfo": "skip",
        "name": texts.LOWEST_TO_HIGHEST,
    }
    line = {
        "type": "scatter",
        "mode": "lines",
        "x": there,
        "y": list(mean),
        "name": texts.MEAN,
        "line": {"color": ONE_COLOUR, "width": 2.5},
        "hovertemplate": across + " %{x}: %{y:.3f}<extra></extra>",
    }
    return go.Figure([band, line], _layout(across, dark, legend=True))


def _layout(across: str, dark: bool, *, legend: bool) -> dict[str, object]:
    ink = {"size": 13, "color": INK[dark]}
    axis = {"fixedrange": True, "tickfont": ink, "zeroline": False}
    return {
        "height": HEIGHT,
        "margin": {"l": 0, "r": 10, "t": 8, "b": 0},
        "dragmode": False,
        "showlegend": legend,
        "xaxis": axis | {"title": {"text": across, "font": ink}, "showgrid": False},
        "yaxis": axis | {"automargin": True},
        "legend": {"orientation": "h", "y": -0.24, "yanchor": "top", "x": 0, "font": ink},
        "hoverlabel": {"align": "left"},
    }


PAIRS = Naming(texts.PAIR_CELL, numbered=True, axes=QUERY_KEY_AXES)
VECTORS = Naming(texts.VECTOR_CELL, numbered=True, axes=(texts.POSITION, texts.DIMENSION))


def draw(view: str, choice: Choice, key: str, prefetch: Prefetch) -> None:
    """Draw one view of one encoding. prefetch: what the controls around its map lead to."""
    if view == "map":
        show_matrices(encoding_map(choice).drawn(), key=key, prefetch=prefetch)
    else:
        {"waves": draw_waves, "similarity": draw_by_distance, "effect": draw_effect}[view](choice, key)


def encoding_map(choice: Choice) -> Matrices:
    """Lay out the vectors of all positions, or a number for each pair of them."""
    view, positions = ENCODING_VIEWS[choice.scheme], _numbers(choice.length)
    if choice.encoding.vectors:
        cells = choice.computed(choice.vectors).numpy()
        columns, naming, limit = _numbers(cells.shape[1]), VECTORS, float(abs(cells).max())
        ends = {name: f"{end:.2f}".replace("-", "−") for name, end in (("lowest", cells.min()), ("highest", cells.max()))}
        alt = texts.VECTORS_ALT.format(positions=len(cells), dimensions=len(columns), **ends)
    else:
        cells = choice.computed(choice.pairs).numpy()
        columns, naming, limit, alt = positions, PAIRS, float(abs(cells).max()), texts.PAIRS_ALT
    # Most numbers of a trained table are small, a few are large: the square root shows both.
    matrix = Heatmap(view.map_title, "signed", cells, alt, limit, root=view.of_model, note=alt)
    return Matrices(positions, columns, (matrix,), naming=naming)


def prefetch_maps(page: str, values: Mapping[str, object], choice: Choice, lengths: range, widths: range) -> Prefetch:
    """Offer the maps of other encodings, lengths and widths, as far as they need no other model than the built-in one.

    values: what the page holds by the names of its fields. choice: the same, as it is drawn now.
    """
    engine = cache.engine(catalogue.DEFAULT, weights=True)
    built_in = replace(choice, engine=engine)  # what is offered must not keep a large model in memory

    def draw_map(changed: Mapping[str, object]) -> Picture:
        view = ENCODING_VIEWS[changed["scheme"]]
        if view.of_model and changed["model"] != catalogue.DEFAULT:
            raise LookupError("another model may have to be downloaded")
        head = min(changed["head"], view.num_heads(engine)) - 1
        sizes = {"length": changed["length"], "width": changed["width"], "base": float(changed["base"])}
        return encoding_map(replace(built_in, scheme=changed["scheme"], head=head, **sizes)).drawn()

    controls = {
        "scheme": read_option("scheme", list(ENCODING_VIEWS)),
        "length": read_number("length", lengths),
        "width": read_number("width", widths),
    }
    return Prefetch(page, values, controls, draw_map)


def draw_waves(choice: Choice, key: str) -> None:
    """Draw the chosen dimensions over positions, or what is added to scores over distances."""
    view = ENCODING_VIEWS[choice.scheme]
    if choice.encoding.vectors:
        cells = choice.computed(choice.vectors).numpy()
        dims = [dim for dim in choice.dims if dim < cells.shape[1]]
        series = {texts.CURVE_OF_DIMENSION.format(number=dim): cells[:, dim].tolist() for dim in dims}
        places, across, alt = range(choice.length), texts.POSITION, texts.CURVES_BY_POSITION
    else:
        means = choice.computed(choice.curves(view.max_curves))
        series = {view.curve_name.format(number=number): mean for number, mean in enumerate(means, start=1)}
        places, across, alt = range(1 - choice.length, choice.length), texts.DISTANCE_FROM_QUERY, texts.CURVES_BY_DISTANCE
    if not series:
        st.info(texts.NO_DIMENSION)
        return
    steps = [str(place) for place in places]
    drawings.note(lambda: [drawings.lines_drawing(lines_chart(texts.VIEWS["waves"], steps, series, note=across))])
    figure = curves(places, series, across=across, dark=_dark())
    show_plotly(figure, key=key, alt=alt.format(names=", ".join(series)))
    if not choice.encoding.vectors:
        st.caption(view.curve_note)


def draw_by_distance(choice: Choice, key: str) -> None:
    """Draw how similar two positions are, or what their scores are, by their distance, with the range along the text."""
    of_words = choice.encoding.adds_to == "word vectors"
    profile, text = choice.computed(choice.profile), texts.COSINE_BY_DISTANCE if of_words else texts.SCORE_BY_DISTANCE
    here = choice.length - 1
    values = {"here": profile.mean[here], "next": profile.mean[here + 1], "far": profile.mean[-1]}
    alt = text.format(**values, last=here, spread=profile.spread)
    shown = profile.distance, profile.mean, profile.lowest, profile.highest
    steps, band = [str(distance) for distance in profile.distance], (profile.lowest, profile.highest)
    named = {texts.VIEWS["similarity"]: profile.mean}
    drawings.note(lambda: [drawings.lines_drawing(lines_chart(alt, steps, named, band=band, note=texts.DISTANCE))])
    figure = curve_in_range(*shown, across=texts.DISTANCE, dark=_dark())
    show_plotly(figure, key=key, alt=alt)
    st.caption(alt)


def draw_effect(choice: Choice, key: str) -> None:
    """Draw the scores and weights between copies of one word: all differences come from the positions alone."""
    run, positions = choice.computed(choice.scores), _numbers(choice.length)
    scores = (run.scores - run.scores.mean()).numpy()
    shown = [
        Heatmap(texts.SCORES, "signed", scores, texts.SCORES_ALT, float(abs(scores).max())),
        Heatmap(texts.WEIGHTS, "weights", run.weights.numpy(), texts.WEIGHTS_ALT),
    ]
    matrices(positions, positions, shown, key=key, across=2, naming=PAIRS)
    st.caption(texts.ONE_MASK if ENCODING_VIEWS[choice.scheme].of_model else texts.ONE_RANDOM_WORD)


def draw_requirements(checked: Mapping[str, Sequence[Criterion]], key: str) -> None:
    """Draw the requirements as a table: a mark and the measured number for each encoding."""
    names = [criterion.name for criterion in next(iter(checked.values()))]
    cells = [[f"{'✓' if one.holds else '✗'} {small_number(one.value)}" for one in criteria] for criteria in checked.values()]
    columns = {name.capitalize(): column for name, column in zip(names, zip(*cells, strict=True), strict=True)}
    numbers = np.array([[one.value for one in criteria] for criteria in checked.values()])
    chart = {"kind": "listing", "title": texts.COMPARED, "head": [texts.COMPARED, *columns]}
    chart["rows"] = [[name, *row] for name, row in zip(checked, cells, strict=True)]
    drawings.note(lambda: [drawings.Drawing(chart, tuple(checked), tuple(columns), numbers)])
    st.dataframe({texts.COMPARED: list(checked), **columns}, hide_index=True, key=key)


def describe_learned_table(checked: Mapping[str, Sequence[Criterion]], table: Table) -> str:
    """Return how consistent a learned table is, with position 0 and without it, compared with a random one."""
    learned, random = (checked[name][-1].value for name in ("learned table", "a new random table"))
    shown = {"learned": learned, "rest": distance_spread(table[1:]), "random": random}
    return texts.LEARNED_TABLE_NOTE.format(**{name: small_number(value) for name, value in shown.items()})


def _numbers(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


def _dark() -> bool:
    return st.context.theme.type == "dark"


def draw_effects(run: ShuffleTest, shuffled: str, guesses: str) -> None:
    """Draw what shuffling changes: the words' vectors, and the prediction. shuffled, guesses: the keys of both."""
    draw_shuffle(run, shuffled)
    draw_guesses(run, guesses)


def draw_shuffle(run: ShuffleTest, key: str) -> None:
    """Write both orders and draw how much each word's vector changes between them."""
    ordered, shuffled = " ".join(run.encoding.tokens), " ".join(run.tokens_shuffled)
    preformatted(texts.BOTH_ORDERS.format(ordered=ordered, shuffled=shuffled).split("\n"), wrap=True)
    left, right = st.columns(2)
    with left:
        _show_change(texts.CHANGE_WITH, run, run.with_positions, texts.ORDER_MATTERS)
    with right:
        _show_change(texts.CHANGE_WITHOUT, run, run.without_positions, texts.MORE_THAN_ROUNDING)
    cells = np.array([run.with_positions.by_token, run.without_positions.by_token])
    most = {"with_positions": small_number(cells[0].max()), "without": small_number(cells[1].max())}
    shown = [Heatmap(texts.CHANGE_BY_TOKEN, "signed", cells, texts.CHANGE_ALT.format(**most), limit=float(cells.max()))]
    rows = (texts.WITH_POSITIONS, texts.WITHOUT_POSITIONS)
    matrices(rows, run.encoding.tokens, shown, key=key, naming=Naming(texts.CHANGE_CELL), tallest=64)


def _show_change(label: str, run: ShuffleTest, effect: ShuffleEffect, moved: str) -> None:
    same_order = run.tokens_shuffled == run.encoding.tokens
    meaning = texts.SAME_ORDER if same_order else rounding_verdict(effect.greatest_difference, moved)
    st.metric(label, small_number(effect.greatest_difference), meaning, delta_color="off", delta_arrow="off")


def draw_guesses(run: ShuffleTest, key: str) -> None:
    """Draw what the model predicts for the first blank in three runs; without positions both orders give one answer."""
    if run.ordered is None:
        st.caption(texts.NO_BLANK)
        return
    st.markdown(texts.PREDICTIONS)
    shown = (
        (texts.ORDERED_GUESS, run.ordered),
        (texts.SHUFFLED_GUESS, run.shuffled),
        (texts.UNORDERED_GUESS, run.without_ordered),
    )
    limit = math.ceil(10 * max(max(guess.shares) for _, guess in shown)) / 10
    for number, (column, (title, guess)) in enumerate(zip(st.columns(3), shown, strict=True)):
        with column:
            _draw_guess(title, guess, limit, f"{key}_{number}")


def _draw_guess(title: str, guess: BlankGuess, limit: float, key: str) -> None:
    st.caption(title)
    show_bars(probability_chart(title, guess.words, guess.shares, limit=limit), key=key)


def shuffle_numbers(engine: Engine, text: str, seed: int) -> PartNumbers:
    """Return what a shuffle test is computed of."""
    special = engine.tokenizer.special_tokens
    run = named("run", call(shuffle_test, load_call(engine.name, special), text, seed))
    numbers = named("numbers", [run.with_positions.by_token, run.without_positions.by_token])
    shown = [run.tokens_shuffled, numbers, run.ordered, run.shuffled, run.without_ordered]
    about = source(engine.name, text=text, **reading(special), seed=seed)
    return PartNumbers(texts.EXPORT_SHUFFLE, about, shown, texts.EXPORT_RESULT)
