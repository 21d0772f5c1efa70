"""All heads at a glance: the table's kinds, colours and numbers are the core's."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.summaries.kinds import describe_head, rows_of, summarise
from pages.ui.shell.numbers import whole_percent
from pages.ui.stage import texts as stage_texts
from pages.ui.stage.heads import UNDESCRIBED, describe_grammar, grammar_cells, kind_styles
from tests.support.staged import looked_at, stage_says
from tx_core.analysis.grammar import TREEBANK_NAME, grammar_of
from tx_core.analysis.patterns import name_heads, pattern_sums
from tx_core.engine import catalogue
from tx_core.engine.hub import load

PAGE = "summaries"
TEXT = "She [MASK] the letter, and then the [MASK] came."


@pytest.fixture(scope="module")
def engine():
    return catalogue.load("embedded")


@pytest.fixture(scope="module")
def stack(engine):
    return engine.trace(TEXT, keep=("weights", "value")).attention


def table_of(app: AppTest, **looks: str) -> dict:
    return looked_at(app, **looks)[0]


def test_every_head_has_its_kind_and_confidence_in_the_table(open_app, engine, stack):
    app = open_app(PAGE, text=TEXT, heads="3-4")
    assert not app.exception
    table = table_of(app)
    shown = table["chart"]
    found = name_heads(pattern_sums(stack.weights, stack.query_tokens))
    kinds = kind_styles(stack.query_tokens)
    flat = [cell for row in shown["cells"] for cell in row]
    bound = {place: relations[0] for place, relations in grammar_of(engine.name).items()}
    for cell, head in zip(flat, found, strict=True):
        relation = bound.get((head.layer, head.head)) if head.kind in UNDESCRIBED else None
        word = stage_texts.GRAMMAR_WORDS[relation.relation] if relation else kinds[head.kind].word
        number = whole_percent(relation.accuracy) if relation else f"{head.confidence:.2f}"
        assert (cell["word"], cell["number"]) == (word, number)
    assert any(head.kind in UNDESCRIBED and (head.layer, head.head) in bound for head in found)
    assert {entry["name"] for entry in shown["legend"]} >= {stage_texts.GRAMMAR_TARGET}
    assert (len(shown["cells"]), len(shown["cells"][0])) == (engine.info.num_layers, engine.info.num_heads)
    assert (table["chooses"], table["choices"][2 * 8 + 3]) == ("heads", "3-4")
    for layer, head in ((2, 3), (0, 7)):  # all are sent
        assert describe_head(stack, summarise(stack), (layer, head)) in stage_says(app, heads=f"{layer + 1}-{head + 1}")


def test_every_relation_of_grammar_is_described_with_its_baseline(open_app, engine):
    grammar = grammar_of(engine.name)
    followed = {(one.relation, one.direction) for relations in grammar.values() for one in relations}
    assert followed <= set(stage_texts.GRAMMAR_LINKS)
    place, (first, *_) = next(iter(grammar.items()))
    app = open_app(PAGE, text=TEXT, colour="grammar", heads=f"{place[0] + 1}-{place[1] + 1}")
    described = describe_grammar(engine.name, place)
    assert described in stage_says(app)
    for part in (
        stage_texts.GRAMMAR_LINKS[first.relation, first.direction],
        whole_percent(first.accuracy),
        whole_percent(first.baseline),
        f"{first.occurrences:,}",
        TREEBANK_NAME,
        stage_texts.GRAMMAR_LEAVES_OUT,
    ):
        assert part in described
    for layer, row in enumerate(table_of(app)["chart"]["cells"]):
        for head, cell in enumerate(row):
            found = grammar.get((layer, head))
            assert cell["word"] == (stage_texts.GRAMMAR_WORDS[found[0].relation] if found else stage_texts.NO_RELATION)
            assert cell["strength"] == (found[0].accuracy if found else 0)


def test_a_model_that_was_not_measured_says_so_and_has_no_kinds_from_grammar(engine, stack):
    assert describe_grammar("some-other-model", (1, 5)) == stage_texts.GRAMMAR_NOT_MEASURED
    without = next(place for place in np.ndindex(6, 8) if place not in grammar_of(engine.name))
    assert describe_grammar(engine.name, without) == stage_texts.NO_GRAMMAR.format(points=10, treebank=TREEBANK_NAME)
    cells, _ = grammar_cells("some-other-model", 2, 3)
    assert {(cell.word, cell.strength) for cell in cells} == {(stage_texts.NO_RELATION, 0.0)}
    rows = {tuple(row[name] for name in stage_texts.GRAMMAR_COLUMNS) for row in rows_of("other", stack, summarise(stack))}
    assert rows == {(stage_texts.NOT_MEASURED, None, None, None, None)}


@pytest.mark.parametrize(
    ("family", "called"),
    [("roberta", ("<s>", "</s>")), ("gpt2", ("the first token", "the end"))],
)
def test_special_tokens_are_called_as_the_model_calls_them(checkpoint, family: str, called: tuple[str, str]):
    encoding = load.load_engine(checkpoint(family), family, family).encode("A bird")
    assert (kind_styles(encoding)["first"].word, kind_styles(encoding)["separator"].word) == called


def test_colours_may_stand_for_numbers_instead(open_app, stack):
    app = open_app(PAGE, text=TEXT)
    own = ~np.array(stack.query_tokens.special)
    rows = stack.weights[2, 1][own].astype(float)
    apart = np.abs(np.arange(len(own))[:, None] - np.arange(len(own)))[own]
    far, wide = (rows * apart).sum(-1).mean(), -(rows * np.log(rows)).sum(-1).mean() / np.log(len(own))
    for colour, word in {"entropy": f"{wide:.2f}", "distance": f"{far:.1f}"}.items():
        cells = table_of(app, colour=colour)["chart"]["cells"]
        assert cells[2][1]["word"] == word
        assert all(0 <= cell["strength"] <= 1 for row in cells for cell in row)
