"""Changes on the page of blanks: the prediction before and after them, and a scan of what each head does to it."""

from collections.abc import Callable

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from pages.fill_mask import texts
from pages.fill_mask.head_scan import BEGIN, followed_words, scan_rows
from pages.fill_mask.inputs import EXAMPLES
from pages.fill_mask.predictions import ListSettings, contrasts, strongest_words
from pages.fill_mask.progress import ROUTE
from pages.fill_mask.run import FIRST_HEAD
from pages.fill_mask.stage import shares_in_change
from pages.ui.shell import metrics
from pages.ui.shell.numbers import percent, points
from pages.ui.stage.view_options import head_in_sentence
from tests.support.blanks import ask, followed, likely, pictured
from tests.support.staged import staged
from tests.support.trainings import until
from tx_core.engine import catalogue
from tx_core.fill_mask import predictions
from tx_core.fill_mask.head_scan import Scan
from tx_core.fill_mask.prediction_shift import shift_predictions
from tx_core.fill_mask.word_scores import score_words
from tx_core.transformer.interventions import read_interventions

Open = Callable[..., AppTest]
SETTINGS = ListSettings(listed=5, temperature=1.0, top_p=1.0, limit=1.0)
BLANK = "The old man saw a ___ in the house."


def test_a_tiny_share_beside_a_large_one_is_almost_0_and_beside_a_tiny_one_as_it_is():
    assert shares_in_change(1 / 176_723, 0.14) == ("almost 0", percent(0.14))
    assert shares_in_change(0.14, 1 / 176_723) == (percent(0.14), "almost 0")
    assert shares_in_change(1 / 176_723, 0.001) == ("1 in 176,723", percent(0.001))


def test_a_blank_shows_its_prediction_before_and_after_in_one_picture(open_app: Open):
    app = open_app("fill_mask", text=BLANK, changes="off~1_hide~3", listed="5")
    assert not app.exception
    shift = shift_predictions(catalogue.load(catalogue.DEFAULT), BLANK, read_interventions("off~1_hide~3"), top_k=5)[0]
    shares = {one.prediction.label: (one.before, one.after) for one in shift.moved}
    bars = likely(app)
    rows = {bar["label"]: (bar["before"], bar["after"]) for bar in bars}
    assert rows == {label: pytest.approx(shares[label], abs=1e-6) for label in rows}
    left_out = [max(pair) for label, pair in shares.items() if label not in rows]
    assert min(max(pair) for pair in rows.values()) >= max(left_out)
    assert [bar["after"] for bar in bars] == sorted((bar["after"] for bar in bars), reverse=True)
    for one, bar in zip(strongest_words(shift, SETTINGS), bars, strict=True):
        ranks = {"before": one.rank_before, "after": one.rank_after}
        moves = {-1: texts.CLIMBED, 0: texts.SAME_RANK, 1: texts.FELL}[int(np.sign(one.rank_after - one.rank_before))]
        assert bar["note"] == texts.WORD_DETAIL.format(sentence=one.prediction.sentence, rank=moves.format(**ranks))
        assert (bar["saidBefore"], bar["saidAfter"]) == shares_in_change(one.before, one.after)
    now, was = (min(shift.moved, key=rank) for rank in (lambda one: one.rank_after, lambda one: one.rank_before))
    assert staged(app)["prediction"]["headline"].startswith(texts.WITH_CHANGES.format(count=2))
    for part in (now.prediction.label, percent(now.after), percent(was.before)):
        assert part in staged(app)["prediction"]["headline"]


def test_words_to_check_are_followed_under_a_change_with_their_difference_and_ratio(open_app: Open):
    app = open_app("fill_mask", text=BLANK, named="dog, woman", changes="off~1")
    engine = catalogue.load(catalogue.DEFAULT)
    plain = score_words(engine, BLANK, ["dog", "woman"])
    changed = score_words(engine, BLANK, ["dog", "woman"], interventions=read_interventions("off~1"))
    bars = followed(app)
    assert [bar["label"] for bar in bars] == ["dog", "woman"]
    assert [bar["before"] for bar in bars] == pytest.approx([one.probability for one in plain], abs=1e-6)
    assert [bar["after"] for bar in bars] == pytest.approx([one.probability for one in changed], abs=1e-6)
    (sentence,) = contrasts(plain, changed)
    assert sentence in pictured(app)
    for run in (plain, changed):
        assert points(run[0].probability - run[1].probability) in sentence
        ratio = max(one.probability for one in run) / min(one.probability for one in run)
        assert f"{ratio:.2g}" in sentence or f"{ratio:,.0f}" in sentence


def test_the_page_begins_with_the_head_that_the_prediction_depends_on_most_and_a_link_leaves_it_out(open_app: Open):
    app = open_app("fill_mask", text=BLANK)
    scan = Scan(catalogue.load(catalogue.DEFAULT), BLANK).run()
    layer, head = np.unravel_index(scan.change.argmin(), scan.change.shape)
    assert app.session_state["fill_mask_heads"] == [(layer, head)]
    assert staged(app)["address"]["defaults"]["heads"] == staged(app)["automatic"] == [[layer, head]]  # in no link
    invited = texts.INVITATION.format(count=scan.change.size, word=scan.word, head=head_in_sentence((layer, head)))
    assert staged(app)["prediction"]["invited"] == {"head": [layer, head], "said": invited}
    other = "A bird can ___ very high."
    app.text_input(key="fill_mask_text").set_value(other).run()
    assert app.session_state["fill_mask_heads"] == [Scan(catalogue.load(catalogue.DEFAULT), other).run().most_important]
    app.session_state["fill_mask_heads"] = [(0, 1)]
    app.run()
    app.text_input(key="fill_mask_text").set_value(BLANK).run()
    assert app.session_state["fill_mask_heads"] == [(0, 1)]
    assert not staged(app)["automatic"]


def most_important(text: str) -> list[tuple[int, int]]:
    return [Scan(catalogue.load(catalogue.DEFAULT), text).run().most_important]


@pytest.mark.parametrize(("slots", "others"), [(4, 3)])
def test_while_others_are_busy_only_the_heads_of_examples_are_scanned(
    open_app: Open, host, monkeypatch: pytest.MonkeyPatch, slots: int, others: int
):
    host(compute_slots=slots)
    with monkeypatch.context() as crowded:
        crowded.setattr(metrics, "_running", set(range(-others, 0)))
        crowded.setattr(Scan, "updates", lambda scan: pytest.fail("a text was scanned while others were busy"))
        app = open_app("fill_mask", text="Nobody ___ the crowd.")
    assert not app.exception
    app.run()  # heads that were not scanned stay, and stand in the link
    assert app.session_state["fill_mask_heads"] == [FIRST_HEAD]
    assert staged(app)["view"]["heads"] == [[4, 6]] != staged(app)["address"]["defaults"]["heads"]
    with monkeypatch.context() as crowded:
        crowded.setattr(metrics, "_running", set(range(-others, 0)))
        for example in (EXAMPLES[1].view["text"], EXAMPLES[0].view["second"]):
            assert open_app("fill_mask", text=example).session_state["fill_mask_heads"] == most_important(example)
    with monkeypatch.context() as calm:
        calm.setattr(metrics, "_running", set(range(1 - others, 0)))
        calmer = "Nobody ___ the crowds."
        app.text_input(key="fill_mask_text").set_value(calmer).run()
    assert app.session_state["fill_mask_heads"] == most_important(calmer) != [FIRST_HEAD]


def scanned(open_app: Open, **address: str) -> AppTest:
    app = open_app("fill_mask", text=BLANK, **address)
    app.session_state["fill_mask_scan"] = BEGIN
    app.session_state["fill_mask_scan_table"] = True
    return app.run()


def test_a_scan_follows_any_named_word_or_the_difference_of_two(open_app: Open):
    app = scanned(open_app, named="woman, dog")
    engine = catalogue.load(catalogue.DEFAULT)
    ids = [engine.tokenizer.pieces(word) for word in ("woman", "dog")]
    found = Scan(engine, BLANK, named=ids).run()
    told = staged(app)["scan"]["result"]
    assert [word["word"] for word in told["words"]] == list(followed_words(found))
    assert told["first"] == [word for layer in found.first_words for word in layer]
    app.session_state["fill_mask_scan_followed"] = ["woman", "dog"]
    app.run()
    assert not app.exception
    rows = scan_rows(found, found.named)
    assert len(rows) == found.change.size
    effects = [abs(row[5]) for row in rows]
    assert effects == sorted(effects, reverse=True)
    woman, dog = found.named
    for layer, head, name, before, after, change, ratio_before, ratio, *_ in rows:
        assert (name, before) == ("woman − dog", pytest.approx(woman.before - dog.before))
        assert change == pytest.approx(after - before)
        assert after == pytest.approx(woman.after[layer - 1, head - 1] - dog.after[layer - 1, head - 1])
        assert ratio_before == pytest.approx(woman.before / dog.before)
        assert ratio == pytest.approx(woman.after[layer - 1, head - 1] / dog.after[layer - 1, head - 1])
    assert [list(row) for row in app.dataframe[0].value.itertuples(index=False)] == [pytest.approx(list(row)) for row in rows]


def progress(path: str) -> dict[str, object]:
    return TestClient(Starlette(routes=[ROUTE])).get(f"/{path}").json()


def test_a_long_scan_runs_in_the_background_and_is_sent_at_its_end(open_app: Open, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(predictions, "ROWS_AT_ONCE", 5)
    text = "A long ___ of many runs."
    app = open_app("fill_mask", text=text)
    app.session_state["fill_mask_scan"] = BEGIN
    path = staged(app.run())["scan"]["path"]
    told = []
    until(lambda: told.append(progress(path)) or not told[-1]["running"])
    assert all(0 <= one["share"] <= 1 and one["said"] for one in told[:-1])
    sent = staged(app.run())["scan"]
    assert not app.exception
    assert sent["path"] == ""
    assert sent["result"]["first"] == [
        word for layer in Scan(catalogue.load(catalogue.DEFAULT), text).run().first_words for word in layer
    ]
    assert TestClient(Starlette(routes=[ROUTE])).get(f"/{path}x").status_code == 404


def test_a_scan_that_is_stopped_leaves_nothing(open_app: Open, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(predictions, "ROWS_AT_ONCE", 1)
    app = open_app("fill_mask", text="A stopped ___ of " + "very " * 90 + "many runs.")
    path = staged(ask(app, scan="start"))["scan"]["path"]
    assert progress(path)["running"]
    assert staged(ask(app, scan="stop"))["scan"] == {"path": "", "said": "", "again": False, "result": None}
    until(lambda: not progress(path)["running"])
