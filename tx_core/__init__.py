"""The core: a transformer from scratch, pretrained models run through it, and analyses of their runs.

Uses torch and numpy, and is independent of the user interface.
Begin with `transformer/attention.py`, then `transformer/trace.py` (what a run returns) and `engine/engine.py`.

Axes are words, fixed once: batch, layer, head, query, key, token, hidden, head_dim, vocab. Sizes carry the field's names:
hidden_size, num_heads, intermediate_size. A mask is boolean, True where a query may attend to a key.

In a notebook:

>>> from tx_core import Condition, Intervention, Relation, cut_effects, fill_stepwise, find_heads, load, patch, predict
>>> engine = load("embedded")
>>> weights = engine.trace("time flies like an arrow").attention.weights  # layer, head, query, key
>>> predict(engine, "Yesterday I [MASK] to school.").blanks[0].predictions[0].word
'went'
>>> fill_stepwise(engine, "He drinks a cup of [MASK] every [MASK].", "surest").sentence
'He drinks a cup of coffee every day.'
>>> cut_effects(engine, "Yesterday I [MASK] to school.").effect.shape  # layer, query, key
(6, 8, 8)
>>> key, keys = "The key to the cabinets [MASK] here.", "The keys to the cabinets [MASK] here."
>>> patch(engine, source=keys, target=key, answers=("are", "is")).effect.shape  # layer, token
(6, 11)
>>> found = find_heads(engine, Relation(query=Condition("deprel", "obj"), link="head"))  # from an object to its verb
>>> found.best, round(float(found.shares.max()), 2), round(found.baseline, 2)  # its share, that of the best fixed offset
((1, 6), 0.78, 0.59)
>>> off = Intervention("off", layer=4, head=6)  # counted from 0
>>> predict(engine, "Yesterday I [MASK] to school.", interventions=[off]).blanks[0].predictions[0].word
'go'
"""

from importlib import import_module

HOMES = {
    "load": "tx_core.engine.catalogue",
    "attend": "tx_core.transformer.attention",
    "Intervention": "tx_core.transformer.interventions",
    "Trace": "tx_core.transformer.trace",
    "view": "tx_core.notebook",
    "predict": "tx_core.fill_mask.predictions",
    "next_words": "tx_core.fill_mask.next_words",
    "fill_stepwise": "tx_core.fill_mask.steps",
    "explain": "tx_core.causal.explain",
    "cut_effects": "tx_core.causal.cut_effects",
    "patch": "tx_core.causal.patch",
    "importance": "tx_core.causal.importance",
    "read_answer_prompts": "tx_core.causal.importance",
    "find_heads": "tx_core.corpus.find_heads",
    "Relation": "tx_core.corpus.find_heads",
    "Condition": "tx_core.corpus.find_heads",
    "read_sentences": "tx_core.corpus.sentence_file",
}
__all__ = sorted(HOMES)


def __getattr__(name: str) -> object:
    """Import an exported name when it is first used: importing `tx_core.errors` must not import torch."""
    if name not in HOMES:
        raise AttributeError(f"module 'tx_core' has no attribute {name!r}")
    return getattr(import_module(HOMES[name]), name)
