"""Which explanation is right? A pair of sentences of which one word decides the answer, and whether each method names it.

Uses `pages.ui`, and `tx_core.causal.explain` and `deciding_words`, which compute. Begin with `page.py`.
"""
