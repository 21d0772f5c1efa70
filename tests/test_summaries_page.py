"""The page of summaries: every number on it is the core's, a link brings the view back, and other models are told of."""

import json

import numpy as np
import pytest
from cachetools import LRUCache
from streamlit.testing.v1 import AppTest

from pages.ui.attention_table import numbered
from pages.ui.head_kinds import looks
from tx_core import hub, models
from tx_core.attribution import attribute
from tx_core.fill_mask import predict
from tx_core.head_likeness import likeness, nearest
from tx_core.head_patterns import AIMED, KINDS, name_heads, pattern_sums
from tx_core.logit_lens import logit_lens
from tx_core.rollout import flow, rollout
from tx_core.value_weighted import row_shares, value_weighted

PAGE = "summaries"
TEXT = "She [MASK] the letter, and then the [MASK] came."
HOSTILE = "<img src=x onerror=alert(1)> **bold** :smile: [MASK] [link](https://evil.example)"
PARTS = ("glance", "layers", "values", "alike", "lens", "owed")


@pytest.fixture(scope="module")
def engine():
    return models.load("embedded")


@pytest.fixture(scope="module")
def stack(engine):
    return engine.trace(TEXT, keep=("weights", "value")).attention


def said(app: AppTest) -> str:
    return "\n".join(one.value for kind in (app.text, app.caption, app.info, app.markdown) for one in kind)


def component(app: AppTest, name: str):
    return next(one.proto for one in app.get("bidi_component") if one.proto.component_name.endswith(name))


def panels(app: AppTest) -> tuple[dict, dict[str, np.ndarray]]:
    """What the maps got: their header, and their cells by title."""
    message = component(app, "matrices").bytes
    end = 4 + int.from_bytes(message[:4], "little")
    header = json.loads(message[4:end])
    cells = np.frombuffer(message[end:], "<f4").reshape(len(header["panels"]), len(header["rows"]), -1)
    return header, {panel["title"]: matrix for panel, matrix in zip(header["panels"], cells, strict=True)}


def cells_of(app: AppTest) -> dict:
    return json.loads(component(app, "head_table").json)


def test_every_head_has_its_kind_and_confidence_in_the_table(open_app, engine, stack):
    app = open_app(PAGE, text=TEXT, heads="3-4")
    assert not app.exception
    shown = cells_of(app)
    found = name_heads(pattern_sums(stack.weights, stack.query_tokens))
    kinds = looks(stack.query_tokens)
    flat = [cell for row in shown["cells"] for cell in row]
    assert [cell["word"] for cell in flat] == [kinds[head.kind].word for head in found]
    assert [cell["number"] for cell in flat] == [f"{head.confidence:.2f}" for head in found]
    assert (len(shown["cells"]), len(shown["cells"][0])) == (engine.num_layers, engine.num_heads)
    assert shown["chosen"] == [2, 3]
    assert f"Layer 3, head 4 looks at {kinds[found[2 * engine.num_heads + 3].kind].aim}" in said(app)


@pytest.mark.parametrize("part", ["glance", "alike"])
def test_a_text_of_special_tokens_only_is_told_to_need_a_word(open_app, part):
    app = open_app(PAGE, text="[SEP]", part=part)
    assert not app.exception
    assert "This text holds special tokens only" in said(app)
    assert "nan" not in said(app)


def test_every_kind_of_head_has_a_look_of_its_own():
    assert set(looks()) == set(KINDS)
    assert len({look.letter for look in looks().values()}) == len({look.colour for look in looks().values()}) == len(KINDS)


@pytest.mark.parametrize(
    ("family", "called"),
    [("roberta", ("<s>", "</s>")), ("gpt2", ("the first token", "the end")), ("t5", ("the first token", "</s>"))],
)
def test_special_tokens_are_called_as_the_model_calls_them(checkpoint, family: str, called: tuple[str, str]):
    encoding = hub.load_engine(checkpoint(family), family, family).encode("A bird")
    assert (looks(encoding)["first"].word, looks(encoding)["separator"].word) == called


@pytest.mark.parametrize("colour", ["entropy", "distance"])
def test_colours_may_stand_for_numbers_instead(open_app, stack, colour):
    shown = cells_of(open_app(PAGE, text=TEXT, colour=colour))
    own = ~np.array(stack.query_tokens.special)
    rows = stack.weights[2, 1][own].astype(float)
    apart = np.abs(np.arange(len(own))[:, None] - np.arange(len(own)))[own]
    far, wide = (rows * apart).sum(-1).mean(), -(rows * np.log(rows)).sum(-1).mean() / np.log(len(own))
    assert shown["cells"][2][1]["word"] == (f"{wide:.2f}" if colour == "entropy" else f"{far:.1f}")
    assert all(0 <= cell["strength"] <= 1 for row in shown["cells"] for cell in row)


def test_the_head_goes_along_to_the_attention_page(open_app):
    app = open_app(PAGE, text="Time flies.", pair="So it does.", heads="2-3")
    queries = {link.proto.query_string for link in app.get("page_link")}
    assert "text=Time+flies.&pair=So+it+does.&model=embedded&heads=2-3" in queries


def test_the_layers_are_drawn_as_rollout_and_flow_have_them(open_app, stack):
    app = open_app(PAGE, text=TEXT, part="layers", token="5")
    assert not app.exception
    header, shown = panels(app)
    assert header["columns"] == list(stack.query_tokens.tokens)
    np.testing.assert_allclose(shown["Attention in this layer"], stack.weights[:, :, 4].mean(axis=1), atol=1e-6)
    np.testing.assert_allclose(shown["Rollout from the input"], rollout(stack.weights)[:, 4], atol=1e-6)
    np.testing.assert_allclose(shown["Flow from the input"], row_shares(flow(stack.weights, 4)), atol=1e-6)
    assert len({panel["limit"] for panel in header["panels"]}) == 1


def test_a_text_too_long_for_flow_still_shows_rollout_and_says_why(open_app, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tx_core.rollout.MOST_FLOW_EDGES", 1000)
    app = open_app(PAGE, text="A long and winding road to nowhere.", part="layers")
    assert not app.exception
    assert list(panels(app)[1]) == ["Attention in this layer", "Rollout from the input"]
    assert "Attention flow solves a network" in said(app)


def test_a_heads_weights_stand_beside_what_it_adds(open_app, engine, stack):
    app = open_app(PAGE, text=TEXT, part="values", heads="2-7")
    assert not app.exception
    weights, own, together = panels(app)[1].values()
    found = value_weighted(engine, stack, 1)
    np.testing.assert_allclose(weights, stack.weights[1, 6], atol=1e-6)
    np.testing.assert_allclose(own, row_shares(found.mixed[6]), atol=1e-6)
    np.testing.assert_allclose(together, row_shares(found.together), atol=1e-6)
    assert f"({found.values[6].max():.2f})" in said(app)


def test_the_nearest_heads_are_named(open_app, engine, stack):
    app = open_app(PAGE, text=TEXT, part="alike", heads="1-4")
    assert not app.exception
    near = nearest(likeness(stack.weights), 3, 5)
    named = [f"Layer {other // engine.num_heads + 1}, head {other % engine.num_heads + 1}" for other, _ in near]
    table = app.dataframe[0].value
    assert list(table["head"]) == named
    np.testing.assert_allclose(table["alike (0 to 1)"], [share for _, share in near], atol=6e-4)


def test_the_lens_ends_with_the_models_own_answer(open_app, engine):
    app = open_app(PAGE, text=TEXT, part="lens")
    assert not app.exception
    trace = engine.trace(TEXT, keep=("hidden",))
    found = logit_lens(engine, trace, trace.attention.query_tokens.blanks[0])
    table = app.dataframe[0].value
    assert [cell.rsplit(" ", 2)[0] for cell in table.iloc[-1, :5]] == list(found.words[-1])
    assert [int(rank.replace(",", "")) for rank in table["rank of the final answer"]] == found.rank.tolist()
    assert f"answer, {found.answer}, has" in said(app)


def test_attention_and_gradients_of_the_chosen_answer_at_the_chosen_blank(open_app, engine, stack):
    filling = predict(engine, TEXT, top_k=5)
    second = filling.blanks[1]
    app = open_app(PAGE, text=TEXT, part="owed", token=str(second.place + 1), rank="3")
    assert not app.exception
    found = attribute(engine, filling.encoding, second.place, second.predictions[2].id)
    charts = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    weights = stack.weights[:, :, second.place].mean(axis=(0, 1))
    for chart, meant in zip(charts, (weights, found.gradient_input, found.integrated), strict=True):
        np.testing.assert_allclose(chart["data"][0]["x"], meant, atol=1e-4)
    assert f"log-probability of {found.word} from" in said(app)


def test_a_prediction_needs_a_blank_and_a_single_sentence(open_app):
    assert "There is no blank to fill" in said(open_app(PAGE, text="No blank.", part="owed"))
    assert "leave the second sentence empty" in said(open_app(PAGE, text=TEXT, pair="Two.", part="owed"))


@pytest.mark.parametrize("part", PARTS)
def test_every_part_says_what_it_cannot_tell(open_app, part):
    told = said(open_app(PAGE, text=TEXT, part=part))
    assert ("Jain & Wallace 2019" in told and "Wiegreffe & Pinter 2019" in told) or part == "lens"
    assert ":material/info:" in told


@pytest.mark.parametrize("part", PARTS)
def test_a_hostile_text_is_shown_as_it_is_and_an_empty_one_explained(open_app, part):
    app = open_app(PAGE, text=HOSTILE, part=part)
    assert not app.exception
    assert app.text_input(key=f"{PAGE}_text").value == HOSTILE
    app.text_input(key=f"{PAGE}_text").set_value("  ").run()
    assert not app.exception
    assert "This does not work yet" in said(app)


@pytest.mark.parametrize("part", PARTS[:5])
def test_one_word_is_enough(open_app, part):
    app = open_app(PAGE, text="a", part=part)
    assert not app.exception
    assert "This does not work yet" not in said(app)


def test_a_link_brings_the_view_back(open_app):
    app = open_app(PAGE, text=TEXT, part="owed", token="3", rank="2", heads="4-1", colour="distance")
    address = {name: str(value[0] if isinstance(value, list) else value) for name, value in app.query_params.items()}
    again = open_app(PAGE, **address)
    assert again.query_params == app.query_params
    assert [chart.proto.spec for chart in again.get("plotly_chart")] == [chart.proto.spec for chart in app.get("plotly_chart")]


def test_what_the_text_or_the_model_lacks_is_left_out(open_app):
    app = open_app(PAGE, text="A bird.", part="values", heads="90-1", token="400")
    assert not app.exception
    assert "a head beyond that is left out" in said(app)
    assert not open_app(PAGE, text="A bird.", part="layers", token="400").exception


@pytest.mark.parametrize(("name", "written"), [("part", "x"), ("colour", "red"), ("heads", "a"), ("token", "-"), ("rank", "6")])
def test_nonsense_in_a_link_is_told(open_app, name, written):
    app = open_app(PAGE, text=TEXT, **{name: written})
    assert not app.exception
    assert f"not known here: {name}" in said(app)


@pytest.fixture
def of_family(open_app, checkpoint, monkeypatch: pytest.MonkeyPatch):
    """Open the page with a tiny model of a family under a name of the catalogue."""
    monkeypatch.setattr(models, "_engines", LRUCache(1))

    def opened(family: str, name: str, **view: str) -> AppTest:
        monkeypatch.setattr(models, "fetch", lambda *_: checkpoint(family))
        app = open_app(PAGE, model=name, **view)
        assert not app.exception
        return app

    return opened


@pytest.mark.parametrize("part", PARTS)
def test_every_part_is_shown_of_a_relative_of_bert(of_family, part):
    assert "This does not work yet" not in said(of_family("roberta", "roberta-base", text="Time flies like a ___", part=part))


def test_gpt2_is_read_for_the_token_that_follows(of_family):
    app = of_family("gpt2", "gpt2", text="Time flies like an", part="lens")
    engine = models.load("gpt2")
    trace = engine.trace("Time flies like an", keep=("hidden",))
    last = len(trace.attention.query_tokens) - 1
    found = logit_lens(engine, trace, last)
    assert "head for the next token reads an answer" in said(app)
    assert f"After {numbered(trace.attention.query_tokens.tokens)[last]} the model's own answer, {found.answer}, has" in said(app)
    assert [cell.rsplit(" ", 2)[0] for cell in app.dataframe[0].value.iloc[0, :5]] == list(found.words[0])
    assert "has no masked-word head" in said(of_family("gpt2", "gpt2", text="Time flies like ___", part="owed"))


@pytest.mark.parametrize(("part", "why"), [("lens", "answers by its decoder"), ("owed", "has no masked-word head")])
def test_an_encoder_decoder_shows_what_is_mixed_and_says_what_it_cannot_show(of_family, part, why):
    view = {"family": "t5", "name": "t5-small", "text": "Time flies like a bird"}
    mixed = said(of_family(part="values", **view))
    assert "This does not work yet" not in mixed
    assert "what you see is its encoder" in mixed
    assert why in said(of_family(part=part, **view))


def test_all_numbers_are_there_as_a_table(engine, stack):
    from pages.ui.summary_glance import head_rows, summarise

    rows, sums = head_rows(stack, summarise(stack)), pattern_sums(stack.weights, stack.query_tokens)
    assert len(rows) == engine.num_layers * engine.num_heads
    assert rows[-1]["to next"] == pytest.approx(sums.shares[-1, -1, AIMED.index("next")], abs=6e-4)
