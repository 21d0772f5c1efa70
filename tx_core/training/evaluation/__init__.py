"""The parts of `python -m tx_core.training.evaluate`: each measures one thing that a model can be shown to know.

Uses `tx_core.engine` and `tx_core.transformer`.
Begin with `probe.py`.
"""
