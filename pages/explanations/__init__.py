"""Which explanation is right? A pair of sentences, and whether each method names the word that tells their answers apart.

Uses `pages.ui`, and `tx_core.causal.explain` and `deciding_words`, which compute. Begin with `page.py`.
"""
