"""The page that answers: What does a language model look at?

Uses `pages.ui` and `tx_core`, no other page.
Begin with `page.py`.
"""
