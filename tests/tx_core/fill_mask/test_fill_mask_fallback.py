"""A graphics card without memory: predictions and scores are made on the CPU, and the fill-mask page says so."""

import pytest
import torch
from cachetools import LRUCache
from torch import nn

from pages.ui.shell import cache
from tests.support.drawn_bars import bars_told
from tx_core.engine import catalogue
from tx_core.engine.device import FALLBACK_NOTICE
from tx_core.transformer.bert import Bert


class FullCard(Bert):
    """A model on a graphics card that has no memory left: whatever is asked of it fails."""

    def __init__(self):
        nn.Module.__init__(self)

    def __getattr__(self, name: str):
        raise torch.OutOfMemoryError("no memory left")


def test_predictions_made_on_the_cpu_because_the_card_is_full_say_so(open_app, monkeypatch: pytest.MonkeyPatch):
    text = "A ___ whose card is full."
    assert not open_app("fill_mask", text=text).info
    runner = catalogue.load(catalogue.DEFAULT).runner
    monkeypatch.setattr(cache, "_entries", LRUCache(10**8, getsizeof=lambda entry: entry.nbytes))
    monkeypatch.setattr(runner, "_on_cpu", runner._model)
    monkeypatch.setattr(runner, "_model", FullCard())
    monkeypatch.setattr(runner, "device", "meta")
    app = open_app("fill_mask", text=text)
    assert FALLBACK_NOTICE in [info.value for info in app.info]
    assert "Most likely words" in bars_told(app)


def test_named_words_that_were_scored_on_the_cpu_because_the_card_is_full_say_so(open_app, monkeypatch):
    text = "A ___ and its owner."
    app = open_app("fill_mask", text=text)
    engine = catalogue.load(catalogue.DEFAULT)
    for name, value in (("_on_cpu", engine.runner._model), ("_model", FullCard()), ("device", "meta")):
        monkeypatch.setattr(engine.runner, name, value)
    kept = LRUCache(10**8, getsizeof=lambda entry: entry.nbytes)
    answered = {key[2:]: value for key, value in cache._entries.items() if key[0] == "top_predictions"}
    kept.update({("top_predictions", cache.engine_key(engine), *key): value for key, value in answered.items()})
    monkeypatch.setattr(cache, "_entries", kept)
    app.text_input(key="fill_mask_named").set_value("dog").run()
    told = [info.value for info in app.info]
    assert told.count(FALLBACK_NOTICE) == 2  # of the words, and of the attention below
