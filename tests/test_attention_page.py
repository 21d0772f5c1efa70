"""The attention page: what is typed, chosen or linked is what is shown, and nothing that is typed can break it."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from cachetools import LRUCache
from checkpoints import write_t5
from serving import ROOT
from streamlit.testing.v1 import AppTest

from pages.ui import cache, controls
from tx_core import models, sentences, views
from tx_core.trace import Encoding

Open = Callable[..., AppTest]
FIRST = controls.curated()[0]


def drawn(app: AppTest) -> dict[str, tuple[dict, np.ndarray]]:
    """What the wall and the map were sent: header and cells of each."""
    sent = {}
    for element in app.get("bidi_component"):
        if not (message := element.proto.bytes):
            continue  # the navigation is a component, too
        end = 4 + int.from_bytes(message[:4], "little")
        header = json.loads(message[4:end])
        cells = np.frombuffer(message[end:], "<u2" if header["bits"] == 16 else "u1")
        sent[element.proto.component_name.removeprefix("attention_explorer_")] = (header, cells)
    return sent


def shown_weights(app: AppTest) -> np.ndarray:
    """The weights that the map shows."""
    header, cells = drawn(app)["attention_map"]
    return ((cells / 65535) ** 2).reshape(len(header["queries"]), len(header["keys"]))


def says(app: AppTest) -> str:
    """All that the page says in plain text, notes and warnings."""
    return "\n".join(element.value for kind in (app.text, app.caption, app.info, app.warning, app.markdown) for element in kind)


def weights_of(text: str, pair: str | None = None, model: str = models.DEFAULT) -> np.ndarray:
    """The weights of a run outside any page."""
    return models.load(model).trace(text, pair).attention.weights


def test_on_arrival_an_example_is_drawn_with_what_to_notice_and_said_in_words(open_app: Open):
    app = open_app()
    assert not app.exception
    assert app.text_input(key="attention_text").value == FIRST.text
    assert app.pills(key="attention_example").value == FIRST.title
    assert FIRST.notice in says(app)
    (head,) = FIRST.heads
    share = weights_of(FIRST.text)[head][3, 1]
    assert f"'his' gives {share:.2f} of its attention to 'tom'" in app.text[0].value
    np.testing.assert_allclose(shown_weights(app), weights_of(FIRST.text)[head], atol=1e-4)
    assert drawn(app)["head_wall"][0]["chosen"] == [list(head)]
    assert app.query_params == {}


def test_a_typed_sentence_is_the_one_that_is_drawn(open_app: Open):
    app = open_app()
    app.text_input(key="attention_text").set_value("I like cats.").run()
    header, _ = drawn(app)["attention_map"]
    assert header["queries"] == header["keys"] == ["[CLS]", "i", "like", "cats", ".", "[SEP]"]
    assert header["focus"] is None
    np.testing.assert_allclose(shown_weights(app), weights_of("I like cats.")[FIRST.heads[0]], atol=1e-4)
    assert app.pills(key="attention_example").value is None
    assert app.query_params == {"text": "I like cats."}


def test_a_pair_is_read_with_segments(open_app: Open):
    app = open_app(text="time flies", pair="fruit flies")
    np.testing.assert_allclose(shown_weights(app), weights_of("time flies", "fruit flies")[FIRST.heads[0]], atol=1e-4)
    assert "7 of 128 tokens" in says(app)


@pytest.mark.parametrize("example", controls.curated(), ids=lambda example: example.title)
def test_an_example_is_wired_to_the_boxes_and_to_its_view(open_app: Open, example: controls.Example):
    app = open_app(text="something else", hide="1")
    app.pills(key="attention_example").set_value(example.title).run()
    assert not app.exception
    assert app.text_input(key="attention_text").value == example.text
    assert app.text_input(key="attention_pair").value == example.pair
    assert app.session_state["attention_heads"] == list(example.heads)
    assert app.toggle(key="attention_words").value == example.words
    assert app.toggle(key="attention_hide").value is False
    assert example.notice in says(app)


@pytest.mark.parametrize(
    "entry", json.loads((ROOT / "assets" / "examples.json").read_text("utf-8")), ids=lambda entry: entry["title"]
)
def test_what_an_example_claims_is_true_of_the_embedded_model(entry: dict):
    run = models.load(models.DEFAULT).trace(entry["text"], entry["pair"])
    shown = views.view(run.attention, merge_words=entry["words"])
    weights = views.mean_of_heads(shown.weights, [(layer - 1, head - 1) for layer, head in entry["heads"]])
    for looking, looked_at, least in entry["links"]:
        query, key = shown.queries.index(looking), shown.keys.index(looked_at)
        assert weights[query, key] >= least
        assert weights[query].argmax() == key
        assert f"'{looking}'" in entry["notice"]
        assert f"'{looked_at}'" in entry["notice"]
    if entry["focus"] is not None:
        assert shown.queries[shown.row_of(entry["focus"] - 1)] == entry["links"][0][0]
    if "step" in entry:
        step, least = entry["step"]
        assert np.trace(weights, step) / len(weights) >= least
    if "special" in entry:
        assert (weights * shown.key_special).sum(1).mean() >= entry["special"]
    assert entry["links"] or "special" in entry


def test_choosing_heads_computes_nothing_anew(open_app: Open, monkeypatch: pytest.MonkeyPatch):
    app = open_app(text="Nothing is computed twice.")
    expected = weights_of("Nothing is computed twice.")

    def refuse(*_arguments, **_options):
        raise AssertionError("the model was run again")

    monkeypatch.setattr(type(models.load(models.DEFAULT)), "trace", refuse)
    app.session_state["attention_heads"] = [(1, 5), (2, 0)]
    app.run()
    assert not app.exception
    np.testing.assert_allclose(shown_weights(app), (expected[1, 5] + expected[2, 0]) / 2, atol=1e-4)
    assert "Mean of 2 heads" in app.text[0].value
    assert app.query_params["heads"] == "2-6_3-1"


def test_hidden_special_tokens_are_told_with_their_share(open_app: Open):
    app = open_app(text=FIRST.text, hide="1")
    header, _ = drawn(app)["attention_map"]
    assert header["keys"] == ["tom", "lost", "his", "keys", "."]
    np.testing.assert_allclose(shown_weights(app).sum(1), 1, atol=1e-3)
    lost = weights_of(FIRST.text)[FIRST.heads[0]][1:-1][:, [0, -1]].sum(1).mean()
    assert f"They took {lost:.2f} of the attention" in says(app)
    assert "scaled to sum to 1 again" in says(app)


def test_merged_words_are_shown_and_how_is_said(open_app: Open):
    app = open_app(text="time flies", words="1")
    assert drawn(app)["attention_map"][0]["keys"] == ["[CLS]", "time", "flies", "[SEP]"]
    assert "sum over its pieces" in says(app)
    assert "mean over its pieces" in says(app)


def test_a_text_of_special_tokens_only_is_not_said_to_be_without_them(open_app: Open):
    app = open_app(text="[SEP] [CLS]", hide="1")
    assert drawn(app)["attention_map"][0]["queries"] == ["[CLS]", "[SEP]", "[CLS]", "[SEP]"]
    assert "Nothing is hidden" in says(app)
    assert "Special tokens are hidden" not in says(app)
    assert "Special tokens are hidden" in says(open_app(text="A bird", hide="1"))


def test_a_focus_stays_on_its_word_when_pieces_are_merged_and_special_tokens_hidden(open_app: Open):
    app = open_app(text="pancake fields burn", focus="5")
    assert drawn(app)["attention_map"][0]["focus"] == 4
    app.toggle(key="attention_words").set_value(True).run()
    assert drawn(app)["attention_map"][0]["focus"] == 2
    app.toggle(key="attention_hide").set_value(True).run()
    assert drawn(app)["attention_map"][0]["focus"] == 1
    assert app.text[0].value.startswith(f"{controls.head_name(FIRST.heads[0])}. 'fields' gives")
    assert app.query_params["focus"] == "5"


def test_a_copied_link_brings_exactly_the_view_back(open_app: Open):
    app = open_app()
    app.text_input(key="attention_text").set_value("A <b>bird</b> & a half").run()
    app.text_input(key="attention_pair").set_value("% + ü 日本").run()
    app.session_state["attention_heads"] = [(0, 7), (3, 2)]
    app.run()
    app.toggle(key="attention_hide").set_value(True).run()
    app.slider(key="attention_lines").set_value(7).run()
    app.selectbox(key="attention_scale").set_value("cividis").run()
    again = open_app(**app.query_params)
    assert not again.exception
    for name in ("attention_map", "head_wall"):
        (header, cells), (header_again, cells_again) = drawn(app)[name], drawn(again)[name]
        assert header == header_again
        np.testing.assert_array_equal(cells, cells_again)
    assert again.query_params == app.query_params
    assert again.text[0].value == app.text[0].value


def test_a_browser_that_draws_a_control_only_after_a_second_run_is_still_told_its_value(open_app: Open):
    app = open_app(text="A bird", heads="1-2", words="1", lines="7", scale="greys").run()
    controls_drawn = [
        app.text_input(key="attention_text"), app.selectbox(key="attention_heads_named"), app.toggle(key="attention_words"),
        app.slider(key="attention_lines"), app.selectbox(key="attention_scale"),
    ]  # fmt: skip
    assert all(control.proto.set_value for control in controls_drawn)
    app.text_input(key="attention_text").set_value("Typed by hand").run().run()
    assert not app.text_input(key="attention_text").proto.set_value


def test_back_in_the_browser_brings_the_earlier_view_back(open_app: Open):
    app = open_app()
    app.text_input(key="attention_text").set_value("A bird sings.").run()
    app.toggle(key="attention_words").set_value(True).run()
    app.query_params = {"text": "A bird sings."}
    assert app.run().toggle(key="attention_words").value is False
    app.query_params = {}
    assert app.run().text_input(key="attention_text").value == FIRST.text


def test_the_view_is_still_there_after_a_visit_to_another_page(open_app: Open):
    app = open_app(text="A bird sings.", heads="1-2", words="1")
    app.query_params = {}
    app.switch_page("fill_mask.py").run()
    app.switch_page("attention.py").run()
    assert app.text_input(key="attention_text").value == "A bird sings."
    assert app.session_state["attention_heads"] == [(0, 1)]
    assert app.toggle(key="attention_words").value is True
    assert app.query_params == {"text": "A bird sings.", "heads": "1-2", "words": "1"}


NONSENSE = "<script>alert(1)</script>"


def test_nonsense_in_every_parameter_falls_back_and_says_so(open_app: Open):
    names = ("model", "stack", "heads", "words", "hide", "show", "lines", "scale", "focus")
    app = open_app(text="A bird", **dict.fromkeys(names, NONSENSE), unheard_of="1")
    assert not app.exception
    assert f"not known here: {', '.join(names)}." in says(app)
    assert drawn(app)["head_wall"][0]["chosen"] == [list(head) for head in FIRST.heads]
    assert app.query_params == {"text": "A bird"}


def test_heads_and_tokens_that_do_not_exist_are_told(open_app: Open):
    app = open_app(text="A bird", heads="99-1_2-2", focus="77")
    assert "4 layers of 8 heads" in says(app)
    assert "no token 77" in says(app)
    assert app.session_state["attention_heads"] == [(1, 1)]


def test_a_link_that_gives_a_parameter_twice_is_read(open_app: Open):
    assert not open_app(text=["A bird", "A fish"], heads=["1-1", "2-2"]).exception


@pytest.mark.parametrize("text", ["", "   ", "\u00a0\u2003"])
def test_no_text_is_told_and_the_page_stays_usable(open_app: Open, text: str):
    app = open_app(text=text, heads="2-2")
    assert not app.exception
    assert "There is no text yet" in says(app)
    app.text_input(key="attention_text").set_value("Now there is.").run()
    assert drawn(app)["head_wall"][0]["chosen"] == [[1, 1]]


@pytest.mark.parametrize("text", ["\x00\x01", "\u200b", "\ufeff"])
def test_text_with_nothing_in_it_for_the_model_never_breaks_the_page(open_app: Open, text: str):
    app = open_app(text=text)
    assert not app.exception
    assert app.text_input(key="attention_text").value == text
    assert "There is nothing here that the model can read" in says(app) or drawn(app)


HOSTILE = [
    "a", "💥", "👩‍👩‍👧‍👦 🏳️‍🌈", "שלום עולם", "مرحبا بالعالم", "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L", "nul \x00 inside", NONSENSE,
    "</script><img src=x onerror=alert(1)>", "**bold** :red[x] $x^2$ [a](javascript:alert(1))", "'; DROP TABLE x; --",
    "[CLS] [SEP] [MASK] [PAD] [UNK]", "=HYPERLINK(1)", "\u202eRTL override", "___ " * 100, "{}{0}%s%n\\u0000",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_is_shown_as_text_and_kept(open_app: Open, text: str):
    app = open_app(text="A bird", pair="", words="1")
    app.text_input(key="attention_text").set_value(text).run()
    assert not app.exception
    assert app.text_input(key="attention_text").value == text
    encoding: Encoding = models.load(models.DEFAULT).encode(text)
    assert f"{len(encoding)} of 128 tokens" in says(app)
    header, _ = drawn(app)["attention_map"]
    assert len(header["keys"]) == len(views.word_groups(encoding))
    assert all(text not in element.value for element in app.markdown if len(text) > 3)


def test_exactly_the_budget_is_drawn_and_one_over_is_told_by_how_much(open_app: Open):
    app = open_app(text="tea " * 126)
    assert "128 of 128 tokens" in says(app)
    assert drawn(app)["attention_map"][1].size == 128 * 128
    app.text_input(key="attention_text").set_value("tea " * 127).run()
    assert "129 of 128 tokens" in says(app)
    assert "shorten it by 1 token" in says(app)
    assert app.text_input(key="attention_text").value == "tea " * 127
    assert not drawn(app)


@pytest.mark.parametrize("length", [10_000, 30_000])
def test_a_far_too_long_text_is_kept_and_told(open_app: Open, length: int):
    text = ("word " * length)[:length]
    app = open_app()
    app.text_input(key="attention_text").set_value(text).run()
    assert not app.exception
    assert app.text_input(key="attention_text").value == text
    assert "horten it" in says(app)
    app.session_state["share_link"] = True
    assert "link of" in says(app.run())


def test_unknown_words_are_counted(open_app: Open):
    assert "One word or sign is not in this model's vocabulary" in says(open_app(text="a 💥 b"))
    assert "2 words or signs are not" in says(open_app(text="💥 and 💥"))
    assert not open_app(text="A bird").warning


def test_a_model_that_cannot_be_had_leaves_the_page_usable_and_the_text_in_place(open_app: Open, monkeypatch):
    monkeypatch.setattr(models, "fetch", unreachable)
    monkeypatch.setattr(models, "_failed", {})  # what cannot be reached here can be in other tests
    app = open_app(text="A bird sings.", model="roberta-base", heads="1-2")
    assert not app.exception
    assert "cannot be reached now" in says(app)
    assert app.text_input(key="attention_text").value == "A bird sings."
    app.button(key="attention_model_default").click().run()
    assert drawn(app)["head_wall"][0]["chosen"] == [[0, 1]]
    assert app.query_params == {"text": "A bird sings.", "heads": "1-2"}


def unreachable(hub_id: str, revision: str | None) -> Path:
    raise models.ModelUnavailable(f"{hub_id} cannot be reached now.")


def test_a_model_with_several_attentions_offers_each_with_its_own_axes(open_app: Open, monkeypatch, tmp_path: Path):
    checkpoint = write_t5(tmp_path)
    monkeypatch.setattr(models, "fetch", lambda hub_id, revision: checkpoint)
    monkeypatch.setattr(models, "_engines", LRUCache(1))
    monkeypatch.setattr(cache, "_kept", LRUCache(10**8, getsizeof=lambda kept: kept.nbytes))
    app = open_app(text="time flies like an arrow", pair="fruit flies", model="t5-small", heads="1-1", stack="cross")
    assert not app.exception
    stacks = cache.trace("t5-small", "time flies like an arrow", "fruit flies").stacks
    cross = next(stack for stack in stacks if stack.kind == "cross")
    header, _ = drawn(app)["attention_map"]
    assert header["queries"] == list(cross.query_tokens.tokens)
    assert header["keys"] == list(cross.key_tokens.tokens)
    assert header["queries"] != header["keys"]
    np.testing.assert_allclose(shown_weights(app), cross.weights[0, 0], atol=1e-4)
    assert app.query_params["stack"] == "cross"


def test_the_table_holds_the_weights_that_are_drawn(open_app: Open):
    app = open_app(heads="2-6")
    assert not app.dataframe
    app.session_state["attention_table"] = True
    app.run()
    table = app.dataframe[0].value
    assert list(table.columns) == list(table.index) == ["1 [CLS]", "2 tom", "3 lost", "4 his", "5 keys", "6 .", "7 [SEP]"]
    np.testing.assert_allclose(table.to_numpy(), weights_of(FIRST.text)[1, 5], atol=1e-4)


def test_what_is_said_is_what_the_tensor_says(open_app: Open):
    app = open_app(text="A small dog barks.", heads="1-6")
    weights = weights_of("A small dog barks.")[0, 5]
    tokens = models.load(models.DEFAULT).encode("A small dog barks.").tokens
    special = [token.startswith("[") for token in tokens]
    assert app.text[0].value == f"Layer 1, head 6. {sentences.strongest_link(weights, tokens, tokens, special, special)}"
