"""The transformer from scratch: attention, masks, positions, layers, encoder, decoder, BERT; and what a run takes and returns.

Uses torch, numpy and `tx_core.errors` only; what a run takes and returns (`interventions.py`, `trace.py`) imports no torch.
Begin with `attention.py` (the one definition of attention), then `layers.py`, `bert.py`, `trace.py` and `interventions.py`.
"""
