"""All figures of several checkpoints side by side, as text."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Figures = Mapping[str, Any]


def lines_of_table(results: Mapping[str, Figures]) -> list[str]:
    """Write a Markdown table: one column a checkpoint, one row a figure, in the order of the first that has it."""
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
    """Give label and value of every figure of one checkpoint."""
    for source, held in figures.get("held_out", {}).items():
        yield (
            f"held out, {source}: nats a piece / guessed first / nats a whole word",
            f"{held['loss']:.2f} / {_percent(held['accuracy'])} / {held['word_loss']:.2f}",
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
