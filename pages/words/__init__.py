"""The page that answers: What do these words mean? Begin with `page.py`."""
