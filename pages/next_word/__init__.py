"""The page that answers: What comes next, and from where?

Uses `pages.ui` and `tx_core`, no other page.
Begin with `page.py`, then `run.py` and `stage.py`.
"""
