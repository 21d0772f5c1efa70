"""The fill-mask page, as Streamlit runs it without a browser."""

import json
import re

import pytest
import torch
from cachetools import LRUCache
from streamlit.testing.v1 import AppTest
from torch import nn

from pages.ui import cache, prompts
from pages.ui.answers import COLUMNS, Answer, as_csv, rows
from pages.ui.blank_attention import FIRST_HEADS
from tx_core import models
from tx_core.fill_mask import predict
from tx_core.joint_filling import fill_jointly
from tx_core.placement import FALLBACK_NOTICE
from tx_core.word_scores import named_words, score_words

EXAMPLES = json.loads(prompts.EXAMPLES.read_text(encoding="utf-8"))


@pytest.fixture
def page(open_app):
    """Open the page by a link: page(text="…", named="…")."""

    def visit(**address: str) -> AppTest:
        app = open_app("fill_mask", **address)
        assert not app.exception, app.exception
        return app

    return visit


def charts(app: AppTest) -> dict[str, list[str]]:
    """The charts of the page by title, each as the texts at its bars."""
    found = {}
    for chart in app.get("plotly_chart"):
        title, told = chart.proto.alt.split(": ", 1)
        found.setdefault(title, []).append(told)
    return found


def said(app: AppTest) -> str:
    """Everything that the page says outside its charts."""
    return "\n".join(element.value for kind in (app.markdown, app.caption, app.text) for element in kind)


def pills(app: AppTest):
    return next(group for group in app.button_group if group.key == "fill_mask_text_blanks")


def click_word(app: AppTest, place: int) -> AppTest:
    """Click the pill of the word or blank at this place."""
    group = pills(app)
    chosen = set(app.session_state["fill_mask_text_blanks"]) ^ {place}
    return group.set_value(sorted(chosen)).run()


def text_of(app: AppTest) -> str:
    return app.text_input(key="fill_mask_text").value


def test_an_example_is_already_answered_on_arrival(page):
    app = page()
    best = predict(models.load(models.DEFAULT), text_of(app), top_k=8).blanks[0].predictions
    (told,) = charts(app)["Most likely words"]
    assert told.startswith(f"{best[0].word} {best[0].probability:.2%}".replace("%", " %"))
    assert told.count("%") == 8
    assert "Where does the blank look?" in [subheader.value for subheader in app.subheader]


def test_typing_asks_the_model_about_what_was_typed(page):
    app = page()
    before = charts(app)
    app.text_input(key="fill_mask_text").set_value("[MASK] you very much.").run()
    assert charts(app) != before
    assert charts(app)["Most likely words"][0].startswith("thank ")


class FullCard(nn.Module):
    """A model on a graphics card that has no memory left."""

    def forward(self, *inputs, **options):
        raise torch.OutOfMemoryError("no memory left")


def test_predictions_made_on_the_cpu_because_the_card_is_full_say_so(page, monkeypatch: pytest.MonkeyPatch):
    text = "A ___ whose card is full."
    assert not page(text=text).info
    placement = models.load(models.DEFAULT).placement
    monkeypatch.setattr(cache, "_kept", LRUCache(10**8, getsizeof=lambda kept: kept.nbytes))
    monkeypatch.setattr(placement, "_on_cpu", placement._model)
    monkeypatch.setattr(placement, "_model", FullCard())
    monkeypatch.setattr(placement, "device", "meta")
    app = page(text=text)
    assert FALLBACK_NOTICE in [info.value for info in app.info]
    assert "Most likely words" in charts(app)


def test_several_blanks_have_a_list_each_and_the_best_fillings_together(page):
    app = page(text="He drinks a cup of ___ every <mask>.")
    shown = charts(app)
    assert list(shown) == ["Blank 1", "Blank 2", "All blanks together"]
    best = fill_jointly(models.load(models.DEFAULT), "He drinks a cup of ___ every <mask>.")[0]
    assert shown["All blanks together"][0].startswith(" … ".join(best.words))
    assert f"Best: {best.sentence}" in said(app)


def test_named_words_are_scored_at_every_blank_and_it_is_said_how(page):
    app = page(text="She ate a [MASK] and a [MASK].", named="pizza, pancake, 😀")
    shown = charts(app)
    for blank in (1, 2):
        told = shown[f"Your words at blank {blank}"][0]
        assert re.match(r"pizza [\d.]+ %, pancake \(3 pieces\) ", told)
    assert "“😀” – The model's vocabulary has no way to write this." in said(app)
    assert "compare only words of equally many pieces" in said(app)


def test_a_clicked_word_becomes_a_blank_and_a_clicked_blank_the_word_again(page):
    app = page(text="The cat saw the dog.")
    click_word(app, 4)
    assert text_of(app) == "The cat saw the [MASK]."
    click_word(app, 1)
    assert text_of(app) == "The [MASK] saw the [MASK]."
    click_word(app, 4)
    assert text_of(app) == "The [MASK] saw the dog."
    app.text_input(key="fill_mask_text").set_value("The [MASK] saw the dog today.").run()
    click_word(app, 1)
    assert text_of(app) == "The cat saw the dog today."


def test_a_blank_that_was_typed_is_filled_with_the_models_favourite(page):
    app = page(text="[MASK] you very much.")
    click_word(app, 0)
    assert text_of(app) == "thank you very much."


def test_equal_words_are_told_apart(page):
    app = page(text="the the [MASK] [MASK] the")
    options = [option.content for option in pills(app).proto.options]
    assert len(set(options)) == 5
    assert [option.rstrip("\u200b") for option in options] == ["the", "the", r"\[MASK\]", r"\[MASK\]", "the"]


def test_without_a_blank_there_is_a_hint_and_one_click_makes_one(page):
    app = page(text="The cat sleeps.")
    assert "There is no blank yet" in said(app)
    assert charts(app) == {}
    app.button(key="fill_mask_text_last").click().run()
    assert text_of(app) == "The cat [MASK]."
    assert "Most likely words" in charts(app)


def test_two_sentences_stand_side_by_side(page):
    app = page(text="The man worked as a [MASK].", compare="1", second="The woman worked as a [MASK].", named="nurse")
    shown = charts(app)
    assert [len(shown[title]) for title in ("Most likely words", "Your words")] == [2, 2]
    assert shown["Your words"][0] != shown["Your words"][1]


def test_one_sentence_that_cannot_be_filled_leaves_the_other(page):
    app = page(text="", compare="1", second="A [MASK].")
    assert "There is no text yet" in said(app)
    assert len(charts(app)["Most likely words"]) == 1


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["title"])
def test_an_example_brings_its_sentences_and_says_what_to_notice(page, example):
    app = page()
    group = next(group for group in app.button_group if group.key == "fill_mask_example")
    group.set_value(example["title"]).run()
    assert not app.exception
    assert text_of(app) == example["text"]
    assert app.toggle(key="fill_mask_compare").value == bool(example["second"])
    assert example["notice"] in said(app)
    assert len(app.get("plotly_chart")) > 0


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["title"])
def test_what_an_example_claims_is_true_of_the_embedded_model(example):
    engine = models.load(models.DEFAULT)
    shares = {
        (name, blank, score.word): score.probability
        for name in ("text", "second")
        if example[name]
        for blank in range(len(engine.encode(example[name]).blanks))
        for score in score_words(engine, example[name], named_words(f"{example['named']}, coffee, morning"), blank=blank)
    }
    for name, blank, word, other_name, other_word in example["claims"]:
        assert shares[name, blank, word] > 1.2 * shares[other_name, blank, other_word]
    limit = int(example["limit"]) / 100
    for name in filter(None, (example["text"], example["second"])):
        for blank in predict(engine, name, top_k=1).blanks:
            assert blank.predictions[0].probability <= limit


@pytest.mark.parametrize(("model", "title"), [("gpt2", "GPT-2 small"), ("electra-small", "ELECTRA small (discriminator)")])
def test_a_model_without_a_masked_word_head_says_so_and_one_that_has_it_is_a_click_away(page, model, title):
    app = page(model=model, text="The ___ sleeps.")
    assert f"{title} has no masked-word head" in said(app)
    assert charts(app) == {}
    app.button(key="fill_mask_model_default").click().run()
    assert "Most likely words" in charts(app)
    assert text_of(app) == "The ___ sleeps."


BAD = {
    "empty": ("", "There is no text yet"),
    "spaces": ("   ", "There is no text yet"),
    "one token": ("cat", "There is no blank yet"),
    "one blank": ("___", ""),
    "exactly the budget": ("___ " + "tea " * 125, ""),
    "one over": ("___ " + "tea " * 126, "129 tokens long and the model reads at most 128"),
    "ten thousand characters": ("___ " + "x" * 10_000, ""),
    "ten thousand characters of words": ("___ " + "tea " * 2_500, "shorten it by"),
    "a hundred blanks": ("[MASK] " * 100, "100 blanks and at most 10 are filled at a time"),
    "emoji": ("👩‍👩‍👧 I ___ 🍕", ""),
    "right to left": ("אני ___ אותך", ""),
    "combining": ("e\u0301\u0302\u0303 ___ a\u030a", ""),
    "NUL": ("nul\x00 ___ \x00", ""),
    "markup": ("<script>alert(1)</script> <img src=x onerror=alert(1)> ___", ""),
    "markdown": ("**bold** [a](javascript:alert(1)) :material/home: $x$ ___", ""),
    "a formula": ("=1+1 ___", ""),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_answered_or_explained_and_stays_in_its_box(page, text, message):
    app = page()
    app.text_input(key="fill_mask_text").set_value(text).run()
    assert not app.exception
    assert text_of(app) == text
    assert message in said(app)
    assert bool(charts(app)) == (not message)


@pytest.mark.parametrize("text", [text for text, _ in BAD.values()], ids=BAD)
def test_no_text_is_shown_as_markup(page, text):
    app = page(named="<b>x</b>, **y**")
    app.text_input(key="fill_mask_text").set_value(text).run()
    assert not any("<script" in markdown.value or "**bold" in markdown.value for markdown in app.markdown)
    for chart in app.get("plotly_chart"):
        assert not re.search(r"<(script|img|b)\b", chart.proto.spec)


def test_too_many_words_to_ask_for_are_explained_and_stay(page):
    many = ", ".join(f"word{number}" for number in range(30))
    app = page(named=many)
    assert "30 words and at most 20" in said(app)
    assert app.text_input(key="fill_mask_named").value == many
    assert "Most likely words" in charts(app)


def test_a_link_with_nonsense_in_every_parameter_falls_back(page):
    app = page(
        compare="maybe", model="../../etc/passwd", listed="-5", limit="1e9", temperature="NaN", top_p="2",
        blank="x", heads="9-9-9", focus="-1", lines="many", scale="<script>", show="all", words="2", hide="?", stack="0",
    )  # fmt: skip
    assert "Most likely words" in charts(app)


def test_a_blank_beyond_the_last_falls_back_to_the_first(page):
    app = page(text="A ___ and a ___.", blank="20")
    assert app.session_state["fill_mask_blank"] == 1


def test_the_view_is_in_the_address(page):
    app = page(text="A ___ and a ___.", named="cat", listed="3", limit="20", temperature="2", top_p="0.5", blank="2")
    for name in ("text", "named", "listed", "limit", "temperature", "top_p", "blank"):
        assert name in app.query_params
    assert [told.count("%") for told in charts(app)["Blank 1"]] == [3]
    assert "temperature 2 and only the top 50%" in said(app)
    app.text_input(key="fill_mask_text").set_value("Another ___ and a ___.").run()
    assert app.query_params["text"] == "Another ___ and a ___."


def test_the_focus_of_the_attention_is_on_the_chosen_blank(page):
    app = page(text="A ___ and a ___.")
    assert app.session_state["fill_mask_focus"] == 2
    next(group for group in app.button_group if group.key == "fill_mask_blank").set_value(2).run()
    assert app.session_state["fill_mask_focus"] == 5


def answer_of(text: str, words: str) -> Answer:
    engine = models.load(models.DEFAULT)
    filling = predict(engine, text, top_k=3)
    scores = tuple(score_words(engine, text, named_words(words), blank=blank.number) for blank in filling.blanks)
    return Answer(text, filling, scores, fill_jointly(engine, text, best=2) if len(filling.blanks) > 1 else ())


def test_the_table_holds_every_number_of_the_charts():
    found = answer_of("A ___ and a ___.", "cat, banana")
    table = rows(found)
    assert len(table) == 2 * 3 + 2 * 2 + 2
    assert all(len(row) == len(COLUMNS) for row in table)
    assert [row[4] for row in table[:3]] == [entry.probability for entry in found.filling.blanks[0].predictions]
    assert table[-2][6] == found.joint[0].sentence


def test_no_cell_of_the_file_begins_like_a_formula():
    lines = as_csv([answer_of("=1+1 ___ and ___", "+cat, @dog, -x")]).splitlines()
    cells = [cell.strip('"') for line in lines for cell in line.split(",")]
    assert [cell for cell in cells if cell[:1] in "=+-@" and cell] == []
    assert "'=1+1 ___ and ___" in cells


def test_the_head_shown_first_looks_at_the_word_that_decides_the_blank():
    attention = models.load(models.DEFAULT).trace(EXAMPLES[0]["text"]).attention
    (layer, head), tokens = FIRST_HEADS[0], attention.query_tokens
    row = attention.weights[layer, head, tokens.blanks[0]]
    assert tokens.tokens[row.argmax()] == "yesterday"
    assert row.max() > 0.5
