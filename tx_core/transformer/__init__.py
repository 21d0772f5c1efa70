"""The model from scratch: attention, masks, positions, layers, encoder and decoder, BERT; and what a run takes and returns.

Uses torch and `tx_core.errors` only.
Begin with `attention.py` (the one definition of attention), then `layers.py`, `bert.py` and `trace.py`.
"""
