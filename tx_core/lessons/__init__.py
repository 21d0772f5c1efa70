"""The experiments that the Build pages show: attention step by step, masks, positions, blocks, parity with transformers.

Uses `tx_core.analysis`, `tx_core.engine` and `tx_core.transformer`.
Begin with `self_attention.py`, then the file of the page in question.
"""
