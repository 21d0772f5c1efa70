"""The page that answers: Where does each head look?

Uses `pages.ui` and `tx_core`, no other page.
Begin with `page.py`.
"""
