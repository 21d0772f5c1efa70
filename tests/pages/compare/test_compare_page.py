"""The page of comparisons: what varies is what differs, everything else is shared, and both runs reach the browser whole."""

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.compare import below, texts
from pages.compare.below import difference_rows
from pages.compare.inputs import EXAMPLES, changes_in_full
from pages.compare.texts import FIRST_TEXT
from pages.ui.shell import cache
from pages.ui.stage.packing import RANDOM_WEIGHTS_NEED_BERT, RunName
from pages.ui.stage.texts import TOKEN_CHANGES_UNDONE
from tests.support.drawings import BIRD, says
from tests.support.staged import ask_stage, is_staged, sent_weights, staged
from tx_core.analysis import comparison
from tx_core.analysis.comparison import compare_attention, cosines, list_links, spell_words, word_similarities, word_vectors
from tx_core.analysis.views import view, word_groups
from tx_core.engine import catalogue
from tx_core.errors import ModelUnavailable
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


def test_second_sentences_are_read_when_asked_for(open_app: Open):
    app = open_app("compare", text="time flies", pair="a bird", pair_b="a cat")
    assert "bird" not in staged(app)["stacks"][0]["queries"]["tokens"]
    app.toggle(key="compare_two").set_value(True).run()
    sent = staged(app)
    sides = [stacks[0]["queries"]["words"] for stacks in (sent["stacks"], sent["run"]["stacks"])]
    assert sides == [["[CLS]", "time", "flies", "[SEP]", "a", one, "[SEP]"] for one in ("bird", "cat")]
    assert sent["address"]["own"]["two"] == "1"


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


def test_ambiguous_words_are_told_apart_and_a_chosen_one_stays_in_the_link(open_app: Open):
    app = open_app("compare", text="the dog saw the cat", text_b="the cat saw the dog", word="3-6")
    sent = staged(app)
    assert {"the (word 1 of A, 4 of B)", "dog"} <= {one["name"] for one in sent["followed"]}
    assert sent["view"]["word"] == [2, 5]
    hidden = open_app("compare", text="the dog saw the cat", text_b="the cat saw the dog", word="2-5", hide="1")
    assert staged(hidden)["view"]["word"] == [1, 4]  # a link counts the words that are shown
    assert staged(open_app("compare", text="the dog", text_b="the cat", word="3-3"))["view"]["word"] is None


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
    assert not is_staged(app)
    assert app.session_state["compare_text"] == asked.get("text", "a bird")


def test_random_weights_are_refused_for_a_model_that_is_not_ours(hub_engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cache, "engine", lambda _model, **_reading: hub_engine("roberta"))
    with pytest.raises(ModelUnavailable, match=RANDOM_WEIGHTS_NEED_BERT):
        RunName("roberta", FIRST_TEXT, "", False, (), 1).run()


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


@pytest.mark.parametrize(("head", "nearest"), [("12-4", [[5, 3]]), ("3-12", [[2, 7]]), ("12", [[5, head] for head in range(8)])])
def test_a_head_that_a_model_lacks_gives_way_to_the_nearest(open_app: Open, head: str, nearest: list):
    app = open_app("compare", text="a bird", head=head)
    info = engine().info
    note = texts.NEAREST_HEAD.format(model=engine().title, layers=info.num_layers, heads=info.num_heads)
    assert note in says(app)
    assert staged(app)["view"]["heads"] == nearest


# A and B


def test_the_sides_are_swapped_and_b_is_pinned_as_a(open_app: Open):
    app = open_app("compare", text="a bird", text_b="a cat")
    for wish, expected in (("swap", ("a cat", "a bird")), ("nonsense", ("a cat", "a bird")), ("pin", ("a bird", "a bird"))):
        ask_stage(app, "settings", {"sides": wish})
        assert tuple(app.session_state[f"compare_{name}"] for name in ("text", "text_b")) == expected


def test_a_change_that_names_a_token_goes_with_its_sentence_and_that_is_said(open_app: Open):
    app = open_app("compare", text="a bird sings", vary="changes", changes_b="off~1-2_hide~3")

    def outcome() -> tuple[str, bool]:
        return staged(app)["address"]["own"]["changes_b"], TOKEN_CHANGES_UNDONE in says(app)

    assert outcome() == ("off~1-2_hide~3", False)
    app.text_input(key="compare_text").set_value("some big birds sing").run()
    assert outcome() == ("off~1-2", True)
    app.text_input(key="compare_text").set_value("a bird sings").run()
    assert outcome() == ("off~1-2", False)


@pytest.mark.parametrize(
    ("linked", "note"),
    [("off~2-3", texts.BOTH_CHANGED_ONCE), ("cut~3-2_temperature~0.5~2", texts.BOTH_CHANGED)],
)
def test_changes_that_a_link_brings_are_described_in_full_and_one_click_takes_them_back(open_app: Open, linked: str, note: str):
    app = open_app("compare", text="a bird sings", changes=linked)
    changes = changes_in_full(read_interventions(linked))
    assert note.format(changes=changes) in says(app)
    app.button(key="compare_reset").click().run()
    assert "changes" not in staged(app)["address"]["own"]
    changed = open_app("compare", text="a bird sings", vary="changes", changes_b=linked)
    assert staged(changed)["titles"] == [texts.UNCHANGED_SIDE, texts.CHANGED_SIDE.format(changes=changes)]


# Numbers below the picture


def test_the_table_lists_every_link_with_both_weights_and_leaves_out_what_is_not_there():
    shown = [view(engine().trace(BIRD[name]).attention, merge_words=True) for name in ("text", "text_b")]
    spelled = [
        spell_words(engine().encode(BIRD[name]), one.query_places) for name, one in zip(("text", "text_b"), shown, strict=True)
    ]
    found = compare_attention(*shown, *spelled, *(one.weights[1, 2] for one in shown))
    rows = list(difference_rows(found, list_links(found)))
    for side, weights in ((2, found.one), (3, found.other)):
        assert {np.float32(row[side]) for row in rows if row[side] is not None} == set(weights.ravel())
        assert sum(row[side] is not None for row in rows) == weights.size
    for _, _, one, other, difference in rows:
        assert (difference is None) == (one is None or other is None)
        assert difference is None or difference == pytest.approx(other - one, abs=1e-7)


def test_a_table_too_long_to_show_names_the_largest_differences_of_the_view(open_app: Open, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(below, "MAX_LINK_ROWS", 7)
    app = open_app("compare", **BIRD)
    app.session_state["compare_table"] = True
    app.run()
    (shown,) = [element.value for element in app.dataframe]
    assert len(shown) == 7
    assert shown["B − A"].abs().is_monotonic_decreasing
    links = len(staged(app)["rows"]["10"]) ** 2 - 2  # between "small" and "loudly", of which neither has both
    assert texts.TABLE_CUT.format(all=links, shown=7) in says(app)
