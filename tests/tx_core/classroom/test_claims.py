"""The claims of examples and lessons are true of their models, and are put to other models."""

import json
import math
import random
from urllib.parse import parse_qs

import pytest

from tests.support.serving import ROOT
from tx_core.classroom import claims
from tx_core.classroom.lesson_file import open_lesson
from tx_core.engine import catalogue
from tx_core.engine.bert_engine import load_own_engine
from tx_core.engine.engine import Engine
from tx_core.errors import Busy, TextProblem

CHECKED = {"text": "Mary lost her keys.", "links": [["her", "mary", 0.5], ["her", "owner", 0.5]], "at_most": [[4, 2, 0.1]]}


def lesson_claims(engine: Engine) -> list[claims.Claim]:
    return [claim for question in claims._lesson_questions(engine) for claim in question.ask()]


def test_what_examples_and_lessons_claim_of_the_writer_is_true_of_it():
    writer = catalogue.load(catalogue.WRITER)
    asked = [
        (page, entry, shown)
        for page in claims.EXAMPLE_CLAIMS
        for entry, shown in claims.sentences(page)
        if shown.get("view", {}).get("model") == catalogue.WRITER
    ]
    found = [claims.EXAMPLE_CLAIMS[page](writer, entry, shown) for page, entry, shown in asked]
    assert asked and all(found)
    assert [claim for some in (*found, lesson_claims(writer)) for claim in some if not claim.margin >= 0] == []


def test_another_model_is_asked_for_its_best_head_and_a_fine_tuned_one_for_the_same():
    entry = {"words": False, "heads": [[2, 8]]}
    writer, tuned = (claims.attention_claims(catalogue.load(name), entry, CHECKED) for name in (catalogue.WRITER, "film_reviews"))
    weights = catalogue.load(catalogue.WRITER).trace(CHECKED["text"]).attention.weights
    layer, head = (int(number) - 1 for number in writer[0].where.split("-"))
    assert {claim.where for claim in tuned} == {"2-8"}
    assert writer[0].value == pytest.approx(weights[layer, head, 3, 1])
    assert math.isnan(writer[2].margin)  # there is no such token
    assert tuned[-1].margin == pytest.approx(0.1 - tuned[0].value)


def test_every_question_of_a_lesson_has_a_claim_on_its_answer_which_is_among_its_options():
    said = json.loads(claims.LESSON_CLAIMS.read_text("utf-8"))
    lessons = {path.stem: open_lesson(path) for path in (ROOT / "assets" / "lessons").glob("*.yaml")}
    assert said.keys() == lessons.keys()
    for name, lesson in lessons.items():
        asked = {step.title: step.question for step in lesson.steps if step.question and step.question.answer}
        assert said[name].keys() == asked.keys()
        for title, question in asked.items():
            right = said[name][title][0].get("right")
            assert right is None or not question.options or right in question.options


def test_a_lesson_asks_another_model_for_its_best_head_and_not_for_what_it_does_not_read(monkeypatch, tmp_path):
    monkeypatch.setattr(claims, "LESSON_CLAIMS", tmp_path / "claims.json")
    said = [{"text": CHECKED["text"], "right": "mary"}, {"text": "Mary lost a coin.", "right": "mary"}]
    claims.LESSON_CLAIMS.write_text(json.dumps({"path": {"Doubt it": said}}), "utf-8")
    monkeypatch.setattr(claims, "has_heads_of", lambda engine, model: False)
    best, unread = lesson_claims(engine := catalogue.load(catalogue.DEFAULT))
    weights = engine.trace(CHECKED["text"]).attention.weights[:, :, 3, 1:-1]
    ahead = weights[..., 0] - weights[..., 1:].max(-1)
    assert best.value == pytest.approx(ahead.max(), abs=1e-6)
    assert f"heads={best.where}" in best.link and math.isnan(unread.margin)


def test_claims_of_patching_and_compare_are_put_to_the_best_layer_and_head_of_another_model(monkeypatch):
    monkeypatch.setattr(claims, "has_heads_of", lambda engine, model: False)
    engine = catalogue.load(catalogue.DEFAULT)
    view = {"text": "Mary lost [MASK] keys.", "text_b": "John lost [MASK] keys."}
    said = [["answers", "her", "his"], ["cell", 1, "[MASK]", 0.95, 2], ["cell", 1, "owner", 0.9, 1]]
    *words, blank, unread = claims.patch_claims(engine, {}, {"view": view, "claims": said})
    assert [claim.value for claim in words] == [1, 1] and blank.where in ("5", "6") and blank.margin > 0
    assert "model=embedded" in blank.link and math.isnan(unread.margin)
    other = {"vary": "head", "view": {"text": CHECKED["text"], "head": "6-1", "head_b": "6-1"}}
    other["claims"] = [["step", "A", -1, 0.9], ["step", "B", 1, 0.9]]
    one, next_one = claims.compare_claims(engine, other, other)
    weights = engine.trace(CHECKED["text"]).attention.weights[..., 1:-1, 1:-1]
    assert one.value == pytest.approx(weights.diagonal(-1, 2, 3).mean(-1).max(), abs=1e-6)
    assert one.margin > 0 and next_one.margin > 0 and one.where != next_one.where
    assert claims.compare_claims(catalogue.load(catalogue.WRITER), other | {"vary": "untrained"}, other) == []


def test_every_claim_is_printed_with_what_the_model_makes_of_it(capsys, monkeypatch):
    example = {"words": False, "heads": [[2, 8]]}, CHECKED
    unread = example[0], {"text": "a " * 200, "links": []}
    monkeypatch.setattr(claims, "sentences", lambda page: iter([example, unread] if page == "attention" else []))
    monkeypatch.setattr(claims, "_lesson_questions", lambda engine: [])
    claims.main(["--model", "embedded"])
    *rows, total = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in rows] == ["holds", "holds", "unasked", "unasked", "fails", "unasked"]
    assert "at most 128" in rows[-1]
    assert total == "2 hold, 1 fail, 3 cannot be asked."


def test_a_busy_moment_is_no_verdict_and_what_is_kept_of_a_check_holds_no_model():
    def ask() -> list[claims.Claim]:
        raise Busy("later") if check.claims else TextProblem("no blank")

    check = claims.ClaimCheck(catalogue.load(catalogue.DEFAULT))
    check.left = [claims._Question("attention", "a text", ask)] * 2
    with pytest.raises(Busy):
        list(check.updates())
    assert [claim.says for claim in check.claims] == ["no blank"]
    assert (check.finished, check.engine, check.left) == (False, None, [])


def test_claims_of_another_model_run_few_prompts_with_progress_after_each_and_no_interval(monkeypatch):
    monkeypatch.setattr(claims, "FEW_PROMPTS", 2)
    check = claims.ClaimCheck(load_own_engine(catalogue.MODELS / catalogue.DEFAULT, "other", "Other"))
    check.left = [question for question in check.left if question.made == "importance"][:1]
    updates = list(check.updates())
    assert len(updates) > 1 and (updates[-1].done, updates[-1].total) == (1, 1)
    assert check.claims and not any("interval" in claim.says for claim in check.claims)


def test_the_claims_that_are_stored_hold_and_are_those_of_the_model():
    """Of lessons, Attention and a sample of the rest: all are in tests/pages/ui/export/test_code.py."""
    check, stored = claims.ClaimCheck(catalogue.load(catalogue.DEFAULT)), claims.stored_claims(catalogue.DEFAULT)
    read = {(claim.made, parse_qs(claim.link.partition("?")[2]).get("text", [claim.text])[0]) for claim in stored}
    assert [question for question in check.left if question[:2] not in read and question.ask()] == []
    assert [claim for claim in stored if not claim.margin >= 0] == []
    slow = [question for question in check.left if question.made in claims.EXAMPLE_CLAIMS.keys() - {"attention"}]
    check.left = [question for question in check.left if question not in slow] + random.Random(0).sample(slow, 10)
    for _ in check.updates():
        pass
    kept = {(claim.made, *claim[:2], *claim[3:]): claim.value for claim in stored}
    for claim in check.claims:
        assert kept[claim.made, *claim[:2], *claim[3:]] == pytest.approx(claim.value, rel=1e-3, abs=1e-5)


def test_the_shares_of_neighbours_that_vectors_quotes_are_those_of_its_claims(engine):
    """Apart: neighbours that are the same word elsewhere have its part of speech by themselves."""
    ((top, shown),) = [pair for pair in claims.sentences("vectors") if "same word" in str(pair[1].get("claims"))]
    found = claims.vector_claims(engine, top, shown)
    assert len(found) == 4 and all(f"{100 * claim.value:.0f} %" in shown["notice"] for claim in found)
