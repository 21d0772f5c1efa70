"""The page that answers: How does bertviz draw it?

Uses `pages.ui` and `tx_core`, no other page.
Begin with `page.py`; its parts lie beside it.
"""
