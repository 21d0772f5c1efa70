"""The examples of the fill-mask page: each is a click away, and what it says of words is true of the embedded model."""

import json
import re

import pytest

from pages.fill_mask import inputs, texts
from pages.ui.shell.controls import model_title
from pages.ui.shell.numbers import percent, whole_percent
from tests.support.drawings import says
from tests.support.serving import ROOT
from tx_core.engine import catalogue
from tx_core.fill_mask.word_scores import read_words, score_words

ENTRIES = json.loads((ROOT / "assets" / "examples" / "fill_mask.json").read_text("utf-8"))


def probabilities(example, prompt):
    """Return the probability of each word that an example asks for, by text, blank and word."""
    engine, named = catalogue.load(catalogue.DEFAULT), prompt.get("named", example["named"])
    return {
        (name, blank, score.word): score.probability
        for name in ("text", "second")
        if prompt.get(name)
        for blank in range(len(engine.encode(prompt[name]).blanks))
        for score in score_words(engine, prompt[name], read_words(f"{named}, coffee, morning"), blank=blank)
    }


@pytest.mark.parametrize("example", ENTRIES, ids=lambda example: example["title"])
def test_the_words_and_shares_of_a_counter_example_are_the_models(example):
    for counter in example["counters"]:
        shares = probabilities(example, counter)
        written = {whole_percent(share).replace("\u00a0", " ") for share in shares.values()}
        assert set(re.findall(r"\d+ %", counter["notice"])) <= written
        decisive = [claim[2] for claim in counter["claims"]] + counter.get("joint", [])
        assert [word for word in decisive if word not in counter["notice"]] == []


def test_a_model_out_of_reach_is_quoted_for_the_well_known_sentences_and_only_there(open_app, monkeypatch):
    quote = texts.QUOTED.partition("{")[0]
    monkeypatch.setattr(catalogue.hub_reach, "out_of_reach", frozenset)
    assert quote not in says(open_app("fill_mask", text=next(iter(inputs.QUOTED))))
    monkeypatch.setattr(catalogue.hub_reach, "out_of_reach", lambda: frozenset({inputs.QUOTED_MODEL}))
    for text, words in inputs.QUOTED.items():
        assert list(words.values()) == sorted(words.values(), reverse=True)
        assert sum(words.values()) < 1
        listed = ", ".join(f"{word} {percent(share)}" for word, share in words.items())
        quoted = texts.QUOTED.format(model=model_title(inputs.QUOTED_MODEL), words=listed)
        assert len(words) == 5 - (text in inputs.QUOTED_LEFT_OUT)
        if text in inputs.QUOTED_LEFT_OUT:
            number, share = inputs.QUOTED_LEFT_OUT[text]
            assert list(words.values())[number - 2] > share > list(words.values())[number - 1]
            quoted += texts.QUOTED_LEFT_OUT.format(number=number, share=percent(share))
        assert quoted in says(open_app("fill_mask", text=text.replace("[MASK]", "___")))
    assert inputs.QUOTED["I have a [MASK]."]["problem"] == 0.0468  # the founding notebook prints 0.04680362
    for address in ({"text": f"Once {text}"}, {"text": text, "nospecial": "1"}):
        assert quote not in says(open_app("fill_mask", **address))
