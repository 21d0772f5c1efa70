"""The command that scans: the numbers of the page's own reading, killed and resumed, and one line for whatever is wrong."""

import gzip
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

import numpy as np
import psutil
import pytest

from tests.support.serving import ROOT, wait_until
from tx_core.corpus import scan
from tx_core.corpus.scan_file import read_scan
from tx_core.corpus.sentence_file import Sentences, describe_left_out, embedded_sentences
from tx_core.corpus.statistics import read_all
from tx_core.engine import catalogue

SLOW = 120
TEXTS = (*embedded_sentences().texts * 3, "word " * 400)
OPTIONS = ("--workers", "2", "--part-sentences", "48")


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "tx_core.corpus.scan", *map(str, words)]


@contextmanager
def started(*words: object) -> Iterator[subprocess.Popen]:
    process = subprocess.Popen(command(*words), cwd=ROOT, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def run(*words: object, seconds: float = SLOW) -> str:
    done = subprocess.run(command(*words), cwd=ROOT, capture_output=True, text=True, timeout=seconds, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return done.stderr


def scanned(file: Path, out: Path, *options: str) -> str:
    """Scan from this process, and return what was said: its workers are processes of their own, the command need not be."""
    with redirect_stderr(StringIO()) as said:
        assert scan.main([str(file), "--out", str(out), *options]) == 0, said.getvalue()
    return said.getvalue()


def without_times(file: Path) -> dict:
    found = json.loads(file.read_bytes())
    found.pop("seconds")
    return found


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, str]:
    """Scan the built-in sentences, three times over, in one go: the file of sentences, the result, and what was said."""
    folder = tmp_path_factory.mktemp("scan")
    file, out = folder / "mine.txt.gz", folder / "heads.json"
    file.write_bytes(gzip.compress("\n".join(["", *TEXTS]).encode()))
    return file, out, scanned(file, out, *OPTIONS)


@pytest.mark.ci
def test_two_processes_find_what_the_page_finds_in_the_same_sentences(whole: tuple[Path, Path, str]):
    file, out, said = whole
    report = read_scan(out.read_bytes()).report
    expected = read_all(catalogue.load(catalogue.DEFAULT), Sentences("", TEXTS, tuple(range(2, len(TEXTS) + 2)), ()))
    assert (report.read, report.tokens, report.unread) == (expected.read, expected.tokens, expected.unread)
    np.testing.assert_allclose(report.sums.scores, expected.sums.scores, rtol=0, atol=1e-6)
    by_line = dict(enumerate(TEXTS, 2))
    assert all(by_line[line] == text for line, text in zip(report.sentences.lines, report.sentences.texts, strict=True))
    assert said.splitlines()[-1] == f"scan: {describe_left_out(report.left_out)}"
    assert sorted(out.parent.iterdir()) == [out, file]


@pytest.mark.ci
def test_a_scan_that_was_killed_goes_on_and_ends_with_the_same_file(whole: tuple[Path, Path, str], tmp_path: Path):
    file, out, _ = whole
    killed = tmp_path / "killed.json"
    unfinished = tmp_path / f"killed.json{scan.UNFINISHED}"
    with started(file, "--out", killed, *OPTIONS) as process:
        wait_until(unfinished.exists, SLOW, "the first parts")
        workers = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGKILL)
        process.wait(SLOW)
    assert len(workers) >= 2
    wait_until(lambda: not any(one.is_running() and one.status() != "zombie" for one in workers), SLOW, "the end of its workers")
    assert not killed.exists()
    before = json.loads(unfinished.read_bytes())
    assert not before["finished"]
    assert 0 < before["read"] < len(TEXTS)
    assert f"{before['total']:,} sentences" in scanned(file, killed, *OPTIONS[2:], "--workers", "1").splitlines()[0]
    assert without_times(killed) == without_times(out)
    assert not unfinished.exists()


needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="requirements-ray.txt is not installed")


@pytest.mark.ci
@needs_ray
@pytest.mark.timeout(900)  # a cluster starts in processes of its own, minutes on a busy machine
def test_ray_finds_the_same_to_the_last_bit(whole: tuple[Path, Path, str], tmp_path: Path):
    file, out, _ = whole
    run(file, "--out", tmp_path / "ray.json", *OPTIONS, "--ray", "local", seconds=600)
    assert without_times(tmp_path / "ray.json") == without_times(out)


def refusal(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    try:
        code = scan.main([str(word) for word in words])
    except SystemExit as ended:  # as argparse ends
        code = ended.code
    assert code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert line.startswith("scan: ")
    return line


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "mine.txt").write_text("One sentence is here.\n")
    return tmp_path / "mine.txt"


@pytest.mark.parametrize(
    ("words", "about"),
    [
        ([], "TEXTS"),
        (["{folder}/none.txt", "--out", "{folder}/a.json"], "none.txt"),
        (["{file}", "--out", "{folder}/a.txt"], ".json"),
        (["{file}", "--out", "{folder}/there.json"], "there.json"),
        (["{file}", "--out", "{folder}/a.json", "--model", "../../etc"], "etc"),
        (["{file}", "--out", "{folder}/a.json", "--workers", "0"], "--workers"),
        (["{file}", "--out", "{folder}/a.json", "--column", "text"], "--column"),
        (["{file}", "--out", "/proc/a.json", "--workers", "1"], "/proc/a.json"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(file: Path, capsys: pytest.CaptureFixture[str], words: list[str], about: str):
    (file.parent / "there.json").write_text("{}")
    line = refusal(capsys, *(word.format(file=file, folder=file.parent) for word in words))
    assert about in line
    assert sorted(path.name for path in file.parent.iterdir()) == ["mine.txt", "there.json"]


@pytest.mark.parametrize("change", ["file", "option"])
def test_a_scan_of_something_else_is_not_gone_on_with(file: Path, capsys: pytest.CaptureFixture[str], change: str):
    out, unfinished = file.parent / "a.json", file.parent / f"a.json{scan.UNFINISHED}"
    origin = scan._origin(scan._parser().parse_args([str(file), "--out", str(out)]), [file])
    report = read_all(catalogue.load(catalogue.DEFAULT), Sentences("", ("One sentence is here.",), (1,), ()))
    scan._save(unfinished, scan.CorpusScan(origin, 1, False, report))
    kept = unfinished.read_bytes()
    more = ["--half"] if change == "option" else []
    if change == "file":
        file.write_text("Another sentence is here.\n")
    names = "half" if change == "option" else "files"
    assert refusal(capsys, file, "--out", out, *more) == f"scan: {scan.OTHER_SCAN.format(file=unfinished, names=names)}"
    assert unfinished.read_bytes() == kept


def test_files_without_a_sentence_leave_nothing_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "mine.txt"
    file.write_text("\n\n" + "word " * 400 + "\n")
    assert scan.main([str(file), "--out", str(tmp_path / "a.json"), "--workers", "1"]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(f"scan: {scan.NOTHING_READ} ")
    assert "2 lines, empty (lines 1, 2); 1 line, longer than" in said
    assert list(tmp_path.iterdir()) == [file]
