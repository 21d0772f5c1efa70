"""The page that answers: What does each head do over many sentences?

Begin with `page.py`; `reading.py` reads the sentences, `heads.py` shows the heads, `relation.py` those that follow a relation.
"""
