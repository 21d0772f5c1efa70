"""The page that answers: How does it know the order of words? Begin with `page.py`."""
