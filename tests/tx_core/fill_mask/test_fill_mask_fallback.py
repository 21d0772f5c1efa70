"""A graphics card without memory: predictions and scores are made on the CPU, and the fill-mask page says so."""

import pytest
import torch
from cachetools import LRUCache
from torch import nn

from pages.ui.shell import cache
from tests.support.blanks import likely
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
    assert likely(app)
