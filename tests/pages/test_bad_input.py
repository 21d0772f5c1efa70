"""What a page cannot use it explains in a sentence, keeps in its box, and draws nothing of; a file before it stays."""

import json

import pytest

from pages.bert import texts as bert
from pages.bertviz_page import texts as bertviz
from pages.compare.inputs import VARIES
from pages.contents import PAGES
from pages.encoder_decoder import texts as encoder_decoder
from pages.heads_and_blocks.inputs import PARTS as BLOCK_PARTS
from pages.importance import texts as importance
from pages.importance.inputs import MAX_PROMPTS
from pages.many_sentences import texts as many_sentences
from pages.masks import texts as masks
from pages.patching import texts as patching
from pages.positions import texts as positions
from pages.summaries.parts import PARTS as SUMMARIES
from pages.ui.shell.texts import USE_MODEL
from pages.ui.stage import texts as stage_texts
from pages.vectors import texts as vectors
from tests.support.classifier_page import OWN, training_says
from tests.support.drawings import says
from tests.support.staged import is_empty, is_staged, stage_says
from tx_core.causal.deciding_words import OTHER_LENGTH, SEVERAL_WORDS
from tx_core.engine.device_limits import device_limits
from tx_core.errors import ModelUnavailable
from tx_core.fill_mask.predictions import TOO_MANY_BLANKS
from tx_core.lessons.labels import FINE_TUNED

SUFFIXES = {"importance": "jsonl", "classifier": "csv", "vectors": "txt", "many_sentences": "txt"}
MOST = device_limits("cpu").sentences
NAMES = {"text": "Mary lost [MASK] keys.", "text_b": "John lost [MASK] keys."}
SEVERAL = {"text": "The dog [MASK] here.", "text_b": "A cat [MASK] there."}
PROMPT = json.dumps({"text": "Mary lost [MASK] keys.", "answer": "her"})
VIEWS = [
    ("explanations", {"text": "A bird [MASK]."}, stage_texts.NO_SECOND_SENTENCE),
    ("explanations", SEVERAL, SEVERAL_WORDS.partition("(")[0].format(count=3)),
    ("explanations", {"text": "A [MASK].", "text_b": "bird " * 100 + "[MASK]"}, OTHER_LENGTH.partition("{")[0]),
    ("explanations", {"text": "A [MASK].", "text_b": "The [MASK].", "model": "writer"}, "cannot fill blanks"),
    ("patching", {"text": NAMES["text"]}, stage_texts.NO_SECOND_SENTENCE),
    ("patching", {"text": NAMES["text"], "text_b": NAMES["text"]}, patching.SAME_SENTENCES),
    ("patching", NAMES | {"text_b": "The girl lost [MASK] keys."}, patching.SAME_ANSWER.format(word="her")),
    ("patching", NAMES | {"model": "writer"}, patching.WRITES_ON),
    ("compare", {"text": " "}, "There is no text yet"),
    ("compare", {"text": "a bird", "text_b": "word " * 2000}, "shorten it"),
    ("compare", {"text": "a bird", "vary": "changes", "changes_b": "hide~90"}, "there is no token 90"),
    ("attention", {"text": "tea " * 127}, "shorten it by 1 token"),
    ("fill_mask", {"text": "___ " + "tea " * 126}, "130 tokens long and the model reads at most 128"),
    ("fill_mask", {"text": "[MASK] " * 100}, TOO_MANY_BLANKS.format(count=100, maximum=10, excess=90)),
    ("start", {"text": "[MASK] " * 200}, "203 tokens long"),
    ("classifier", {"text": "word " * 200, "model": FINE_TUNED}, "202 tokens long"),
    ("masks", {"text": "cat " * 200, "part": "penalty"}, "202 tokens long"),
    ("positions", {"text": "   ", "part": "shuffle"}, "There is no text yet"),
    ("heads_and_blocks", {"text": "word " * 200, "part": "depth"}, "202 tokens long"),
    ("self_attention", {"text": "word " * 200}, "202 tokens long"),
]
PICTURES = ("explanations", "patching", "masks", "positions", "heads_and_blocks", "self_attention")
"""Pages whose controls stay, without a picture."""


@pytest.mark.parametrize(("page", "view", "why"), VIEWS)
def test_a_view_that_cannot_be_run_says_why_and_keeps_what_was_typed(open_app, page: str, view: dict[str, str], why: str):
    app = open_app(page, **view)
    assert not app.exception
    assert why in says(app) and (is_empty(app) if page in PICTURES else not is_staged(app))
    assert all(app.session_state[f"{page}_{name}"] == text for name, text in view.items() if name in ("text", "text_b", "part"))


READING = [page.key for page in PAGES if page.computes and page.key not in ("claims", "classifier")]
"""Pages that read a text of the visitor's; a classifier reads one after its training."""
PARTS = {
    "bert": [("part", part) for part in bert.PARTS],
    "bertviz_page": [("picture", picture) for picture in bertviz.VIEWS],
    "compare": [("vary", vary) for vary in VARIES],
    "encoder_decoder": [("part", part) for part in encoder_decoder.PARTS],
    "heads_and_blocks": [("part", part) for part in BLOCK_PARTS],
    "many_sentences": [("part", part) for part in many_sentences.PARTS],
    "masks": [("part", part) for part in masks.PARTS],
    "positions": [("part", part) for part in positions.PARTS],
    "summaries": [("part", part) for part in SUMMARIES],
    "vectors": [("part", part) for part in vectors.PARTS],
}
"""The parts of pages that have some, as links write them."""
SHOWN = [(page, dict([part])) for page in READING for part in PARTS.get(page, [("level", "advanced")])]
TEXTS = [("word " * 200, ""), ("A bird sings.", "word " * 200), ("", "")]
"""A first and a second text: too long, a second one that is too long, none, as whoever clears the boxes has it."""


@pytest.mark.parametrize(("page", "view"), SHOWN)
def test_no_part_of_a_page_falls_over_an_empty_box_or_a_long_text(open_app, page: str, view: dict[str, str]):
    app = open_app(page, **view, text="", pair="", text_b="")
    assert not app.exception
    for text, second in TEXTS:
        for name, written in (("text", text), ("pair", second), ("text_b", second)):
            if f"{page}_{name}" in app.session_state:
                app.session_state[f"{page}_{name}"] = written
        assert not app.run().exception


WRONG = [
    ("compare", {"model": "bert-base-uncased", "text": "a bird", "text_b": "a dog"}),
    ("compare", {"model": "bert-base-uncased", "model_b": "gpt2", "vary": "model", "text": "a bird"}),
    ("heads_and_blocks", {"heads": "9"}),
    ("heads_and_blocks", {"heads": "1-2-12-32", "layer": "48"}),
]


@pytest.mark.parametrize(("page", "view"), WRONG)
def test_a_link_to_what_is_not_there_opens_no_box_of_errors(open_app, monkeypatch, page: str, view: dict[str, str]):
    def unreached(name: str, _revision: str | None) -> None:
        raise ModelUnavailable(f"{name} cannot be had.")

    monkeypatch.setattr("tx_core.engine.catalogue.fetch", unreached)
    app = open_app(page, **view)
    assert not app.exception
    defaults = [one.label for one in app.button if one.label.startswith(USE_MODEL.partition("{")[0])]
    assert len(defaults) == len({view.get("model"), view.get("model_b")} - {None})


FILES = [
    ("importance", "set", "file", PROMPT, "It is.", "Line 1 of the file is no prompt"),
    ("importance", "set", "file", PROMPT, "\n\n", importance.NO_LINES),
    ("importance", "set", "file", PROMPT, f"{PROMPT}\n" * (MAX_PROMPTS + 1), f"at most {MAX_PROMPTS:,} are measured"),
    ("classifier", "data", "csv", OWN, "a,b\n1,2\n", "names the columns text and label"),
    ("vectors", "texts", "file", "It flies.", "\x89PNG\r\n\x1a\n\0\0\0", "not text that can be read"),
    ("many_sentences", "texts", "file", "It flies.", "a\n" * (MOST + 1), f"more than {MOST:,} sentences"),
]


@pytest.mark.parametrize(("page", "source", "box", "usable", "unusable", "why"), FILES)
def test_a_file_that_cannot_be_used_says_why_and_the_one_before_stays(open_app, page, source, box, usable, unusable, why):
    app = open_app(page, **{source: "own"})
    for name, data in (("mine", usable), ("other", unusable)):
        file = (f"{name}.{SUFFIXES[page]}", data.encode(), "text/plain")
        app.file_uploader(key=f"{page}_{box}").set_value(file).run()
        assert not app.exception
    said = training_says(app) if page == "classifier" else says(app) + stage_says(app)
    assert why in said and "mine." in said
