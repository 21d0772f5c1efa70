"""The page that answers: How does a model learn to label a text?

Uses `pages.ui` and `tx_core`, no other page.
Begin with `page.py`; its parts lie beside it.
"""
