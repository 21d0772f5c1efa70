"""Which explanation names the word that tells A from B? Eleven methods, on a pair and on many.

Uses `pages.ui`, and `tx_core.causal.explain` and `deciding_words`, which compute. Begin with `page.py`.
"""
