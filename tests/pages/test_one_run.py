"""A sentence is tokenised once and run through the model once in a run of a page."""

import pytest
from cachetools import LRUCache

from pages.ui.shell import cache
from tx_core.engine import catalogue


@pytest.mark.parametrize(
    ("page", "text", "forwards"), [("attention", "a bird that nobody saw", 1), ("fill_mask", "a ___ that nobody saw", 3)]
)
def test_a_page_reads_its_sentence_once(open_app, monkeypatch: pytest.MonkeyPatch, page: str, text: str, forwards: int):
    open_app(page, text="a first visit")  # what every server does once
    engine = catalogue.load(catalogue.DEFAULT)
    read, runs = [], []
    backend, forward = engine.tokenizer.backend, engine.model.forward

    class Counted:
        def __getattr__(self, name: str):
            return getattr(backend, name)

        def encode(self, *texts: str, **options):
            read.append(texts)
            return backend.encode(*texts, **options)

    def counted(*inputs, **options):
        runs.append(inputs)
        return forward(*inputs, **options)

    monkeypatch.setattr(engine.tokenizer, "backend", Counted())
    monkeypatch.setattr(engine.model, "forward", counted)
    app = open_app(page, text=text)
    assert not app.exception
    assert len(read) == len(set(read))
    assert sum("that nobody saw" in texts[0] for texts in read) == 1
    assert len(runs) == forwards


LARGE_RUNS = {
    "attention": {"text": "a bird that nobody saw"},
    "fill_mask": {"text": "a ___ that nobody saw"},
    "summaries": {"text": "a bird that nobody saw"},
    "bertviz_page": {"text": "a bird that nobody saw"},
    "compare": {"text": "a bird that nobody saw", "text_b": "a dog that nobody saw"},
}
"""Pages that show a run, as a link opens them."""


@pytest.mark.parametrize("page", LARGE_RUNS)
@pytest.mark.parametrize("changed", [False, True])
def test_a_run_that_is_too_large_for_the_cache_is_computed_once_in_a_run_of_a_page(
    open_app, monkeypatch: pytest.MonkeyPatch, page: str, changed: bool
):
    engine, runs = catalogue.load(catalogue.DEFAULT), []
    trace = type(engine).trace

    def counted(self, text, pair=None, *, keep=("weights",), interventions=()):
        runs.append((text, pair, frozenset(keep), frozenset(interventions)))
        return trace(self, text, pair, keep=keep, interventions=interventions)

    monkeypatch.setattr(type(engine), "trace", counted)
    monkeypatch.setattr(cache, "_entries", LRUCache(1, getsizeof=lambda entry: entry.nbytes))
    app = open_app(page, **LARGE_RUNS[page], **({"changes": "off~5-7"} if changed else {}))
    assert not app.exception
    assert len(runs) == len(set(runs)) > 0
