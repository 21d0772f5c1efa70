"""The page that answers: How does bertviz draw it?

Uses `pages.ui`, `tx_core` and the package bertviz, no other page.
Begin with `page.py`; `views.py` is the only module that calls bertviz, and the sentences stand in `texts.py`.
"""
