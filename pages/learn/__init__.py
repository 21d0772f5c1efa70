"""The page that answers: Where do I begin? Begin with `page.py`."""
