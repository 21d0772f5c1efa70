"""The command line made of the settings: one option a field, grouped by record."""

import argparse
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

from tx_core.training.pretraining.settings import (
    MaskingSettings,
    ModelSettings,
    OptimiserSettings,
    PackingSettings,
    RunSettings,
    ScheduleSettings,
)

Record = TypeVar("Record")
RECORDS = (ModelSettings, PackingSettings, MaskingSettings, ScheduleSettings, OptimiserSettings, RunSettings)


def parser() -> argparse.ArgumentParser:
    """Describe every option of `python -m tx_core.training.pretrain`."""
    options = argparse.ArgumentParser(
        prog="python -m tx_core.training.pretrain",
        description="Train a small BERT on text files; called again with the same --out, it goes on where it was.",
    )
    files = options.add_argument_group("files")
    files.add_argument("--corpus", type=Path, required=True, help="folder of *.txt, one source each, one example a line")
    files.add_argument("--out", type=Path, required=True, help="folder of the run; the model ends up in its folder `model`")
    files.add_argument("--mix", default="cpu", help="entry of the corpus's mix.json: how often each source is read")
    files.add_argument("--cache", type=Path, help="where texts are kept as numbers (default: `tokens` in --out)")
    files.add_argument("--vocabulary", type=Path, help="a vocab.txt to use; otherwise that of --init-from, or one is learned")
    files.add_argument("--vocabulary-size", type=int, default=10_240, help="pieces to learn")
    files.add_argument("--extra-words", type=Path, help="words that must be in the vocabulary, one a line")
    files.add_argument("--init-from", type=Path, help="a checkpoint to go on from, of the same shape or with fewer layers")
    for record in RECORDS:
        group = options.add_argument_group(record.__name__.removesuffix("Settings").lower())
        for setting in fields(record):
            _add(group, setting.name, setting.default, setting.type, setting.metadata["help"])
    return options


def record_from(given: argparse.Namespace, record: type[Record]) -> Record:
    """Build a record from the options; raises ValueError that gives the rule and the value."""
    return record(**{setting.name: getattr(given, setting.name) for setting in fields(record)})


def _add(group: argparse._ArgumentGroup, name: str, default: Any, kind: Any, told: str) -> None:
    option = f"--{name.replace('_', '-')}"
    if kind is bool:
        group.add_argument(option, action=argparse.BooleanOptionalAction, default=default, help=told)
    elif get_origin(kind) is tuple:
        told = f"{told}, with commas ({','.join(map(str, default)) or 'none'})"
        group.add_argument(option, type=tuple_of(get_args(kind)[0]), default=default, help=told)
    else:
        group.add_argument(option, type=kind, default=default, help=f"{told} ({default})")


def tuple_of(kind: type) -> Callable[[str], tuple[Any, ...]]:
    """Give what reads an option of several values, with commas."""
    return lambda text: tuple(kind(part) for part in text.split(","))
