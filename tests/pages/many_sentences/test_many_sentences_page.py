"""The page of many sentences: the built-in set, a visitor's own file, models that are not there, and the result of a scan."""

import pytest
from streamlit.testing.v1 import AppTest

from pages.many_sentences import texts
from pages.ui.shell.address import LESSON, LOCK, STEP
from pages.ui.shell.numbers import whole_percent
from pages.ui.stage import texts as stage_texts
from pages.ui.stage.heads import describe_head
from tests.support.sentences_page import KIND, OWN_FILE, PAGE, Open, links, numbers_of, press, says, shown_head, upload
from tests.support.staged import training_buttons
from tests.support.trainings import until_still
from tx_core.analysis.grammar import grammar_of
from tx_core.classroom.lesson_file import Lesson, pack_lesson
from tx_core.corpus.batches import TOO_MANY_TOKENS_IN_LINE
from tx_core.corpus.scan_file import CorpusScan, new_origin, only_named, write_scan
from tx_core.corpus.sentence_file import EMPTY, LeftOut, Sentences, describe_left_out, embedded_sentences
from tx_core.corpus.sentence_stream import SourceFile
from tx_core.corpus.statistics import read_all
from tx_core.engine import catalogue
from tx_core.engine.bert_engine import OwnEngine
from tx_core.training.background import Registry


def test_a_head_that_follows_a_relation_is_described_by_it_first_and_where_it_was_counted(open_app: Open):
    (best, *_), listing = grammar_of("embedded")[3, 6], shown_head(open_app(PAGE, heads="4-7"))
    said, gain = listing["sentence"], round(100 * best.accuracy) - round(100 * best.baseline)
    assert (best.relation, best.offset) == ("nsubj", 1)
    first = f"Subject: in {whole_percent(best.accuracy)} of {best.occurrences:,} words of a treebank, layer 4, head 7 looks most "
    assert said.startswith(first) and f"{gain} percentage points more often than always looking one word ahead" in said
    assert texts.HERE.format(count=308) in said and texts.NOT_BY_GRAMMAR in listing["chart"]["note"]
    by_kind = shown_head(open_app(PAGE, heads="5-8"))["sentence"]  # of which the cell says [CLS]
    assert by_kind.startswith(texts.HERE.format(count=308)) and "Object: in" in by_kind
    plain = shown_head(open_app(PAGE, heads="1-2"))
    assert plain["sentence"].startswith("Layer 1, head 2") and texts.NOT_BY_GRAMMAR not in plain["chart"]["note"]


def test_a_locked_lesson_shows_the_strongest_sentences_without_a_way_out(open_app: Open):
    step = {"title": "Look", "page": PAGE, "view": {"heads": "2-3", "rank": "focused"}, "text": "Look."}
    about = {"title": "One", "language": "en", "level": "beginner", "minutes": 5, "about": "One."}
    packed = pack_lesson(Lesson.model_validate(about | {"steps": [step]}))
    shown = {}
    for lock in ("0", "1"):
        app = open_app(PAGE, **step["view"], **{LESSON: packed, STEP: "1", LOCK: lock})
        assert "Layer 2, head 3 " in says(app)
        shown[lock] = links(app)
    assert (len(shown["0"]), len(shown["1"])) == (5, 0)


def test_a_file_is_read_in_the_background_and_what_is_left_out_is_reported(open_app: Open, runs: Registry, monkeypatch):
    monkeypatch.setattr(OwnEngine, "bfloat16", True)
    app = open_app(PAGE, texts="own")
    assert stage_texts.UPLOAD_SENTENCES in says(app)
    assert texts.NO_RUN_NEEDED not in says(app)
    assert training_buttons(app) == []
    upload(app, OWN_FILE)
    assert stage_texts.SENTENCES_READ[1].format(count=3, source="mine.txt") in says(app)
    assert describe_left_out((LeftOut(EMPTY, 1, (2,)),)) in says(app)
    snapshot = until_still(press(app, "run"), runs, KIND)
    assert snapshot.state == "finished"
    assert not app.exception
    assert not snapshot.result.work.report.half  # as Python counts by default
    assert texts.READ[1].partition(" with")[0].format(count=2) in says(app)
    most = catalogue.load(catalogue.DEFAULT).info.max_tokens
    assert describe_left_out((LeftOut(TOO_MANY_TOKENS_IN_LINE.format(most=most), 1, (4,)),)) in says(app)
    assert any("%3Cb%3Edog%3C%2Fb%3E" in link for link in links(app))
    markup = [element.value for kind in (app.markdown, app.caption) for element in kind]
    assert not any("dog" in text for text in markup)


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
    assert len(numbers_of(app)) == len(report.patterns)
    assert len(links(app)) == 5
    assert all("heads=2-3" in link and "text=" in link for link in links(app))
    markup = [element.value for kind in (app.markdown, app.caption) for element in kind]
    assert not any("javascript" in text for text in markup)
