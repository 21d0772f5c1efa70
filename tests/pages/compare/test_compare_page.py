"""The page of comparisons: what varies is what differs, everything else is shared, and both runs reach the browser whole."""

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.compare import texts
from pages.compare.inputs import EXAMPLES
from pages.compare.texts import FIRST_TEXT
from pages.ui.stage.texts import TOKEN_CHANGES_UNDONE
from tests.support.drawings import BIRD, says
from tests.support.staged import ask_stage, sent_weights, staged
from tx_core.analysis import comparison
from tx_core.analysis.comparison import cosines, spell_words, word_similarities, word_vectors
from tx_core.analysis.views import word_groups
from tx_core.engine import catalogue
from tx_core.lessons.labels import FINE_TUNED
from tx_core.lessons.untrained import untrained_engine
from tx_core.transformer.interventions import Intervention, read_interventions

Open = Callable[..., AppTest]
FIRST = EXAMPLES[0]
HEAD = (1, 2)


def engine(*, special: bool = True):
    return catalogue.load(catalogue.DEFAULT, special_tokens=special)


def check(app: AppTest, one: tuple, other: tuple) -> None:
    """Assert that both runs were sent; each side is an engine, a text and interventions."""
    assert not app.exception
    header = staged(app)
    for name, (runner, text, changes) in (("before", one), ("run", other)):
        expected = runner.trace(text, interventions=changes).attention.weights[HEAD]
        sent = "run" if header["before"]["id"] == header["run"]["id"] else name
        np.testing.assert_allclose(sent_weights(app, HEAD, run=sent), expected, atol=3.1e-5)


def test_on_arrival_two_kinds_of_flies_are_compared(open_app: Open):
    app = open_app("compare")
    sent = staged(app)
    assert sent["address"]["isFirst"]
    assert app.pills(key="compare_example").value == FIRST.title
    assert FIRST.notice in says(app)
    assert (sent["view"]["heads"], sent["view"]["focus"], sent["view"]["compared"]) == ([[1, 0]], 3, "difference")
    rows = sent["rows"]["10"]
    assert rows[:4] == [[0, 0], [1, None], [None, 1], [2, 2]]
    assert sent["rows"]["11"] == [[None if place is None else place - 1 for place in row] for row in rows[1:-1]]
    assert sent["titles"] == [FIRST_TEXT, "fruit flies like a banana"]
    check(app, (engine(), FIRST_TEXT, ()), (engine(), "fruit flies like a banana", ()))


def test_only_what_varies_is_taken_from_b(open_app: Open):
    every = {"text": "a bird", "text_b": "a cat", "head": "2-3", "head_b": "1-4", "seed_b": "2", "changes_b": "off~1"}
    one = (engine(), "a bird", ())
    others = {
        "text": (engine(), "a cat", ()),
        "head": one,
        "untrained": (untrained_engine(engine(), 2), "a bird", ()),
        "changes": (engine(), "a bird", [Intervention("off", 0)]),
        "model": one,
    }
    for vary, other in others.items():
        app = open_app("compare", vary=vary, **every)
        check(app, one, other)
        assert staged(app)["view"] | {"heads": [[1, 2]], "heads_b": [[0, 3]]} == staged(app)["view"]


@pytest.mark.parametrize(
    ("vary", "name", "first"), [("untrained", "seed_b", 1), ("changes", "changes_b", (Intervention("off", 0),))]
)
def test_what_is_chosen_to_differ_does_differ_at_once_and_what_differs_already_stays(open_app: Open, vary, name, first):
    app = open_app("compare", text="a bird sings", seed_b="0")
    app.selectbox(key="compare_vary").set_value(vary).run()
    assert app.session_state[f"compare_{name}"] == first
    assert staged(app)["before"]["id"] != staged(app)["run"]["id"]
    app = open_app("compare", text="a bird sings", changes="off~2", changes_b="off~3-1", seed_b="3")
    before = app.session_state[f"compare_{name}"]
    app.selectbox(key="compare_vary").set_value(vary).run()
    assert app.session_state[f"compare_{name}"] == before


def test_every_shared_word_is_followed_through_the_layers_where_its_vectors_share_a_space(open_app: Open):
    followed = staged(open_app("compare", **BIRD))["followed"]
    runs = [engine().trace(BIRD[name], keep=("hidden",)) for name in ("text", "text_b")]
    groups = [word_groups(run.attention.query_tokens) for run in runs]
    spelled = [spell_words(run.attention.query_tokens, group) for run, group in zip(runs, groups, strict=True)]
    alike = cosines(*(word_vectors(run.hidden, group) for run, group in zip(runs, groups, strict=True)))
    assert [(one["name"], one["isFirst"]) for one in followed] == [("a", False), ("bird", False), ("sings", True)]
    for one in followed:
        (expected,) = word_similarities(alike, *spelled, [tuple(one["places"])])
        lines = [line["values"] for line in one["chart"]["series"]]
        np.testing.assert_allclose(lines, [expected.word, expected.shared, expected.mean], atol=5e-5)
        np.testing.assert_allclose(one["chart"]["band"][1], expected.mean + expected.spread, atol=5e-5)
        assert one["said"] == comparison.describe_word_similarity(expected, one["name"])
    assert staged(open_app("compare", **BIRD, vary="changes", changes_b="off~1"))["followed"]
    for vary, why in texts.NO_COMMON_SPACE.items():
        asked = {"vary": "model", "model_b": FINE_TUNED} if vary == "tuned" else {"vary": vary}
        sent = staged(open_app("compare", **BIRD, **asked))
        assert (sent["followed"], sent["nothing"], sent["vary"]) == ([], why, vary)
    assert staged(open_app("compare", text="time", text_b="banana"))["nothing"] == texts.NO_COMMON_WORD


def test_a_long_text_sends_of_both_sides_what_is_on_the_screen(open_app: Open):
    app = open_app("compare", text="the cat " * 60, text_b="the dog " * 60, head="3-1")
    sent = staged(app)
    assert sent["titles"] == ["the cat " * 6 + "…", "the dog " * 6 + "…"]
    assert not sent["whole"]
    assert [sent[name]["included"] for name in ("before", "run")] == [[[0, 2]], [[0, 2]]]
    assert all(sent[name]["path"] for name in ("before", "run"))
    heads = staged(open_app("compare", text="the cat " * 60, vary="head", head="3-1", head_b="4-1"))
    assert [heads[name]["included"] for name in ("run", "before")] == [[[0, 3]], [[0, 2]]]
    assert heads["run"]["id"] == heads["before"]["id"]


# A and B


def test_the_sides_are_swapped_and_b_is_pinned_as_a(open_app: Open):
    app = open_app("compare", text="a bird", text_b="a cat")
    for wish, expected in (("swap", ("a cat", "a bird")), ("nonsense", ("a cat", "a bird")), ("pin", ("a bird", "a bird"))):
        ask_stage(app, "settings", {"sides": wish})
        assert tuple(app.session_state[f"compare_{name}"] for name in ("text", "text_b")) == expected


def test_a_hidden_token_is_undone_where_a_sentence_is_typed_and_not_where_a_link_brings_both(open_app: Open):
    app = open_app("compare", vary="changes", text="a bird sings", changes_b="hide~3_off~1")
    assert app.session_state["compare_changes_b"] == read_interventions("hide~3_off~1")
    app.query_params.update(text="a cat sleeps", changes_b="hide~2_off~1")
    app.run()
    assert app.session_state["compare_changes_b"] == read_interventions("hide~2_off~1")
    app.text_input(key="compare_text").set_value("a dog barks").run()
    assert app.session_state["compare_changes_b"] == read_interventions("off~1")
    assert TOKEN_CHANGES_UNDONE in says(app)
    check(app, (engine(), "a dog barks", ()), (engine(), "a dog barks", read_interventions("off~1")))


# Numbers below the picture
