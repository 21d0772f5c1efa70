"""The page that answers: Is this really BERT? Begin with `page.py`."""
