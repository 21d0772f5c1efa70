"""The page Next word, as Streamlit runs it without a browser: what it is sent, what it writes, and what its link brings back."""

from base64 import b64decode
from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.next_word.inputs import BEGINNINGS, LISTED, TEMPERATURES, read_written
from pages.next_word.stage import MANY
from tests.support.blanks import ask
from tests.support.staged import axes, is_staged, made_changes, staged
from tx_core import load, next_words
from tx_core.engine import catalogue
from tx_core.fill_mask.next_words import NO_NEXT_WORD, Sampling, next_logits, write_words
from tx_core.transformer.interventions import read_interventions

Open = Callable[..., AppTest]
FIRST = BEGINNINGS[0].title


def numbers(app: AppTest, side: str, name: str) -> np.ndarray:
    kind = {"ids": "<u2", "logits": "<f4", "rest": "<f4"}[name]
    following = staged(app)["next"]
    sent = np.frombuffer(b64decode(following[side][name]), kind)
    return sent.reshape(len(following["written"]) + 1, -1)


def written(app: AppTest) -> tuple[int, ...]:
    following = staged(app)["next"]
    return tuple(following["tokens"][number][0] for number in following["written"])


def test_what_is_sent_gives_the_share_of_every_token_at_every_temperature(open_app: Open):
    app, engine = open_app("next_word", changes="off~6"), load("writer")
    assert not app.exception and is_staged(app)
    off = read_interventions("off~6")
    for side, changes in (("after", off), ("before", ())):
        ids = [staged(app)["next"]["tokens"][number][0] for number in numbers(app, side, "ids")[0]]
        logits = numbers(app, side, "logits")[0].astype(float)
        expected = next_logits(engine, engine.encode(FIRST), [3], changes)[0]
        assert len(ids) == LISTED and ids[0] == int(expected.argmax())
        for place, temperature in enumerate(TEMPERATURES):
            weights, rest = np.exp(logits / temperature), np.exp(float(numbers(app, side, "rest")[0][place]))
            shares = Sampling(temperature).shares(expected)
            np.testing.assert_allclose(weights / (weights.sum() + rest), shares[ids], atol=1e-6)
    assert made_changes(app) == ["off~6"]
    assert staged(app)["causal"] is True


def test_what_is_said_of_the_beginnings_is_true_of_the_writer():
    engine = load("writer")
    tale, man, sum_, door = [one.title for one in BEGINNINGS]
    assert next_words(engine, tale)[0].word == "time" and next_words(engine, tale)[0].probability > 0.8
    after = next_words(engine, tale, written=[next_words(engine, tale)[0].id])
    assert after[0].probability < 0.5
    usual, hot = (next_words(engine, man, sampling=Sampling(temperature)) for temperature in (1.0, 1.6))
    assert hot[0].probability < usual[0].probability < 0.2
    numbered = {"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
    following = next_words(engine, sum_, listed_words=5)
    assert sum(word.word in numbered for word in following) >= 4
    assert all(word.probability < 0.5 for word in following)
    assert next_words(engine, door, sampling=Sampling(top_k=1))[0].probability == 1


@pytest.mark.ci
def test_what_is_asked_for_is_written_and_a_branch_goes_on_from_another_token(open_app: Open):
    app, engine = open_app("next_word", text=FIRST, seed="5", temperature="0.7", top_k="20", top_p="0.9"), load("writer")
    ask(app, write=MANY)
    expected = write_words(engine, FIRST, MANY, seed=5, sampling=Sampling(0.7, 20, 0.9))
    assert written(app) == expected
    assert axes(app)[0] == list(engine.encode(FIRST, None, expected).tokens)
    assert numbers(app, "after", "ids").shape[0] == len(expected) + 1
    before = staged(app)["asked"]
    ask(app, put=[1, 527], about=before)
    assert written(app) == (expected[0], 527)
    for late in ({"put": [0, 12]}, {"keep": 0}):  # of what stood there before, as where a click and typing cross
        ask(app, **late, about=before)
        assert written(app) == (expected[0], 527)
    ask(app, keep=1, about=staged(app)["asked"])
    assert written(app) == expected[:1]
    for nonsense in (
        {"put": [99, 1]},
        {"put": ["a", 1]},
        {"put": [0]},
        {"write": 10**9},
        {"write": "many"},
        {"keep": -1},
        {"put": [0, -4]},
    ):
        ask(app, **nonsense, about=staged(app)["asked"])
        assert written(app) == expected[:1] and not app.exception
    app.text_input(key="next_word_text").set_value("She opened").run()
    assert written(app) == () and axes(app)[0] == ["[CLS]", "she", "opened"]


@pytest.mark.parametrize("wrong", ["1.", "a", "-1", "1..2", "01", ".".join(["7"] * 61), "99999999999"])
def test_what_is_no_list_of_tokens_is_refused(wrong: str):
    with pytest.raises(ValueError, match="written must be|invalid literal"):
        read_written(wrong)


@pytest.mark.ci
def test_a_model_that_fills_blanks_and_a_text_that_cannot_be_read_say_so(open_app: Open):
    app = open_app("next_word", text="Once", model="embedded")
    title = catalogue.card("embedded").title
    assert NO_NEXT_WORD.format(title=title) in "".join(box.value for box in app.text)
    assert not is_staged(app)
    app.button(key="next_word_model_default").click().run()
    assert is_staged(app) and staged(app)["model"] == catalogue.card("writer").title
    for text, said in (("", "no text yet"), ("word " * 300, "tokens long"), (FIRST, "")):
        app.text_input(key="next_word_text").set_value(text).run()
        boxes = "".join(box.value for box in app.text)
        assert said in boxes and is_staged(app) == (not said) and not app.exception
    for text in ("😀 <script>alert(1)</script>", "مرحبا بالعالم", "[MASK] [SEP] [CLS]"):
        app.text_input(key="next_word_text").set_value(text).run()
        assert is_staged(app) and not app.exception
    missing = open_app("next_word", text="Once", written="9999999")
    assert "no token number 9,999,999" in "".join(box.value for box in missing.text)
