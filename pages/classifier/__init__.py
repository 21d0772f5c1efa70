"""The page that answers: How does a model learn to label a text? Begin with `page.py`."""
