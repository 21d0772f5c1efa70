"""The page of patching: every number is the core's, every cell is sent in words, and what cannot be followed is explained."""

from urllib.parse import parse_qsl

import numpy as np
import pytest

from pages.contents import page
from pages.patching import texts
from pages.patching.inputs import EXAMPLES
from pages.ui.shell.numbers import duration, percent
from pages.ui.stage import long_runs
from pages.ui.stage import texts as stage_texts
from tests.support.checkpoints import write_bert
from tests.support.drawings import problems, says
from tests.support.staged import ask_stage, is_empty, looked_at, stage_says, staged
from tx_core.causal.patch import patch, patch_runs
from tx_core.engine.device import FALLBACK_NOTICE
from tx_core.engine.engine import head_missing

PAGE = "patching"
KEYS = {"text": "The keys are [MASK].", "text_b": "The <b> old key is [MASK]."}
NAMES = {"text": "Mary lost [MASK] keys.", "text_b": "John lost [MASK] keys."}


@pytest.mark.parametrize("what", ["residual", "head"])
def test_the_map_is_the_core_s_from_below_and_each_cell_shows_its_prediction(open_app, engine, what: str):
    app = open_app(PAGE, **NAMES, what=what)
    assert not app.exception and not problems(app)
    grid = patch(engine, source=NAMES["text"], target=NAMES["text_b"], answers=("her", "his"), what=what)
    drawn, bars = looked_at(app)
    np.testing.assert_allclose(drawn["values"], grid.effect[::-1], atol=1e-6)
    look = "head" if what == "head" else "cell"
    assert len(drawn["choices"]) == len(bars["variants"]) == len(drawn["details"]) == grid.effect.size
    for cell in ((3, 3), (0, 1), (4, 6)):
        _, bars = looked_at(app, **{look: f"{cell[0] + 1}-{cell[1] + 1}"})
        shares = dict(zip(bars["rows"], np.ravel(bars["values"]), strict=True))
        runs = {"target": grid.target_probabilities, "patched": grid.probabilities[cell], "source": grid.source_probabilities}
        for run, expected in runs.items():
            for word, share in zip(("her", "his"), expected, strict=True):
                assert shares[texts.IN_RUNS[run].format(word=word)] == pytest.approx(share, abs=1e-6)
        said = stage_says(app, **{look: f"{cell[0] + 1}-{cell[1] + 1}"})
        assert percent(float(grid.probabilities[cell][0])) in said
        assert f"{grid.effect[cell].round(2) + 0.0:.2f}".replace("-", "−") in said


def test_a_map_that_takes_long_says_so_and_what_fits_before_it_begins_and_one_click_computes_it(open_app, engine, monkeypatch):
    tokens = len(engine.encode(NAMES["text_b"]))
    runs, seconds = patch_runs(engine, tokens, "residual")
    monkeypatch.setattr(long_runs, "AT_ONCE_SECONDS", seconds / 4)
    app = open_app(PAGE, **NAMES)
    assert not app.exception and is_empty(app)
    told = {"model": engine.title, "runs": runs, "tokens": tokens, "most": tokens // 2, "duration": duration(seconds)}
    assert stage_texts.TAKES_LONG.format(**told) in says(app)
    app.button(key=f"{PAGE}_long_runs_button").click().run()
    grid = patch(engine, source=NAMES["text"], target=NAMES["text_b"], answers=("her", "his"))
    np.testing.assert_allclose(looked_at(app)[0]["values"], grid.effect[::-1], atol=1e-6)
    app.text_input(key=f"{PAGE}_text_b").set_value("He lost [MASK] keys.").run()
    assert is_empty(app)  # it is asked for once more
    monkeypatch.setattr(long_runs, "LONGEST_SECONDS", seconds / 2)
    app.run()
    assert stage_texts.TAKES_TOO_LONG.partition("{")[0] in says(app) and "shorten the text" in says(app)
    assert f"{PAGE}_long_runs_button" not in [one.key for one in app.button]


def test_a_map_that_the_cpu_computed_in_place_of_a_full_card_says_so(open_app, engine, monkeypatch):
    pair = {"text": "Mary lost [MASK] key.", "text_b": "John lost [MASK] key.", "what": "head"}  # in no cache
    monkeypatch.setattr(engine.runner, "_notice", FALLBACK_NOTICE)
    app = open_app(PAGE, **pair, answer="her", answer_b="his")
    assert not app.exception and [one.value for one in app.info] == [FALLBACK_NOTICE]


def test_texts_of_more_than_48_tokens_are_compared(open_app):
    texts_of = {name: f"{text} " + "They were on the table in the old house . " * 4 for name, text in NAMES.items()}
    app = open_app(PAGE, **texts_of, answer="her", answer_b="his", what="head")
    assert not app.exception and not is_empty(app)


def test_a_model_without_a_head_is_not_said_to_write(open_app, host, tmp_path):
    write_bert(tmp_path / "models" / "own", with_head=False)
    host(models_dir=tmp_path / "models")
    app = open_app(PAGE, **NAMES, model="local:own")
    assert not app.exception and is_empty(app)
    assert head_missing("own (local)", texts.NO_ANSWER).args[0] in says(app)
    assert texts.WRITES_ON not in says(app)


def test_a_token_without_a_partner_is_named_and_left_out(open_app, engine):
    app = open_app(PAGE, **KEYS, answer="open", answer_b="gone")
    old = engine.encode(KEYS["text_b"]).tokens.index("old")
    assert np.isnan(looked_at(app)[0]["values"][:, old]).all()
    assert texts.NO_PARTNER in stage_says(app, cell=f"2-{old + 1}")
    (notice,) = [one.value for one in app.caption if "old" in one.value]
    assert r"\<" in notice  # as text, not as markup


def test_a_link_that_names_no_sentence_has_those_of_the_first_example(open_app):
    app = open_app(PAGE, what="head")
    assert app.session_state[f"{PAGE}_text_b"] == EXAMPLES[0].view["text_b"] and not is_empty(app)
    app.text_input(key=f"{PAGE}_text_b").set_value("").run()
    assert stage_texts.NO_SECOND_SENTENCE in says(app) and not any("Check" in one.value for one in app.markdown)
    app.button(key=f"{PAGE}_see_example").click().run()
    assert app.session_state[f"{PAGE}_text_b"] == EXAMPLES[0].view["text_b"] and not is_empty(app)


def test_paths_begin_at_a_head_that_moves_the_answer_or_at_the_one_that_is_chosen(open_app, engine):
    app = open_app(PAGE, **EXAMPLES[0].view, what="path")
    (control,) = [one for one in staged(app)["controls"] if one["name"] == "sender"]
    assert control["fallback"] == "2-6"  # in the lower half
    assert len(control["options"]) == 40
    ask_stage(app, "settings", {"sender": "1-2"})
    about = {"source": EXAMPLES[0].view["text"], "target": EXAMPLES[0].view["text_b"], "answers": ("are", "is")}
    grid = patch(engine, **about, what="path", sender=(0, 1))
    np.testing.assert_allclose(looked_at(app)[0]["values"], grid.effect[::-1], atol=1e-6)
    assert texts.NO_PATH.format(sender="layer 1, head 2") in stage_says(app, head="1-1")


def test_a_and_b_are_exchanged_with_their_answers(open_app):
    app = open_app(PAGE, **NAMES, answer="her", answer_b="his")
    app.button(key=f"{PAGE}_exchange").click().run()
    found = {name: app.session_state[f"{PAGE}_{name}"] for name in ("text", "text_b", "answer", "answer_b")}
    assert found == {"text": NAMES["text_b"], "text_b": NAMES["text"], "answer": "his", "answer_b": "her"}
    assert "“his” rises" in stage_says(app)


def test_a_sentence_on_the_whole_map_says_where_the_answer_lies_layer_by_layer_and_which_heads_bring_it(open_app, engine):
    pair = {"source": EXAMPLES[0].view["text"], "target": EXAMPLES[0].view["text_b"], "answers": ("are", "is")}
    grid = patch(engine, **pair)
    assert grid.target.tokens.count("the") == 3
    names = {at: f"“{token}”" for at, token in enumerate(grid.target.tokens)} | {grid.place: "the blank", 1: "“the (1)”"}
    rows = np.nan_to_num(grid.effect)
    best = [names[row.argmax()] if row.max() >= 0.25 else "no token alone" for row in rows]
    assert best == ["“key”", *["“the (1)”"] * 3, *["the blank"] * 2]
    expected = "Where A's answer lies: “key” after layer 1; “the (1)” after layers 2 to 4; the blank from layer 5 on."
    assert looked_at(open_app(PAGE))[0]["sentence"] == expected
    heads = patch(engine, **pair, what="head").effect
    layer, head = np.argwhere(heads == heads.max())[0] + 1
    said = looked_at(open_app(PAGE, what="head"))[0]["sentence"]
    assert said.partition(": ")[2].startswith(f"Layer {layer}, head {head} ({heads.max():.2f}); ")


@pytest.mark.parametrize("what", ["residual", "head"])
def test_attention_opens_on_sentence_a_alone_where_its_blank_looks(open_app, engine, what: str):
    app = open_app(PAGE, **NAMES, what=what)
    (link,) = [one.proto for one in app.main.get("page_link") if one.label == page("attention").question]
    blank = engine.encode(NAMES["text"]).blanks[0] + 1
    heads = {}
    if what == "head":
        effect = np.abs(patch(engine, source=NAMES["text"], target=NAMES["text_b"], answers=("her", "his"), what=what).effect)
        layer, head = np.argwhere(effect == effect.max())[0] + 1
        heads = {"heads": f"{layer}-{head}"}
    assert dict(parse_qsl(link.query_string)) == {"text": NAMES["text"], "focus": str(blank), "model": "embedded"} | heads
