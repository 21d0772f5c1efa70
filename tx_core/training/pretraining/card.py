"""The card of a model: what it is, what it was trained on and how, in words for whoever finds it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tx_core.transformer.config import BertConfig

EVALUATED = "## Evaluated"
_HEAD = """---
language: en
license: cc-by-sa-4.0
library_name: transformers
pipeline_tag: fill-mask
---
"""


def model_card(config: BertConfig, facts: Mapping[str, Any]) -> str:
    """Write the card from the facts of the manifest; their figures are not rounded here but there."""
    parts = [
        _HEAD,
        "# A small English BERT\n",
        f"Uncased, {config.num_layers} layers of {config.num_heads} heads, hidden size {config.hidden_size}, "
        f"feed-forward {config.intermediate_size:,}, {config.max_positions} positions, {config.num_segments} segments, "
        f"a WordPiece vocabulary of {config.vocab_size:,}. Stored in half precision, to be computed in single.\n",
        _training(facts),
        _measured(facts),
        "## Data and licence\n",
        "The weights are published under [CC BY-SA 4.0](https://creativecommons.org/licenses/by-sa/4.0/) with the "
        "attributions below. The texts themselves are not distributed.\n",
        _data(facts),
        str(facts.get("licences", "")),
    ]
    return "\n".join(part for part in parts if part)


def with_evaluation(card: str, table: Sequence[str]) -> str:
    """Put the evaluator's table into a card, in place of the one that it may hold: before the data, else at the end."""
    without = re.sub(rf"^{EVALUATED}\n.*?(?=^## |\Z)", "", card, flags=re.MULTILINE | re.DOTALL)
    before, found, after = without.partition("## Data")
    told = "By `python -m tx_core.training.evaluate`; that module names the sets.\n"
    section = "\n".join([f"{EVALUATED}\n", told, *table, ""])
    return f"{before.rstrip()}\n\n{section}" + (f"\n{found}{after}" if found else "")


def _training(facts: Mapping[str, Any]) -> str:
    progress = facts.get("progress", {})
    if not progress:
        return ""
    earlier = facts.get("init_from")
    origin = f" from the weights of the model before it ({earlier})" if earlier else " from random weights"
    return (
        f"## Training\n\nMasked words only,{origin}: {progress['tokens']:,} tokens in {progress['step']:,} updates, "
        f"{progress['seconds'] / 60:.0f} minutes on {facts.get('hardware', {}).get('device', 'a CPU')}. "
        f"{_averaged(facts)}All settings, the hashes of the texts and the curves are in manifest.json.\n"
    )


def _averaged(facts: Mapping[str, Any]) -> str:
    averaged = facts.get("averaged")
    if not averaged:
        return ""
    own = " and ".join(map(str, averaged.get("layers_of_the_second", [])))
    counts = f"{averaged['share_of_the_second']:.0%}" + (f", and all in layer {own}" if own else "")
    return f"Then averaged with the model before it; what was trained last counts {counts}. "


def _measured(facts: Mapping[str, Any]) -> str:
    measured = facts.get("held_out", {})
    if not measured:
        return ""
    rows = [
        f"| {source} | {figures['loss']:.2f} | {100 * figures['accuracy']:.0f} % | {figures['word_loss']:.2f} |"
        for source, figures in measured.items()
    ]
    head = "| held-out text | nats a piece | guessed first | nats a whole word |\n|---|--:|--:|--:|"
    how = "15 % of the pieces blanked one by one; then 15 % of the words, with all their pieces.\n"
    return "\n".join(["## Measured\n", how, head, *rows, ""])


def _data(facts: Mapping[str, Any]) -> str:
    rows = [f"| {source['name']} | {source['lines']:,} | {source['weight']:g} |" for source in facts.get("data", [])]
    return "\n".join(["| source | lines | read how often in a pass |", "|---|--:|--:|", *rows, ""]) if rows else ""
