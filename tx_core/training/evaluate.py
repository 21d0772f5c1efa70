"""Measure checkpoints side by side: python -m tx_core.training.evaluate CHECKPOINT … --data EVALDATA --held-out TEXTS

Prints one table; stores it as JSON with --json and in the model card with --card. The everyday sentences, facts and
the two meanings need no data; what does is measured where its folder is given: blimp, marvin_linzen, ud_english_ewt
and capitals in --data, *.txt in --held-out.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tx_core.errors import ExplorerError
from tx_core.training.evaluation.attention_habits import measure_attention
from tx_core.training.evaluation.cloze import capital_prompts, everyday_prompts, fact_prompts, measure_cloze, seen_capitals
from tx_core.training.evaluation.held_out import as_numbers, measure_held_out
from tx_core.training.evaluation.minimal_pairs import by_phenomenon, read_agreement, read_blimp, share_preferred
from tx_core.training.evaluation.probe import Probe, load_probe
from tx_core.training.evaluation.table import lines_of_table
from tx_core.training.evaluation.treebank import read_trees
from tx_core.training.evaluation.two_meanings import measure_parting
from tx_core.training.pretraining.card import with_evaluation

TREEBANK = Path("ud_english_ewt") / "en_ewt-ud-dev.conllu"
CARD = "README.md"
CAPITALS = Path("capitals") / "heldout_capitals.tsv"


def main(words: Sequence[str] | None = None) -> int:
    """Run from the command line; give the exit status: 0 when measured, 2 when a checkpoint or data cannot be read."""
    given = _parser().parse_args(words)
    try:
        results = {}
        for name, checkpoint in zip(_names(given.checkpoints), given.checkpoints, strict=True):
            probe = load_probe(checkpoint, given.device)
            results[name] = measure(probe, given, lambda part, name=name: print(f"{name}: {part}", file=sys.stderr, flush=True))
    except (ExplorerError, OSError) as problem:
        print(f"evaluate: {problem}", file=sys.stderr)
        return 2
    table = lines_of_table(results)
    print("\n".join(table))
    if given.json:
        given.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if given.card:
        card = given.checkpoints[0] / CARD
        before = card.read_text(encoding="utf-8") if card.exists() else ""
        card.write_text(with_evaluation(before, table), encoding="utf-8")
    return 0


def measure(probe: Probe, given: argparse.Namespace, tell: Callable[[str], None]) -> dict[str, Any]:
    """Measure all that was asked for and can be; plain numbers, by part."""
    figures: dict[str, Any] = {}
    for name, part in _parts(given).items():
        if given.only and name not in given.only:
            continue
        began = time.monotonic()
        figures |= part(probe)
        tell(f"{name} in {time.monotonic() - began:.0f} s")
    return figures


def _parts(given: argparse.Namespace) -> dict[str, Callable[[Probe], dict[str, Any]]]:
    """List what can be measured with the data at hand."""
    parts: dict[str, Callable[[Probe], dict[str, Any]]] = {}
    if given.held_out:
        parts["held_out"] = lambda probe: {"held_out": _held_out(probe, given.held_out, given.lines)}
    if given.data:
        parts["blimp"] = lambda probe: {"blimp": _blimp(probe, given.data / "blimp", given.sample)}
        parts["agreement"] = lambda probe: {
            "agreement": share_preferred(probe, read_agreement(given.data / "marvin_linzen", given.sample))
        }
    parts["cloze"] = lambda probe: {"cloze": _cloze(probe, given.data)}
    if given.data:
        parts["heads"] = lambda probe: _heads(probe, given.data / TREEBANK, given.sentences)
    parts["two_meanings"] = lambda probe: {"two_meanings": asdict(measure_parting(probe))}
    return parts


def _held_out(probe: Probe, folder: Path, lines: int) -> dict[str, Any]:
    files = sorted(folder.glob("*.txt"))
    if not files:
        raise FileNotFoundError(f"there is no *.txt in {folder}")
    return as_numbers(measure_held_out(probe, files, lines))


def _blimp(probe: Probe, folder: Path, sample: int) -> dict[str, float]:
    pairs, phenomena = read_blimp(folder, sample)
    if not pairs:
        raise FileNotFoundError(f"there is no *.jsonl in {folder}")
    return by_phenomenon(share_preferred(probe, pairs), phenomena)


def _cloze(probe: Probe, data: Path | None) -> dict[str, Any]:
    lists = {"everyday": everyday_prompts(), "facts": fact_prompts(), "capitals, other": capital_prompts(seen_capitals())}
    if data:
        lists["capitals, wording never seen"] = capital_prompts(data / CAPITALS)
    return {name: asdict(measure_cloze(probe, prompts)) for name, prompts in lists.items()}


def _heads(probe: Probe, treebank: Path, most: int) -> dict[str, Any]:
    relations, habits = measure_attention(probe, read_trees(treebank, most))
    return {"relations": {name: asdict(found) for name, found in relations.items()}, "habits": asdict(habits)}


def _names(checkpoints: Sequence[Path]) -> list[str]:
    """Name each by its folder, with the parent's name for a folder called `model`; twice the same name gets a number."""
    names: list[str] = []
    for checkpoint in checkpoints:
        resolved = checkpoint.resolve()
        name = resolved.parent.name if resolved.name == "model" else resolved.name
        names.append(name if name not in names else f"{name} {len(names) + 1}")
    return names


def _parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="python -m tx_core.training.evaluate", description="Measure checkpoints side by side.")
    options.add_argument("checkpoints", type=Path, nargs="+", metavar="CHECKPOINT", help="folder in the hub's layout")
    options.add_argument("--data", type=Path, help="folder with blimp, marvin_linzen, ud_english_ewt and capitals")
    options.add_argument("--held-out", type=Path, help="folder of held-out *.txt, one source each")
    options.add_argument("--sample", type=int, default=0, metavar="N", help="pairs of each BLiMP paradigm and set; 0: all")
    options.add_argument("--lines", type=int, default=150, metavar="N", help="held-out lines of each source")
    options.add_argument("--sentences", type=int, default=0, metavar="N", help="treebank sentences; 0: all")
    options.add_argument("--only", nargs="+", metavar="PART", help="held_out, blimp, agreement, cloze, heads, two_meanings")
    options.add_argument("--json", type=Path, metavar="FILE", help="store all figures")
    options.add_argument("--card", action="store_true", help="put the table into the first checkpoint's README.md")
    options.add_argument("--device", default="cpu", help="cpu, cuda, mps")
    return options


if __name__ == "__main__":
    sys.exit(main())
