"""What `python -m tx_core.training.evaluate` measures of predictions, and how far two kinds of arcs agree.

Uses `tx_core.engine` and `tx_core.fill_mask`.
Begin with `predictions.py`.
"""
