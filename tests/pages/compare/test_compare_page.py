"""The page of comparisons: what varies is what differs, everything else is shared."""

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.compare import texts
from pages.compare.state import curated
from pages.compare.texts import FIRST_TEXT
from pages.ui.panels.texts import READ_WITHOUT
from tests.support.drawings import BIRD, drawn_comparison, says
from tests.support.drawn_lines import drawn_lines
from tx_core.analysis import comparison, word_comparison
from tx_core.analysis.comparison import compare_attention
from tx_core.analysis.views import view
from tx_core.analysis.word_comparison import spell_words
from tx_core.engine import catalogue
from tx_core.lessons.untrained import untrained_engine
from tx_core.transformer.interventions import Intervention

Open = Callable[..., AppTest]
FIRST = curated()[0]
LARGEST = (
    comparison.LARGEST_DIFFERENCE,
    comparison.LARGEST_BETWEEN_WORDS,
    comparison.LARGEST_IN_ROW,
    comparison.LARGEST_IN_ROW_BETWEEN_WORDS,
)


def expected(one: tuple, other: tuple, *, hide: bool = False) -> list[np.ndarray]:
    """A, B and B − A outside any page; each side is an engine, a text, heads and interventions."""
    runs = [engine.trace(text, interventions=changes) for engine, text, _, changes in (one, other)]
    views = [view(run.attention, merge_words=True, hide_special=hide) for run in runs]
    spelled = [spell_words(run.attention.query_tokens, shown.query_places) for run, shown in zip(runs, views, strict=True)]
    chosen = zip(views, (one[2], other[2]), strict=True)
    weights = [np.mean([shown.weights[head] for head in heads], axis=0) for shown, heads in chosen]
    return [*weights, compare_attention(*views, *spelled, *weights).difference]


def engine():
    return catalogue.load(catalogue.DEFAULT)


def check(app: AppTest, one: tuple, other: tuple, *, hide: bool = False) -> None:
    assert not app.exception
    for shown, numbers in zip(drawn_comparison(app)[1], expected(one, other, hide=hide), strict=True):
        np.testing.assert_allclose(shown, numbers, atol=1e-4)


def test_on_arrival_two_kinds_of_flies_are_compared(open_app: Open):
    app = open_app("compare")
    assert app.query_params == {}
    assert app.pills(key="compare_example").value == FIRST.title
    assert FIRST.notice in says(app)
    header, _ = drawn_comparison(app)
    assert header["labels"] == ["[CLS]", "time", "fruit", "flies", "like", "an", "arrow", "a", "banana", "[SEP]"]
    assert header["rows"][3] == [2, 2]
    assert header["rows"][1:3] == [[1, None], [None, 1]]
    assert word_comparison.SIMILARITY.partition(" before")[0].format(word="flies", first=1.0) in says(app)
    heads = [FIRST.values["head"]]
    check(app, (engine(), FIRST_TEXT, heads, ()), (engine(), "fruit flies like a banana", heads, ()))


@pytest.mark.parametrize("vary", ["head", "untrained", "changes"])
@pytest.mark.parametrize("head", ["3-2", "1"])
def test_what_is_chosen_to_differ_does_differ_at_once(open_app: Open, vary: str, head: str):
    app = open_app("compare", text="a bird sings", text_b="a cat", head=head, head_b=head, seed_b="0")
    app.pills(key="compare_vary").set_value(vary).run()
    assert not app.exception
    assert texts.SAME_SIDES not in says(app)
    assert any(sentence.partition("{query}")[0] in says(app) for sentence in LARGEST)


@pytest.mark.parametrize(("vary", "name"), [("head", "head_b"), ("untrained", "seed_b"), ("changes", "changes_b")])
def test_what_already_differs_stays_when_it_is_chosen_to_differ(open_app: Open, vary: str, name: str):
    app = open_app("compare", text="a bird sings", changes="off~2", changes_b="off~3-1", head="2", head_b="4-4", seed_b="3")
    before = app.session_state[f"compare_{name}"]
    app.pills(key="compare_vary").set_value(vary).run()
    assert app.session_state[f"compare_{name}"] == before


def test_another_model_starts_with_the_same_head_and_says_what_to_choose(open_app: Open):
    app = open_app("compare", text="a bird sings", head="3-2", head_b="1-5")
    app.pills(key="compare_vary").set_value("model").run()
    assert app.session_state["compare_head_b"] == (2, 1)
    assert texts.SAME_MODEL in says(app)


def test_a_side_is_the_mean_of_its_layer_and_hidden_special_tokens_are_in_no_map(open_app: Open):
    app = open_app("compare", **BIRD | {"head": "2"}, hide="1")
    heads = [(1, head) for head in range(engine().info.num_heads)]
    check(app, *((engine(), BIRD[name], heads, ()) for name in ("text", "text_b")), hide=True)
    assert "[CLS]" not in drawn_comparison(app)[0]["labels"]


def test_only_what_varies_is_taken_from_b(open_app: Open):
    every = {"text": "a bird", "text_b": "a cat", "head": "2-3", "head_b": "1-4", "seed_b": "2", "changes_b": "off~1"}
    plain, bird = (), "a bird"
    one = (engine(), bird, [(1, 2)], plain)
    others = {
        "text": (engine(), "a cat", [(1, 2)], plain),
        "head": (engine(), bird, [(0, 3)], plain),
        "untrained": (untrained_engine(engine(), 2), bird, [(1, 2)], plain),
        "changes": (engine(), bird, [(1, 2)], [Intervention("off", 0)]),
        "model": (engine(), bird, [(0, 3)], plain),
    }
    for vary, other in others.items():
        check(open_app("compare", vary=vary, **every), one, other)


@pytest.mark.parametrize("vary", ["text", "untrained", "changes"])
def test_both_sides_are_read_without_special_tokens_where_the_reader_leaves_them_out(open_app: Open, vary: str):
    app = open_app("compare", vary=vary, **BIRD, head_b="1-4", seed_b="2", changes_b="off~1", focus="2")
    app.toggle(key="compare_nospecial").set_value(True).run()
    bare = catalogue.load(catalogue.DEFAULT, special_tokens=False)
    one = (bare, BIRD["text"], [(1, 2)], ())
    others = {
        "text": (bare, BIRD["text_b"], [(1, 2)], ()),
        "untrained": (untrained_engine(bare, 2), BIRD["text"], [(1, 2)], ()),
        "changes": (bare, BIRD["text"], [(1, 2)], [Intervention("off", 0)]),
    }
    check(app, one, others[vary])
    assert "[CLS]" not in drawn_comparison(app)[0]["labels"]
    assert (app.query_params["nospecial"], app.session_state["compare_focus"]) == ("1", None)
    assert says(app).count(READ_WITHOUT.partition("{tokens}")[2]) == 1


def test_second_sentences_are_read_when_asked_for(open_app: Open):
    app = open_app("compare", text="time flies", pair="a bird", pair_b="a cat")
    assert "bird" not in drawn_comparison(app)[0]["one"]
    app.toggle(key="compare_two").set_value(True).run()
    header, _ = drawn_comparison(app)
    assert header["one"] == ["[CLS]", "time", "flies", "[SEP]", "a", "bird", "[SEP]"]
    assert header["other"] == ["[CLS]", "time", "flies", "[SEP]", "a", "cat", "[SEP]"]
    assert app.query_params["two"] == "1"


def test_a_word_is_followed_only_where_its_vectors_share_a_space(open_app: Open):
    (chart,) = drawn_lines(open_app("compare", **BIRD))
    assert chart["places"][:2] == ["embeddings", "layer 1"]
    assert drawn_lines(open_app("compare", **BIRD, vary="changes", changes_b="off~1"))
    for vary, why in texts.NO_COMMON_SPACE.items():
        app = open_app("compare", **BIRD, vary=vary)
        assert not drawn_lines(app)
        assert why in says(app)
    assert texts.NO_COMMON_WORD in says(open_app("compare", text="time", text_b="banana"))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"text": " "}, "There is no text yet"),
        ({"text_b": "word " * 2000}, "shorten it"),
        ({"vary": "changes", "changes_b": "hide~90"}, "there is no token 90"),
    ],
)
def test_a_side_that_cannot_run_says_why_and_keeps_what_was_typed(open_app: Open, asked: dict[str, str], told: str):
    app = open_app("compare", **{"text": "a bird", **asked})
    assert not app.exception
    assert told in says(app)
    assert any(sentence in says(app) for sentence in texts.NOT_SHOWN.values())


def test_a_long_sentence_is_described_briefly_and_its_words_are_counted_as_a_reader_does(open_app: Open):
    app = open_app("compare", text="the cat " * 60, text_b="cat")
    titles = drawn_comparison(app)[0]["titles"]
    assert titles == ["A · " + "the cat " * 6 + "…", "B · cat", "B − A"]
    (told,) = [caption.value for caption in app.caption if texts.HOW_PAIRED in caption.value]
    words = "the, the, cat, the, cat, the, cat, the, cat, the, cat, the"
    assert told == f"{texts.ONLY_IN_MORE['A'].format(words=words, more=107)} {texts.HOW_PAIRED}"
    options = app.selectbox(key="compare_word_shown").options
    assert options[0] == "cat (word 2 of A, 1 of B)"
    assert app.selectbox(key="compare_word_shown").value == (2, 1)
