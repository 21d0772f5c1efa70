"""The parts of `python -m tx_core.training.pretrain`, from text files to a checkpoint.

Uses `tx_core.engine`, `tx_core.transformer` and `tx_core.training.evaluation`.
Begin with `training.py`, then `objectives.py`.
"""
