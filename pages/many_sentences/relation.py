"""Find heads: a relation between words, chosen or made of two words that are clicked, and the heads that follow it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.many_sentences import texts
from pages.many_sentences.heads import read_in_code
from pages.ui.export.computation import Computation, call, load_call, named
from pages.ui.export.part import Part
from pages.ui.export.records import DataTable, PartNumbers, table_of
from pages.ui.shell import controls
from pages.ui.shell.address import (
    is_offered,
    keep_view,
    page_view,
    request_parameters,
    set_values,
    value_of,
    widget_binding,
    widget_key,
)
from pages.ui.shell.fields import Field, choice_field, text_field
from pages.ui.shell.frame import page_address
from pages.ui.shell.numbers import whole_percent
from pages.ui.shell.session import came_by_history
from pages.ui.stage.charts import ONE_COLOUR, listing_drawing
from pages.ui.stage.heads import GRAMMAR_COLOUR, HeadCell, LegendEntry, all_heads, beside_heads, distance_in_words, heads_picture
from pages.ui.stage.pictures import Picture
from pages.ui.stage.sources import reading, source
from pages.ui.stage.texts import GRAMMAR_LEAVES_OUT, GRAMMAR_LINKS, GRAMMAR_WORDS, INTERVAL
from pages.ui.stage.tokens import escape_markdown, reading_in_link
from pages.ui.stage.view_options import heads_to_link, show_note, token_to_link
from tx_core.analysis.grammar import MIN_GAIN, TREEBANK_NAME
from tx_core.corpus.find_heads import MOST_EXPRESSION, Condition, HeadsFound, Relation, count_hits, find_heads
from tx_core.corpus.sentence_file import Sentences
from tx_core.corpus.statistics import HeadReport
from tx_core.corpus.words import Word
from tx_core.errors import TextProblem
from tx_core.transformer.interventions import Head

FIELDS: tuple[Field, ...] = (
    text_field("query", "obj"),
    choice_field("query_in", tuple(texts.QUERY_COLUMNS)),
    choice_field("link", tuple(texts.LINKS)),
    text_field("key"),
    choice_field("key_in", tuple(texts.KEY_COLUMNS)),
)
MOST_SENTENCES, MOST_EXAMPLES = 500, 3
"""Sentences whose words can be clicked; strongest and weakest sentences of a head."""


def ask_relation(page: str, sentences: Sentences | None) -> None:
    """Ask for a relation: by two words of a sentence, or by what words must match; and offer to reverse it."""
    relation = escape_markdown(name_relation(chosen_relation(page)))
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
        st.button(texts.REVERSE, key=widget_key(page, "reverse"), help=texts.REVERSE_HELP, on_click=_reverse, args=(page,))
        with st.popover(texts.RELATION.format(relation=relation), key=widget_key(page, "relation_opened")):
            if sentences:
                _ask_two_words(page, sentences)
                st.caption(texts.OR_CONDITIONS)
            for side, columns in (("query", texts.QUERY_COLUMNS), ("key", texts.KEY_COLUMNS)):
                if side == "key":
                    controls.choice_box(texts.LINK, list(texts.LINKS), format_func=texts.LINKS.get, **_bound(page, "link"))
                with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
                    name, matches = texts.SIDES[side]
                    controls.choice_box(name, list(columns), format_func=columns.get, width=160, **_bound(page, f"{side}_in"))
                    st.text_input(matches, max_chars=MOST_EXPRESSION, **_bound(page, side), **texts.EXPRESSION)


def _reverse(page: str) -> None:
    """Exchange the word that attends and the one that it attends to; of two that were clicked, too."""
    exchanged = {"query": "key", "query_in": "key_in", "key": "query", "key_in": "query_in"}
    link = {"head": "dependent", "dependent": "head", "any": "any"}[value_of(page, "link")]
    set_values(page, {name: value_of(page, other) for name, other in exchanged.items()} | {"link": link})
    clicked = widget_key(page, "pair_words")
    st.session_state[clicked] = st.session_state.get(clicked, [])[::-1]


def _bound(page: str, name: str) -> dict[str, object]:
    return widget_binding(widget_key(page, name))


def _ask_two_words(page: str, sentences: Sentences) -> None:
    """Ask the reader to click the word that attends, then the one that it attends to."""
    place, chosen, how = (widget_key(page, name) for name in ("pair_sentence", "pair_words", "pair_how"))
    numbers = range(min(len(sentences), MOST_SENTENCES))
    number = st.selectbox(texts.PAIR_SENTENCE, numbers, format_func=lambda one: sentences.texts[one], key=place)
    words = sentences.words_of(number)

    def take() -> None:
        pair = st.session_state[chosen][-2:]
        if len(st.session_state[chosen]) > 2:  # else nothing is sent back, which could undo a second click that is on its way
            st.session_state[chosen] = pair
        if len(pair) == 2 and (made := relation_of_pair(words, *pair, st.session_state[how])):
            parts = {"query": made.query, "key": made.key}
            written = {name: value.expression for name, value in parts.items()}
            set_values(page, written | {f"{name}_in": value.column for name, value in parts.items()} | {"link": made.link})

    ways = texts.PAIR_WAYS if any(word.deprel for word in words) else {"words": texts.PAIR_WAYS["words"]}
    if st.session_state.get(how) not in ways:
        st.session_state[how] = next(iter(ways))
    if not set(st.session_state.get(chosen, ())) <= set(range(len(words))):
        st.session_state[chosen] = []
    spelled = {place: escape_markdown(word.form) for place, word in enumerate(words)}
    shown = {"selection_mode": "multi", "format_func": spelled.get, "key": chosen, "on_change": take}
    pair = st.pills(texts.PAIR_WORDS, list(spelled), **shown)
    controls.ask_option(texts.PAIR_HOW, ways, **widget_binding(how, take))
    if len(pair) < 2:
        st.caption(texts.PAIR_SHOWN.format(relation=escape_markdown(name_relation(chosen_relation(page)))))
    elif relation_of_pair(words, *pair, st.session_state[how]) is None:
        st.caption(texts.NOT_LINKED)


def relation_of_pair(words: Sequence[Word], query: int, key: int, way: str) -> Relation | None:
    """Return the relation of two words by `way`; None where that is "dependency", and neither depends on the other."""
    one, other = words[query], words[key]
    if way == "dependency":
        condition = Condition("deprel", re.escape((one if one.head == key else other).deprel.partition(":")[0]))
        if one.head == key:
            return Relation(query=condition, link="head")
        return Relation(key=condition, link="dependent") if other.head == query else None
    column = {"words": "form", "parts": "upos"}[way]
    return Relation(*(Condition(column, re.escape(getattr(word, column))) for word in (one, other)))


def chosen_relation(page: str) -> Relation:
    """Return the relation as the page's fields have it."""
    query, key = (Condition(value_of(page, f"{side}_in"), value_of(page, side).strip()) for side in ("query", "key"))
    return Relation(query, key, value_of(page, "link"))


def name_relation(relation: Relation) -> str:
    """Return a relation in words."""
    query, key, link = relation.query, relation.key, relation.link
    by, other, direction = (query, key, "to head") if link == "head" else (key, query, "to dependent")
    known = GRAMMAR_LINKS.get((by.expression, direction))
    if known and link != "any" and by.column == "deprel" and not other.expression:
        return known
    goal = [texts.LINK_NAMES[link], _name(key) if key.expression or link == "any" else ""]
    return texts.RELATION_NAME.format(query=_name(query), goal=", ".join(filter(None, goal)))


def _name(condition: Condition) -> str:
    if not condition.expression:
        return texts.ANY_WORD
    known = GRAMMAR_WORDS.get(condition.expression) if condition.column == "deprel" else None
    expression = texts.IN_WORDS.format(word=known, name=condition.expression) if known else condition.expression
    return texts.CONDITION.format(column=texts.COLUMN_NAMES[condition.column], expression=expression)


@dataclass(frozen=True)
class Found:
    """What was found of the chosen relation, and where."""

    report: HeadReport
    heads: HeadsFound

    @property
    def title(self) -> str:
        """In one line."""
        return texts.FOUND_TITLE.format(relation=name_relation(self.heads.relation))

    def counts(self) -> dict[str, object]:
        """Return what texts say of the relation: how often it occurs, and what finds it without a head."""
        heads = self.heads
        beside = {"baseline": whole_percent(heads.baseline), "distance": distance_in_words(heads.offset)}
        return beside | {"occurrences": heads.occurrences, "chance": whole_percent(heads.chance)}

    def describe(self, head: Head) -> str:
        """Return how often a head finds the related word, beside its baselines."""
        low, high = map(whole_percent, self.heads.interval(head))
        share = whole_percent(float(self.heads.shares[head]))
        return texts.FOUND_HEAD.format(head=controls.head_name(head), share=share, low=low, high=high, **self.counts())


def find(page: str, report: HeadReport) -> Found:
    """Count how often each head follows the chosen relation; look at the best if the relation is new. Raises as `count_hits`."""
    if value_of(page, "texts") == "scan":
        raise TextProblem(texts.SCAN_HAS_NO_WORDS)
    relation, before = chosen_relation(page), st.session_state.get(widget_key(page, "found_before"))
    if before and before.relation == relation and before.words is report.attended:
        return Found(report, before)
    heads = count_hits(report.attended, relation)
    set_values(page, {"found_before": heads})
    is_asked = (before is None or came_by_history()) and request_parameters(["heads"])
    if not (is_asked or (before and before.relation == relation)):
        set_values(page, {"heads": [heads.best]})
        keep_view(page, arrivals=page_view(page).arrivals + 1)
    return Found(report, heads)


def relation_part(page: str, report: HeadReport) -> Part:
    """Return how often each head follows the chosen relation, and the code that counts it. Raises as `count_hits`."""
    found = find(page, report)
    read = {"sentences": report.sentences.source, "read": report.read, "relation": name_relation(found.heads.relation)}
    about = source(report.model, **reading(report.special_tokens), **read)
    return Part(
        relation_pictures(found),
        PartNumbers(found.title, about, relation_numbers(found)),
        below=lambda: show_note(f"{texts.FOUND_NOTE} {GRAMMAR_LEAVES_OUT}"),
        table=lambda: _table(found),
        notes=(texts.EXPORT_SOURCE.format(source=report.sentences.source), texts.EXPORT_AXES),
    )


def relation_pictures(found: Found) -> list[Picture]:
    """Draw all heads by their share, and beside them the chosen one with its strongest and weakest sentences."""
    heads = found.heads
    shape, cells = heads.shares.shape, []
    for head in all_heads(*shape).values():
        share, gain = float(heads.shares[head]), float(heads.shares[head]) - heads.baseline
        colour = GRAMMAR_COLOUR if heads.following[head] else ONE_COLOUR
        beside = f"{round(100 * gain):+d}".replace("-", "−")
        cells.append(HeadCell(whole_percent(share), str(round(100 * share)), beside, colour, share, found.describe(head)))
    colours = (GRAMMAR_COLOUR, ONE_COLOUR)
    legend = [LegendEntry(name, "", colour) for name, colour in zip(texts.FOUND_LEGEND, colours, strict=True)]
    drawn = heads_picture(found.title, (cells, legend), shape, describe_all(found), numbers=heads.shares)
    listing = listing_drawing(head=texts.EXAMPLE_COLUMNS)
    listing.chart["sentenceFirst"] = True
    variants = {link: _examples_of(found, head) for link, head in all_heads(*shape).items()}
    return [drawn, Picture(listing, varies="heads", variants=variants, **beside_heads(shape[1]))]


def describe_all(found: Found) -> str:
    """Return which head is best, how many follow the relation, and what the numbers of cells are."""
    heads, points = found.heads, round(100 * MIN_GAIN)
    following = int(heads.following.sum())
    is_above = heads.interval(heads.best)[0] > heads.baseline
    said = texts.FOUND_FOLLOWING[min(following, 2)] if following or is_above else texts.FOUND_NONE
    said = said.format(following=following, heads=heads.shares.size, points=points)
    cells = texts.FOUND_CELL.format(grammar=texts.COLOURS["grammar"], treebank=TREEBANK_NAME)
    return f"{texts.FOUND_BEST.format(best=found.describe(heads.best))} {said} {cells}"


def _examples_of(found: Found, head: Head) -> dict[str, object]:
    examples = [one for weakest in (False, True) for one in found.heads.examples(head, MOST_EXAMPLES, weakest=weakest)]
    sentences, lines = found.report.sentences.texts, found.report.sentences.lines
    written = [one._asdict() | {"text": sentences[one.sentence], "expected": texts.OR.join(one.related)} for one in examples]
    said = [(texts.HIT if one["hit"] else texts.MISS).format(**one) for one in written]
    see = [texts.SEE_SENTENCE.format(line=lines[one.sentence]) for one in examples]
    rows = [[f"{one.weight:.2f}", *more] for one, *more in zip(examples, said, see, strict=True)]
    more = {"model": found.report.model, "heads": heads_to_link([head]), **reading_in_link(found.report.special_tokens)}
    views = ({"text": sentences[one.sentence], "focus": token_to_link(one.token), **more} for one in examples)
    links = [page_address("attention", view) for view in views]
    title = texts.EXAMPLES_OF.format(head=controls.head_name(head))
    note = " ".join([texts.EXAMPLES_NOTE, *([texts.COPULA] if is_about_subjects(found.heads.relation) else [])])
    chart = {"title": title, "rows": rows, "links": links if is_offered("links") else [], "note": note}
    return {"sentence": found.describe(head), "chart": chart}


def is_about_subjects(relation: Relation) -> bool:
    """Return whether a relation leads from subjects to their predicates, or back."""
    by = relation.query if relation.link == "head" else relation.key
    return relation.link != "any" and (by.column, by.expression) == ("deprel", "nsubj")


def _table(found: Found) -> DataTable:
    rows = found.heads.to_pandas().to_dict("records")
    for row in rows:
        row["95 % interval"] = INTERVAL.format(low=row.pop("low"), high=row.pop("high"))
    skipped = texts.SKIPPED.format(count=found.heads.words.skipped) if found.heads.words.skipped else ""
    return table_of(rows, f"{texts.FOUND_NOTE} {skipped}".strip())


def relation_numbers(found: Found) -> list[Computation]:
    """Return the computation of how often each head follows the relation."""
    report = found.report
    engine, half = load_call(report.model, report.special_tokens), {"half": True} if report.half else {}
    heads = named("found", call(find_heads, engine, found.heads.relation, read_in_code(report), **half))
    return [heads.shares.round(3), heads.baseline, heads.chance, heads.occurrences]
