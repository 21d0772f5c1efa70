"""Every part of a Build page is exported as it was drawn: figure, table, files, and code that computes the same numbers."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.encoder_decoder.texts import EXPORT_SHAPES, SHAPE_COLUMNS
from pages.ui.canvas.drawings import collect_drawings, matrix_drawing, note, numbered_once
from pages.ui.export import menu, texts
from pages.ui.export.data import show_data
from pages.ui.export.lessons import COLUMNS, Computation, drawings_export, table_rows
from pages.ui.export.records import Export
from tests.support import classifier_page, copy_page
from tests.support.drawings import sent_to
from tests.support.exports import opened
from tests.support.snippets import computed
from tests.support.trainings import own_server, until_still

pytestmark = pytest.mark.ci

Open = Callable[..., AppTest]
TEXT = "The \"cat\" sat on the mat, 'mat'."


@dataclass(frozen=True)
class Part:
    """A part of a page, and what an expression at the end of its code is, by the number of the drawing.

    place: tells the part's menu from others of the page.
    """

    page: str
    view: dict[str, str]
    expressions: dict[int, str]
    place: str = ""

    @property
    def menu(self) -> str:
        return f"{self.page}_{self.place}" if self.place else self.page


PARTS = {
    "a mask": Part(
        "masks", {"part": "one", "text": TEXT}, {2: "effect.masked_scores", 4: "effect.weights_before", 5: "effect.weights"}
    ),
    "a mask by hand": Part("masks", {"part": "one", "text": "a b", "kind": "painted", "mask": "4-7d8"}, {5: "effect.weights"}),
    "a penalty": Part("masks", {"part": "penalty", "text": TEXT, "penalty": "-5"}, {0: "ways.infinite", 1: "ways.penalised"}),
    "a batch": Part("masks", {"part": "batch"}, {0: "[proof.moved_masked, proof.moved_unmasked]"}),
    "one head": Part(
        "self_attention",
        {"text": TEXT, "layer": "2", "head": "3", "causal": "1"},
        {0: "tensors.vectors", 1: "tensors.query", 5: "tensors.scores", 7: "tensors.weights", 8: "tensors.context"},
    ),
    "a mask without special tokens": Part(
        "masks", {"part": "one", "text": TEXT, "nospecial": "1"}, {4: "effect.weights_before", 5: "effect.weights"}
    ),
    "a batch without special tokens": Part(
        "masks", {"part": "batch", "nospecial": "1"}, {0: "[proof.moved_masked, proof.moved_unmasked]"}
    ),
    "one head without special tokens": Part(
        "self_attention",
        {"text": TEXT, "layer": "2", "head": "3", "nospecial": "1"},
        {0: "tensors.vectors", 1: "tensors.query", 7: "tensors.weights", 8: "tensors.context"},
    ),
    "scaling": Part("self_attention", {"unscaled": "1"}, {0: "[run.largest_unscaled, run.largest_scaled]"}, place="saturation"),
    "a store": Part(
        "self_attention",
        {"store": "10_0_0_1_0_0~0_10_0_10_0_-2.5~1_2_3_0_0_7", "q1": "3", "q2": "10", "q3": "0"},
        {2: "found.matches", 3: "found.scores", 4: "found.weights", 6: "found.result"},
        place="store",
    ),
    "a mask on the whole model": Part(
        "masks", {"part": "batch", "blank": "The old man drank a cup of ___.", "run": "causal"}, {0: "moved[0]"}, place="run"
    ),
    "a run without positions": Part("masks", {"part": "batch", "run": "positions"}, {0: "moved[0]"}, place="run"),
    "the masks of an encoder-decoder": Part(
        "encoder_decoder",
        {"part": "inside", "source": "5", "pad_target": "4"},
        {0: "run.encoder_mask", 1: "run.decoder_mask", 2: "run.cross_mask"},
        place="inside",
    ),
    "an encoding's map": Part("positions", {"look": "map", "length": "9"}, {0: "numbers"}),
    "an encoding's waves": Part("positions", {"look": "waves", "scheme": "learned", "dims": "3-5"}, {0: "numbers"}),
    "an encoding by distance": Part("positions", {"look": "similarity", "scheme": "rotary", "length": "9"}, {0: "numbers"}),
    "an encoding's effect": Part("positions", {"look": "effect", "scheme": "t5", "length": "9", "head": "2"}, {0: "numbers"}),
    "biases by distance": Part("positions", {"look": "waves", "scheme": "alibi", "length": "9"}, {0: "numbers"}),
    "shuffled words": Part("positions", {"part": "shuffle", "seed": "3"}, {0: "numbers"}),
    "shuffled words without special tokens": Part(
        "positions", {"part": "shuffle", "seed": "3", "nospecial": "1"}, {0: "numbers"}
    ),
    "embeddings": Part("heads_and_blocks", {"part": "embeddings"}, {0: "run.words", 3: "run.summed", 4: "run.normed"}),
    "heads": Part("heads_and_blocks", {"part": "heads", "heads": "2-5", "layer": "3"}, {0: "run.head_lengths"}),
    "heads without special tokens": Part("heads_and_blocks", {"part": "heads", "nospecial": "1"}, {0: "run.head_lengths"}),
    "embeddings of a pair without special tokens": Part(
        "heads_and_blocks", {"part": "embeddings", "pair": "It rained.", "nospecial": "1"}, {0: "run.words", 3: "run.summed"}
    ),
    "a path without special tokens": Part(
        "heads_and_blocks", {"part": "journey", "nospecial": "1"}, {2: "[path.length for path in paths]"}
    ),
    "feed-forward": Part("heads_and_blocks", {"part": "feed", "layer": "2", "bend": "relu"}, {-1: "run.convolution.ours"}),
    "a norm": Part("heads_and_blocks", {"part": "norm"}, {0: "run.tensors.before"}),
    "depth": Part(
        "heads_and_blocks",
        {"part": "depth", "seed": "3"},
        {0: "[post.length, pre.length]", 1: "[post.cosine, pre.cosine]", 3: "[trained.with_skips, trained.without_skips]"},
    ),
    "an untrained model": Part("bert", {"part": "random", "layer": "2", "head": "3", "seed": "2"}, {0: "weights[0]"}),
    "an untrained head": Part("bert", {"part": "labels", "kind": "every", "labels": "4"}, {0: "shares"}),
    "an untrained model without special tokens": Part(
        "bert", {"part": "random", "layer": "2", "head": "3", "seed": "2", "nospecial": "1"}, {0: "weights[0]"}
    ),
    "an untrained head without special tokens": Part(
        "bert", {"part": "labels", "kind": "every", "labels": "4", "nospecial": "1"}, {0: "shares"}
    ),
    "a word's path": Part("heads_and_blocks", {"part": "journey", "words": "2-3"}, {2: "[path.length for path in paths]"}),
}


def exported(open_app: Open, monkeypatch: pytest.MonkeyPatch, part: Part) -> tuple[AppTest, Export]:
    """Open a part of a page with its data on offer; return the page and what it exports."""
    seen = []
    monkeypatch.setattr(menu, "show_data", lambda page, export: (seen.append(export), show_data(page, export)))
    app = opened(open_app(part.page, **part.view), part.menu, form=texts.DATA)
    return app, seen[-1]


def table_of(export: Export) -> list[tuple]:
    """The rows of the table of an export, as the JSON file holds them."""
    entries = json.loads(export.data[0].files["json"](export.source))
    return [tuple(row[name] for name in COLUMNS) for row in entries["table"]]


def test_the_code_of_every_part_computes_what_is_drawn(open_app: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    snippets, expected = [], []
    for part in PARTS.values():
        app, export = exported(open_app, monkeypatch, part)
        ((header, _),) = sent_to(opened(app, part.menu), "picture")
        charts = header["charts"]
        drawn = [values_of(charts[number]) for number in part.expressions]
        snippets.append((export.code.project(), [f"[list(row) for row in {one}]" for one in part.expressions.values()]))
        expected.append(drawn)
    for part, own, numbers in zip(PARTS, expected, computed(snippets, tmp_path), strict=True):
        for drawn, number in zip(own, numbers, strict=True):
            np.testing.assert_allclose(number[:, : drawn.shape[1]], drawn, rtol=1e-4, atol=1e-5, err_msg=part)


def values_of(chart: dict) -> np.ndarray:
    """The numbers of a matrix or of lines, as a figure was sent them."""
    if chart["kind"] == "moved":
        return np.array([chart["before"], chart["after"]]).T
    rows = chart["cells"] if chart["kind"] == "matrix" else [one["values"] for one in chart["series"]]
    return np.array([[-np.inf if cell is None else cell for cell in row] for row in rows])


WITHOUT_A_MODEL = ("a store", "scaling", "the masks of an encoder-decoder")
"""Parts that compute with no checkpoint."""


@pytest.mark.parametrize("name", ["a mask", "one head", "depth", "a mask on the whole model", *WITHOUT_A_MODEL])
def test_files_table_and_figure_hold_the_same_numbers_and_name_their_source(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, name: str
):
    part = PARTS[name]
    app, export = exported(open_app, monkeypatch, part)
    rows = table_of(export)
    ((header, _),) = sent_to(opened(app, part.menu), "picture")
    drawn = np.concatenate([values_of(chart).ravel() for chart in header["charts"]])
    numbers = np.array([-np.inf if row[-1] is None else row[-1] for row in rows])
    np.testing.assert_allclose(numbers, drawn, rtol=1e-5)
    assert len({row[:3] for row in rows}) == len(rows)
    assert header["caption"].startswith(export.title)
    if text := export.about.get("text"):
        assert texts.TEXT.format(sentence=texts.quoted(text)) in header["caption"]
    assert export.about.get("model") == (None if name in WITHOUT_A_MODEL else "embedded")
    assert export.about
    written = csv.reader(io.StringIO(export.data[0].files["csv"](export.source).decode("utf-8-sig")))
    assert len([row for row in written if not row[0].startswith("# ")]) == 1 + len(rows)
    app.session_state[f"{part.menu}_export_table"] = True
    frame = next(table.value for table in app.run().dataframe if list(table.value.columns) == list(COLUMNS))
    assert [tuple(row) for row in frame[list(COLUMNS[:3])].to_numpy()] == [row[:3] for row in rows]


def test_the_table_of_shapes_is_exported_with_code_that_gives_every_shape(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    seen = []
    monkeypatch.setattr(menu, "show_data", lambda page, export: (seen.append(export), show_data(page, export)))
    app = open_app("encoder_decoder", part="inside", hidden="64", split="4", words="50")
    app = opened(app, "encoder_decoder_inside", EXPORT_SHAPES, texts.DATA)
    shown = [tuple(row) for row in app.table[0].value.itertuples(index=False)]
    (export,) = seen
    entries = json.loads(export.data[0].files["json"](export.source))["table"]
    assert [tuple(entry[name] for name in SHAPE_COLUMNS) for entry in entries] == shown
    ((header, _),) = sent_to(opened(app, "encoder_decoder_inside", EXPORT_SHAPES), "picture")
    assert [tuple(row) for row in header["charts"][0]["rows"]] == shown
    padded = "[(*one.shape, *[0] * (4 - len(one.shape))) for one in run.shapes]"
    ((shapes,),) = computed([(export.code.project(), [padded])], tmp_path)
    sizes = SHAPE_COLUMNS.index("Shape")
    assert [row[sizes] for row in shown] == ["(" + ", ".join(f"{int(size):,}" for size in one if size) + ")" for one in shapes]


def test_nothing_is_made_before_the_export_is_opened():
    made = []
    with collect_drawings() as drawings:
        note(lambda: made.append("drawn") or [])
    assert len(drawings) == 1
    assert made == []
    note(lambda: made.append("outside"))
    assert len(drawings) == 1


def test_names_that_occur_several_times_are_numbered():
    assert numbered_once(["the", "cat", "the"]) == ("the (1)", "cat", "the (2)")


def test_a_masked_score_is_no_number_in_any_file():
    drawing = matrix_drawing("Scores", "signed", np.array([[0.5, -np.inf]]), ["a"], ["a", "=b"])
    export = drawings_export(Computation("Scores", {}, "", ""), [drawing])
    assert table_rows([drawing]) == [("Scores", "a", "a", 0.5), ("Scores", "a", "=b", None)]
    assert '"Scores","a","\'=b",""' in export.data[0].files["csv"]({}).decode("utf-8-sig")
    with np.load(io.BytesIO(export.data[0].files["npz"]({})), allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["1_scores"], [[0.5, np.nan]])


@pytest.mark.parametrize(
    ("page", "kind", "view"),
    [("encoder_decoder", copy_page.KIND, copy_page.SMALL), ("classifier", classifier_page.KIND, classifier_page.SMALL)],
    ids=["encoder-decoder", "classifier"],
)
def test_a_training_is_exported_with_its_curves_and_code_that_trains_it_again(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, page: str, kind: str, view: dict[str, str]
):
    seen = []
    monkeypatch.setattr(menu, "show_data", lambda page, export: (seen.append(export), show_data(page, export)))
    with own_server(monkeypatch, limit=2, pause=0) as registry:
        app = open_app(page, **view)
        app.button(key=f"{page}_train").click().run()
        snapshot = until_still(app, registry, kind)
        attention = [f"{page}_attention"] if page == "classifier" else []
        for name in (f"{page}_training", page, *attention):
            app.session_state[f"{name}_export"] = True
            app.session_state[f"{name}_export_form"] = texts.DATA
        app.run()
    assert not app.exception
    training, answer, *heads = seen
    assert len(heads) == len(attention)
    losses = [record.loss for record in snapshot.records]
    rows = table_of(training)
    np.testing.assert_allclose([row[-1] for row in rows if row[0] == rows[0][0]], losses)
    snippets = [(training.code.project(), ["[one.loss for one in records]"])]
    if page == "classifier":
        snippets.append((answer.code.project(), ["prediction.probabilities"]))
    else:
        snippets.append((answer.code.project(), ["stack.weights[0]"]))
    snippets += [(one.code.project(), ["weights"]) for one in heads]
    (found,), (answered,), *maps = computed(snippets, tmp_path)
    for one, (weights,) in zip(heads, maps, strict=True):
        drawn = [row[-1] for row in table_of(one)]
        np.testing.assert_allclose(np.ravel(weights), drawn, atol=1e-3)
        assert len(drawn) == len(answer.about["text"].split()) ** 2
    np.testing.assert_allclose(found, losses, rtol=1e-3)
    drawn = table_of(answer)
    first = np.array([row[-1] for row in drawn if row[0] == drawn[0][0]], np.float64)
    candidates = answered if page == "encoder_decoder" else [answered]
    assert any(np.allclose(np.ravel(one), first, atol=1e-3) for one in candidates)
