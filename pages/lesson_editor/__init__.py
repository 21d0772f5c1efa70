"""The page that answers: How do I make a lesson of my own?

Uses `pages.ui` and `tx_core`, no other page.
Begin with `page.py`; `draft.py` is the lesson while it is written.
"""
