"""Many sentences: files, batches, and statistics of every head over them, in bounded memory.

Uses `tx_core.engine` and `tx_core.analysis`.
Begin with `statistics.py`; `scan.py` is the command that reads files of any size (README.md).
"""
