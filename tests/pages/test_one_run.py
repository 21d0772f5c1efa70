"""A sentence is run through the model once in a run of a page, also where the run is too large to be cached."""

import pytest
from cachetools import LRUCache

from pages.ui.shell import cache
from tx_core.engine import catalogue

VIEWS = {
    "attention": ("attention", {"text": "a bird that nobody saw"}, 1),
    "before and after a change": ("attention", {"text": "a bird that nobody saw", "changes": "off~5-7"}, 2),
    "a prediction, and the scan of its heads": ("fill_mask", {"text": "a ___ that nobody saw"}, 2),
    "a prediction before and after a change": (
        "fill_mask",
        {"text": "no ___ that nobody saw", "heads": "2-3", "named": "bird", "changes": "off~1"},
        2,
    ),
    "two sentences": ("compare", {"text": "a bird that nobody saw", "text_b": "a dog that nobody saw"}, 2),
}
"""Views of a page, and how often each runs the model."""


@pytest.mark.parametrize(("page", "view", "runs_of_model"), VIEWS.values(), ids=VIEWS)
def test_a_page_runs_its_sentence_once(open_app, monkeypatch: pytest.MonkeyPatch, page: str, view: dict, runs_of_model: int):
    open_app(page, text="a first visit")  # what every server does once
    words, runs = catalogue.load(catalogue.DEFAULT).model.embeddings.words, []  # whatever runs the model looks its words up
    forward = words.forward
    monkeypatch.setattr(words, "forward", lambda *inputs: runs.append(inputs) or forward(*inputs))
    monkeypatch.setattr(cache, "_entries", LRUCache(1, getsizeof=lambda entry: entry.nbytes))
    assert not open_app(page, **view).exception
    assert len(runs) == runs_of_model
