"""The page that answers: What differs between A and B?

Uses `pages.ui` and `tx_core`, no other page.
Begin with `page.py`; `state.py` says what A and B are, `runs.py` runs them, and the sentences stand in `texts.py`.
"""
