"""What several pages put together from canvases and controls: the attention panel, changes, predictions, training.

Uses `pages.ui.canvas`, `pages.ui.shell` and `tx_core`.
Begin with `view_options.py` and `changes.py`.
"""
