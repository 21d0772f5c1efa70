"""Measure checkpoints side by side: python -m tx_core.training.evaluate CHECKPOINT … --data EVALDATA --held-out TEXTS

Prints one table; also writes it as JSON (--json) and into the model card (--card), and the relations of grammar that each head
follows (--grammar). The everyday sentences, facts and
word senses need no data; the other parts are measured where their folder is given: blimp, marvin_linzen,
ud_english_ewt and capitals in --data, *.txt in --held-out.

Of a causal language model it measures held_out, blimp and agreement, by the probability of whole sentences, and shows how it
continues a few beginnings.
"""

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from tx_core.analysis.grammar import HeadRelation, write_grammar
from tx_core.engine.architectures import CAUSAL_FAMILY
from tx_core.engine.catalogue import directory_name
from tx_core.engine.checkpoint_files import read_config
from tx_core.errors import ExplorerError
from tx_core.training.evaluation.masked_words import (
    Pair,
    as_numbers,
    by_phenomenon,
    capital_prompts,
    everyday_prompts,
    fact_prompts,
    measure_cloze,
    measure_held_out,
    read_agreement,
    read_blimp,
    seen_capitals,
    share_likelier,
    share_preferred,
)
from tx_core.training.evaluation.next_tokens import (
    BEGINNINGS,
    CausalProbe,
    continue_text,
    load_causal_probe,
    log_likelihoods,
    measure_next_tokens,
)
from tx_core.training.evaluation.probe import Probe, load_probe
from tx_core.training.evaluation.relations import measure_attention, measure_senses, read_trees
from tx_core.training.pretraining.export import with_evaluation

TREEBANK_FILE = Path("ud_english_ewt") / "en_ewt-ud-dev.conllu"

CARD = "README.md"

NO_FILES = "there is no {pattern} in {folder}"

OF_PREDICTIONS = ("held_out", "blimp", "agreement", "cloze")
"""The measurements that need a masked-word head."""

CAPITALS = Path("capitals") / "heldout_capitals.tsv"


def main(words: Sequence[str] | None = None) -> int:
    """Run from the command line; return 0 when measured, 2 if a checkpoint or data cannot be read."""
    given = _parser().parse_args(words)
    try:
        results = {}
        for name, checkpoint in zip(_names(given.checkpoints), given.checkpoints, strict=True):
            load = load_causal_probe if read_config(checkpoint).get("model_type") == CAUSAL_FAMILY else load_probe
            probe = load(checkpoint, given.device)
            results[name] = measure(probe, given, lambda part, name=name: print(f"{name}: {part}", file=sys.stderr, flush=True))
    except (ExplorerError, OSError) as problem:
        print(f"evaluate: {problem}", file=sys.stderr)
        return 2
    table = lines_of_table(results)
    print("\n".join(table))
    if given.json:
        given.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if given.grammar:
        followed = next(iter(results.values())).get("followed", ())
        write_grammar(given.checkpoints[0], tuple(HeadRelation(**one) for one in followed))
    if given.card:
        card = given.checkpoints[0] / CARD
        before = card.read_text(encoding="utf-8") if card.exists() else ""
        card.write_text(with_evaluation(before, table, given.sample), encoding="utf-8")
    return 0


def measure(probe: Probe | CausalProbe, given: argparse.Namespace, tell: Callable[[str], None]) -> dict[str, Any]:
    """Run the requested measurements that the data and the model allow; return plain numbers, by part."""
    figures: dict[str, Any] = {}
    is_causal = isinstance(probe, CausalProbe)
    for name, part in (_causal_parts if is_causal else _parts)(given).items():
        if given.only and name not in given.only:
            continue
        if not is_causal and name in OF_PREDICTIONS and not probe.has_head:
            tell(f"{name} left out: the model has no masked-word head")
            continue
        began = time.monotonic()
        figures |= part(probe)
        tell(f"{name} in {time.monotonic() - began:.0f} s")
    return figures


def _parts(given: argparse.Namespace) -> dict[str, Callable[[Probe], dict[str, Any]]]:
    """List the measurements that the data allow."""
    parts: dict[str, Callable[[Probe], dict[str, Any]]] = {}
    if given.held_out:
        parts["held_out"] = lambda probe: {"held_out": as_numbers(measure_held_out(probe, _texts(given.held_out), given.lines))}
    if given.data:
        parts["blimp"] = lambda probe: {"blimp": _blimp(partial(share_preferred, probe), given.data / "blimp", given.sample)}
        parts["agreement"] = lambda probe: {
            "agreement": share_preferred(probe, read_agreement(given.data / "marvin_linzen", given.sample))
        }
    parts["cloze"] = lambda probe: {"cloze": _cloze(probe, given.data)}
    if given.data:
        parts["heads"] = lambda probe: _heads(probe, given.data / TREEBANK_FILE, given.sentences)
    parts["two_meanings"] = lambda probe: {"two_meanings": asdict(measure_senses(probe))}
    return parts


def _causal_parts(given: argparse.Namespace) -> dict[str, Callable[[CausalProbe], dict[str, Any]]]:
    """List the measurements of a causal language model that the data allow."""

    def preferring(probe: CausalProbe) -> Callable[[Sequence[Pair]], dict[str, float]]:
        return partial(share_likelier, partial(log_likelihoods, probe))

    parts: dict[str, Callable[[CausalProbe], dict[str, Any]]] = {}
    if given.held_out:
        parts["held_out"] = lambda probe: {"next": as_numbers(measure_next_tokens(probe, _texts(given.held_out), given.lines))}
    if given.data:
        parts["blimp"] = lambda probe: {"blimp": _blimp(preferring(probe), given.data / "blimp", given.sample)}
        parts["agreement"] = lambda probe: {
            "agreement": preferring(probe)(read_agreement(given.data / "marvin_linzen", given.sample))
        }
    parts["continuations"] = lambda probe: {"continuations": {text: _continued(probe, text) for text in BEGINNINGS}}
    return parts


def _continued(probe: CausalProbe, beginning: str) -> dict[str, str]:
    """Continue a text without chance, which soon repeats itself, and by chance."""
    return {
        "the most probable tokens": continue_text(probe, beginning),
        "tokens drawn, seed 0": continue_text(probe, beginning, seed=0),
    }


def _texts(folder: Path) -> list[Path]:
    files = sorted(folder.glob("*.txt"))
    if not files:
        raise FileNotFoundError(NO_FILES.format(pattern="*.txt", folder=folder))
    return files


def _blimp(preferred: Callable[[Sequence[Pair]], dict[str, float]], folder: Path, sample: int) -> dict[str, float]:
    pairs, phenomena = read_blimp(folder, sample)
    if not pairs:
        raise FileNotFoundError(NO_FILES.format(pattern="*.jsonl", folder=folder))
    return by_phenomenon(preferred(pairs), phenomena)


def _cloze(probe: Probe, data: Path | None) -> dict[str, Any]:
    lists = {"everyday": everyday_prompts(), "facts": fact_prompts(), "capitals, other": capital_prompts(seen_capitals())}
    if data:
        lists["capitals, wording never seen"] = capital_prompts(data / CAPITALS)
    return {name: asdict(measure_cloze(probe, prompts)) for name, prompts in lists.items()}


def _heads(probe: Probe, treebank: Path, most: int) -> dict[str, Any]:
    relations, habits, followed = measure_attention(probe, read_trees(treebank, most))
    return {
        "relations": {name: asdict(found) for name, found in relations.items()},
        "habits": asdict(habits),
        "followed": [asdict(one) for one in followed],
    }


def _names(checkpoints: Sequence[Path]) -> list[str]:
    """Return a name for each checkpoint: its folder, with a number if repeated."""
    names: list[str] = []
    for name in map(directory_name, checkpoints):
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
    options.add_argument("--only", nargs="+", metavar="PART", help="held_out, blimp, agreement, cloze, heads and so on")
    options.add_argument("--json", type=Path, metavar="FILE", help="store all figures")
    options.add_argument("--card", action="store_true", help="put the table into the first checkpoint's README.md")
    options.add_argument("--grammar", action="store_true", help="store which relations each head follows beside the first one")
    options.add_argument("--device", default="cpu", help="cpu, cuda, mps")
    return options


Figures = Mapping[str, Any]


def lines_of_table(results: Mapping[str, Figures]) -> list[str]:
    """Format a Markdown table: one column per checkpoint, one row per figure."""
    rows: dict[str, dict[str, str]] = {}
    for name, figures in results.items():
        for label, value in rows_of(figures):
            rows.setdefault(label, {})[name] = value
    head = ["| |" + "|".join(f" {name} " for name in results) + "|", "|---|" + "--:|" * len(results)]
    return [
        *head,
        *(f"| {label} |" + "|".join(f" {cells.get(name, '–')} " for name in results) + "|" for label, cells in rows.items()),
    ]


def rows_of(figures: Figures) -> Iterator[tuple[str, str]]:
    """Yield label and value of every figure of one checkpoint."""
    for source, held in figures.get("held_out", {}).items():
        yield (
            f"held out, {source}: nats a piece / guessed first / nats a whole word",
            f"{held['loss']:.2f} / {_percent(held['accuracy'])} / {held['word_loss']:.2f}",
        )
    for source, held in figures.get("next", {}).items():
        yield (
            f"held out, {source}: perplexity / nats a piece / guessed first / nats a whole word",
            f"{math.exp(held['loss']):.1f} / {held['loss']:.2f} / {_percent(held['accuracy'])} / {held['word_loss']:.2f}",
        )
    for phenomenon, share in figures.get("blimp", {}).items():
        yield f"BLiMP, {phenomenon.replace('_', ' ')}", _percent(share)
    for kind, share in figures.get("agreement", {}).items():
        yield f"subject-verb agreement, {kind}", _percent(share)
    for name, result in figures.get("cloze", {}).items():
        yield (
            f"{name} ({result['prompts']}): top-1 / top-5 / top-20 / in the vocabulary",
            " / ".join(_percent(result[key]) for key in ("top1", "top5", "top20", "answerable")),
        )
    for beginning, texts in figures.get("continuations", {}).items():
        for how, text in texts.items():
            yield f"“{beginning} …”, continued by {how}", text.removeprefix(beginning).strip().replace("|", r"\|")
    yield from _attention_rows(figures)
    for key, label in (("gap", "same meaning more alike by"), ("told_apart", "nearest use has the same meaning")):
        if "two_meanings" in figures:
            yield f'two meanings of "flies", {label}, by layer', _series(figures["two_meanings"][key])


def _attention_rows(figures: Figures) -> Iterator[tuple[str, str]]:
    relations = figures.get("relations", {})
    if relations:
        gains = [r["head_accuracy"] - r["offset_accuracy"] for r in relations.values()]
        yield "relations where a head beats the best offset by 10 points", f"{sum(g >= 0.1 for g in gains)} of {len(gains)}"
    for name, found in relations.items():
        yield (
            f"relation {name}: best head / best offset",
            f"{_percent(found['head_accuracy'])} ({found['layer'] + 1}.{found['head'] + 1} {found['direction']}) / "
            f"{_percent(found['offset_accuracy'])} ({found['offset']:+d})",
        )
    habits = figures.get("habits")
    if habits:
        for key, label in (("previous", "previous"), ("following", "next")):
            layer, head, share = habits[key]
            yield f"best {label}-token head", f"{layer + 1}.{head + 1}: {_percent(share)}"
        for key, label in (("cls_share", "share on [CLS]"), ("sep_share", "share on [SEP]"), ("entropy", "entropy, nats")):
            yield f"{label}, by layer", _series(habits[key])


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _series(values: Sequence[float]) -> str:
    return " ".join(f"{value:.2f}" for value in values)


if __name__ == "__main__":
    sys.exit(main())
