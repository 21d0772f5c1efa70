"""That pages run the model of the host's own directory that a link names, and what they say of its sizes, or that they take no
other model than the built-in one.
"""

import json
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from pages.contents import PAGES
from pages.summaries.texts import SINKS_FOUND, SINKS_TEXT
from pages.ui.shell.controls import model_title
from pages.ui.stage.texts import HEADS_MISSING, NEEDS_OWN_BERT, SHOWS_BUILT_IN, SHOWS_BUILT_IN_ONLY
from pages.ui.stage.tokens import escape_markdown
from tests.support.checkpoints import HEADS, HIDDEN, LAYERS, POSITIONS
from tests.support.drawings import says
from tests.support.staged import STAGE, is_empty, staged, staged_pictures
from tx_core.engine.device import DeviceRunner
from tx_core.settings import ASSETS
from tx_core.transformer.interventions import Head

RUNNING = [page.key for page in PAGES if page.computes and page.key not in ("encoder_decoder", "classifier")]
"""Pages that run a model which they have not trained themselves."""
VIEWS = {"positions": {"part": "shuffle"}, "bertviz_page": {"picture": "head"}}
BUILT_IN = {"bert", "heads_and_blocks"}
"""Pages that show the built-in model alone."""
ALIKE = {"patching", "explanations"}
"""Pages whose two sentences this model answers alike: they say so, and draw nothing."""
WAITING = {"many_sentences", "importance", "claims"}
"""Pages that run nothing before a button is pressed."""
TEXT = "The brown fox sleeps."
MISSING = HEADS_MISSING.format(layers=LAYERS, heads=HEADS)
Open = Callable[..., AppTest]


@pytest.fixture
def widths(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The sizes of the vectors of all models that have run."""
    found, run = set(), DeviceRunner.run

    def note(self: DeviceRunner, *arguments: object, **options: object) -> object:
        found.add(self.model.config.hidden_size)
        return run(self, *arguments, **options)

    monkeypatch.setattr(DeviceRunner, "run", note)
    return found


@pytest.mark.parametrize("page", RUNNING)
def test_a_page_runs_the_model_that_it_names(open_app: Open, offer, widths: set[int], engine, page: str):
    offer("bert")
    app = open_app(page, model="local:own", **VIEWS.get(page, {}))
    title = model_title("local:own")
    assert not app.exception
    said = says(app)
    if page in BUILT_IN:
        note = SHOWS_BUILT_IN_ONLY.format(built_in=engine.title, model=escape_markdown(title))
        assert widths == {engine.info.hidden_size} and [note] == [one.value for one in app.info]
    elif page == "next_word":
        assert not widths and f"{title} does not predict the next word" in said
    else:
        assert widths == (set() if page in WAITING else {HIDDEN})
        assert title in said or page in ALIKE


@pytest.mark.parametrize("page", sorted(BUILT_IN))
def test_a_page_of_the_built_in_model_says_so_before_it_draws(open_app: Open, page: str):
    app = open_app(page)
    captions = [one.value if one.type == "caption" else "" for one in app.main]
    names = [one.proto.component_name if one.type == "bidi_component" else "" for one in app.main]
    said = captions.index(SHOWS_BUILT_IN.format(built_in=model_title("embedded")))
    assert said < next(place for place, name in enumerate(names) if name.startswith(STAGE))


BERTS = [("self_attention", {}), ("masks", {}), ("masks", {"part": "batch"}), ("positions", {"scheme": "learned"})]


@pytest.mark.parametrize(("page", "view"), BERTS)
def test_pages_that_read_the_weights_of_a_bert_refuse_any_other_model(open_app: Open, offer, page: str, view: dict[str, str]):
    offer("gpt2")
    app = open_app(page, model="local:own", **view)
    assert not app.exception and is_empty(app)
    assert NEEDS_OWN_BERT.format(model=model_title("local:own")) in says(app)
    assert app.session_state[f"{page}_model"] == "local:own"


@pytest.mark.parametrize("page", ["self_attention", "masks"])
def test_a_head_that_a_bert_lacks_gives_way_to_the_nearest_in_number(open_app: Open, offer, page: str):
    offer("bert")
    app = open_app(page, model="local:own", layer="6", head="8", text=TEXT)
    assert (app.session_state[f"{page}_layer"], app.session_state[f"{page}_head"]) == (LAYERS, HEADS)
    assert "own" in says(app) and f"has {LAYERS} layers of {HEADS} heads: the nearest is shown." in says(app)
    lists = {one["name"]: len(one["options"]) for one in staged(app)["controls"] if one["name"] in ("layer", "head")}
    assert lists == {"layer": LAYERS, "head": HEADS}
    assert "the nearest is shown" not in says(open_app(page, model="local:own", text=TEXT))


def test_compare_says_that_the_nearest_head_is_shown_of_a_head_that_was_chosen_alone(open_app: Open, offer):
    offer("bert")
    sides = {"text": TEXT, "vary": "model", "model_b": "local:own"}
    assert "the nearest is shown" not in says(open_app("compare", **sides))
    assert "the nearest is shown" not in says(open_app("compare", text=TEXT, model="local:own", text_b="A red fox sleeps."))
    assert "the nearest is shown" in says(open_app("compare", **sides, head_b=f"{LAYERS + 1}-1"))


def test_a_learned_table_ends_where_its_model_reads_no_further(open_app: Open, offer):
    offer("bert")
    app = open_app("positions", scheme="learned", length="128", look="waves", model="local:own")
    assert not app.exception
    (waves,) = [one for one in staged_pictures(app) if one["when"] == {"look": ["waves"]}]
    assert waves["values"].shape[1] == POSITIONS


@pytest.mark.parametrize("page", ["attention", "fill_mask"])
def test_what_was_found_in_one_model_is_not_said_beside_another(open_app: Open, offer, page: str):
    offer("bert")
    example = json.loads((ASSETS / "examples" / f"{page}.json").read_text("utf-8"))[0]
    assert example["notice"] in says(open_app(page, text=example["text"]))
    assert example["notice"] not in says(open_app(page, text=example["text"], model="local:own"))


def test_what_sinks_of_the_built_in_model_do_is_not_said_beside_another(open_app: Open, offer):
    offer("bert")
    said = [says(open_app("summaries", part="sinks", **model)) for model in ({}, {"model": "local:own"})]
    assert [[text in one for text in (SINKS_TEXT, *SINKS_FOUND)] for one in said] == [[True] * 3, [True, False, False]]


@pytest.mark.parametrize("page", ["attention", "summaries"])
def test_only_heads_that_a_link_names_are_said_not_to_exist(open_app: Open, offer, page: str):
    offer("gpt2")
    view = {"part": "values"} if page == "summaries" else {}
    app = open_app(page, model="local:own", text=TEXT, **view)
    assert not app.exception
    assert MISSING not in says(app)
    assert app.session_state[f"{page}_heads"] == [{"attention": (0, 0), "summaries": (0, 1)}[page]]
    last: Head = (LAYERS - 1, HEADS - 1)
    app = open_app(page, model="local:own", text=TEXT, heads=f"{last[0] + 1}-{last[1] + 1}", **view)
    assert MISSING not in says(app)
    assert app.session_state[f"{page}_heads"] == [last]
    assert MISSING in says(open_app(page, model="local:own", text=TEXT, heads=f"{LAYERS + 1}-1", **view))
