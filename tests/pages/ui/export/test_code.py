"""The code that a page exports computes the numbers of the page."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.compare.texts import MAPS_EXPORT, SIMILARITY_COLUMNS, WORD_EXPORT
from pages.fill_mask import texts as fill_mask_texts
from pages.fill_mask.head_scan import BEGIN
from pages.many_sentences.heads import heads_part, report_numbers
from pages.many_sentences.reading import OpenedScan
from pages.next_word.texts import EXPORT_NEXT
from pages.summaries.texts import SIMILARITY_TO_CHOSEN, VALUES_COLUMNS
from pages.ui.export import menu, texts
from pages.ui.export.attention import attention_export
from pages.ui.export.computation import python
from pages.ui.export.menu import written
from pages.ui.export.part import part_export
from pages.ui.export.records import DataFiles, Export
from pages.ui.stage.texts import NONE_ADDED
from tests.support import classifier_page, copy_page
from tests.support.exports import map_of_page, opened
from tests.support.snippets import computed
from tests.support.staged import ask_stage
from tests.support.trainings import own_server, until_still
from tx_core.corpus.scan_file import CorpusScan, new_origin, write_scan
from tx_core.corpus.sentence_file import read_sentences
from tx_core.corpus.sentence_stream import SourceFile
from tx_core.corpus.statistics import read_all
from tx_core.engine import catalogue
from tx_core.training.stored import stored_copy

pytestmark = pytest.mark.ci

Open = Callable[..., AppTest]
TEXT = "The \"cat\" sat on the mat, 'mat'."
BARE = {"nospecial": "1"}
PAIR = {"text": "time flies like an arrow", "text_b": 'fruit flies like a "banana"', "vary": "text"}
BLANK = {"text": "The old ___ drank \"some\" 'tea'.", "named": "tea,unbelievably,💥", "listed": "5"}
WRITTEN = {"text": "The old man", "written": "527", "changes": "off~2-3", "temperature": "0.8", "top_k": "30"}
LISTS, SHIFT = fill_mask_texts.EXPORT_LISTS, fill_mask_texts.EXPORT_CHANGE
EVERY_WEIGHT = {"weights.reshape(-1, *weights.shape[-2:])": "weights"}
LISTED = {"[share for _, share in predictions]": "probability"}
MOVED = {"[one[1] for one in moved]": "before", "[one[2] for one in moved]": "after"}
CHANGED = {"before": "before", "weights": "after", "difference": "difference"}
MAPS = {"sorted(weights_a.ravel())": "A", "sorted(weights_b.ravel())": "B"}
DIFFERENCE = {"sorted(comparison.difference[comparison.comparable])": "B − A"}
WORD = {"word": SIMILARITY_COLUMNS["word"].format(word="flies"), "different": SIMILARITY_COLUMNS["different"]}
PATH = {"text": "Mary went", "text_b": "The boys went", "answer": "home", "answer_b": "to", "model": "writer", "what": "path"}
STORE = {"store": "10_0_0_1_0_0~0_10_0_10_0_-2.5~1_2_3_0_0_7", "q1": "3", "q2": "10", "q3": "0"}


@dataclass(frozen=True)
class View:
    """A view of a page: expressions at the end of its code, with their array or drawing; its name in a menu of several."""

    page: str
    fields: dict[str, str]
    numbers: dict[str, str | int]
    what: str = ""
    place: str = ""

    @property
    def menu(self) -> str:
        return f"{self.page}_{self.place}" if self.place else self.page


VIEWS = {
    "attention": [
        View("attention", {"text": TEXT, "heads": "1-2"}, {"weights": "weights"}),
        View("attention", BARE | {"text": TEXT, "changes": "off~1-2_hide~3"}, CHANGED),
        View("bertviz_page", {"text": TEXT}, EVERY_WEIGHT),
    ],
    "blanks": [
        View("fill_mask", BLANK | {"temperature": "2", "top_p": "0.9"}, LISTED, LISTS),
        View("fill_mask", BLANK | {"changes": "off~1-2_hide~3"}, MOVED, SHIFT),
    ],
    "next words": [
        View(
            "next_word",
            WRITTEN,
            {"[number for _, number, _ in words]": "id", "[share for *_, share in words]": "share"},
            EXPORT_NEXT,
        ),
        View("next_word", WRITTEN, CHANGED, texts.ATTENTION_MAP),
    ],
    "comparisons": [
        View("compare", PAIR, MAPS | DIFFERENCE, MAPS_EXPORT),
        View("compare", {"text": PAIR["text"], "vary": "untrained", "seed_b": "2"}, MAPS, MAPS_EXPORT),
        View("compare", PAIR, WORD, WORD_EXPORT),
    ],
    "summaries": [
        View(
            "summaries",
            {"part": "glance", "text": TEXT},
            {"spread.ravel()": "spread (0 to 1)", "distance.ravel()": "distance (tokens)"},
        ),
        View(
            "summaries",
            BARE | {"part": "layers", "text": TEXT, "token": "4"},
            {"in_layer": 0, "rolled": 1, "by_flow": 2},
        ),
        View("summaries", {"part": "values", "text": TEXT, "heads": "2-3"}, {"by_values.mean(0)": VALUES_COLUMNS[3]}),
        View(
            "summaries",
            {"part": "sinks", "text": TEXT},
            {"found.shares.ravel()": "share", "found.sink_lengths.ravel()": "sink value length"},
        ),
        View("summaries", {"part": "alike", "text": TEXT}, {"similar": SIMILARITY_TO_CHOSEN, "positions[:, 0]": "x"}),
        View("summaries", {"part": "lens", "text": BLANK["text"]}, {"shares.ravel()": "probability"}),
        View(
            "summaries",
            {"part": "owed", "text": "The old man drank a cup of [MASK].", "rank": "2"},
            {"attention": 0, "integrated": 2},
        ),
        View("many_sentences", {"colour": "spread"}, {"report.spread.ravel()": "spread (0 to 1)"}),
        View("many_sentences", {"part": "find", "query": "VERB", "query_in": "upos"}, {"sorted(found.shares.ravel())": "share"}),
    ],
    "importance": [
        View("importance", {"set": "tense"}, {"found.to_pandas().effect": "effect", "found.to_pandas().high": "high"})
    ],
    "vectors": [
        View("vectors", {"text": "time flies", "text_b": "fruit flies"}, {"found.places.transpose(1, 0, 2).reshape(4, -1)": 0}),
        View(
            "vectors",
            {"text": "time flies by", "text_b": "fruit flies", "method": "tsne"},
            {"found.places.transpose(1, 0, 2).reshape(5, -1)": 0},
        ),
    ],
    "claims": [
        View(
            "claims",
            {},
            {"[claim.value for claim in claims]": "value"}
            | {f"[claim.{end} for claim in claims if abs(claim.{end}) < 1e9]": end for end in ("least", "most")},
        )
    ],
    "patching": [
        View(
            "patching", {"text": "Mary lost [MASK] keys.", "text_b": "John lost [MASK] keys.", "what": "mlp"}, {"effect[::-1]": 0}
        ),
        View("patching", PATH, {"effect[::-1]": 0}),
    ],
    "explanations": [
        View("explanations", BARE | {"text": "The dogs [MASK] hungry.", "text_b": "The dog [MASK] hungry."}, {"rather": 0})
    ],
    "masks": [
        View("masks", {"part": "one", "text": TEXT}, {"head.masked_scores": 2, "head.weights": 4}),
        View("masks", BARE | {"part": "one", "text": "a b", "kind": "painted", "mask": "4-7d8"}, {"head.weights": 4}),
        View("masks", {"part": "penalty", "text": TEXT, "penalty": "-5"}, {"head.weights": 1, "head.penalised(-5.0)": 2}),
        View("masks", {"part": "batch"}, {"[pair.moved_masked, pair.moved_unmasked]": 0}),
        View("encoder_decoder", {"part": "inside", "pad_target": "4"}, {"run.decoder_mask": 1}, place="inside"),
    ],
    "one head": [
        View("self_attention", {"text": TEXT, "layer": "2", "causal": "1"}, {"tensors.query": 1, "tensors.weights": 7}),
        View("self_attention", {"unscaled": "1"}, {"[run.largest_unscaled, run.largest_scaled]": 0}, place="saturation"),
        View("self_attention", STORE, {"found.matches": 2, "found.weights": 4, "found.result": 6}, place="store"),
    ],
    "positions": [
        View("positions", {"look": "map", "length": "9"}, {"numbers": 0}),
        View("positions", {"look": "waves", "scheme": "learned", "dims": "3-5"}, {"numbers": 0}),
        View("positions", {"look": "effect", "scheme": "t5", "length": "9", "head": "2"}, {"numbers": 0}),
        View("positions", BARE | {"part": "shuffle", "seed": "3"}, {"numbers": 0}),
    ],
    "blocks": [
        View("heads_and_blocks", BARE | {"part": "embeddings", "pair": "It rained."}, {"run.words": 0, "run.summed": 3}),
        View("heads_and_blocks", {"part": "heads", "heads": "2-5", "layer": "3"}, {"run.head_lengths": 0}),
        View("heads_and_blocks", {"part": "feed", "layer": "2", "bend": "relu"}, {"run.activated": 2}),
        View("heads_and_blocks", {"part": "norm"}, {"run.tensors.before": 0}),
        View("heads_and_blocks", {"part": "depth", "seed": "3"}, {"[post.length, pre.length]": 0}),
        View("heads_and_blocks", {"part": "journey", "words": "2-3"}, {"[path.length for path in paths]": 2}),
        View("bert", BARE | {"part": "labels", "kind": "every", "labels": "4"}, {"shares": 3}),
    ],
}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Export]:
    """Every export whose data a page shows."""
    seen: list[Export] = []
    monkeypatch.setattr(menu, "show_data", lambda page, export: seen.append(export))
    return seen


def first_of(export: Export) -> DataFiles:
    """The first table of an export."""
    return next(iter(export.tables.values()))


def arrays_of(export: Export) -> dict[str, np.ndarray]:
    """The arrays of an export's NPZ file."""
    with np.load(io.BytesIO(first_of(export).files["npz"](export.source)), allow_pickle=False) as arrays:
        return dict(arrays)


def number_of(arrays: dict[str, np.ndarray], name: str | int) -> np.ndarray:
    """An array by its name, or the drawing of that number; without the places where there is no number."""
    array = arrays["number" if isinstance(name, int) else name].astype(float)
    if isinstance(name, int):
        is_own = arrays["drawing"] == list(dict.fromkeys(arrays["drawing"].tolist()))[name]
        array = array[is_own].reshape(len(set(arrays["row"][is_own].tolist())), -1)
    array = np.squeeze(array)
    return array[np.isfinite(array)] if array.ndim == 1 else array


def hold_files(export: Export) -> None:
    """Hold that every file of a view's numbers can be read by others, and has as many rows as it is said to have."""
    for numbers in export.tables.values():
        made = {form: write(export.source) for form, write in numbers.files.items()}
        rows = [
            row for row in csv.reader(io.StringIO(made["csv"].decode("utf-8-sig"), newline="")) if not row[0].startswith("# ")
        ]
        assert len(rows) - 1 == numbers.rows and {len(row) for row in rows} == {len(rows[0])}
        entries = json.loads(made["json"], parse_constant=pytest.fail)
        assert json.loads(json.dumps(export.source)).items() <= entries.items()


@pytest.mark.parametrize("group", VIEWS)
def test_the_code_of_a_view_computes_its_numbers(open_app: Open, made: list[Export], tmp_path: Path, group: str):
    snippets, expected = [], []
    for view in VIEWS[group]:
        opened(open_app(view.page, **view.fields), view.menu, view.what, texts.DATA)
        export, bare = made[-1], "nospecial" in view.fields
        assert (NONE_ADDED in str(dict(export.source))) == bare
        hold_files(export)
        snippets.append((export.project(), list(view.numbers)))
        expected.append([number_of(arrays_of(export), name) for name in view.numbers.values()])
    for (code, expressions), found, numbers in zip(snippets, computed(snippets, tmp_path), expected, strict=True):
        for expression, one, number in zip(expressions, found, numbers, strict=True):
            shown = np.squeeze(one)[tuple(map(slice, number.shape))]  # a drawing may be of some dimensions only
            number = np.sort(number) if expression.startswith("sorted") else number
            assert number.size > 1
            shown = np.where(np.isfinite(shown), shown, np.nan)
            np.testing.assert_allclose(shown, number, rtol=1e-4, atol=1e-5, err_msg=f"{expression} of\n{code}")


@pytest.mark.parametrize("minus", [None, "tea"])
def test_the_code_of_a_head_scan_computes_the_change_that_is_drawn(
    open_app: Open, made: list[Export], tmp_path: Path, minus: str | None
):
    app = open_app("fill_mask", changes="off~1-2", text="The old man drank a cup of [MASK].", named="tea,coffee", **BARE)
    app.session_state["fill_mask_scan"] = BEGIN
    app.run()
    app.session_state["fill_mask_scan_followed"] = ["coffee", minus]
    opened(app, "fill_mask", fill_mask_texts.EXPORT_SCAN, texts.DATA)
    arrays = arrays_of(made[-1])
    layers, heads, change = (arrays[name] for name in ("layer", "head", "change"))
    ((found,),) = computed([(made[-1].project(), ["change"])], tmp_path)
    np.testing.assert_allclose(found[layers.astype(int) - 1, heads.astype(int) - 1], change, atol=1e-5)


def test_the_code_for_ones_own_file_and_for_a_scan_reads_it_whatever_its_name(tmp_path: Path):
    path, column = str(tmp_path / 'it\'s "mine" {0}.csv'), "a \"line\", 'said'"
    with open(path, "w", encoding="utf-8", newline="") as written:
        csv.writer(written).writerows([("number", column), (1, "The old man sat."), (2, "Time flies like an arrow.")])
    with open(path, "rb") as file:
        sentences = read_sentences(file, path, column)
    engine = catalogue.load("embedded")
    reports = [read_all(engine, sentences, half=half) for half in (False, True)]
    origin = new_origin("embedded", half=False, column="", part_sentences=9, files=[SourceFile("a.txt", 1, 2)])
    scan, file = CorpusScan(origin, 1, True, reports[0]), tmp_path / 'the "scan" {0} \'s.json'
    file.write_bytes(write_scan(scan))
    export = part_export(heads_part(scan.report, "own", OpenedScan(str(file), scan)))
    assert export.numbers.source["revision"] == origin.revision
    codes = [*(python(report_numbers(report)) for report in reports), export.project()]
    computations = computed([(code, ["report.spread"]) for code in codes], tmp_path)
    for (found,), report in zip(computations, [*reports, reports[0]], strict=True):
        np.testing.assert_allclose(found, report.spread, atol=1e-5)


def table_of(export: Export) -> list[dict[str, object]]:
    """The rows of an export's table, as its JSON file holds them."""
    return json.loads(first_of(export).files["json"](export.source))["table"]


@pytest.mark.parametrize(
    ("page", "kind", "view", "numbers"),
    [
        ("encoder_decoder", copy_page.KIND, copy_page.SMALL, "stack.weights[0]"),
        ("classifier", classifier_page.KIND, classifier_page.SMALL, "prediction.probabilities"),
        ("encoder_decoder", "", {}, "stack.weights[0]"),
    ],
    ids=["encoder-decoder", "classifier", "stored encoder-decoder"],
)
def test_the_code_of_a_training_gives_the_same_model_again(
    open_app: Open, made: list[Export], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, page, kind, view, numbers
):
    with own_server(monkeypatch, limit=2, pause=0) as registry:
        app = open_app(page, **view)
        if kind:
            records = until_still(ask_stage(app, "settings", {"training": "train"}), registry, kind).records
        else:
            records = stored_copy().records
        for name in (texts.TRAINING, texts.THIS_PART):
            opened(app, page, name, texts.DATA)
    made = [made[-2], made[-1]]
    first = [[row["number"] for row in table_of(export) if row["drawing"] == table_of(export)[0]["drawing"]] for export in made]
    np.testing.assert_allclose(first[0], [one.values["loss"] for one in records])
    expressions = ["[one.values['loss'] for one in records]", numbers]
    found = computed([(export.project(), [one]) for export, one in zip(made, expressions, strict=True)], tmp_path)
    for (number,), drawn in zip(found, first, strict=True):
        candidates = number if page == "encoder_decoder" and number.ndim == 3 else [number]  # one of the heads
        assert any(np.allclose(np.ravel(one), drawn, atol=1e-3, rtol=1e-3) for one in candidates)


HOSTILE = "Li\x00ke\u202eit\u2066 now\r\nimport os\x85import os\u2028import os\x0cimport os \"\"\"'''# \\"


@pytest.mark.parametrize("kind", [texts.PROJECT_CODE, texts.TRANSFORMERS_CODE])
def test_what_a_visitor_types_stays_a_string_and_the_title_a_comment_of_one_line(kind: str):
    export = attention_export(map_of_page("embedded", HOSTILE))
    code = written(replace(export, numbers=replace(export.numbers, title=f"{HOSTILE}\ud800")), kind)
    first, *rest = code.split("\n")
    assert first.startswith("# Li ke it now import os import os")
    assert first.isprintable()
    assert not [line for line in rest if line.startswith("import os")]
    assert repr(HOSTILE) in code
    compile(code, "snippet", "exec")


def of_a_model_that_is_gone() -> None:
    from pages.ui.export.menu import export_menu
    from tx_core.errors import ModelUnavailable

    def gone() -> None:
        raise ModelUnavailable("It cannot be had: <b>choose another</b>.")

    export_menu("somewhere", {"What was shown": gone})


def test_what_can_no_longer_be_made_is_said_instead_of_a_traceback():
    app = AppTest.from_function(of_a_model_that_is_gone)
    app.session_state["somewhere_export"] = True
    app.run(timeout=240)
    assert not app.exception
    assert "It cannot be had: <b>choose another</b>." in [text.value for text in app.text]
