"""A sentence is run through the model once in a run of a page."""

import pytest
from cachetools import LRUCache

from pages.ui.shell import cache
from tx_core.engine import catalogue

VIEWS = {
    "attention": ("attention", {"text": "a bird that nobody saw"}, 1),
    "a prediction, and the scan of its heads": ("fill_mask", {"text": "a ___ that nobody saw"}, 2),
    "a prediction before and after a change": (
        "fill_mask",
        {"text": "no ___ that nobody saw", "heads": "2-3", "named": "bird", "changes": "off~1"},
        2,
    ),
}
"""Views of a page, and how often each runs the model."""


@pytest.mark.parametrize(("page", "view", "runs_of_model"), VIEWS.values(), ids=VIEWS)
def test_a_page_runs_its_sentence_once(open_app, monkeypatch: pytest.MonkeyPatch, page: str, view: dict, runs_of_model: int):
    open_app(page, text="a first visit")  # what every server does once
    engine = catalogue.load(catalogue.DEFAULT)
    runs = []
    words = engine.model.embeddings.words  # whatever runs the model looks its words up
    forward = words.forward

    def counted(*inputs, **options):
        runs.append(inputs)
        return forward(*inputs, **options)

    monkeypatch.setattr(words, "forward", counted)
    app = open_app(page, **view)
    assert not app.exception
    assert len(runs) == runs_of_model


LARGE_RUNS = {
    "attention": {"text": "a bird that nobody saw"},
    "fill_mask": {"text": "a ___ that nobody saw"},
    "compare": {"text": "a bird that nobody saw", "text_b": "a dog that nobody saw"},
}
"""Pages that show a run, as a link opens them."""


@pytest.mark.parametrize("page", LARGE_RUNS)
def test_a_run_that_is_too_large_for_the_cache_is_computed_once_in_a_run_of_a_page(
    open_app, monkeypatch: pytest.MonkeyPatch, page: str
):
    engine, runs = catalogue.load(catalogue.DEFAULT), []
    trace = type(engine).trace

    def counted(self, text, pair=None, *, keep=("weights",), interventions=(), written=()):
        runs.append((text, pair, frozenset(keep), frozenset(interventions), tuple(written)))
        return trace(self, text, pair, keep=keep, interventions=interventions, written=written)

    monkeypatch.setattr(type(engine), "trace", counted)
    monkeypatch.setattr(cache, "_entries", LRUCache(1, getsizeof=lambda entry: entry.nbytes))
    app = open_app(page, **LARGE_RUNS[page], changes="off~5-7")
    assert not app.exception
    assert len(runs) == len(set(runs)) > 0
