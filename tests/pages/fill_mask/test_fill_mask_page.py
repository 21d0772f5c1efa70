"""The fill-mask page, as Streamlit runs it without a browser: what it answers, and what its link brings back."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from pages.fill_mask import texts
from pages.fill_mask.blank_attention import ONLY_LIST
from pages.fill_mask.export import Lists, lists_export
from pages.fill_mask.predictions import describe_shift
from pages.fill_mask.prompts import QUOTED_MODEL, curated, quoted_words
from pages.ui.panels import texts as panel_texts
from pages.ui.panels.predictions import ListSettings, SentencePredictions, joint_fillings, top_predictions, word_scores
from tests.support.drawings import changes_drawn, maps, unpacked, walls
from tests.support.drawn_bars import bars_told, drawn_bars
from tx_core.engine import catalogue
from tx_core.engine.engine import NO_WORD_HEAD
from tx_core.engine.tokenizer import NO_SENTENCE
from tx_core.fill_mask.prediction_shift import shift_predictions
from tx_core.fill_mask.predictions import fill_jointly, predict
from tx_core.fill_mask.word_scores import LENGTH_NOTE, NOT_IN_VOCABULARY, score_words
from tx_core.transformer.interventions import read_interventions


def said(app: AppTest) -> str:
    """Everything that the page says outside its charts."""
    return "\n".join(element.value for kind in (app.markdown, app.caption, app.text) for element in kind)


def text_of(app: AppTest) -> str:
    return app.text_input(key="fill_mask_text").value


def test_a_link_may_show_the_list_alone_and_one_click_shows_where_the_blank_looks(open_app):
    app = open_app("fill_mask", text="Yesterday I [MASK] to school.", **{ONLY_LIST: "1"})
    assert bars_told(app)[texts.TOP_WORDS][0].startswith("went ")
    assert (maps(app), walls(app)) == ([], [])
    assert app.query_params[ONLY_LIST] == "1"
    app.button(key="fill_mask_where").click().run()
    assert len(maps(app)) == len(walls(app)) == 1
    assert ONLY_LIST not in app.query_params
    assert "fill_mask_where" not in [button.key for button in app.button]
    assert changes_drawn(open_app("fill_mask", text="Yesterday I [MASK] to school.", changes="off~5-7", **{ONLY_LIST: "1"}))


def test_named_words_are_scored_at_every_blank_and_it_is_said_how(open_app):
    text = "She ate a [MASK] and a [MASK]."
    app = open_app("fill_mask", text=text, named="pizza, unbelievablenesses, 😀")
    _, long, _ = score_words(catalogue.load(catalogue.DEFAULT), text, ("pizza", "unbelievablenesses", "😀"), blank=0)
    assert len(long.pieces) > 1
    for blank in (1, 2):
        (told,) = bars_told(app)[f"Your words at blank {blank}"]
        assert re.match(rf"pizza .+, unbelievablenesses \({len(long.pieces)} pieces\) ", told)
    assert texts.NOT_SCORED.format(word="😀", reason=NOT_IN_VOCABULARY) in said(app)
    assert LENGTH_NOTE in said(app)


def test_what_is_exported_is_what_the_bars_show(open_app):
    text, named = "She ate a [MASK] and a [MASK].", "pizza, 😀"
    shown = [
        {name: part for name, part in chart.items() if name not in ("details", "guesses", "texts")}
        for chart in drawn_bars(open_app("fill_mask", text=text, named=named, listed="3", limit="20"))
    ]
    chosen = ListSettings(3, 1, 1, 0.2)
    engine = catalogue.load("embedded")
    filling = top_predictions(engine, text, chosen)
    scores = tuple(word_scores(engine, text, ("pizza", "😀"), number) for number in range(2))
    lists = Lists("embedded", (SentencePredictions(text, filling, scores, joint_fillings(engine, text)),), chosen)
    assert unpacked(lists_export(lists).figure())[0]["charts"] == shown[:-2]  # the last two: the blank that is looked at


def test_blanks_are_filled_without_special_tokens_where_the_reader_leaves_them_out(open_app):
    text, named = "She ate a [MASK] and a [MASK].", "pizza, unbelievablenesses"
    app = open_app("fill_mask", text=text, named=named, listed="3", changes="off~2-1", blank="2")
    app.toggle(key="fill_mask_nospecial").set_value(True).run()
    bare = catalogue.load("embedded", special_tokens=False)
    shown = {chart["title"]: chart for chart in drawn_bars(app)}
    for number, blank in enumerate(predict(bare, text, top_k=3).blanks):
        title = texts.BLANK.format(number=number + 1)
        assert shown[title]["values"] == pytest.approx([one.probability for one in blank.predictions], abs=1e-6)
        scores = score_words(bare, text, named.split(", "), blank=number)
        title = texts.CHECKED_WORDS_AT.format(number=number + 1)
        assert shown[title]["values"] == pytest.approx([score.probability for score in scores], rel=1e-4)
    together = [one.probability for one in fill_jointly(bare, text)]
    assert shown[texts.JOINT]["values"] == pytest.approx(together, rel=1e-4)
    shift = shift_predictions(bare, text, read_interventions("off~2-1"), top_k=3).blanks[1]
    assert describe_shift(shift) in said(app)
    assert panel_texts.READ_WITHOUT.format(tokens="\\[CLS\\] and \\[SEP\\]") in said(app)
    assert app.query_params["nospecial"] == "1"
    assert drawn_bars(open_app("fill_mask", **app.query_params)) == drawn_bars(app)
    assert changes_drawn(app)[-1][0]["queries"] == list(bare.encode(text).tokens)


def test_what_an_example_says_and_what_is_quoted_are_not_said_of_a_text_without_special_tokens(open_app, monkeypatch):
    monkeypatch.setattr(catalogue.hub_reach, "out_of_reach", lambda: frozenset({QUOTED_MODEL}))
    example = next(one for one in curated() if quoted_words(one.text))
    quote = texts.QUOTED.partition("{")[0]
    for special in ("0", "1"):
        app = open_app("fill_mask", text=example.text, nospecial=special)
        assert (example.notice in said(app), quote in said(app)) == ((special == "0"),) * 2
    app.pills(key="fill_mask_example").set_value(example.title).run()
    assert app.toggle(key="fill_mask_nospecial").value is False


def test_two_sentences_stand_side_by_side_and_against_each_other(open_app):
    both = {"text": "The man worked as a [MASK].", "second": "The woman worked as a [MASK]."}
    app = open_app("fill_mask", compare="1", named="nurse, lawyer", **both)
    engine = catalogue.load(catalogue.DEFAULT)
    assert [chart["kind"] for chart in drawn_bars(app)] == ["bars", "bars", "moved", "moved", "bars", "bars"]
    words, named = drawn_bars(app)[2:4]
    assert words["sides"] == list(texts.SIDES)
    for chart in (words, named):
        for word, before, after, delta in zip(chart["labels"], chart["before"], chart["after"], chart["deltas"], strict=True):
            one, two = (score_words(engine, text, [word])[0].probability for text in both.values())
            assert (before, after) == pytest.approx((one, two), abs=1e-5)
            assert float(delta.replace("−", "-")) == pytest.approx(100 * (two - one), abs=0.06)
    assert named["labels"] == ["nurse", "lawyer"]


def test_one_sentence_that_cannot_be_filled_leaves_the_other(open_app):
    app = open_app("fill_mask", text="", compare="1", second="A [MASK].")
    assert NO_SENTENCE in said(app)
    assert len(bars_told(app)["Most likely words"]) == 1


def test_a_model_without_a_masked_word_head_says_so_and_one_that_has_it_is_a_click_away(open_app):
    app = open_app("fill_mask", model="electra-small", text="The ___ sleeps.")
    assert NO_WORD_HEAD.format(title="ELECTRA small (discriminator)") in said(app)
    assert bars_told(app) == {}
    app.button(key="fill_mask_model_default").click().run()
    assert "Most likely words" in bars_told(app)
    assert text_of(app) == "The ___ sleeps."


def test_the_focus_of_the_attention_is_on_the_chosen_blank(open_app):
    app = open_app("fill_mask", text="A ___ and a ___.", blank="20")
    assert (app.session_state["fill_mask_blank"], app.session_state["fill_mask_focus"]) == (1, 2)  # there are two
    next(group for group in app.button_group if group.key == "fill_mask_blank").set_value(2).run()
    assert app.session_state["fill_mask_focus"] == 5


def test_an_address_that_lags_behind_the_typing_takes_no_letter_back(open_app):
    app = open_app("fill_mask", text="A ___ is")
    before = dict(app.query_params)
    app.text_input(key="fill_mask_text").set_value("A ___ is here").run()
    after = dict(app.query_params)
    for name, value in before.items():  # the browser had not heard of the new address when it sent the next letters
        app.query_params[name] = value
    app.text_input(key="fill_mask_text").set_value("A ___ is here now").run()
    assert text_of(app) == "A ___ is here now"
    for name, value in after.items():  # the way back, on which no letter was typed
        app.query_params[name] = value
    app.run()
    assert text_of(app) == "A ___ is here"
