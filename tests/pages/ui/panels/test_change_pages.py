"""Changes on the pages: what is clicked or linked is what is run, shown before and after, and taken back by a chip."""

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages import contents
from pages.ui.panels import texts
from pages.ui.shell import controls
from pages.ui.shell.numbers import weight
from tests.support.drawings import changes_drawn, says
from tests.support.messages import unknown_parameters
from tx_core.engine import catalogue
from tx_core.transformer.interventions import NO_LAYER, NO_SPACE_FOR_PADDING, NO_TOKEN, Intervention, read_interventions

Open = Callable[..., AppTest]
SEE_PREDICTIONS = texts.SEE_ON_PAGE.format(page=contents.page("fill_mask").name)
TEXT, BLANK = "The old man saw a [MASK].", "The old man saw a ___ in the house."
LAST = controls.embedded_sizes()[0]


def maps(app: AppTest) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The weights before and after, and the difference, as the canvas decodes them."""
    header, cells = changes_drawn(app)[-1]
    before, after, difference = cells.reshape(3, len(header["queries"]), len(header["keys"])).astype(float)
    root = (difference - 32768) / 32767
    return (before / 65535) ** 2, (after / 65535) ** 2, np.sign(root) * root**2


def chips(app: AppTest, page: str = "fill_mask") -> list[str]:
    """The changes that have a chip, as an address writes them."""
    keys = [button.key for button in app.button if button.key.startswith(f"{page}_chip_")]
    return [key.removeprefix(f"{page}_chip_") for key in keys]


def weights(changes: str = "", text: str = TEXT) -> np.ndarray:
    return catalogue.load(catalogue.DEFAULT).trace(text, interventions=read_interventions(changes)).attention.weights


@pytest.mark.parametrize(
    "changes",
    ["off~1-2", "hide~3~2-1", "temperature~0.25", "sparse~2", "padding~8", "nopositions"],
)
def test_a_link_with_a_change_shows_the_run_before_and_after_it_and_the_difference(open_app: Open, changes: str):
    app = open_app("fill_mask", text=TEXT, heads="2-1", changes=changes)
    assert not app.exception
    before, after, difference = maps(app)
    plain, changed = weights()[1, 0], weights(changes)[1, 0]
    if changes == "padding~8":  # a last column for what the trace leaves out
        plain, changed = (np.column_stack([one, 1 - one.sum(-1)]) for one in (plain, changed))
    np.testing.assert_allclose(before, plain, atol=1e-4)
    np.testing.assert_allclose(after, changed, atol=1e-4)
    np.testing.assert_allclose(difference, changed - plain, atol=1e-4)
    assert len(chips(app)) == 1
    assert app.query_params["changes"] == changes


def test_a_head_that_is_switched_off_stands_below_the_head_of_a_later_layer_that_moved_most(open_app: Open):
    app = open_app("fill_mask", text=TEXT, heads="2-3", changes="off~2-3")
    plain, changed = weights(), weights("off~2-3")
    moved = np.abs(changed - plain).sum(-1).mean(-1) / 2
    moved[1, 2] = 0
    most = np.unravel_index(moved.argmax(), moved.shape)
    assert most[0] > 1
    (_, first), (_, second) = changes_drawn(app)
    size = plain.shape[2] ** 2
    np.testing.assert_allclose((first[size : 2 * size] / 65535) ** 2, changed[most].ravel(), atol=1e-4)
    assert not second[size : 2 * size].any()
    assert texts.MOVED_MOST.format(head=controls.head_name(most)) in says(app)
    first_pill = texts.MOVED_HEAD.format(head=controls.head_name(most), share=weight(moved[most]))
    pills = next(group for group in app.main.get("button_group") if group.proto.id.endswith("fill_mask_moved"))
    assert pills.proto.options[0].content == first_pill


def test_a_head_that_still_attends_is_shown_alone(open_app: Open):
    assert len(changes_drawn(open_app("fill_mask", text=TEXT, heads="2-3", changes="off~1-1"))) == 1


def test_the_token_in_focus_is_hidden_in_one_click_and_its_word_where_words_are_whole(open_app: Open):
    app = open_app("fill_mask", text=TEXT, focus="3")
    app.button(key="fill_mask_make_hidden_focused").click().run()
    assert app.session_state["fill_mask_changes"] == (Intervention("hidden", positions=(2,)),)
    assert not maps(app)[1][:, 2].any()


def test_a_click_on_a_chip_takes_its_change_back_and_reset_all(open_app: Open):
    app = open_app("fill_mask", text=TEXT, changes="off~1-1_hide~3_temperature~0.5")
    assert chips(app) == ["off~1-1", "hide~3", "temperature~0.5"]
    app.button(key="fill_mask_chip_hide~3").click().run()
    assert chips(app) == ["off~1-1", "temperature~0.5"]
    assert app.query_params["changes"] == "off~1-1_temperature~0.5"
    app.button(key="fill_mask_changes_reset").click().run()
    assert chips(app) == []


def test_every_control_of_the_popover_makes_its_change(open_app: Open):
    app = open_app("fill_mask", text=TEXT, heads="2-3")
    app.session_state["fill_mask_change_opened"] = True
    app.run()
    app.button(key="fill_mask_make_uniform").click().run()
    app.button(key="fill_mask_make_layer_off").click().run()
    app.selectbox(key="fill_mask_change_key").set_value(1).run()
    app.selectbox(key="fill_mask_change_query").set_value(4).run()
    app.selectbox(key="fill_mask_change_scope").set_value("head").run()
    app.button(key="fill_mask_make_hidden").click().run()
    app.button(key="fill_mask_make_cut").click().run()
    app.select_slider(key="fill_mask_change_temperature").set_value("0.5").run()
    app.selectbox(key="fill_mask_change_layer").set_value(1).run()
    next(group for group in app.button_group if group.key == "fill_mask_change_normaliser").set_value("sparse").run()
    assert app.query_params["changes"] == "even~2-3_off~2_hide~2~2-3_cut~5-2~2-3_temperature~0.5_sparse~2"
    app.selectbox(key="fill_mask_change_layer").set_value(None).run()
    assert app.select_slider(key="fill_mask_change_temperature").value == "0.5"
    app.select_slider(key="fill_mask_change_temperature").set_value("1").run()
    assert "temperature" not in app.query_params["changes"]
    app.button(key="fill_mask_changes_reset").click().run()
    app.button(key="fill_mask_make_causal").click().run()
    app.select_slider(key="fill_mask_change_padding").set_value(8).run()
    app.button(key="fill_mask_make_no_positions").click().run()
    assert app.query_params["changes"] == "causal_padding~8_nopositions"
    assert app.select_slider(key="fill_mask_change_padding").value == 8
    app.select_slider(key="fill_mask_change_padding").set_value(0).run()
    assert app.query_params["changes"] == "causal_nopositions"
    assert not app.exception


@pytest.mark.parametrize(
    ("page", "text", "focus", "looked_at", "looking"),
    [("fill_mask", "A bird [MASK].", "", 1, 3)],
)
def test_the_boxes_of_a_token_begin_at_the_one_in_focus_and_at_no_special_one(
    open_app: Open, page: str, text: str, focus: str, looked_at: int, looking: int
):
    app = open_app(page, text=text, **({"focus": focus} if focus else {}))
    app.session_state[f"{page}_change_opened"] = True
    app.run()
    boxes = [app.selectbox(key=f"{page}_change_{name}") for name in ("key", "query")]
    assert [box.value for box in boxes] == [looked_at, looking]
    app.button(key=f"{page}_make_hidden").click().run()
    assert app.query_params["changes"] == f"hide~{looked_at + 1}"
    app.session_state[f"{page}_focus"] = 2
    app.run()
    assert app.selectbox(key=f"{page}_change_key").value == 2


@pytest.mark.parametrize("changes", ["<script>", "off~0-1", "temperature~nan", "off~1_" * 500])
def test_nonsense_among_changes_changes_nothing_and_is_reported(open_app: Open, changes: str):
    app = open_app(text=TEXT, changes=changes)
    assert not app.exception
    assert unknown_parameters("changes") in says(app)
    assert chips(app) == []


def test_where_the_answer_stands_above_nobody_is_led_to_it(open_app: Open):
    app = open_app("fill_mask", text="A [MASK] sings.", heads=f"{LAST}-2", changes=f"off~{LAST}-2")
    assert texts.NOTHING_AFTER_LAST_LAYER_OFF.format(layer=LAST) in says(app)
    assert SEE_PREDICTIONS not in [link.proto.label for link in app.main.get("page_link")]


@pytest.mark.parametrize("changes", [f"off~1-1_off~{LAST}-2", "temperature~1.01"])
def test_a_change_before_the_last_layer_is_not_said_to_move_nothing(open_app: Open, changes: str):
    shown = says(open_app("fill_mask", text=TEXT, heads=f"{LAST}-2", changes=changes))
    assert texts.NOTHING_AFTER_LAST_LAYER.format(layer=LAST) not in shown
    assert texts.NOTHING_AFTER_LAST_LAYER_OFF.format(layer=LAST) not in shown


def test_changes_that_the_model_or_the_text_does_not_have_are_left_out_and_told(open_app: Open):
    app = open_app("fill_mask", text=TEXT, changes="off~99-1_hide~999_off~1-1")
    assert chips(app) == ["off~1-1"]
    assert NO_LAYER.format(layers=LAST, layer=99) in says(app)
    tokens = len(catalogue.load(catalogue.DEFAULT).encode(TEXT))
    assert NO_TOKEN.format(tokens=tokens, position=999) in says(app)


def test_padding_that_has_no_room_is_left_out_with_a_notice(open_app: Open):
    engine, text = catalogue.load(catalogue.DEFAULT), "dog " * 100 + "[MASK]"
    app = open_app("fill_mask", text=text, changes="padding~64_causal")
    assert chips(app) == ["causal"]
    tokens = len(engine.encode(text))
    assert NO_SPACE_FOR_PADDING.format(most=engine.info.max_tokens, padding=64, tokens=tokens) in says(app)


def test_another_text_takes_changes_of_tokens_back_and_keeps_those_of_heads(open_app: Open):
    app = open_app("fill_mask", text=TEXT, changes="off~1-1_hide~3")
    app.text_input(key="fill_mask_text").set_value("A woman [MASK].").run()
    assert chips(app) == ["off~1-1"]
    assert texts.TOKEN_CHANGES_UNDONE in says(app)


def test_the_text_on_a_chip_is_never_markup(open_app: Open):
    app = open_app("fill_mask", text="**bold** :red[x] <b> [MASK]", changes="hide~2_hide~4")
    labels = [button.label for button in app.button if button.key.startswith("fill_mask_chip_")]
    assert labels
    assert not any("**" in label or ":red[" in label for label in labels)


def test_an_example_begins_unchanged(open_app: Open):
    app = open_app("fill_mask", text=TEXT, changes="off~1-1")
    group = app.pills(key="fill_mask_example")
    group.set_value(group.options[0].content if hasattr(group.options[0], "content") else group.options[0]).run()
    assert chips(app) == []


def test_two_visitors_see_their_own_changes(open_app: Open):
    first, second = (
        open_app("fill_mask", text=TEXT, heads="2-1", changes="off~1"),
        open_app("fill_mask", text=TEXT, heads="2-1", changes="temperature~5"),
    )
    for _ in range(2):
        first.run()
        second.run()
    np.testing.assert_allclose(maps(first)[1], weights("off~1")[1, 0], atol=1e-4)
    np.testing.assert_allclose(maps(second)[1], weights("temperature~5")[1, 0], atol=1e-4)
    assert (chips(first), chips(second)) == (["off~1"], ["temperature~5.0"])


def test_back_in_the_browser_brings_the_changes_of_tokens_back_with_their_text(open_app: Open):
    app = open_app("fill_mask", text=TEXT, changes="off~1-1_hide~3")
    before = dict(app.query_params)
    app.text_input(key="fill_mask_text").set_value("A woman [MASK].").run()
    assert len(chips(app)) == 1
    app.query_params = before
    app.run()
    assert len(chips(app)) == 2
    assert texts.TOKEN_CHANGES_UNDONE not in says(app)
    assert app.query_params == before
