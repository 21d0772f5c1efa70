"""A sentence is tokenised once and run through the model once in a run of a page."""

import pytest

from tx_core.engine import catalogue


@pytest.mark.parametrize(
    ("page", "text", "forwards"), [("attention", "a bird that nobody saw", 1), ("fill_mask", "a ___ that nobody saw", 2)]
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
