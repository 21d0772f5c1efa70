"""The page of positions without a browser: what is drawn is the formula's, the model's, or measured on the spot."""

import numpy as np
import pytest

from pages.positions import texts
from pages.positions.encodings import ENCODING_VIEWS
from pages.ui.shell.numbers import UNCHANGED_BUT_ROUNDING
from tests.support.drawings import says
from tests.support.staged import staged, staged_picture, staged_pictures
from tx_core.engine import catalogue
from tx_core.lessons.position_encodings import ENCODINGS

SENTENCE = "He opened the [MASK] with a key."


def control(app, name: str) -> dict:
    """A control of the stage, by the name of its field."""
    return next(one for one in staged(app)["controls"] if one["name"] == name)


def test_a_visit_and_a_sentence_alone_begin_with_shuffled_words_and_older_links_with_the_encodings(open_app):
    assert staged(open_app("positions"))["settings"]["part"] == "shuffle"
    assert staged(open_app("positions", text="Birds sing."))["settings"]["part"] == "shuffle"
    assert staged(open_app("positions", length="9"))["settings"]["part"] == "ways"


def test_waves_are_of_the_dimensions_of_the_link_that_there_are(open_app):
    app = open_app("positions", look="waves", dims="3-6-30", width="8")
    assert staged_picture(app, texts.VIEWS["waves"])["rows"] == ["dimension 3", "dimension 6"]
    assert control(app, "dims")["limits"][1] == 7


def measured(app) -> dict[str, list[str]]:
    return {name: cells for name, *cells in staged_picture(app, texts.MEASURED)["chart"]["rows"]}


def test_the_demands_are_measured_and_naive_ways_fail(open_app):
    rows = {name: "".join(cell[0] for cell in cells) for name, cells in measured(open_app("positions", part="demands")).items()}
    assert rows["sinusoids"] == rows["rotary"] == "✓✓✓✓"
    assert rows["counting 0, 1, 2 …"] == "✓✗✓✓"
    assert rows["learned table"] == "✓✓✓✗"


@pytest.mark.parametrize("length", [128])
def test_the_learned_table_is_far_from_consistent_and_position_0_stands_out(open_app, length):
    app = open_app("positions", part="demands", length=str(length))
    rows = {name: cells[-1] for name, cells in measured(app).items()}
    table = catalogue.load("embedded").model.embeddings.positions.weight[:length].detach().double().numpy()
    apart = np.array([[np.linalg.norm(one - other) for other in table] for one in table])
    spreads = [max(float(np.ptp(part.diagonal(k))) for k in range(1, len(part))) / part.max() for part in (apart, apart[1:, 1:])]
    learned, rest = (f"{spread:.3f}" for spread in spreads)
    random = rows["a new random table"].split()[-1]
    note = texts.LEARNED_TABLE_NOTE.format(learned=learned, rest=rest, random=random)
    assert staged_picture(app, texts.MEASURED)["sentence"] == note
    assert rows["learned table"].split() == ["✗", learned]
    assert spreads[1] < spreads[0]
    assert apart[0, 1:].min() > apart[1:, 1:].max()


@pytest.mark.parametrize(
    ("text", "meaning"),
    [("dog dog dog", texts.SAME_ORDER), (SENTENCE, texts.ORDER_MATTERS)],
)
def test_whether_order_matters_is_described_by_what_moved(open_app, text, meaning):
    sentence = staged_picture(open_app("positions", text=text, part="shuffle"), texts.CHANGE_BY_TOKEN)["sentence"]
    assert f": {meaning}. Without" in sentence
    assert sentence.endswith(f": {meaning if text != SENTENCE else UNCHANGED_BUT_ROUNDING}.")


def test_a_sentence_without_a_blank_is_shuffled_and_told_how_to_leave_one(open_app):
    app = open_app("positions", text="She wants to buy a car.", part="shuffle")
    assert texts.NO_BLANK in says(app)
    assert [one["chart"]["kind"] for one in staged_pictures(app)] == ["listing", "matrix"]


@pytest.mark.parametrize("text", ["cat " * 300])
def test_a_text_that_cannot_be_read_is_explained_and_kept_and_the_other_parts_stay_within_reach(open_app, text):
    app = open_app("positions", text=text, part="shuffle")
    assert "Check the input" in says(app)
    assert app.text_input(key="positions_text").value == text
    assert len(control(app, "part")["options"]) == len(texts.PARTS)
    assert not app.exception


def test_every_encoding_of_the_core_is_on_the_page():
    assert set(ENCODING_VIEWS) == set(ENCODINGS) - {"none"}
