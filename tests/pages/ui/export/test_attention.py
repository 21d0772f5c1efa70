"""The export of a map is what is on the screen: figure, files and web page hold its numbers, tokens and words."""

import base64
import re
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser

import numpy as np
from streamlit.testing.v1 import AppTest

from pages.ui.export import texts
from pages.ui.export.attention import attention_export, saved_weights
from pages.ui.export.menu import stand_alone
from pages.ui.export.records import one_line
from tests.support.drawings import sent_to, unpacked
from tests.support.exports import map_of_page
from tests.support.messages import name_in_head
from tx_core.engine import catalogue
from tx_core.transformer.interventions import Intervention

Open = Callable[..., AppTest]
HOSTILE = "</script><script>alert(1)</script> <!-- &amp; ]]> \"quoted\" 'single' \u202eabc"


def map_of(message: bytes) -> tuple[dict, np.ndarray]:
    """The header and the weights of what a canvas is sent."""
    header, numbers = unpacked(message)
    cells = (np.frombuffer(numbers, "<u2") / 65535) ** 2
    return header, cells.reshape(len(header["queries"]), len(header["keys"]))


def sent(app: AppTest, name: str) -> tuple[dict, np.ndarray]:
    """The header and the weights that a component of the page was sent."""
    header, cells = sent_as_it_is(app, name)
    return header, ((cells / 65535) ** 2).reshape(len(header["queries"]), len(header["keys"]))


def opened(app: AppTest, form: str = texts.FIGURE) -> AppTest:
    """The attention page with one form of its export open."""
    app.session_state["attention_export"] = True
    app.session_state["attention_export_form"] = form
    return app.run()


def test_the_figure_is_sent_what_the_map_is_sent(open_app: Open):
    app = opened(open_app(text="time flies like", heads="1-2_2-3", hide="1", words="1", focus="2", scale="viridis", lines="3"))
    assert not app.exception
    (shown, weights), (figure, drawn) = sent(app, "attention_map"), sent(app, "picture")
    wall = {"heads", "mapsPath", "timestamp", "guesses"}  # what ties the map on the page to the wall beside it and to a class
    assert {name: figure[name] for name in shown.keys() - wall} == {name: shown[name] for name in shown.keys() - wall}
    np.testing.assert_array_equal(drawn, weights)
    assert (figure["width"], figure["unit"]) == (174, "mm")
    assert "layer 1, head 2; layer 2, head 3" in figure["caption"]
    assert f"{texts.TEXT.format(sentence='“time flies like”.')} {texts.MARKED.format(token='')}" in figure["caption"]
    assert texts.MERGED in figure["caption"]
    assert texts.SPECIAL_HIDDEN in figure["caption"]


def test_a_caption_names_model_layer_head_sentences_focus_and_changes():
    caption = map_of_page("embedded", "time flies", "fruit flies", [Intervention("off", 0, 1)]).caption
    for part in (
        "layer 2, head 3",
        catalogue.card("embedded").title,
        "“time flies”",
        "“fruit flies”",
        texts.CHANGED.partition("{")[0],
    ):
        assert part in caption


def test_a_changed_run_is_exported_as_before_after_and_difference(open_app: Open):
    app = opened(open_app(text="time flies like an arrow", heads="3-2", changes="off~1-2_hide~3"))
    assert not app.exception
    changes = [Intervention("off", 0, 1), Intervention("hidden", positions=(2,))]
    engine, text = catalogue.load("embedded"), "time flies like an arrow"
    runs = [engine.trace(text, interventions=made).attention.weights[2, 1] for made in ((), changes)]
    for name in ("picture", "before_after"):
        header, cells = sent_as_it_is(app, name)
        seen = cells.reshape(3, len(header["queries"]), len(header["keys"]))
        np.testing.assert_allclose((seen[:2] / 65535) ** 2, runs, atol=1e-4)
    assert sent_as_it_is(app, "picture")[0]["maps"] == 3
    assert texts.CHANGED.partition("{")[0] in sent_as_it_is(app, "picture")[0]["caption"]
    assert name_in_head("off", 1, 2) in sent_as_it_is(app, "picture")[0]["caption"]


def sent_as_it_is(app: AppTest, name: str) -> tuple[dict, np.ndarray]:
    """The header and the cells that a component of the page was sent."""
    ((header, cells),) = sent_to(app, name)
    return header, np.frombuffer(cells, "<u2").astype(float)


def test_a_stand_alone_page_of_a_changed_run_holds_all_three_maps():
    page = stand_alone(attention_export(map_of_page("embedded", "time flies", changes=[Intervention("off", 0, 1)])))
    assert "before-after" in page
    assert "before-after" not in stand_alone(attention_export(map_of_page("embedded", "time flies")))
    assert not re.search(r"^(import|export)\b", page, flags=re.MULTILINE)


def test_a_file_of_what_is_shown_holds_its_numbers_and_one_of_all_every_head():
    shown = map_of_page("embedded", "time flies like an arrow", words=True, hide=True, heads=((1, 2), (0, 4)))
    one, every = (saved_weights(shown, everything, {}) for everything in (False, True))
    np.testing.assert_array_equal(one.weights, shown.shown.weights[None])
    assert one.maps == (((2, 3), (1, 5)),)
    assert one.keys == ("time", "flies", "like", "an", "arrow")
    place = every.maps.index(((2, 3),))
    np.testing.assert_array_equal(every.weights[place], shown.shown.view.weights[1, 2])
    assert len(every.maps) == shown.shown.view.weights.shape[0] * shown.shown.view.weights.shape[1]
    assert texts.MERGED in every.notes


class Tags(HTMLParser):
    """Every element of a page, and the text in each kind of element."""

    def __init__(self, page: str):
        super().__init__()
        self.seen, self.texts, self._open = [], {}, ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self._open = tag

    def handle_data(self, data):
        self.texts[self._open] = self.texts.get(self._open, "") + data


def test_a_stand_alone_page_holds_the_map_and_its_words_and_no_markup_of_the_visitor():
    shown = map_of_page("embedded", HOSTILE, HOSTILE)
    page = stand_alone(attention_export(shown))
    tags = Tags(page)
    assert tags.seen.count("script") == page.count("<script") == page.count("</script") == 1
    assert one_line(HOSTILE) in tags.texts["bdi"]
    packed = re.search('<div id="data" hidden>([A-Za-z0-9+/=]+)</div>', page)[1]
    header, weights = map_of(base64.b64decode(packed))
    assert header["queries"] == list(shown.shown.queries)
    np.testing.assert_allclose(weights, shown.shown.weights, atol=1e-4)


def test_a_stand_alone_page_asks_nothing_of_any_server():
    page = stand_alone(attention_export(map_of_page("embedded", "time flies")))
    assert "default-src 'none'; script-src 'sha256-" in unescape(page)
    assert not re.search(r"(src|href)=|https?:|import |fetch\(|url\(", page)
