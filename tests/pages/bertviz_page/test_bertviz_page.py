"""The bertviz page: any text in any view is drawn or refused in words, and a drawing is its visitor's alone."""

from collections.abc import Callable

import pytest
from cachetools import TTLCache
from streamlit.testing.v1 import AppTest

from pages.bertviz_page import framed
from pages.bertviz_page import texts as page_texts
from pages.bertviz_page.framed import Document
from pages.ui.shell import controls
from pages.ui.shell.texts import UNKNOWN_PARAMETERS
from tests.support.drawings import says
from tests.support.staged import ask_stage, staged, staged_pictures

Open = Callable[..., AppTest]
PAGE = "bertviz_page"


def drawn(app: AppTest) -> Document:
    (picture,) = staged_pictures(app)
    return framed._documents[picture["chart"]["address"].removeprefix("framed/")]


def ask(app: AppTest, **settings: str) -> AppTest:
    return ask_stage(app, "settings", settings)


def test_a_drawing_is_found_again_and_another_text_is_drawn_anew(open_app: Open):
    app = open_app(PAGE, text="time flies")
    first = drawn(app)
    assert drawn(ask(app, picture="model")) is not first
    assert drawn(ask(app, picture="head")) is first
    app.text_input(key=f"{PAGE}_text").set_value("fruit flies").run()
    assert drawn(app) is not first
    assert staged(app)["address"]["own"] == {"text": "fruit flies"}


def test_what_a_link_chooses_within_a_drawing_is_its_visitors_and_not_in_the_drawing(open_app: Open):
    texts = {"text": "time flies", "pair": "fruit flies"}
    asked = {"layer": "3", "heads": "1_3", "filter": "4", "token": "5"}
    app, other = open_app(PAGE, **texts, **asked), open_app(PAGE, **texts)
    assert staged(app)["view"].items() >= asked.items()
    assert staged(other)["view"]["layer"] == "1"
    assert len(drawn(app).html) == len(drawn(other).html)  # which differ in their random names
    assert UNKNOWN_PARAMETERS.partition("{")[0] not in says(app)


def test_a_long_text_is_drawn_a_layer_at_a_time_and_says_so(open_app: Open):
    app = open_app(PAGE, text="tea " * 126, picture="model", layer="3")
    assert not app.exception
    assert page_texts.ONE_LAYER.format(layers=controls.embedded_sizes()[0]) in says(app)
    assert '"include_layers":[2]' in drawn(app).html
    assert staged(app)["partial"] == {"layer": ["3"]}
    assert "layer" in [control["name"] for control in staged(app)["controls"]]
    assert '"include_layers":[1]' in drawn(ask_stage(app, "settings", {"view": {"layer": "2"}})).html


def test_documents_together_are_bounded_and_the_oldest_goes_first(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(framed, "_documents", TTLCache(1000, 100, getsizeof=lambda document: len(document.html)))
    framed.publish("first", Document("a" * 600, "n"))
    framed.publish("second", Document("b" * 600, "n"))
    assert not framed.is_published("first")
    assert framed.is_published("second")
    with pytest.raises(ValueError, match="too large"):
        framed.publish("third", Document("c" * 1001, "n"))


def test_words_cannot_be_guessed_and_a_document_is_sealed_off(host, monkeypatch: pytest.MonkeyPatch):
    word = framed.secret_word("time flies", None)
    assert len(word) == 64
    assert framed.secret_word("time flies", None) == word != framed.secret_word("time", "flies")
    monkeypatch.setattr(framed, "_SECRET", b"of another server")
    assert framed.secret_word("time flies", None) != word
    policy = Document("x", "once").policy
    assert "sandbox allow-scripts;" in policy
    assert "default-src 'none'; script-src 'nonce-once';" in policy
    assert policy.endswith("frame-ancestors 'self' 'self'")
    host(frame_ancestors="https://moodle.example.org")  # of an app that itself is in a frame
    assert Document("x", "n").policy.endswith("frame-ancestors 'self' https://moodle.example.org")
