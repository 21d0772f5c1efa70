"""Our drawings: the Python side of every canvas in `assets/canvas`, and the colours and numbers they share.

Uses `pages.ui.shell` and `tx_core`.
Begin with `component.py` and `attention_view.py`.
"""
