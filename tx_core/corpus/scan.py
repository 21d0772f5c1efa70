"""Scan the heads of a model over many sentences: python -m tx_core.corpus.scan TEXTS … --out FILE.json

TEXTS are files (.txt, .txt.gz, .parquet) or folders of them. A scan that was stopped or killed goes on when the same command
is started again. README.md beside this file describes what it writes; the page Many sentences opens it.
"""

import argparse
import os
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from tx_core.errors import ExplorerError, SettingsProblem, TextProblem
from tx_core.settings import host_settings

if __name__ == "__main__":  # before the imports below read them: a wrong setting ends the command with one line
    try:
        host_settings()
    except SettingsProblem as problem:
        print(f"scan: {problem}", file=sys.stderr)
        sys.exit(2)

from tx_core.corpus.part_reader import default_workers, read_in_processes
from tx_core.corpus.scan_file import CorpusScan, ScanOrigin, new_origin, read_progress, write_scan
from tx_core.corpus.sentence_file import describe_left_out
from tx_core.corpus.sentence_stream import check_column, describe_files, parts, source_files
from tx_core.corpus.statistics import HeadReport
from tx_core.engine import catalogue
from tx_core.engine.download import fetch

PART_SENTENCES = 4096
SECONDS_BETWEEN_SAVES = 1.0
UNFINISHED = ".unfinished"
"""Suffix of the file until the scan is finished."""

QUIET_RAY = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}
"""Set before Ray is imported."""

OTHER_SCAN = "{file} is of another scan: {names} differ. Delete it, or choose another --out."
NOTHING_READ = "There is no sentence in these files that the model can read."
PROGRESS = "{sentences:,} sentences, {rate:,.0f} a second"
WRITTEN = "wrote {file}: {sentences:,} sentences, {tokens:,} tokens, {left_out:,} lines left out, {seconds:,.0f} s"


def main(argv: Sequence[str] | None = None) -> int:
    """Run from the command line; return 0 when the file is written, 2 for bad input, 130 when stopped by Ctrl+C."""
    options = _parser().parse_args(argv)
    try:
        run_scan(options)
    except (ExplorerError, OSError) as problem:
        _tell(str(problem))
        return 2
    except KeyboardInterrupt:
        _tell("stopped; the same command goes on from here")
        return 130
    return 0


def run_scan(options: argparse.Namespace) -> None:
    """Validate the arguments, scan, and write the file.

    Raises ExplorerError for invalid arguments, before anything is read; later for a file that cannot be read to its end.
    """
    files = source_files(options.texts)
    check_column(files, options.column)
    unfinished = _check_out(options.out)
    if options.ray is not None and find_spec("ray") is None:
        raise TextProblem("--ray needs Ray, which is not installed: pip install -r requirements-ray.txt")
    origin = _origin(options, files)
    before = _scan_so_far(unfinished, origin)
    scan = _add_all(before, origin, _reports(options, origin, files, before.parts if before else 0), unfinished)
    if scan is None or not scan.report.read:
        unfinished.unlink(missing_ok=True)
        left_out = describe_left_out(scan.report.left_out) if scan else ""
        raise TextProblem(f"{NOTHING_READ} {left_out}".strip())
    _save(unfinished, replace(scan, finished=True))
    os.replace(unfinished, options.out)
    report, left_out = scan.report, sum(one.count for one in scan.report.left_out)
    counts = {"sentences": report.read, "tokens": report.tokens, "left_out": left_out, "seconds": report.seconds}
    _tell(WRITTEN.format(file=options.out, **counts))
    if left_out:
        _tell(describe_left_out(report.left_out))


def _check_out(out: Path) -> Path:
    """Check the output path; return the path for unfinished results."""
    if out.suffix.casefold() != ".json":
        raise TextProblem(f"--out {out}: the name must end in .json.")
    if out.exists():
        raise TextProblem(f"--out {out}: this file exists. Delete it, or choose another name.")
    unfinished = out.with_name(out.name + UNFINISHED)
    new = _new(unfinished)
    new.touch()  # raises OSError now, not after hours, if there is no such folder, or it is not writable
    new.unlink()
    return unfinished


def _origin(options: argparse.Namespace, files: Sequence[Path]) -> ScanOrigin:
    """Return the record of what is scanned. A hub model is downloaded here, once, before the workers open it."""
    model = catalogue.card(options.model)
    if model.hub_id:
        fetch(model.hub_id, model.revision)
    own = {name: getattr(options, name) for name in ("half", "column", "part_sentences")}
    return new_origin(model.name, files=describe_files(files), **own)


def _scan_so_far(unfinished: Path, origin: ScanOrigin) -> CorpusScan | None:
    """Return the results of an interrupted scan with the same arguments; None without one."""
    if not unfinished.exists():
        return None
    try:
        scan = read_progress(unfinished.read_bytes())
    except TextProblem as damaged:
        raise TextProblem(f"{unfinished}: {damaged} Delete it, and the scan begins anew.") from damaged
    different = [name for name in ScanOrigin.model_fields if getattr(scan.origin, name) != getattr(origin, name)]
    if different:
        raise TextProblem(OTHER_SCAN.format(file=unfinished, names=", ".join(different)))
    _tell(f"goes on after {scan.report.total:,} sentences")
    return scan


def _reports(
    options: argparse.Namespace, origin: ScanOrigin, files: Sequence[Path], skip: int
) -> Generator[HeadReport, None, None]:
    """Return the reports of all parts but the first `skip`, read in local processes or on Ray."""
    coming = parts(files, origin.column, origin.part_sentences, skip)
    if options.ray is None:
        return read_in_processes(origin.model, origin.half, coming, options.workers or default_workers())
    for name, value in QUIET_RAY.items():
        os.environ.setdefault(name, value)
    ray_reader = import_module("tx_core.corpus.ray_reader")  # it imports Ray, which is not installed everywhere
    return ray_reader.read_on_ray(origin.model, origin.half, coming, options.workers, options.ray)


def _add_all(
    before: CorpusScan | None, origin: ScanOrigin, reports: Generator[HeadReport, None, None], unfinished: Path
) -> CorpusScan | None:
    """Merge the reports of the remaining parts, saving the result about once a second."""
    scan, start, saved = before, time.monotonic(), 0.0
    known, used = (before.report.total, before.report.seconds) if before else (0, 0.0)
    try:
        with closing(reports):
            for report in reports:
                seconds = time.monotonic() - start
                scan = scan.with_part(report) if scan else CorpusScan(origin, 1, False, report)
                scan = replace(scan, report=replace(scan.report, seconds=used + seconds))
                if seconds - saved >= SECONDS_BETWEEN_SAVES:
                    _save(unfinished, scan)
                    saved = seconds
                    _tell(PROGRESS.format(sentences=scan.report.total, rate=(scan.report.total - known) / seconds))
    finally:
        if scan is not None:
            _save(unfinished, scan)
    return scan


def _save(file: Path, scan: CorpusScan) -> None:
    """Write atomically; a crash keeps the old file."""
    new = _new(file)
    with new.open("wb") as opened:
        opened.write(write_scan(scan))
        opened.flush()
        os.fsync(opened.fileno())
    os.replace(new, file)


def _new(file: Path) -> Path:
    return file.with_name(f"{file.name}.new")


def _tell(what: str) -> None:
    print(f"scan: {what}", file=sys.stderr, flush=True)


def _count(written: str) -> int:
    if not written.isdecimal() or not 1 <= int(written) < 10**9:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, got {written[:20]!r}")
    return int(written)


def _parser() -> argparse.ArgumentParser:
    # Without a usage line, so that an error in the arguments takes one line.
    parser = argparse.ArgumentParser("scan", argparse.SUPPRESS, __doc__.splitlines()[0])
    parser.add_argument(
        "texts", type=Path, nargs="+", metavar="TEXTS", help=".txt, .txt.gz and .parquet files, or folders of them"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the file to write, .json")
    parser.add_argument("--model", default=catalogue.DEFAULT, metavar="NAME", help="as the pages name it (default: %(default)s)")
    parser.add_argument("--column", default="", metavar="NAME", help="the column of Parquet files that holds the sentences")
    parser.add_argument("--half", action="store_true", help="compute in bfloat16: faster where the hardware does it")
    parser.add_argument("--workers", type=_count, metavar="N", help="processes (default: one a core; on a graphics card, one)")
    parser.add_argument("--part-sentences", type=_count, default=PART_SENTENCES, metavar="N", help="default: %(default)s")
    parser.add_argument("--ray", metavar="ADDRESS", help="read on this Ray cluster, or on Ray on this machine: local")
    return parser


if __name__ == "__main__":
    sys.exit(main())
