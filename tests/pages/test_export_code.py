"""The Python that pages offer computes what their figures show; and the code that Build pages show is the code that runs."""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.compare.texts import MAPS_EXPORT, WORD_EXPORT
from pages.fill_mask import texts as fill_mask_texts
from pages.many_sentences.heads import Grid, heads_export, reads_on, report_code, stopped_in_words
from pages.many_sentences.reading import OpenedScan
from pages.ui.export import menu, texts
from pages.ui.export.records import Export
from tests.support.drawings import sent_to
from tests.support.exports import exported_code, opened
from tests.support.serving import ROOT
from tests.support.snippets import computed
from tx_core.corpus.scan_file import CorpusScan, new_origin, write_scan
from tx_core.corpus.sentence_file import Sentences, read_sentences
from tx_core.corpus.sentence_stream import SourceFile
from tx_core.corpus.statistics import Reading, read_all
from tx_core.engine import catalogue

pytestmark = pytest.mark.ci

Open = Callable[..., AppTest]
SHARES = "sorted(share for _, share in predictions)"
BLANKS = {"text": "The old ___ drank \"some\" [MASK] 'tea'.", "named": "tea,unbelievably,💥", "listed": "5"}
PAIR = {"text": "time flies like an arrow", "text_b": 'fruit flies like a "banana"', "vary": "text"}
SUMMED = {"text": "The old man drank a cup of [MASK] by the fire.", "heads": "2-3"}


@dataclass(frozen=True)
class Seen:
    """What a figure was sent, and both kinds of code, "" where the page offers none."""

    header: dict
    cells: bytes
    project: str
    transformers: str


def seen(open_app: Open, page: str, what: str = "", **view: str) -> Seen:
    """Open a view of a page as a figure, and as Python of both kinds."""
    app = opened(open_app(page, **view), page, what)
    (sent,) = sent_to(app, "picture")
    codes = [exported_code(app, page, what, kind) for kind in ("project", "transformers")]
    return Seen(*sent, *codes)


@dataclass(frozen=True)
class Claim:
    """What an expression at the end of some code must be, so far as the figure tells it."""

    code: str
    expression: str
    expected: np.ndarray
    tolerance: float = 1e-5


def of_both(shown: Seen, expressions: list[str], expected: list[np.ndarray], tolerance: float = 1e-5) -> list[Claim]:
    """Claim the same of the code with this project and of that with transformers only."""
    pairs = list(zip(expressions, expected, strict=True))
    return [Claim(code, *pair, tolerance) for code in (shown.project, shown.transformers) for pair in pairs]


def of_project(shown: Seen, expressions: list[str], expected: list[np.ndarray], tolerance: float = 1e-5) -> list[Claim]:
    """Claim it of the code with this project, the only code of this view."""
    assert shown.transformers == ""
    return [Claim(shown.project, *pair, tolerance) for pair in zip(expressions, expected, strict=True)]


def hold(claims: list[Claim], folder: Path) -> None:
    """Run all code in one process, and hold what comes of it against what was claimed."""
    codes = {code: [claim for claim in claims if claim.code == code] for code in dict.fromkeys(claim.code for claim in claims)}
    found = computed([(code, [claim.expression for claim in own]) for code, own in codes.items()], folder)
    for own, numbers in zip(codes.values(), found, strict=True):
        for claim, number in zip(own, numbers, strict=True):
            told = f"{claim.expression} of\n{claim.code}"
            np.testing.assert_allclose(number, claim.expected, atol=claim.tolerance, rtol=0, err_msg=told)


def test_of_the_page_of_blanks(open_app: Open, tmp_path: Path):
    hold(
        [
            *the_lists(open_app),
            *the_lists(open_app, nospecial="1"),
            *the_changes(open_app, "off~1-2_hide~3"),
            *the_changes(open_app, "causal_padding~8_nopositions"),
            *the_changes(open_app, "off~1-2_hide~3", nospecial="1"),
        ],
        tmp_path,
    )


def the_lists(open_app: Open, **more: str) -> list[Claim]:
    shown = seen(open_app, "fill_mask", fill_mask_texts.EXPORT_LISTS, **BLANKS, temperature="2", top_p="0.9", **more)
    charts = [chart for chart in shown.header["charts"] if chart]
    assert not any(cut for chart in charts for cut in chart["cut"])
    *single, together = [chart["values"] for chart in charts]
    listed = np.sort(np.concatenate(single))
    assert len(listed) > 4
    return [
        Claim(shown.project, SHARES, np.sort([*listed, *together])),
        Claim(shown.transformers, SHARES, listed),
    ]


def the_changes(open_app: Open, changes: str, **more: str) -> list[Claim]:
    shown = seen(open_app, "fill_mask", fill_mask_texts.EXPORT_CHANGE, **BLANKS, changes=changes, blank="2", **more)
    (chart,) = shown.header["charts"]
    return of_both(shown, ["[one[1:3] for one in moved]"], [np.stack([chart["before"], chart["after"]], 1)])


@pytest.mark.parametrize(("minus", "nospecial"), [(None, "0"), ("tea", "0"), ("tea", "1")])
def test_of_the_head_scan(open_app: Open, tmp_path: Path, minus: str | None, nospecial: str):
    asked = {"text": "The old man drank a cup of [MASK].", "named": "tea,coffee,unbelievably", "nospecial": nospecial}
    app = open_app("fill_mask", changes="off~1-2", **asked)
    app.session_state["fill_mask_scan_opened"] = True
    app.run()
    app.button(key="fill_mask_scan_start").click().run()
    app.session_state["fill_mask_scan_word"] = "coffee"
    app.session_state["fill_mask_scan_minus"] = minus
    app = opened(app, "fill_mask", fill_mask_texts.EXPORT_SCAN)
    ((header, _),) = sent_to(app, "picture")
    (chart,) = header["charts"]
    code = next(
        code.value for code in opened(app, "fill_mask", fill_mask_texts.EXPORT_SCAN, texts.CODE).code if "= Scan(" in code.value
    )
    hold([Claim(code, "change", np.array(chart["cells"]), 1e-5)], tmp_path)


def test_of_the_page_of_comparisons(open_app: Open, tmp_path: Path):
    plain, changed = two_maps(open_app), two_maps(open_app, hide="1", changes="off~1-2")
    claims = [*plain, *changed, *two_maps(open_app, nospecial="1", changes="off~1-2")]
    for more in ({}, {"nospecial": "1"}):
        claims += [*a_word(open_app, **more), *random_weights(open_app, **more)]
    hold(claims, tmp_path)


def two_maps(open_app: Open, **more: str) -> list[Claim]:
    shown = seen(open_app, "compare", MAPS_EXPORT, **PAIR, **more)
    sizes = [len(shown.header[name]) for name in ("one", "other", "labels")]
    codes = np.frombuffer(shown.cells, "<u2").astype(float)
    one, other, difference = np.split(codes, np.cumsum(np.square(sizes))[:-1])
    both = [row for row, places in enumerate(shown.header["rows"]) if None not in places]
    root = (difference.reshape(sizes[2], -1)[np.ix_(both, both)] - 32768) / 32767
    expected = [(one.reshape(sizes[0], -1) / 65535) ** 2, (other.reshape(sizes[1], -1) / 65535) ** 2, np.sign(root) * root**2]
    return of_project(shown, ["weights_a", "weights_b", "difference"], expected, 1e-4)


def a_word(open_app: Open, **more: str) -> list[Claim]:
    lines = (shown := seen(open_app, "compare", WORD_EXPORT, **PAIR, **more)).header["charts"][0]["series"]
    return of_project(shown, ["word", "different"], [lines[0]["values"], lines[-1]["values"]])


def random_weights(open_app: Open, **more: str) -> list[Claim]:
    shown = seen(open_app, "compare", MAPS_EXPORT, text=PAIR["text"], vary="untrained", seed_b="2", **more)
    assert shown.transformers == ""
    words = len(shown.header["other"])
    codes = np.frombuffer(shown.cells, "<u2").astype(float)[words**2 : 2 * words**2]
    return [Claim(shown.project, "weights_b.ravel()", (codes / 65535) ** 2, 1e-4)]


def many_sentences(open_app: Open, **more: str) -> list[Claim]:
    shown = seen(open_app, "many_sentences", colour="spread", **more)
    assert shown.transformers == ""
    cells = [[float(cell["word"]) for cell in row] for row in shown.header["charts"][0]["cells"]]
    return [Claim(shown.project, "report.spread", np.array(cells), 0.0051)]


def own_file(folder: Path) -> list[Claim]:
    """The code for a reader's own table, whatever its name and its columns are called."""
    path, column = str(folder / 'it\'s "mine" {0}.csv'), "a \"line\", 'said'"
    with open(path, "w", encoding="utf-8", newline="") as written:
        csv.writer(written).writerows([("number", column), (1, "The old man sat."), (2, "Time flies like an arrow.")])
    with open(path, "rb") as file:
        sentences = read_sentences(file, path, column)
    report = read_all(catalogue.load("embedded"), sentences)
    assert report.complete
    code, half = report_code("Heads", report), read_all(catalogue.load("embedded"), sentences, half=True)
    assert "stopped" not in code
    assert "half" not in code
    return [Claim(code, "report.spread", report.spread), Claim(report_code("Heads", half), "report.spread", half.spread)]


def of_a_scan(folder: Path) -> list[Claim]:
    """The code for the result of a scan, whatever its file is called."""
    origin = new_origin("embedded", half=False, column="", part_sentences=9, files=[SourceFile("a.txt", 1, 2)])
    sentences = Sentences("", ("The old man sat.", "Time flies like an arrow."), (1, 2), ())
    scan = CorpusScan(origin, 1, True, read_all(catalogue.load("embedded"), sentences))
    file = folder / 'the "scan" {0} \'s.json'
    file.write_bytes(write_scan(scan))
    grid, opened = Grid("pattern", [[]], [], (0, 0)), OpenedScan(str(file), scan)
    export = heads_export(scan.report, grid, opened)
    assert export.about["revision"] == origin.revision
    return [Claim(export.code.project(), "report.spread", scan.report.spread)]


def test_code_of_a_reading_that_was_stopped_says_that_it_reads_on():
    texts = tuple(f"{'word ' * (1 + number % 60)}{number}." for number in range(400))
    reading = Reading(catalogue.load("embedded"), Sentences("many.txt", texts, tuple(range(1, 401)), ()))
    updates = reading.updates()
    while reading.report is None:
        next(updates)
    updates.close()
    report = reading.report
    assert not report.complete
    export = heads_export(report, Grid("pattern", [[]], [], (0, 0)))
    assert "400" in reads_on(report)
    assert reads_on(report) in export.code.result
    assert f"# {reads_on(report)}" in export.code.project()
    assert stopped_in_words(report) in export.caption


def bertviz(open_app: Open, special: bool = True) -> list[Claim]:
    app = open_app("bertviz_page", text=SUMMED["text"], nospecial=str(int(not special)))
    codes = []
    for kind in ("project", "transformers"):
        app.session_state["bertviz_page_code_kind"] = kind
        shown = opened(app, "bertviz_page", form=texts.CODE).code
        codes += [code.value for code in shown if code.value.startswith("# Head view")]
    weights = catalogue.load("embedded", special_tokens=special).trace(SUMMED["text"]).attention.weights
    assert len(codes) == 2
    return [Claim(code, "weights", weights) for code in codes]


def test_of_many_sentences_and_of_bertviz(open_app: Open, tmp_path: Path):
    bare = [*many_sentences(open_app, nospecial="1"), *bertviz(open_app, special=False)]
    hold([*many_sentences(open_app), *own_file(tmp_path), *of_a_scan(tmp_path), *bertviz(open_app), *bare], tmp_path)


def test_of_the_page_of_summaries(open_app: Open, tmp_path: Path):
    parts = (all_heads, kinds_of_heads, through_the_layers, what_is_mixed, heads_alike, early_answers, gradients)
    hold([claim for part in parts for more in ({}, {"nospecial": "1"}) for claim in part(open_app, **more)], tmp_path)


def all_heads(open_app: Open, **more: str) -> list[Claim]:
    claims = []
    for colour, expression, digits in (("entropy", "spread", 2), ("distance", "distance", 1)):
        shown = seen(open_app, "summaries", part="glance", colour=colour, **SUMMED, **more)
        cells = [[float(cell["word"]) for cell in row] for row in shown.header["charts"][0]["cells"]]
        claims += of_project(shown, [expression], [np.array(cells)], 0.51 * 10**-digits)
    return claims


def kinds_of_heads(open_app: Open, **more: str) -> list[Claim]:
    shown = seen(open_app, "summaries", part="glance", colour="pattern", **SUMMED, **more)
    numbers = [cell["number"] for row in shown.header["charts"][0]["cells"] for cell in row]
    by_rule = [place for place, number in enumerate(numbers) if not number.endswith("%")]  # the others follow a relation
    expected = np.array([float(numbers[place]) for place in by_rule])
    assert len(expected) > len(numbers) / 2
    return [Claim(shown.project, f"[[*kinds][place].confidence for place in {by_rule}]", expected, 0.0051)]


def matrices(shown: Seen) -> np.ndarray:
    """The matrices that a figure was sent."""
    shape = (len(shown.header["panels"]), len(shown.header["rows"]), len(shown.header["columns"]))
    return np.frombuffer(shown.cells, "<f4").reshape(shape)


def through_the_layers(open_app: Open, **more: str) -> list[Claim]:
    shown = seen(open_app, "summaries", part="layers", token="4", **SUMMED, **more)
    in_layer, rolled, flow = matrices(shown)
    return [*of_project(shown, ["in_layer", "rolled"], [in_layer, rolled]), Claim(shown.project, "flow", flow)]


def what_is_mixed(open_app: Open, **more: str) -> list[Claim]:
    shown = seen(open_app, "summaries", part="values", **SUMMED, **more)
    return of_project(shown, ["weights", "by_values", "together"], list(matrices(shown)))


def heads_alike(open_app: Open, **more: str) -> list[Claim]:
    shown = seen(open_app, "summaries", part="alike", **SUMMED, **more)
    points, near = shown.header["charts"]
    told = np.array([float(row[-1]) for row in near["rows"]])
    nearest = of_project(shown, [f"sorted(similar)[::-1][1:{len(told) + 1}]"], [told], 0.00051)
    return [*nearest, Claim(shown.project, "positions", np.array(points["places"]))]


def early_answers(open_app: Open, **more: str) -> list[Claim]:
    shown = seen(open_app, "summaries", part="lens", **SUMMED, **more)
    listing, line = shown.header["charts"]
    ranks = [int(row[-1].replace(",", "")) for row in listing["rows"]]
    return of_project(shown, ["probability", "rank"], [line["series"][0]["values"], np.array(ranks)])


def gradients(open_app: Open, **more: str) -> list[Claim]:
    shown = seen(open_app, "summaries", part="owed", rank="2", **SUMMED, **more)
    bars = [np.array(chart["values"]) for chart in shown.header["charts"]]
    return of_project(shown, ["attention", "gradient_input", "integrated"], bars, 1e-3)


BARE = {
    "the predictions": ("fill_mask", fill_mask_texts.EXPORT_LISTS, BLANKS),
    "a change": ("fill_mask", fill_mask_texts.EXPORT_CHANGE, BLANKS | {"changes": "off~1-2"}),
    "two maps": ("compare", MAPS_EXPORT, PAIR),
    "a word": ("compare", WORD_EXPORT, PAIR),
    "bertviz": ("bertviz_page", "", {"text": "time flies"}),
    "many sentences": ("many_sentences", "", {}),
    "shuffled words": ("positions", "", {"part": "shuffle"}),
    "an untrained model": ("bert", "", {"part": "random"}),
}


@pytest.mark.parametrize("name", BARE)
def test_every_caption_file_and_code_says_that_special_tokens_were_left_out(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, name: str
):
    (page, what, view), made = BARE[name], []
    monkeypatch.setattr(menu, "show_data", lambda _page, export: made.append(export))
    for nospecial in ("0", "1"):
        opened(open_app(page, **view, nospecial=nospecial), page, what, texts.DATA)
    said = [
        ("without special tokens" in one.full_caption, texts.NONE_ADDED in str(dict(one.source)), bare_code(one)) for one in made
    ]
    assert said == [(False, False, False), (True, True, True)]


def bare_code(export: Export) -> bool:
    """Whether all code of an export leaves special tokens out."""
    codes = [(export.code.project, "special_tokens=False"), (export.code.transformers, "add_special_tokens=False")]
    return all(argument in write() for write, argument in codes if write)


PAGES = [
    ("self_attention", {}),
    ("classifier", {}),
    *(("heads_and_blocks", {"part": part}) for part in ("embeddings", "heads", "feed", "norm", "depth", "journey")),
    *(("masks", {"part": part}) for part in ("one", "penalty", "batch")),
    *(("positions", {"part": part}) for part in ("ways", "demands", "shuffle")),
    *(("encoder_decoder", {"part": part}) for part in ("train", "inside")),
    *(("bert", {"part": part}) for part in ("compare", "random", "labels")),
]
PICTURES = {"bidi_component", "plotly_chart", "dataframe"}
IN_THE_BACKGROUND = ("bert", {"part": "compare"})
"""It draws nothing before Hugging Face's library is loaded."""


@pytest.mark.parametrize(("page", "asked"), PAGES, ids=str)
def test_text_equation_code_and_picture_follow_one_another(open_app, page, asked):
    kinds = [getattr(node, "type", "") for node in open_app(page, **asked).main]
    places = [kinds.index(kind) for kind in ("markdown", "latex", "expander")]
    pictures = [place for place, kind in enumerate(kinds) if kind in PICTURES]
    assert places == sorted(places)
    assert all(place > places[-1] for place in pictures)
    assert pictures or (page, asked) == IN_THE_BACKGROUND


@pytest.mark.parametrize(("page", "asked"), PAGES, ids=str)
def test_the_code_on_the_page_is_the_one_in_the_core(open_app, page, asked):
    app = open_app(page, **asked)
    app.session_state["source_code"] = True
    app.run()
    shown = [code.value for code in app.code if code.language == "python"]
    homes = [caption.value.strip("`") for caption in app.caption if caption.value.startswith("`tx_core/")]
    assert len(shown) == len(homes) > 0
    for source, home in zip(shown, homes, strict=True):
        assert stripped(source) in stripped((ROOT / home).read_text("utf-8"))


def stripped(code: str) -> str:
    """Write code without its indentation, which a method loses on a page."""
    return "\n".join(line.strip() for line in code.splitlines())
