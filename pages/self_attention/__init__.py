"""The page that answers: How does a token find what matters to it? Begin with `page.py`."""
