"""The page that answers: Who may look at whom?

Uses `pages.ui` and `tx_core`, no other page.
Begin with `page.py`; its parts lie beside it.
"""
