"""The parts of `python -m tx_core.training.evaluate`, one module per benchmark.

Uses `tx_core.engine` and `tx_core.transformer`.
Begin with `probe.py`.
"""
