"""All heads at a glance: the table's kinds, colours and numbers are the core's."""

import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.summaries import texts
from pages.summaries.kinds import describe_head, head_rows, summarise
from pages.ui.canvas.head_table import kind_styles
from tests.support.drawings import says
from tx_core.analysis.patterns import KINDS, TARGETED_KINDS, name_heads, pattern_sums
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


def cells_of(app: AppTest) -> dict:
    (table,) = [one.proto for one in app.get("bidi_component") if one.proto.component_name.endswith("head_table")]
    return json.loads(table.json)


def test_every_head_has_its_kind_and_confidence_in_the_table(open_app, engine, stack):
    app = open_app(PAGE, text=TEXT, heads="3-4")
    assert not app.exception
    shown = cells_of(app)
    found = name_heads(pattern_sums(stack.weights, stack.query_tokens))
    kinds = kind_styles(stack.query_tokens)
    flat = [cell for row in shown["cells"] for cell in row]
    assert [cell["word"] for cell in flat] == [kinds[head.kind].word for head in found]
    assert [cell["number"] for cell in flat] == [f"{head.confidence:.2f}" for head in found]
    assert (len(shown["cells"]), len(shown["cells"][0])) == (engine.info.num_layers, engine.info.num_heads)
    assert shown["chosen"] == [2, 3]
    assert describe_head(stack, summarise(stack), (2, 3)) in says(app)


def test_a_head_is_described_by_its_kind_and_its_numbers(engine, stack):
    summary, kinds = summarise(stack), kind_styles(stack.query_tokens)
    for head, pattern in zip(np.ndindex(engine.info.num_layers, engine.info.num_heads), summary.named, strict=True):
        described = describe_head(stack, summary, head)
        assert described.startswith(f"Layer {head[0] + 1}, head {head[1] + 1} ")
        assert kinds[pattern.kind].target in described or pattern.kind in texts.HEADS
        assert f"{summary.entropy[head]:.2f}" in described


def test_every_kind_of_head_has_a_style_of_its_own():
    styles = kind_styles()
    assert set(styles) == set(KINDS)
    for of_each in ("letter", "colour", "symbol"):
        assert len({getattr(style, of_each) for style in styles.values()}) == len(KINDS)


@pytest.mark.parametrize(
    ("family", "called"),
    [("roberta", ("<s>", "</s>")), ("gpt2", ("the first token", "the end")), ("t5", ("the first token", "</s>"))],
)
def test_special_tokens_are_called_as_the_model_calls_them(checkpoint, family: str, called: tuple[str, str]):
    encoding = load.load_engine(checkpoint(family), family, family).encode("A bird")
    assert (kind_styles(encoding)["first"].word, kind_styles(encoding)["separator"].word) == called


@pytest.mark.parametrize("colour", ["entropy", "distance"])
def test_colours_may_stand_for_numbers_instead(open_app, stack, colour):
    shown = cells_of(open_app(PAGE, text=TEXT, colour=colour))
    own = ~np.array(stack.query_tokens.special)
    rows = stack.weights[2, 1][own].astype(float)
    apart = np.abs(np.arange(len(own))[:, None] - np.arange(len(own)))[own]
    far, wide = (rows * apart).sum(-1).mean(), -(rows * np.log(rows)).sum(-1).mean() / np.log(len(own))
    assert shown["cells"][2][1]["word"] == (f"{wide:.2f}" if colour == "entropy" else f"{far:.1f}")
    assert all(0 <= cell["strength"] <= 1 for row in shown["cells"] for cell in row)


def test_all_numbers_are_there_as_a_table(engine, stack):
    rows, sums = head_rows(stack, summarise(stack)), pattern_sums(stack.weights, stack.query_tokens)
    assert len(rows) == engine.info.num_layers * engine.info.num_heads
    assert rows[-1]["to next"] == pytest.approx(sums.shares[-1, -1, TARGETED_KINDS.index("next")], abs=6e-4)
