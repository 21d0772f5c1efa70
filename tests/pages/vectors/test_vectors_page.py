"""The page of vectors: points are the core's, a probe runs in the background, and what its examples claim is true."""

from urllib.parse import parse_qs

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.shell.numbers import whole_percent
from pages.vectors import texts
from pages.vectors.inputs import PAGE
from pages.vectors.probing import KIND
from tests.support.drawings import problems, says
from tests.support.staged import ask_stage, is_empty, looked_at, stage_says, staged
from tests.support.trainings import until_still
from tx_core.classroom.claims import sentences
from tx_core.corpus.sentence_file import ANNOTATED, embedded_sentences
from tx_core.corpus.vectors import FEW_NEIGHBOURS, probe, project, token_vectors
from tx_core.engine import catalogue
from tx_core.training.background import Registry

HOSTILE = "**Bold** <b>אבג</b> \u202e🙂"


def upload(app: AppTest, content: bytes, name: str) -> AppTest:
    return app.file_uploader(key=f"{PAGE}_file").set_value((name, content, "text/plain")).run()


def test_points_are_the_core_s_in_every_layer_and_each_is_named_with_its_text_and_its_nearest(open_app):
    app = open_app(PAGE, text="It flies.", text_b=HOSTILE, layer="2", colour="word", token="2")
    assert not app.exception and not problems(app)
    found = project(catalogue.load(catalogue.DEFAULT), ["It flies.", HOSTILE])
    (shown,) = looked_at(app)
    np.testing.assert_allclose(shown["values"], found.places.transpose(1, 0, 2).reshape(len(found.tokens), -1), atol=1e-6)
    assert shown["chart"]["title"] == texts.TITLES[1].format(layer=2)
    nearest = [[[other, round(100 * cosine)] for other, cosine in zip(*one, strict=True)]
               for one in zip(found.nearest[2].tolist(), found.similarities[2].tolist(), strict=True)]  # fmt: skip
    assert shown["chart"]["nearest"][2] == nearest
    assert shown["details"][1] == texts.TOKEN.format(token="flies", text="It flies.")
    assert shown["details"][-1].endswith(f"“{HOSTILE}”")
    assert not any("<b>" in one.value for one in (*app.markdown, *app.caption))
    for kinds in shown["chart"]["colourings"].values():
        assert sorted(number for kind in kinds for number in kind["members"]) == list(range(len(found.tokens)))
    same = {kind["name"]: kind["members"] for kind in shown["chart"]["colourings"]["word"]}
    assert {tuple(found.tokens[at].text for at in same["<"])} == {("<", "<")}
    (larger,) = (link.proto for link in app.get("page_link") if link.proto.label == texts.LARGER)
    assert parse_qs(larger.query_string)["model"] == ["bert-base-uncased"]


def test_a_neighbour_map_is_the_core_s_says_what_it_does_not_show_and_can_be_left_where_it_cannot_be_made(open_app):
    app = open_app(PAGE, text="It flies.", text_b=HOSTILE, method="tsne")
    found = project(catalogue.load(catalogue.DEFAULT), ["It flies.", HOSTILE], "tsne")
    values = found.places.transpose(1, 0, 2).reshape(len(found.tokens), -1)
    np.testing.assert_allclose(looked_at(app)[0]["values"], values, atol=1e-6)
    assert texts.NEIGHBOUR_MAP in stage_says(app) and "variance" not in stage_says(app)
    app = open_app(PAGE, text="It flies.", text_b="", method="tsne")
    assert is_empty(app) and FEW_NEIGHBOURS.format(least=5, tokens=3) in says(app)
    assert "method" in [control["name"] for control in staged(app)["controls"]]


def test_annotated_sentences_are_coloured_by_their_columns_and_other_texts_are_not(open_app):
    assert {"upos", "deprel"} <= looked_at(open_app(PAGE, texts="embedded"))[0]["chart"]["colourings"].keys()
    shown = looked_at(open_app(PAGE, text="It flies.", text_b="", colour="upos"))[0]["chart"]
    assert list(shown["colourings"]) == ["sentence", "position"]


def test_two_files_of_one_name_are_two(open_app):
    one, other = (upload(open_app(PAGE, texts="own"), text, "mine.txt") for text in (b"He is.", b"She is old."))
    assert len(looked_at(one)[0]["rows"]) == 3 and len(looked_at(other)[0]["rows"]) == 4


READ = 15


def test_a_probe_of_a_file_is_trained_in_the_background_and_its_lines_are_the_core_s(open_app, runs: Registry):
    trees = ANNOTATED.read_text("utf-8").split("\n\n")[:READ]
    text = "\n\n".join([*trees, *trees[:2]]).encode()  # what stands twice is read once
    app = upload(open_app(PAGE, texts="own", part="probe"), text, "mine.conllu")
    assert texts.PRESS_RUN in says(app)
    assert until_still(ask_stage(app, "settings", {"training": "run"}), runs, KIND).state == "finished"
    assert not app.exception and not problems(app)
    (lines,) = looked_at(app)
    assert f"words in {READ} sentences" in stage_says(app)
    assert texts.PROBE_READ.format(read=READ, count=READ + 2, most=3000) in says(app)
    assert staged(app)["title"].endswith(f"{READ} of {READ + 2} sentences, mine.conllu")
    found = probe(catalogue.load(catalogue.DEFAULT), app.session_state[f"{PAGE}_own_sentences"])
    np.testing.assert_allclose(lines["values"], [found.accuracy, found.control, found.selectivity], atol=1e-6)
    best = whole_percent(float(found.accuracy.max()))
    assert f"{best} right after layer {found.accuracy.argmax()}" in stage_says(app)
    ask_stage(app, "settings", {"label": "deprel"})
    assert texts.LAST_RUN.partition(":")[0] in says(app) and not is_empty(app)


def test_a_probe_of_typed_texts_says_what_it_needs(open_app):
    app = open_app(PAGE, part="probe")
    assert texts.PROBE_TYPED in says(app) and is_empty(app) and not app.exception


def test_the_token_that_an_example_shows_is_the_one_that_its_hint_is_about(engine):
    shown = [entry for entry, one in sentences(PAGE) if entry is one and "token" in entry["view"]]
    for entry in shown:
        read = token_vectors(engine, [entry["view"]["text"], entry["view"]["text_b"]])
        assert read.tokens[int(entry["view"]["token"]) - 1].text == entry["claims"][0][2]
    assert shown


@pytest.mark.ci
def test_what_the_example_of_a_probe_claims_is_true():
    found = probe(catalogue.load(catalogue.DEFAULT), embedded_sentences())
    assert found.accuracy.argmax() == 1
    assert found.selectivity[1:].min() > found.selectivity[0] + 0.05
    (said,) = (entry["claims"] for entry, _ in sentences(PAGE) if entry["view"].get("part") == "probe")
    for kind, layer, share in said:
        if kind == "accuracy":
            assert round(float(found.accuracy[layer]), 2) == share
        else:
            assert kind == "more selective" and found.selectivity[layer] > found.selectivity[0] + share
