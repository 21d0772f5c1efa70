"""The page that answers: How does one sequence become another? Begin with `page.py`."""
