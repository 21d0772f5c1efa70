"""Many sentences: files, batches, and statistics of every head over them, in bounded memory.

Uses `tx_core.engine` and `tx_core.analysis`.
Begin with `statistics.py`; `find_heads.py` counts which heads follow a relation between words (`words.py`), `vectors.py` places
their tokens in a plane and trains probes, and `scan.py` is the command that reads files of any size (README.md).
"""
