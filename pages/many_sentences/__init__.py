"""The page that answers: What does each head do over many sentences?

Uses `pages.ui` and `tx_core`, no other page.
Begin with `page.py`; `reading.py` reads the sentences, `heads.py` shows the heads, `relation.py` those that follow a
relation, and the sentences stand in `texts.py`.
"""
