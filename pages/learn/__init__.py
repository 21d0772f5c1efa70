"""The page that answers: Where do I begin?

Uses `pages.ui` and `tx_core`, no other page.
Begin with `page.py`.
"""
