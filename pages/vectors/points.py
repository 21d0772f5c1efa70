"""The picture of the page: tokens as points in the plane of each layer, which move from layer to layer."""

from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext

import streamlit as st

from pages.ui.export.computation import call, engine_call, named, sentences_call
from pages.ui.export.part import Part
from pages.ui.export.records import PartNumbers
from pages.ui.shell import cache
from pages.ui.shell.address import widget_key
from pages.ui.shell.frame import page_link
from pages.ui.shell.level import is_hidden
from pages.ui.shell.numbers import whole_percent
from pages.ui.stage.charts import LINE_COLOURS, MARKERS, Drawing, PointKind, kinds_of_points
from pages.ui.stage.controls import Control
from pages.ui.stage.pictures import Picture
from pages.ui.stage.sources import reading, shortened, source
from pages.ui.stage.tokens import note_how_read
from pages.vectors import texts
from pages.vectors.inputs import CONTROLS, PAGE, VectorInputs
from tx_core.corpus.sentence_file import Sentences
from tx_core.corpus.vectors import MOST_NEIGHBOUR_TOKENS, MOST_TOKENS, PERPLEXITY, Projection, Token, neighbour_map, project
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine

BERT_BASE = "bert-base-uncased"
MOST_CHARACTERS, MOST_KINDS, MOST_REPEATED = 70, 8, 3
"""Of a text beside its tokens; colours of a map, those of the rarest tokens alike; words whose similarity is said."""
QUIET = "#8a8f98"


def points_part(inputs: VectorInputs, engine: Engine) -> Part:
    """Place the tokens of what is asked. Raise ExplorerError where nothing can be read."""
    sentences = inputs.sentences
    method = () if inputs.method == "pca" else (inputs.method,)
    many = isinstance(sentences, Sentences)
    given = sentences_call(sentences) if many else list(sentences)
    computation = named("found", call(project, engine_call(inputs), given, *method))
    # Not under the code that computes it: two visitors' files may have the same name.
    asked = sentences.fingerprint if many else tuple(sentences)
    key = ("project", cache.engine_key(engine), asked, *method)
    with st.spinner(texts.PLACING, show_time=True) if method else nullcontext():
        found: Projection = cache.get_or_compute(key, lambda: project(engine, sentences, *method))
    layers = len(found.places) - 1
    colourings = {name: kinds for name in texts.COLOURS if (kinds := _kinds(found, name))}
    options = tuple((name, texts.COLOURS[name]) for name in colourings)
    controls = [
        *CONTROLS,
        Control("layer", "slider", texts.LAYER, limits=(0, layers)),
        Control("colour", "list", texts.COLOUR, options, labelled=True, fallback=options[0][0]),
    ]
    title = texts.EXPORT_TITLES[inputs.method].format(texts=name_texts(inputs, len(found.texts)))
    numbers = PartNumbers(title, about(inputs, len(found.texts)), [computation.places.round(4)])
    below = (lambda: _lead_on(inputs)) if inputs.model == catalogue.DEFAULT else lambda: None
    shown = _map(found, {name: kinds_of_points(kinds) for name, kinds in colourings.items()})
    formula, source_of = (texts.FORMULA, project) if not method else (texts.FORMULA_NEIGHBOURS, neighbour_map)
    if inputs.texts == "typed":
        note_how_read(engine, inputs.text, inputs.text_b, key=widget_key(PAGE, "model"))
    return Part([shown], numbers, _prose(found), below, [formula], sources=[source_of], controls=controls)


def name_texts(inputs: VectorInputs, read: int) -> str:
    """Return what the texts are called. read: how many of them were read."""
    if isinstance(inputs.sentences, Sentences):
        count = len(inputs.sentences)
        template = texts.MANY if read == count else texts.SOME
        return template.format(read=read, count=count, source=inputs.sentences.source)
    return " / ".join(inputs.sentences)


def about(inputs: VectorInputs, read: int) -> dict[str, object]:
    """Name what is shown. read: how many texts were read."""
    named_texts = (
        {"sentences": name_texts(inputs, read)} if isinstance(inputs.sentences, Sentences) else {"text": name_texts(inputs, read)}
    )
    return source(inputs.model, **named_texts, **reading(not inputs.bare))


def _map(found: Projection, colourings: dict[str, list[dict[str, object]]]) -> Picture:
    depth, count, _ = found.places.shape
    titles = [(texts.TITLES[0] if not layer else texts.TITLES[1].format(layer=layer)) for layer in range(depth)]
    chart = {
        "kind": "points",
        "title": titles[-1],
        "names": [token.text for token in found.tokens],
        "colourings": colourings,
        "dotted": texts.DOTTED,
        "nearest": [
            [[[other, round(100 * cosine)] for other, cosine in zip(*one, strict=True)] for one in zip(*layer, strict=True)]
            for layer in zip(found.nearest.tolist(), found.similarities.tolist(), strict=True)
        ],
    }
    columns = [texts.COORDINATE.format(axis=axis, layer=layer) for layer in range(depth) for axis in "xy"]
    values = found.places.transpose(1, 0, 2).reshape(count, -1)
    drawing = Drawing(chart, tuple(token.text for token in found.tokens), tuple(columns), values)
    said = [describe(found, layer) for layer in range(depth)]
    return Picture(
        drawing,
        said[-1],
        details=[_name(found, token) for token in found.tokens],
        chooses="token",
        choices=[str(number + 1) for number in range(count)],
        varies="layer",
        variants={str(layer): {"sentence": said[layer], "chart": {"title": titles[layer]}} for layer in range(depth)},
    )


def describe(found: Projection, layer: int) -> str:
    """Return in words how alike the words of several texts are in a layer, and how much the plane shows."""
    counts = Counter(token.text.casefold() for token in found.tokens)
    words = sorted((word for word in found.repeated if word[0].isalnum()), key=lambda word: -counts[word])[:MOST_REPEATED]
    said = ", ".join(f"“{word}” {found.repeated[word][layer]:.2f}" for word in words)
    is_basic = is_hidden("formulas")
    repeats = texts.REPEATED_BASIC if is_basic else texts.REPEATED
    repeated = repeats.format(words=said, different=f"{found.different[layer]:.2f}") if words else ""
    if found.method == "tsne":
        return repeated + texts.NEIGHBOUR_MAP
    plane = texts.PLANE_BASIC if is_basic else texts.PLANE
    return repeated + plane.format(share=whole_percent(float(found.explained[layer].sum())))


def _name(found: Projection, token: Token) -> str:
    return texts.TOKEN.format(token=token.text, text=shortened(found.texts[token.sentence], MOST_CHARACTERS))


def _text_name(found: Projection, sentence: int) -> str:
    return "AB"[sentence] if len(found.texts) <= 2 else str(sentence + 1)


def _kinds(found: Projection, colour: str) -> list[PointKind]:
    """Return the kind of each token by a way to colour; none where all are alike, as without annotation."""
    letters = Counter(token.text.casefold() for token in found.tokens)
    name: Callable[[Token], str] = {
        "sentence": lambda token: texts.TEXT.format(
            name=_text_name(found, token.sentence), text=shortened(found.texts[token.sentence], 30)
        ),
        "word": lambda token: word if letters[word := token.text.casefold()] > 1 else texts.ONCE,
        "position": lambda token: str(token.position + 1),
    }.get(colour, lambda token: getattr(token.word, colour).partition(":")[0] or texts.NO_LABEL)
    names = [name(token) for token in found.tokens]
    quiet = (texts.NO_LABEL, texts.ONCE)
    counts = Counter(one for one in names if one not in quiet)
    if not counts or (len(counts) == 1 and colour not in ("sentence", "word")):
        return []
    first = list(counts) if colour == "position" else [one for one, _ in counts.most_common()]
    coloured = first[:MOST_KINDS]
    rest = texts.FROM.format(first=MOST_KINDS + 1) if colour == "position" else texts.OTHER
    looks = {one: PointKind(one, LINE_COLOURS[at], MARKERS[at % len(MARKERS)]) for at, one in enumerate(coloured)}
    looks |= {one: PointKind(one, QUIET, "circle") for one in quiet}
    return [looks.get(one, PointKind(rest, QUIET, "cross")) for one in names]


def _prose(found: Projection) -> list[str]:
    all_texts = len(found.texts) + found.left_out
    most, shows, aligned = MOST_TOKENS, texts.SHOWS, texts.ALIGNED
    if found.method == "tsne":
        shows, aligned = texts.SHOWS_NEIGHBOURS.format(perplexity=PERPLEXITY), texts.ALIGNED_NEIGHBOURS
        most = MOST_NEIGHBOUR_TOKENS
    left = texts.NOT_SHOWN.format(count=found.left_out, all=all_texts, most=most)
    explained = [texts.SHOWS_BASIC] if is_hidden("formulas") and found.method == "pca" else [shows, aligned]
    return [*([left] if found.left_out else []), *explained]


def _lead_on(inputs: VectorInputs) -> None:
    """Lead to the same texts in a larger model."""
    if inputs.texts == "typed":
        view = inputs.in_link(text=inputs.text, text_b=inputs.text_b, layer="12") | {"model": BERT_BASE}
        page_link("vectors", texts.LARGER, view, icon=":material/arrow_forward:")
