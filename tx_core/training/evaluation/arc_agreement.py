"""How far arcs by effect and by mixing agree: python -m tx_core.training.evaluation.arc_agreement TREEBANK

TREEBANK is a CoNLL-U file of sentences that no model here has read. In each of 500 sentences of 5 to 14 words one word, chosen by
a fixed seed, is the blank. Printed: the mean rank correlation of both measures over the arcs of a sentence, with an interval.
"""

import sys
from pathlib import Path

import numpy as np
import pandas

from tx_core.analysis.value_weighted import mixed_in
from tx_core.causal.cut_effects import cut_effects
from tx_core.corpus.words import read_conllu
from tx_core.engine import catalogue
from tx_core.engine.bert_engine import BertEngine

ARC_SENTENCES, WORDS, RESAMPLES, SEED = 500, range(5, 15), 10_000, 1


def agreement(engine: BertEngine, text: str) -> float:
    """Return Spearman's rank correlation of the sizes of effects of arcs, in a text with one blank, and what they mix in."""
    found = cut_effects(engine, text)
    mixed = mixed_in(engine, engine.trace(text, keep=("weights", "value", "hidden")))
    layers, tokens, _ = mixed.shape
    counted = np.broadcast_to(~np.eye(tokens, dtype=bool), mixed.shape).copy()
    counted[layers - 1, np.arange(tokens) != found.place] = False  # nothing reads what these bring
    ranks = (pandas.Series(values).rank() for values in (np.abs(found.effect[counted]), mixed[counted]))
    return float(np.corrcoef(*ranks)[0, 1])


def main(treebank: Path) -> None:
    """Measure, and print the mean with a bootstrap interval of 95 %."""
    engine, random, measured = catalogue.load(catalogue.DEFAULT, weights=True), np.random.default_rng(SEED), []
    for _, tree in read_conllu(treebank.read_text(encoding="utf-8")):
        places = [place for place, word in enumerate(tree) if word.form.isalpha()]
        if len(tree) not in WORDS or not places:
            continue
        blank = random.choice(places)
        words = ["[MASK]" if place == blank else word.form for place, word in enumerate(tree)]
        measured.append(agreement(engine, " ".join(words)))
        if len(measured) == ARC_SENTENCES:
            break
    resampled = random.choice(measured, (RESAMPLES, len(measured))).mean(axis=1)
    low, high = np.quantile(resampled, (0.025, 0.975))
    print(f"{len(measured)} sentences: mean rank correlation {np.mean(measured):.3f} (95 %: {low:.3f} to {high:.3f})")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
