"""Masked words: blanks in a text, predictions for them, and what interventions do to a prediction.

Uses `tx_core.engine` and `tx_core.analysis`.
Begin with `blanks.py` and `predictions.py`, then `head_scan.py`.
"""
