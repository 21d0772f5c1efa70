"""The page that answers: What does a language model look at? Begin with `page.py`."""
