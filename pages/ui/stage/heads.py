"""A table of all heads as a picture: how kinds of heads look, the cells by kind or by a number, and heads as links write them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Protocol

import numpy as np
from jaxtyping import Float

from pages.ui.shell.controls import head_name
from pages.ui.shell.numbers import plural, whole_percent
from pages.ui.stage import texts
from pages.ui.stage.browser_texts import CONTROLS
from pages.ui.stage.charts import ONE_COLOUR, Drawing
from pages.ui.stage.controls import Conditions, numbered
from pages.ui.stage.pictures import Picture
from pages.ui.stage.view_options import head_in_sentence, heads_to_link
from tx_core.analysis.grammar import MIN_GAIN, TREEBANK_NAME, HeadRelation, grammar_of
from tx_core.analysis.patterns import TARGETED_KINDS, HeadPattern, PatternKind, PatternSums
from tx_core.analysis.table_file import TableValue
from tx_core.transformer.interventions import Head
from tx_core.transformer.trace import Encoding


class MeasuredHeads(Protocol):
    """What is known of all heads of a model, over one text or many.

    spread: normalised entropy, from 0 (one token) to 1 (uniform). distance: mean, in tokens.
    """

    model: str
    example: Encoding
    sums: PatternSums
    patterns: Sequence[HeadPattern]
    spread: Float[np.ndarray, "layer head"]
    distance: Float[np.ndarray, "layer head"]


@dataclass(frozen=True)
class KindStyle:
    """How a kind of heads looks and is called. symbol: of its points on a map, as Plotly names it. target: what it attends to."""

    word: str
    letter: str
    colour: str
    symbol: str
    target: str


@dataclass(frozen=True)
class HeadCell:
    """One head of the table, with its word and number, or its letter where there is no space. strength: of its colour, 0 to 1."""

    word: str
    letter: str
    number: str
    colour: str
    strength: float
    alt: str


@dataclass(frozen=True)
class LegendEntry:
    """What a colour of the table means."""

    name: str
    letter: str
    colour: str
    strength: float = 1.0


CellsAndLegend = tuple[list[HeadCell], list[LegendEntry]]


KIND_STYLES: dict[PatternKind, KindStyle] = {
    "previous": KindStyle("previous", "←", ONE_COLOUR, "triangle-left", "the token before"),
    "next": KindStyle("next", "→", "#dd8328", "triangle-right", "the token after"),
    "same": KindStyle("same", "=", "#a06cd0", "square", "itself, its word, or the same word elsewhere"),
    "first": KindStyle("[CLS]", "C", "#3a9a68", "diamond", "[CLS]"),
    "separator": KindStyle("[SEP]", "S", "#1f9fb5", "star", "[SEP]"),
    "punctuation": KindStyle("signs", ".", "#d35a86", "cross", "punctuation and other signs"),
    "broad": KindStyle("broad", "≈", "#a8912a", "circle", "many tokens at once"),
    "mixed": KindStyle("mixed", "?", "#8793a0", "hexagon", "no clear pattern"),
}
"""Of every kind in `patterns.KINDS`, with the special tokens of BERT."""
GRAMMAR_LETTER, GRAMMAR_COLOUR = "G", "#c2452d"
GRAMMAR_ENTRY = LegendEntry(texts.GRAMMAR_TARGET, GRAMMAR_LETTER, GRAMMAR_COLOUR)
UNDESCRIBED: tuple[PatternKind, ...] = ("broad", "mixed")
"""The kinds of heads that no rule describes."""
MAX_RELATIONS = 3
"""How many relations a sentence about a head names."""


def kind_styles(encoding: Encoding) -> dict[PatternKind, KindStyle]:
    """Return the style of every kind; special tokens are called as the model's own."""
    special = zip(("first", "separator"), _special_tokens(encoding), strict=True)
    return KIND_STYLES | {kind: replace(KIND_STYLES[kind], word=token, target=token) for kind, token in special}


def _special_tokens(encoding: Encoding) -> tuple[str, str]:
    """Return the special tokens at the beginning and after it."""
    later = [token for token, special in zip(encoding.tokens[1:], encoding.special[1:], strict=True) if special]
    first = encoding.tokens[0] if encoding.special[0] else texts.FIRST_TOKEN
    return first, later[0] if later else texts.END


def describe_grammar(model: str, head: Head, *, after: int = 0) -> str:
    """Return the grammatical relations that a head follows, with their baselines; or that this was not measured.

    after: how many were said before; "" where there are no others.
    """
    return " ".join(grammar_sentences(model, head, after))


def grammar_sentences(model: str, head: Head, after: int = 0) -> list[str]:
    """List what is said of the grammatical relations that a head follows, in pieces, of which heads share most."""
    grammar = grammar_of(model)
    if grammar is None:
        return [texts.GRAMMAR_NOT_MEASURED]
    relations = grammar.get(head, ())[after:]
    if not relations:
        return [] if after else [texts.NO_GRAMMAR.format(points=round(100 * MIN_GAIN), treebank=TREEBANK_NAME)]
    named, more = ", ".join(map(_relation, relations[:MAX_RELATIONS])), len(relations) - MAX_RELATIONS
    found = (texts.GRAMMAR_AND_MORE if more > 0 else texts.GRAMMAR_RELATIONS).format(relations=named, more=more)
    return [texts.GRAMMAR.format(treebank=TREEBANK_NAME), found, texts.GRAMMAR_LEAVES_OUT]


def lead_with_grammar(model: str, head: Head) -> str:
    """Return the relation that a head follows best, in a sentence with its gain; "" for a head that follows none."""
    relations = (grammar_of(model) or {}).get(head, ())
    if not relations:
        return ""
    best = relations[0]
    return texts.GRAMMAR_FIRST.format(
        word=texts.GRAMMAR_WORDS.get(best.relation, best.relation).capitalize(),
        accuracy=whole_percent(best.accuracy),
        occurrences=best.occurrences,
        head=head_in_sentence(head),
        link=_link(best),
        gain=round(100 * best.accuracy) - round(100 * best.baseline),
        distance=distance_in_words(best.offset),
    )


def distance_in_words(offset: int) -> str:
    """Write a fixed distance: 2 words back."""
    return plural(abs(offset), texts.WORDS_BACK if offset < 0 else texts.WORDS_AHEAD).format(count=abs(offset))


def pattern_of(found: MeasuredHeads, head: Head) -> HeadPattern:
    """Return the pattern of one head."""
    return found.patterns[head[0] * found.spread.shape[1] + head[1]]


def describe_head(found: MeasuredHeads, head: Head) -> str:
    """Return what a head does, in words; over many texts on average, and in how many of them."""
    looks, pattern = kind_styles(found.example), pattern_of(found, head)
    count, kind = found.sums.texts, pattern.kind if pattern.kind in texts.HEAD_DOES else ""
    alone = [texts.HEAD_ALONE] if count > 1 else []
    return " ".join([texts.HEAD_DOES[kind], texts.HEAD_CONFIDENCE[kind], *alone, texts.HEAD_NUMBERS]).format(
        head=head_name(head),
        aim=looks[pattern.kind].target,
        share=whole_percent(found.sums.share_of(pattern)),
        confidence=pattern.confidence,
        agreement=whole_percent(pattern.agreement),
        second=looks[pattern.second].target,
        second_score=pattern.second_score,
        spread=found.spread[head],
        distance=found.distance[head],
        own_tokens=texts.SENTENCES_TOKENS if count > 1 else texts.TEXT_TOKENS,
        count=count,
    )


def rows_of_heads(
    found: MeasuredHeads, measures: Callable[[HeadPattern], Mapping[str, TableValue]]
) -> list[dict[str, TableValue]]:
    """List heads, one row each: kind, confidence, what is measured of it, its share on the targets of each kind, its grammar."""
    looks = kind_styles(found.example)
    rows = []
    for one in found.patterns:
        targets = {
            texts.KIND_COLUMN.format(kind=looks[kind].word): round(float(found.sums.shares[one.layer, one.head, place]), 3)
            for place, kind in enumerate(TARGETED_KINDS)
        }
        named = {"layer": one.layer + 1, "head": one.head + 1, "kind": looks[one.kind].word}
        named["confidence"] = round(one.confidence, 3)
        rows.append(named | measures(one) | targets | grammar_columns(found.model, (one.layer, one.head)))
    return rows


def grammar_columns(model: str, head: Head) -> dict[str, str | float | None]:
    """Write the relation of grammar that a head follows best as columns of a table of heads: its name, share and baseline."""
    grammar = grammar_of(model)
    relations = (grammar or {}).get(head, ())
    nothing = (None,) * (len(texts.GRAMMAR_COLUMNS) - 1)
    values: tuple[str | float | None, ...] = (texts.NOT_MEASURED if grammar is None else texts.NO_RELATION, *nothing)
    if relations:
        best = relations[0]
        low, high = best.interval
        interval = texts.INTERVAL.format(low=low, high=high)
        values = (_link(best), round(best.accuracy, 3), round(best.baseline, 3), interval, best.occurrences)
    return dict(zip(texts.GRAMMAR_COLUMNS, values, strict=True))


GRAMMAR_COLUMNS_NOTE = texts.GRAMMAR_COLUMNS_NOTE.format(treebank=TREEBANK_NAME)
"""What the grammar columns of a table of heads mean."""


def _link(relation: HeadRelation) -> str:
    """Return where a head looks that follows a relation, in words; the relation's name where it has no such sentence."""
    other = texts.OTHER_RELATION[relation.direction].format(relation=relation.relation)
    return texts.GRAMMAR_LINKS.get((relation.relation, relation.direction), other)


def _relation(relation: HeadRelation) -> str:
    low, high = map(whole_percent, relation.interval)
    return texts.GRAMMAR_RELATION.format(
        link=_link(relation),
        low=low,
        high=high,
        occurrences=relation.occurrences,
        accuracy=whole_percent(relation.accuracy),
        baseline=whole_percent(relation.baseline),
        distance=distance_in_words(relation.offset),
    )


def grammar_cells(model: str, layers: int, heads: int) -> CellsAndLegend:
    """Colour every head by how often it finds the relation of grammar that it follows best."""
    grammar, cells = grammar_of(model) or {}, []
    for place in np.ndindex(layers, heads):
        alt = texts.GRAMMAR_CELL.format(head=head_name(place), grammar=describe_grammar(model, place))
        nothing = HeadCell(texts.NO_RELATION, texts.NO_RELATION, "", GRAMMAR_COLOUR, 0.0, alt)
        cells.append(_relation_cell(grammar[place][0], alt) if place in grammar else nothing)
    return cells, [GRAMMAR_ENTRY]


def _relation_cell(relation: HeadRelation, alt: str) -> HeadCell:
    word = texts.GRAMMAR_WORDS.get(relation.relation, relation.relation)
    number = texts.ON_TREEBANK.format(share=whole_percent(relation.accuracy))
    return HeadCell(word, GRAMMAR_LETTER, number, GRAMMAR_COLOUR, relation.accuracy, alt)


def kind_cells(found: MeasuredHeads, alt: str, *, by_agreement: bool = False) -> CellsAndLegend:
    """Colour every head by its kind, and list the kinds that occur; a head that no rule describes by the grammar it follows.

    alt: describes a cell. by_agreement: whether it is as strong as the share of texts in which the head is of its kind, and
    grammar is left out; else as its confidence.
    """
    styles, cells, legend = kind_styles(found.example), [], {}
    grammar = {} if by_agreement else grammar_of(found.model) or {}
    for head in found.patterns:
        style, place, share = styles[head.kind], (head.layer, head.head), whole_percent(head.agreement)
        number, strength = (share, head.agreement) if by_agreement else (f"{head.confidence:.2f}", head.confidence)
        said = alt.format(head=head_name(place), kind=style.word, confidence=head.confidence, agreement=share)
        if head.kind in UNDESCRIBED and place in grammar:
            relation = grammar[place][0]
            follows = texts.GRAMMAR_RELATIONS.format(relations=_relation(relation))
            described = f"{texts.GRAMMAR.format(treebank=TREEBANK_NAME)} {follows}"
            cells.append(_relation_cell(relation, texts.GRAMMAR_CELL.format(head=said, grammar=described)))
            legend["grammar"] = GRAMMAR_ENTRY
        else:
            cells.append(HeadCell(style.word, style.letter, number, style.colour, strength, said))
            legend[head.kind] = LegendEntry(style.target, style.letter, style.colour)
    return cells, [legend[kind] for kind in (*styles, "grammar") if kind in legend]


def _number_cells(
    numbers: Float[np.ndarray, "layer head"], most: float, digits: str, alt: str, ends: tuple[str, str]
) -> CellsAndLegend:
    """Colour every head by a number from 0 to `most`. ends: what 0 and `most` mean."""
    cells = []
    for place, number in np.ndenumerate(numbers):
        written = f"{number:{digits}}"
        sentence = alt.format(head=head_name(place), number=written)
        cells.append(HeadCell(written, f"{number:.1f}", "", ONE_COLOUR, float(number) / most, sentence))
    return cells, [LegendEntry(ends[0], "", ONE_COLOUR, 0.0), LegendEntry(ends[1], "", ONE_COLOUR)]


def all_heads(layers: int, heads: int) -> dict[str, Head]:
    """Return every head by its name in links, layer by layer."""
    return {heads_to_link([head]): head for head in np.ndindex(layers, heads)}


def heads_picture(
    title: str,
    drawn: CellsAndLegend,
    shape: tuple[int, int],
    sentence: str = "",
    when: Conditions = MappingProxyType({}),
    numbers: Float[np.ndarray, "layer head"] | None = None,
) -> Picture:
    """Draw all heads of a model as a table. when: it is shown. numbers: its own, without which they are its cells' strengths."""
    (layers, heads), (cells, legend) = shape, drawn
    sides = ((layers, CONTROLS["layerNumber"]), (heads, CONTROLS["headNumber"]))
    names = [tuple(label for _, label in numbered(count, text)) for count, text in sides]
    chart = {
        "kind": "grid",
        "title": title,
        "cells": [list(map(vars, cells[start : start + heads])) for start in range(0, len(cells), heads)],
        "legend": list(map(vars, legend)),
        "axes": texts.LAYERS_AND_HEADS,
    }
    strengths = np.array([one.strength for one in cells]).reshape(layers, heads)
    drawing = Drawing(chart, *names, strengths if numbers is None else numbers)
    return Picture(drawing, sentence, when, share=3.0, chooses="heads", choices=list(all_heads(layers, heads)))


def heads_pictures(
    found: MeasuredHeads,
    titles: Mapping[str, str],
    sentences: Mapping[str, str],
    alts: Mapping[str, str],
    even: float | None = None,
) -> list[Picture]:
    """Draw all heads in each of the colours that have a title.

    titles, sentences: by the colours, as links write them. alts: describe a cell of pattern and of agreement. even: the distance
    of even attention, if known.
    """
    shape, numbers = found.spread.shape, {"spread": found.spread, "entropy": found.spread, "distance": found.distance}
    most = max(float(found.distance.max()), 1e-9)
    farthest = (texts.FARTHEST if even is None else texts.FARTHEST_AND_EVEN).format(distance=most, even=even)
    spread_ends, distance_ends = (texts.ONE_TOKEN, texts.ALL_TOKENS), (texts.ITSELF, farthest)
    draw = {
        "pattern": lambda: kind_cells(found, alts["pattern"]),
        "grammar": lambda: grammar_cells(found.model, *shape),
        "agreement": lambda: kind_cells(found, alts["agreement"], by_agreement=True),
        "spread": lambda: _number_cells(found.spread, 1.0, ".2f", texts.HEAD_SPREAD, spread_ends),
        "distance": lambda: _number_cells(found.distance, most, ".1f", texts.HEAD_DISTANCE, distance_ends),
    }
    draw["entropy"] = draw["spread"]  # as links of one text call it
    return [
        heads_picture(title, draw[name](), shape, sentences.get(name, ""), {"colour": [name]}, numbers.get(name))
        for name, title in titles.items()
    ]


def beside_heads(heads: int) -> dict[str, object]:
    """Return where the picture of the chosen head stands: beside the table where there is room, else below."""
    return {"row": 0, "share": 1.5} if heads <= 8 else {"row": 1}
