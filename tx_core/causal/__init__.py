"""What a prediction depends on, found by changing a run and looking at what becomes of the prediction.

Uses `tx_core.engine`, `tx_core.analysis` and `tx_core.fill_mask`.
Begin with `cut_effects.py`, then `patch.py`; `importance.py` is of many prompts.
"""
