"""What `python -m tx_core.training.evaluate` measures, a module each for masked words, next tokens, pairs, and relations.

Uses `tx_core.engine` and `tx_core.transformer`.
Begin with `masked_words.py`.
"""
