"""The page of positions without a browser: what is drawn is the formula's, the model's, or measured on the spot."""

import json

import numpy as np
import pytest

from pages.positions import texts
from pages.positions.encodings import ENCODING_VIEWS, MAX_DRAWN_DIMENSIONS
from pages.ui.shell.numbers import UNCHANGED_BUT_ROUNDING
from tests.support.drawings import says
from tests.support.drawn_bars import drawn_bars
from tests.support.drawn_matrices import panels
from tests.support.page_html import preformatted
from tx_core.engine import catalogue
from tx_core.fill_mask.predictions import predict
from tx_core.lessons.position_encodings import BIAS_HEADS, ENCODINGS
from tx_core.lessons.word_order import shuffle_test

SENTENCE = "He opened the [MASK] with a key."


def matrices(app) -> np.ndarray:
    """Return the matrices that the page sent to its canvas, from the first to the last."""
    return np.stack([*panels(app)[1].values()])


def curves(app) -> list[dict]:
    return json.loads(app.get("plotly_chart")[0].proto.spec)["data"]


def test_the_learned_table_is_the_models_own(open_app):
    app = open_app("positions", text=SENTENCE, scheme="learned", length="30")
    table = catalogue.load("embedded").model.embeddings.positions.weight
    np.testing.assert_array_equal(matrices(app)[0], table[:30].detach().numpy())


@pytest.mark.parametrize("scheme", ENCODING_VIEWS)
def test_every_way_is_drawn_as_a_map_and_as_waves(open_app, scheme):
    drawn = [open_app("positions", text=SENTENCE, scheme=scheme, look=look, length="12") for look in ("map", "waves")]
    assert not any(app.exception for app in drawn)
    cells = matrices(drawn[0])
    assert np.isfinite(cells).all()
    assert cells.std() > 0
    assert len(curves(drawn[1])) > 0


def test_waves_are_of_the_dimensions_of_the_link_that_there_are(open_app):
    app = open_app("positions", text=SENTENCE, look="waves", dims="3-6-30", width="8")
    assert [line["name"] for line in curves(app)] == ["dimension 3", "dimension 6"]


def test_dimensions_are_written_in_a_box_and_stand_in_the_link(open_app):
    app = open_app("positions", text=SENTENCE, look="waves", width="20")
    assert app.text_input(key="positions_dims_box").value == "0 8 16"
    app.text_input(key="positions_dims_box").set_value("7, 2 19").run()
    assert [line["name"] for line in curves(app)] == ["dimension 7", "dimension 2", "dimension 19"]
    assert app.query_params["dims"] == "7-2-19"


@pytest.mark.parametrize("written", ["20", "1 1", "0 1 2 3 4 5 6 7 8", "³"])
def test_what_is_no_list_of_dimensions_is_reported_and_kept_in_the_box(open_app, written):
    app = open_app("positions", text=SENTENCE, look="waves", width="20", dims="3-6")
    app.text_input(key="positions_dims_box").set_value(written).run()
    assert not app.exception
    assert texts.DIMENSIONS_PROBLEM.format(most=MAX_DRAWN_DIMENSIONS, last=19) in says(app)
    assert app.text_input(key="positions_dims_box").value == written
    assert app.query_params["dims"] == "3-6"


def test_there_are_as_many_heads_to_choose_from_as_the_way_has(open_app):
    heads = {"learned": catalogue.load("embedded").info.num_heads, "alibi": BIAS_HEADS}
    for scheme, most in heads.items():
        app = open_app("positions", text=SENTENCE, scheme=scheme, look="effect", head="16", length="9")
        slider = app.slider(key="positions_head")
        assert (slider.max, slider.value) == (most, most)
        assert not app.exception


def test_shortest_and_longest_are_drawn(open_app):
    for length, width in (("4", "4"), ("128", "256")):
        assert matrices(open_app("positions", text=SENTENCE, length=length, width=width)).shape == (1, int(length), int(width))


def test_the_demands_are_measured_and_naive_ways_fail(open_app):
    table = open_app("positions", text=SENTENCE, part="demands").dataframe[0].value
    rows = {row.iloc[0]: "".join(cell[0] for cell in row.iloc[1:]) for _, row in table.iterrows()}
    assert rows["sinusoids"] == rows["rotary"] == "✓✓✓✓"
    assert rows["counting 0, 1, 2 …"] == "✓✗✓✓"
    assert rows["learned table"] == "✓✓✓✗"


@pytest.mark.parametrize("length", [4, 128])
def test_the_learned_table_is_far_from_consistent_and_position_0_stands_out(open_app, length):
    app = open_app("positions", part="demands", length=str(length))
    rows = app.dataframe[0].value.set_index(texts.COMPARED)["Consistent"]
    table = catalogue.load("embedded").model.embeddings.positions.weight[:length].detach().double().numpy()
    apart = np.array([[np.linalg.norm(one - other) for other in table] for one in table])
    spreads = [max(float(np.ptp(part.diagonal(k))) for k in range(1, len(part))) / part.max() for part in (apart, apart[1:, 1:])]
    learned, rest = (f"{spread:.3f}" for spread in spreads)
    random = rows["a new random table"].split()[-1]
    assert texts.LEARNED_TABLE_NOTE.format(learned=learned, rest=rest, random=random) in says(app)
    assert rows["learned table"] == f"✗ {learned}"
    assert spreads[1] < spreads[0]
    assert apart[0, 1:].min() > apart[1:, 1:].max()


@pytest.mark.parametrize(
    ("text", "told"),
    [("dogs", texts.SAME_ORDER), ("dog dog dog", texts.SAME_ORDER), (SENTENCE, texts.ORDER_MATTERS)],
)
def test_whether_order_matters_is_described_by_what_moved(open_app, text, told):
    positions, none = open_app("positions", text=text, part="shuffle").metric
    assert positions.delta == told
    assert none.delta == (told if text != SENTENCE else UNCHANGED_BUT_ROUNDING)


def test_without_special_tokens_every_token_of_a_text_is_shuffled(open_app):
    app = open_app("positions", text=SENTENCE, part="shuffle")
    app.toggle(key="positions_nospecial").set_value(True).run()
    bare = catalogue.load("embedded", special_tokens=False)
    run = shuffle_test(bare, SENTENCE, 1)
    assert "[CLS]" not in preformatted(app)[-1]
    np.testing.assert_allclose(matrices(app)[0], [run.with_positions.by_token, run.without_positions.by_token], atol=1e-5)
    best = predict(bare, SENTENCE, top_k=1).blanks[0].predictions[0]
    assert drawn_bars(app)[0]["labels"][0] == best.piece
    assert app.query_params["nospecial"] == "1"


def test_a_sentence_without_a_blank_is_shuffled_and_told_how_to_leave_one(open_app):
    app = open_app("positions", text="She wants to buy a car.", part="shuffle")
    assert texts.NO_BLANK in says(app)
    assert not drawn_bars(app)


@pytest.mark.parametrize("text", ["  ", "cat " * 300])
def test_a_text_that_cannot_be_read_is_explained_and_kept(open_app, text):
    app = open_app("positions", text=text, part="shuffle")
    assert "Check the input" in says(app)
    assert app.text_input(key="positions_text").value == text
    assert not app.exception


def test_every_encoding_of_the_core_is_on_the_page():
    assert set(ENCODING_VIEWS) == set(ENCODINGS) - {"none"}
