"""The file of a scan: parts add up to one reading, everything comes back, and a hostile file is refused in words."""

import json
import math
import pickle
import random
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tx_core.corpus import scan_file
from tx_core.corpus.scan_file import CorpusScan, new_origin, only_named, read_progress, read_scan, write_scan
from tx_core.corpus.sentence_file import LeftOut, Sentences, embedded_sentences
from tx_core.corpus.sentence_stream import SourceFile
from tx_core.corpus.statistics import PLACES, RANKED_KINDS, HeadReport, read_all
from tx_core.engine import catalogue
from tx_core.errors import TextProblem
from tx_core.settings import app_version

PARTS = 7


def in_part(number: int) -> Sentences:
    """Every so many of the embedded sentences, with a line that was left out of the file and one that the model cannot read."""
    texts = (*embedded_sentences().texts[number::PARTS], "word " * 300)
    return Sentences("", texts, tuple(range(1, len(texts) + 1)), (LeftOut("empty", 2, (number, 99)),))


def origin() -> scan_file.ScanOrigin:
    return new_origin(catalogue.DEFAULT, half=False, column="", part_sentences=50, files=[SourceFile("a.txt", 10, 20)])


@pytest.fixture(scope="module")
def reports() -> list[HeadReport]:
    return [read_all(catalogue.load(catalogue.DEFAULT), in_part(number)) for number in range(PARTS)]


@pytest.fixture(scope="module")
def scan(reports: list[HeadReport]) -> CorpusScan:
    found = CorpusScan(origin(), 1, False, only_named(reports[0]))
    for report in reports[1:]:
        found = found.with_part(only_named(report))
    return replace(found, finished=True)


def test_parts_add_up_to_what_one_reading_of_all_finds(scan: CorpusScan):
    texts = tuple(text for number in range(PARTS) for text in in_part(number).texts)
    whole = read_all(catalogue.load(catalogue.DEFAULT), Sentences("", texts, tuple(range(1, len(texts) + 1)), ()))
    report = scan.report
    assert (report.read, report.total, report.tokens) == (whole.read, len(texts), whole.tokens)
    for name in ("given", "chance", "queries", "votes"):
        np.testing.assert_allclose(getattr(report.sums, name), getattr(whole.sums, name), rtol=1e-6, atol=1e-6, err_msg=name)
    for name in ("entropy", "spread", "distance"):
        np.testing.assert_allclose(getattr(report, name), getattr(whole, name), rtol=0, atol=1e-6, err_msg=name)
    np.testing.assert_allclose(report.strongest.values, whole.strongest.values, rtol=0, atol=1e-6)
    assert [one.kind for one in report.patterns] == [one.kind for one in whole.patterns]
    apart = np.diff(whole.strongest.values, axis=-1, prepend=2) < -1e-5
    clear = apart[..., :-1] & apart[..., 1:]  # places that no rounding can swap
    assert clear.mean() > 0.5
    named = [np.array(one.sentences.texts)[one.strongest.texts[..., :-1]] for one in (report, whole)]
    np.testing.assert_array_equal(named[0][clear], named[1][clear])


def test_what_was_left_out_is_counted_through_all_parts(scan: CorpusScan):
    assert scan.report.sentences.left_out == (LeftOut("empty", 2 * PARTS, (*range(PARTS), *[99] * PARTS)),)
    (unread,) = scan.report.unread
    assert unread.count == PARTS
    assert scan.report.complete


def test_a_scan_keeps_the_sentences_that_some_head_is_strongest_in_and_no_others(scan: CorpusScan, reports: list[HeadReport]):
    named = np.unique(scan.report.strongest.texts)
    assert named.tolist() == list(range(len(scan.report.sentences)))
    again = scan
    for _ in range(3):  # the same sentences again: each is ranked once, and what is kept does not grow
        for report in reports:
            again = again.with_part(only_named(report))
    layers, heads = scan.report.entropy.shape
    assert len(scan.report.sentences) <= layers * heads * len(RANKED_KINDS) * PLACES
    assert again.report.sentences.texts == scan.report.sentences.texts
    np.testing.assert_array_equal(again.report.strongest.texts, scan.report.strongest.texts)
    assert again.report.read == 4 * scan.report.read
    np.testing.assert_allclose(again.report.spread, scan.report.spread, rtol=0, atol=1e-12)


def test_every_number_comes_back_from_the_file_as_it_was(scan: CorpusScan):
    data = write_scan(scan)
    back = read_scan(data)
    for name in ("entropy", "spread", "distance"):
        np.testing.assert_array_equal(getattr(back.report, name), getattr(scan.report, name))
    assert back.origin == scan.origin
    assert (back.origin.version, back.origin.revision) == (app_version(), catalogue.revision(catalogue.DEFAULT))
    assert back.report.sentences.source == "a.txt"
    assert write_scan(back) == data
    json.loads(data, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_a_scan_that_is_not_finished_is_resumed_and_not_shown_nor_a_file_that_is_too_large(scan: CorpusScan):
    data = write_scan(replace(scan, finished=False))
    assert read_progress(data).parts == PARTS
    with pytest.raises(TextProblem, match=re.escape(scan_file.NOT_FINISHED)):
        read_scan(data)
    with pytest.raises(TextProblem, match=re.escape(scan_file.TOO_LARGE_SCAN.format(most=scan_file.MAX_FILE_BYTES))):
        read_scan(write_scan(scan) + b" " * scan_file.MAX_FILE_BYTES)


def test_a_scan_of_more_heads_than_are_read_is_not_written(scan: CorpusScan, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(scan_file, "MAX_HEADS", 47)
    with pytest.raises(TextProblem, match=re.escape(scan_file.TOO_MANY_HEADS.format(heads=48, limit=47))):
        write_scan(scan)


def repeat_head(file: dict) -> None:
    """Put one layer into a file, of one head more than are read."""
    for name in ("entropy", "spread", "distance", "given", "votes"):
        file[name] = np.zeros((1, scan_file.MAX_HEADS + 1, *np.shape(file[name])[2:])).tolist()
    file["matches"] = [[[[]] * len(RANKED_KINDS)] * (scan_file.MAX_HEADS + 1)]


HOSTILE: dict[str, tuple[str, Callable[[dict], object]]] = {
    "a part too few": ("votes", lambda file: file.pop("votes")),
    "a part too many": ("", lambda file: file.update({"=1+1": 0})),
    "not finite": ("entropy", lambda file: file["entropy"][0].__setitem__(0, math.inf)),
    "a spread beyond 1": ("spread", lambda file: file["spread"][0].__setitem__(0, 1.5)),
    "more votes than texts": ("votes", lambda file: file["votes"][0][0].__setitem__(0, file["read"] + 1)),
    "other kinds": ("kinds", lambda file: file["kinds"].__setitem__(0, "moon")),
    "too many heads": ("entropy", repeat_head),
    "a layer too few": ("matches", lambda file: file["matches"].pop()),
    "a layer too many": ("matches", lambda file: file["matches"].append(file["matches"][0])),
    "a head too many": ("matches", lambda file: file["matches"][0].append(file["matches"][0][0])),
    "a kind too many": ("matches", lambda file: file["matches"][0][0].append([])),
    "words for numbers": ("chance", lambda file: file.update(chance={"a": "b"})),
    "a word for a number": ("entropy", lambda file: file["entropy"][0].__setitem__(0, "1.0")),
    "a number too large": ("entropy", lambda file: file["entropy"][0].__setitem__(0, 10**400)),
    "a match too many": ("matches", lambda file: file["matches"][0][0][0].extend([[0.0, 0]] * PLACES)),
    "a sentence that is not there": ("matches", lambda file: file["matches"][0][0][0].__setitem__(0, [0.5, 10**6])),
    "control characters": ("sentences", lambda file: file["sentences"][0].update(text="\x1b[31m")),
    "counts that do not add up": ("read", lambda file: file.update(read=file["read"] + 1)),
    "tokens of one and special of another": ("example", lambda file: file["example"]["special"].pop()),
    "many wrong sentences": ("sentences", lambda file: file.update(sentences=[0] * 1000)),
    "a list for a name": ("origin", lambda file: file["origin"].update(model=["embedded"])),
}


@pytest.mark.parametrize(("field", "change"), HOSTILE.values(), ids=HOSTILE)
def test_an_altered_file_is_refused_with_the_name_of_a_field(scan: CorpusScan, field: str, change: Callable[[dict], object]):
    file = json.loads(write_scan(scan))
    change(file)
    with pytest.raises(TextProblem) as refusal:
        read_scan(json.dumps(file).encode())
    assert str(refusal.value) == scan_file.ALTERED + (scan_file.WRONG_FIELD.format(field=field) if field else "")
    problem = refusal.value.__cause__  # one error for all entries of a list: each takes time and memory
    assert not isinstance(problem, ValidationError) or problem.error_count() < 10


@given(st.randoms(use_true_random=False))
def test_whatever_is_cut_or_altered_ends_in_a_scan_or_in_words(scan: CorpusScan, chance: random.Random):
    data = bytearray(write_scan(scan))
    for _ in range(chance.randint(1, 4)):
        data[chance.randrange(len(data))] = chance.choice(b'0123456789-.,:"[]{}eEtrufalsn\\ \x00\xff')
    del data[chance.choice([len(data), len(data), chance.randrange(len(data))]) :]
    try:
        report = read_scan(bytes(data)).report
    except TextProblem:
        return
    assert np.isfinite(report.sums.shares).all() and report.patterns
    assert report.strongest.texts.max() < len(report.sentences)


@pytest.mark.parametrize("data", [b"[]", pickle.dumps({"format": 1}), json.dumps({"format": "other"}).encode()])
def test_what_is_no_scan_is_refused(data: bytes):
    with pytest.raises(TextProblem, match=re.escape(scan_file.NOT_A_SCAN)):
        read_scan(data)
