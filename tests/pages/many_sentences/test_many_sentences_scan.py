"""The result of a scan on the page: what it says, where its links lead, and files that are none."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from pages.many_sentences import texts
from pages.many_sentences.heads import describe_head
from pages.many_sentences.reading import OpenedScan
from tests.support.sentences_page import PAGE, Open, links, says
from tx_core.corpus import scan_file
from tx_core.corpus.scan_file import CorpusScan, new_origin, only_named, write_scan
from tx_core.corpus.sentence_file import LeftOut, Sentences, describe_left_out, embedded_sentences
from tx_core.corpus.sentence_stream import SourceFile
from tx_core.corpus.statistics import read_all
from tx_core.engine import catalogue

HOSTILE_NAME = "**x** <b>y</b> [z](javascript:1) $a$.txt"


@pytest.fixture(scope="module")
def scan() -> CorpusScan:
    """Every second built-in sentence, with its line doubled, as a scan of two files would find them."""
    texts = embedded_sentences().texts[::2]
    sentences = Sentences("", texts, tuple(range(2, 2 * len(texts) + 2, 2)), (LeftOut("empty", 3, (1, 3, 5)),))
    files = [SourceFile(HOSTILE_NAME, 1, 2), SourceFile("b.txt", 3, 4)]
    origin = new_origin(catalogue.DEFAULT, half=False, column="", part_sentences=4096, files=files)
    return CorpusScan(origin, 1, True, only_named(read_all(catalogue.load(catalogue.DEFAULT), sentences)))


def opened(open_app: Open, data: bytes, name: str = "heads.json", **parameters: str) -> AppTest:
    app = open_app(PAGE, texts="scan", **parameters)
    return app.file_uploader(key=f"{PAGE}_scan_file").set_value((name, data, "application/json")).run()


def test_before_there_is_a_result_the_page_says_how_to_make_one(open_app: Open):
    app = open_app(PAGE, texts="scan")
    assert not app.exception
    assert texts.SCAN_FIRST in says(app)
    assert [code.value for code in app.code] == [texts.SCAN_COMMAND]
    assert [button.key for button in app.button if button.key and button.key.endswith(("_run", "_stop"))] == []
    assert app.query_params in ({"texts": "scan"}, {"texts": ["scan"]})


def test_the_heads_of_a_scan_are_shown_with_what_was_scanned(open_app: Open, scan: CorpusScan):
    app, report = opened(open_app, write_scan(scan), heads="2-3", rank="focused"), scan.report
    assert not app.exception
    model = catalogue.card(catalogue.DEFAULT).title
    counts = {"count": report.read, "tokens": report.tokens, "seconds": report.seconds, "model": model, "half": ""}
    assert texts.SCANNED[1].format(source=f"{HOSTILE_NAME} and 1 more", **counts) in says(app)
    origin = scan.origin
    assert texts.SCANNED_BY.format(revision=origin.revision, version=origin.version) in says(app)
    assert describe_left_out((LeftOut("empty", 3, (1, 3, 5)),)) in says(app)
    assert describe_head(report, (1, 2)) in says(app)
    assert texts.SCAN_FIRST not in says(app)
    assert len(app.dataframe[0].value) == len(report.patterns)
    assert len(links(app)) == 5
    assert all("heads=2-3" in link and "text=" in link for link in links(app))
    markup = [element.value for kind in (app.markdown, app.caption) for element in kind]
    assert not any("javascript" in text for text in markup)


def altered(scan: CorpusScan, **origin: str) -> bytes:
    file = json.loads(write_scan(scan))
    file["origin"] |= origin
    return json.dumps(file).encode()


@pytest.mark.parametrize(
    ("origin", "told"),
    [
        ({"revision": "sha256 of another"}, texts.OTHER_REVISION.format(revision=catalogue.revision(catalogue.DEFAULT))),
        ({"model": "=moon <b>"}, texts.MODEL_NOT_HERE),
        ({}, ""),
    ],
    ids=["another revision", "unknown model", "the same"],
)
def test_a_model_that_this_server_does_not_have_so_is_told(open_app: Open, scan: CorpusScan, origin: dict[str, str], told: str):
    app = opened(open_app, altered(scan, **origin))
    assert not app.exception
    assert told in says(app)
    other = {texts.OTHER_REVISION.partition("(")[0], texts.MODEL_NOT_HERE} - {told.partition("(")[0], told}
    assert not any(sentence in says(app) for sentence in other)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda scan: b"\x80\x04\x95", scan_file.NOT_A_SCAN),
        (lambda scan: write_scan(replace(scan, finished=False)), scan_file.NOT_FINISHED),
        (lambda scan: write_scan(scan)[:-2000], scan_file.ALTERED.partition("{")[0]),
        (lambda scan: write_scan(scan) + b" " * 5_000_000, scan_file.TOO_LARGE_SCAN.format(most=5_000_000)),
    ],
    ids=["pickle", "not finished", "cut off", "too large"],
)
def test_a_file_that_cannot_be_used_says_why_and_the_one_before_stays(
    open_app: Open, scan: CorpusScan, change: Callable[[CorpusScan], bytes], told: str
):
    app = opened(open_app, write_scan(scan))
    app.file_uploader(key=f"{PAGE}_scan_file").set_value(("other.json", change(scan), "application/json")).run()
    assert not app.exception
    assert told in says(app)
    assert describe_head(scan.report, (0, 0)) in says(app)


def test_another_source_leaves_the_scan_and_comes_back_to_it(open_app: Open, scan: CorpusScan):
    app = opened(open_app, write_scan(scan))
    app.segmented_control(key=f"{PAGE}_texts").set_value("embedded").run()
    assert describe_head(read_all(catalogue.load(catalogue.DEFAULT), embedded_sentences()), (0, 0)) in says(app)
    app.segmented_control(key=f"{PAGE}_texts").set_value("scan").run()
    assert not app.exception
    assert describe_head(scan.report, (0, 0)) in says(app)
    assert isinstance(app.session_state[f"{PAGE}_scan"], OpenedScan)
