"""Masked words: blanks in a text, their predictions, and the effect of interventions on these.

Uses `tx_core.engine` and `tx_core.analysis`.
Begin with `blanks.py` and `predictions.py`, then `head_scan.py`.
"""
