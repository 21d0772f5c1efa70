"""The page that answers: What comes next, and from where? Begin with `page.py`, then `run.py` and `stage.py`."""
