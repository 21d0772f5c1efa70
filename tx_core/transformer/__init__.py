"""The transformer from scratch: attention, masks, positions, layers, encoder, decoder, BERT; interventions and traces.

Uses torch, numpy and `tx_core.errors` only; `interventions.py` (changes of a run) and `trace.py` (its result) import no torch.
Begin with `attention.py` (the one definition of attention), then `layers.py`, `bert.py`, `trace.py` and `interventions.py`.
"""
