"""The page that answers: How does it know the order of words?

Uses `pages.ui` and `tx_core`, no other page.
Begin with `page.py`; its parts lie beside it.
"""
