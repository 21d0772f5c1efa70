"""The page that answers: How does bertviz draw it? Begin with `page.py`; `views.py` is the only module that calls bertviz."""
