"""Words that a model predicts: at the blanks of a text and behind it, and the effect of interventions on them.

Uses `tx_core.engine` and `tx_core.analysis`.
Begin with `blanks.py` and `predictions.py`, then `head_scan.py`; `next_words.py` is of models that write.
"""
