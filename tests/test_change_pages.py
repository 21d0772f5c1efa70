"""Changes on the pages: what is clicked or linked is what is run, shown before and after, and taken back by a chip."""

import json
from collections.abc import Callable

import numpy as np
import pytest
from drawn_bars import bars_told
from streamlit.testing.v1 import AppTest

from pages.ui import scan_view
from pages.ui.answers import spelled
from pages.ui.changes import Change, interventions, read_changes
from pages.ui.figures import percent
from pages.ui.prediction_charts import note
from tx_core import models
from tx_core.fill_mask import predict
from tx_core.head_scan import scan_heads
from tx_core.interventions import Interventions
from tx_core.prediction_shift import shift

Open = Callable[..., AppTest]
TEXT, BLANK = "The old man saw a dog.", "The old man saw a ___ in the house."


def drawn(app: AppTest, component: str) -> tuple[dict, np.ndarray]:
    """What a component was sent: header and cells."""
    for element in app.get("bidi_component"):
        if element.proto.component_name == f"attention_explorer_{component}":
            message = element.proto.bytes
            end = 4 + int.from_bytes(message[:4], "little")
            header = json.loads(message[4:end])
            return header, np.frombuffer(message[end:], "<u2" if header["bits"] == 16 else "u1")
    raise AssertionError(f"no {component} was drawn")


def maps(app: AppTest) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The weights before and after, and the difference, as the canvas decodes them."""
    header, cells = drawn(app, "before_after")
    before, after, difference = cells.reshape(3, len(header["queries"]), len(header["keys"])).astype(float)
    root = (difference - 32768) / 32767
    return (before / 65535) ** 2, (after / 65535) ** 2, np.sign(root) * root**2


def chips(app: AppTest, page: str = "attention") -> list[str]:
    return [button.label.replace("\\", "") for button in app.button if button.key.startswith(f"{page}_chip_")]


def weights(changes: str = "", text: str = TEXT) -> np.ndarray:
    return models.load(models.DEFAULT).trace(text, interventions=interventions(read_changes(changes))).attention.weights


def said(app: AppTest) -> str:
    return "\n".join(element.value for kind in (app.markdown, app.caption, app.text, app.info, app.warning) for element in kind)


@pytest.mark.parametrize(
    "changes", ["off~1-2", "off~1", "even~2-1", "hide~3", "hide~3~2-1", "cut~4-2", "temperature~0.25", "sparse~2", "hard"]
)
def test_a_link_with_a_change_shows_the_run_before_and_after_it_and_the_difference(open_app: Open, changes: str):
    app = open_app(text=TEXT, heads="2-1", changes=changes)
    assert not app.exception
    before, after, difference = maps(app)
    np.testing.assert_allclose(before, weights()[1, 0], atol=1e-4)
    np.testing.assert_allclose(after, weights(changes)[1, 0], atol=1e-4)
    np.testing.assert_allclose(difference, weights(changes)[1, 0] - weights()[1, 0], atol=1e-4)
    assert len(chips(app)) == 1
    assert app.query_params["changes"] == changes


def test_nothing_changed_draws_the_map_alone(open_app: Open):
    app = open_app(text=TEXT)
    assert chips(app) == []
    with pytest.raises(AssertionError, match="before_after"):
        drawn(app, "before_after")


def test_the_head_that_is_looked_at_is_switched_off_and_on_again_in_one_click(open_app: Open):
    app = open_app(text=TEXT, heads="1-2")
    app.button(key="attention_make_off").click().run()
    assert chips(app) == ["Layer 1, head 2 off"]
    assert app.query_params["changes"] == "off~1-2"
    _, after, _ = maps(app)
    assert not after.any()
    app.button(key="attention_off").click().run()
    assert chips(app) == []
    assert "changes" not in app.query_params


def test_the_token_in_focus_is_hidden_in_one_click_and_its_word_where_words_are_whole(open_app: Open):
    app = open_app(text=TEXT, focus="3")
    app.button(key="attention_make_hide_focused").click().run()
    assert app.session_state["attention_changes"] == (Change("hide", places=(2,)),)
    assert not maps(app)[1][:, 2].any()


def test_a_click_on_a_chip_takes_its_change_back_and_reset_all(open_app: Open):
    app = open_app(text=TEXT, changes="off~1-1_hide~3_temperature~0.5")
    assert chips(app) == ["Layer 1, head 1 off", "“old” (3) hidden", "Temperature 0.5"]
    app.button(key="attention_chip_hide~3").click().run()
    assert chips(app) == ["Layer 1, head 1 off", "Temperature 0.5"]
    assert app.query_params["changes"] == "off~1-1_temperature~0.5"
    app.button(key="attention_changes_reset").click().run()
    assert chips(app) == []


def test_every_control_of_the_popover_makes_its_change(open_app: Open):
    app = open_app(text=TEXT, heads="2-3")
    app.session_state["attention_change_opened"] = True
    app.run()
    app.button(key="attention_make_even").click().run()
    app.button(key="attention_make_layer_off").click().run()
    app.selectbox(key="attention_change_key").set_value(1).run()
    app.selectbox(key="attention_change_query").set_value(4).run()
    app.selectbox(key="attention_change_scope").set_value("head").run()
    app.button(key="attention_make_hide").click().run()
    app.button(key="attention_make_cut").click().run()
    app.select_slider(key="attention_change_temperature").set_value("0.5").run()
    app.selectbox(key="attention_change_layer").set_value(1).run()
    next(group for group in app.button_group if group.key == "attention_change_normaliser").set_value("sparse").run()
    assert app.query_params["changes"] == "even~2-3_off~2_hide~2~2-3_cut~5-2~2-3_temperature~0.5_sparse~2"
    app.selectbox(key="attention_change_layer").set_value(None).run()
    assert app.select_slider(key="attention_change_temperature").value == "0.5"
    app.select_slider(key="attention_change_temperature").set_value("1").run()
    assert "temperature" not in app.query_params["changes"]
    assert not app.exception


def test_a_changed_view_is_brought_back_by_its_link(open_app: Open):
    app = open_app(text=TEXT, heads="1-2", words="1", hide="1", changes="off~1-1_hide~3~2-1_temperature~0.3~2")
    again = open_app(**app.query_params)
    assert again.query_params == app.query_params
    assert drawn(again, "before_after")[0] == drawn(app, "before_after")[0]
    np.testing.assert_array_equal(drawn(again, "before_after")[1], drawn(app, "before_after")[1])
    assert chips(again) == chips(app)


@pytest.mark.parametrize("page", ["attention", "fill_mask"])
@pytest.mark.parametrize("changes", ["<script>", "off~0-1", "temperature~nan", "off~1_" * 500])
def test_nonsense_among_changes_changes_nothing_and_is_told(open_app: Open, page: str, changes: str):
    app = open_app(page, text=BLANK, changes=changes)
    assert not app.exception
    assert "not known here: changes." in said(app)
    assert chips(app, page) == []


def test_changes_that_the_model_or_the_text_does_not_have_are_left_out_and_told(open_app: Open):
    app = open_app(text=TEXT, changes="off~99-1_hide~999_off~1-1")
    assert chips(app) == ["Layer 1, head 1 off"]
    assert "there is no layer 99" in said(app)
    assert "there is no token 999" in said(app)


def test_another_text_takes_changes_of_tokens_back_and_keeps_those_of_heads(open_app: Open):
    app = open_app(text=TEXT, changes="off~1-1_hide~3")
    app.text_input(key="attention_text").set_value("A woman sings.").run()
    assert chips(app) == ["Layer 1, head 1 off"]
    assert "This is another text" in said(app)


def test_the_text_on_a_chip_is_never_markup(open_app: Open):
    app = open_app(text="**bold** :red[x] <b>", changes="hide~2_hide~4")
    labels = [button.label for button in app.button if button.key.startswith("attention_chip_")]
    assert labels
    assert not any("**" in label or ":red[" in label for label in labels)


def test_an_example_begins_unchanged(open_app: Open):
    app = open_app(text=TEXT, changes="off~1-1")
    group = app.pills(key="attention_example")
    group.set_value(group.options[0].content if hasattr(group.options[0], "content") else group.options[0]).run()
    assert chips(app) == []


def test_a_blank_shows_its_prediction_before_and_after_with_ranks(open_app: Open):
    app = open_app("fill_mask", text=BLANK, changes="off~1_hide~3", listed="5")
    assert not app.exception
    found = shift(models.load(models.DEFAULT), BLANK, interventions(read_changes("off~1_hide~3")), top_k=5).blanks[0]
    (told,) = bars_told(app)["What your changes do to this blank"]
    assert told.startswith(f"{spelled(found.moved[0].prediction)} {percent(found.moved[0].before)} → ")
    for moved in found.moved:
        assert told.count(f" → {percent(moved.after)}  {note(moved)}")
    assert "of the probability went to other words" in said(app)
    assert predict(models.load(models.DEFAULT), BLANK).blanks[0].predictions[0].word in bars_told(app)["Most likely words"][0]


def test_notes_say_who_rose_fell_came_and_went():
    engine = models.load(models.DEFAULT)
    found = shift(engine, BLANK, Interventions(temperatures=frozenset({(None, 5.0)})), top_k=8).blanks[0].moved
    for moved in found:
        told = note(moved)
        if not moved.listed_before:
            assert told == f"new, was no. {moved.rank_before:,}"
        elif not moved.listed_after:
            assert told == f"gone, now no. {moved.rank_after:,}"
        else:
            climbed = moved.rank_before - moved.rank_after
            assert told == ("=" if not climbed else f"{'↑' if climbed > 0 else '↓'}{abs(climbed)}")


def scanned(open_app: Open, **address: str) -> AppTest:
    app = open_app("fill_mask", text=BLANK, **address)
    app.session_state["fill_mask_scan_opened"] = True
    app.run()
    return app.button(key="fill_mask_scan_start").click().run()


def test_a_scan_is_drawn_as_a_wall_of_all_heads_with_what_each_does(open_app: Open):
    app = scanned(open_app)
    assert not app.exception
    found = scan_heads(models.load(models.DEFAULT), BLANK)
    sent = [drawn_wall for drawn_wall in walls(app) if drawn_wall[0]["scale"] == "difference"]
    ((header, cells),) = sent
    assert (header["layers"], header["heads"]) == found.change.shape
    limit = float(header["ends"][2].strip("+%")) / 100
    np.testing.assert_array_equal(cells, scan_view.cells(found.change, limit).ravel())
    assert abs(found.change).max() <= limit
    assert header["notes"][0][0].endswith(f"then first: {found.first_words[0][0]}")
    assert f"“{found.word}” is first" in said(app)


def walls(app: AppTest) -> list[tuple[dict, np.ndarray]]:
    found = []
    for element in app.get("bidi_component"):
        if element.proto.component_name == "attention_explorer_head_wall":
            message = element.proto.bytes
            end = 4 + int.from_bytes(message[:4], "little")
            found.append((json.loads(message[4:end]), np.frombuffer(message[end:], "u1")))
    return found


def test_a_long_scan_runs_in_the_background_and_is_drawn_at_its_end(open_app: Open, monkeypatch: pytest.MonkeyPatch):
    from tx_core import fill_mask

    monkeypatch.setattr(fill_mask, "ROWS_AT_ONCE", 5)
    text = "A long ___ of many runs."
    app = open_app("fill_mask", text=text)
    app.session_state["fill_mask_scan_opened"] = True
    app.run()
    app.button(key="fill_mask_scan_start").click().run()
    for _ in range(100):
        if any(header["scale"] == "difference" for header, _ in walls(app)):
            break
        app.run()
    assert not app.exception
    ((header, _),) = [wall for wall in walls(app) if wall[0]["scale"] == "difference"]
    assert header["notes"][0][0].endswith(scan_heads(models.load(models.DEFAULT), text).first_words[0][0])


def test_what_scan_cells_show_is_the_change_around_the_middle():
    cells = scan_view.cells(np.array([[-0.5, 0.0, 0.5], [0.125, -0.125, 0.02]]), 0.5)
    assert cells.shape == (2, 3, 1, 1)
    assert cells[..., 0, 0].tolist() == [[1, 128, 255], [192, 64, 153]]


def test_two_visitors_see_their_own_changes(open_app: Open):
    first, second = open_app(text=TEXT, heads="2-1", changes="off~1"), open_app(text=TEXT, heads="2-1", changes="temperature~5")
    for _ in range(2):
        first.run()
        second.run()
    np.testing.assert_allclose(maps(first)[1], weights("off~1")[1, 0], atol=1e-4)
    np.testing.assert_allclose(maps(second)[1], weights("temperature~5")[1, 0], atol=1e-4)
    assert (chips(first), chips(second)) == (["Layer 1 off"], ["Temperature 5"])


def test_back_in_the_browser_brings_the_changes_of_tokens_back_with_their_text(open_app: Open):
    app = open_app(text=TEXT, changes="off~1-1_hide~3")
    before = dict(app.query_params)
    app.text_input(key="attention_text").set_value("A woman sings.").run()
    assert len(chips(app)) == 1
    app.query_params = before
    app.run()
    assert len(chips(app)) == 2
    assert "another text" not in said(app)
    assert app.query_params == before
