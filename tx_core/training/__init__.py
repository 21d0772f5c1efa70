"""Training, small enough to watch: synthetic sequences, a sentence classifier, masked words.

Each trainer runs as `python -m tx_core.training.<name>` and as a generator of progress records.
"""
