"""The page that answers: Where does each head look? Begin with `page.py`."""
