"""The claims of examples, put to other models; what they are worth for the embedded one, the tests of their pages say."""

import math

import pytest

from tx_core.classroom import claims
from tx_core.engine import catalogue

CHECKED = {"text": "Mary lost her keys.", "links": [["her", "mary", 0.5], ["her", "owner", 0.5]], "at_most": [[4, 2, 0.1]]}


def test_another_model_is_asked_for_its_best_head_and_a_fine_tuned_one_for_the_same():
    entry = {"words": False, "heads": [[2, 8]]}
    writer, tuned = (claims.attention_claims(catalogue.load(name), entry, CHECKED) for name in (catalogue.WRITER, "film_reviews"))
    weights = catalogue.load(catalogue.WRITER).trace(CHECKED["text"]).attention.weights
    layer, head = (int(number) - 1 for number in writer[0].where.split("-"))
    assert {claim.where for claim in tuned} == {"2-8"}
    assert writer[0].value == pytest.approx(weights[layer, head, 3, 1])
    assert math.isnan(writer[2].margin)  # there is no such token
    assert tuned[-1].margin == pytest.approx(0.1 - tuned[0].value)


def test_every_claim_is_printed_with_what_the_model_makes_of_it(capsys, monkeypatch):
    example = {"words": False, "heads": [[2, 8]]}, CHECKED
    monkeypatch.setattr(claims, "sentences", lambda page: iter([example] if page == "attention" else []))
    claims.main(["--model", "embedded"])
    *rows, total = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in rows] == ["holds", "holds", "?", "?", "fails"]
    assert total == "2 hold, 1 fail, 2 cannot be asked."
