"""What `python -m tx_core.training.evaluate` measures: predictions, pairs of sentences, and relations that heads follow.

Uses `tx_core.engine` and `tx_core.fill_mask`.
Begin with `predictions.py`.
"""
