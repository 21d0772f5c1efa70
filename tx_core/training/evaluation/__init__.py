"""The parts of `python -m tx_core.training.evaluate`, a module each for masked words, relations of grammar, and word senses.

Uses `tx_core.engine` and `tx_core.transformer`.
Begin with `probe.py`.
"""
