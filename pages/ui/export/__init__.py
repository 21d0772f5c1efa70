"""What a page shows as data and as code; its stage makes figures and web pages.

Uses `pages.ui.stage`, `pages.ui.shell` and `tx_core`.
Begin with `menu.py`: a page calls `export_menu` with its `Exports` (`records.py`); their code is written by `computation.py`.
"""
