"""What is on the screen as a figure, data, a web page, or code.

Uses `pages.ui.panels`, `pages.ui.canvas`, `pages.ui.shell` and `tx_core`.
Begin with `carry_away.py`.
"""
