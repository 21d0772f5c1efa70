"""The page that answers: What is a block made of? Begin with `page.py`."""
