"""The page that answers: What differs between A and B?

Uses `pages.ui` and `tx_core`, no other page.
Begin with `page.py`; its parts lie beside it.
"""
