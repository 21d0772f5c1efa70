"""The examples of the fill-mask page: each is a click away, and what it claims is true of the embedded model."""

import json

import pytest

from pages.fill_mask import prompts
from pages.fill_mask.blank_attention import FIRST_HEADS
from tests.support.drawn_bars import drawn_bars
from tx_core.engine import catalogue
from tx_core.fill_mask.predictions import predict
from tx_core.fill_mask.word_scores import read_words, score_words

EXAMPLES = json.loads(prompts.EXAMPLES.read_text(encoding="utf-8"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["title"])
def test_an_example_brings_its_sentences_and_says_what_to_notice(open_app, example):
    app = open_app("fill_mask")
    group = next(group for group in app.button_group if group.key == "fill_mask_example")
    group.set_value(example["title"]).run()
    assert not app.exception
    assert app.text_input(key="fill_mask_text").value == example["text"]
    assert app.toggle(key="fill_mask_compare").value == bool(example["second"])
    assert any(example["notice"] in markdown.value for markdown in app.markdown)
    assert drawn_bars(app)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["title"])
def test_what_an_example_claims_is_true_of_the_embedded_model(example):
    engine = catalogue.load(catalogue.DEFAULT)
    shares = {
        (name, blank, score.word): score.probability
        for name in ("text", "second")
        if example[name]
        for blank in range(len(engine.encode(example[name]).blanks))
        for score in score_words(engine, example[name], read_words(f"{example['named']}, coffee, morning"), blank=blank)
    }
    for name, blank, word, other_name, other_word in example["claims"]:
        assert shares[name, blank, word] > 1.2 * shares[other_name, blank, other_word]
    limit = int(example["limit"]) / 100
    for name in filter(None, (example["text"], example["second"])):
        for blank in predict(engine, name, top_k=1).blanks:
            assert blank.predictions[0].probability <= limit


def test_the_head_shown_first_looks_at_the_word_that_decides_the_blank():
    attention = catalogue.load(catalogue.DEFAULT).trace(EXAMPLES[0]["text"]).attention
    (layer, head), tokens = FIRST_HEADS[0], attention.query_tokens
    row = attention.weights[layer, head, tokens.blanks[0]]
    assert tokens.tokens[row.argmax()] == "yesterday"
    assert row.max() > 0.5
