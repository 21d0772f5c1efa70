"""Summaries of other models: a relative of BERT in every part, and what the others can and cannot show."""

import pytest
from streamlit.testing.v1 import AppTest

from pages.summaries import texts
from pages.summaries.logit_lens import describe_answer
from pages.summaries.parts import PARTS
from pages.ui.panels.texts import ENCODER_ONLY
from pages.ui.panels.tokens import numbered_tokens
from tests.support.drawings import problems, says
from tx_core.analysis.logit_lens import logit_lens
from tx_core.engine import catalogue
from tx_core.engine.engine import no_head

PAGE = "summaries"


@pytest.fixture
def of_family(open_app, checkpoint, monkeypatch: pytest.MonkeyPatch):
    """Open the page with a tiny model of a family under a name of the catalogue."""

    def opened(family: str, name: str, **view: str) -> AppTest:
        monkeypatch.setattr(catalogue, "fetch", lambda *_: checkpoint(family))
        app = open_app(PAGE, model=name, **view)
        assert not app.exception
        return app

    return opened


@pytest.mark.parametrize("part", PARTS)
def test_every_part_is_shown_of_a_relative_of_bert(of_family, part):
    assert not problems(of_family("roberta", "roberta-base", text="Time flies like a ___", part=part))


def test_gpt2_is_read_for_the_token_that_follows(of_family):
    app = of_family("gpt2", "gpt2", text="Time flies like an", part="lens")
    engine = catalogue.load("gpt2")
    trace = engine.trace("Time flies like an", keep=("hidden",))
    last = len(trace.attention.query_tokens) - 1
    found = logit_lens(engine, trace, last)
    token = numbered_tokens(trace.attention.query_tokens.tokens)[last]
    assert texts.LENS_NEXT_TOKEN in says(app)
    assert describe_answer(found, token, predicts_next=True) in says(app)
    assert [cell.rsplit(" ", 2)[0] for cell in app.dataframe[0].value.iloc[0, :5]] == list(found.words[0])
    refused = of_family("gpt2", "gpt2", text="Time flies like ___", part="owed")
    assert str(no_head(catalogue.card("gpt2").title)) in says(refused)


@pytest.mark.parametrize(("part", "why"), [("lens", "predicts with its decoder"), ("owed", "has no masked-word head")])
def test_an_encoder_decoder_shows_what_is_mixed_and_says_what_it_cannot_show(of_family, part, why):
    view = {"family": "t5", "name": "t5-small", "text": "Time flies like a bird"}
    mixed = of_family(part="values", **view)
    assert not problems(mixed)
    assert ENCODER_ONLY in says(mixed)
    assert why in says(of_family(part=part, **view))
