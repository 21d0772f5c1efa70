"""The record of a run: labels for texts without word pieces, and which parts a run may keep."""

import pytest

from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import plain_encoding


def test_a_plain_text_numbers_its_words_and_leaves_marks_out():
    encoding = plain_encoding(["[CLS]", "good", "film"], [2, 7, 8], [True, False, False])
    assert encoding.words == (None, 0, 1)
    assert encoding.word_texts == ("good", "film")
    with pytest.raises(ValueError, match="every id must have one token"):
        plain_encoding(["good"], [7, 8])


def test_a_notebook_shows_a_trace_in_five_lines_and_its_mean_attention_without_markup_of_the_text(engine):
    off = Intervention("off", 4, 6)
    trace = engine.trace("<b> flies", keep=("weights", "hidden"), interventions=[off])
    lines = repr(trace).split("\n")
    assert lines[0] == "Trace of embedded on cpu: '<b> flies'"
    assert lines[2:] == [
        "  self attention: weights (6, 8, 6, 6)",
        "  hidden (7, 6, 256)",
        "  changed by Intervention('off', layer=4, head=6)",
    ]
    html = trace._repr_html_()
    assert "<b>" not in html
    assert f">{trace.attention.weights[:, :, 1, 2].mean():.2f}</td>" in html
    assert "<table>" not in engine.trace("a " * 60)._repr_html_()


def test_a_table_of_a_trace_has_every_weight_beside_its_tokens(hub_engine):
    trace = hub_engine("t5").trace("time flies", "fruit")
    table = trace.to_pandas()
    assert len(table) == sum(stack.weights.size for stack in trace.stacks)
    row = table.set_index(["attention", "layer", "head", "query", "key"]).loc[("cross", 1, 2, 1, 0)]
    cross = trace.stacks[2]
    assert row.weight == pytest.approx(cross.weights[1, 2, 1, 0])
    assert (row.query_token, row.key_token) == (cross.query_tokens.tokens[1], cross.key_tokens.tokens[0])
    with pytest.raises(ValueError, match="must have kept"):
        hub_engine("t5").trace("time flies", keep=("hidden",)).to_pandas()
