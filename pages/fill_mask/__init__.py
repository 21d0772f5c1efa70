"""The page that answers: What would BERT put here? Begin with `page.py`."""
