"""Training, small enough to watch: sequences of numbers, a sentence classifier, masked words.

Uses `tx_core.engine`, `tx_core.transformer` and `tx_core.lessons`.
Begin with `copy_task.py` for the pages, with `pretrain.py` for the shipped model.
"""
