"""The page that answers: Who may look at whom? Begin with `page.py`."""
