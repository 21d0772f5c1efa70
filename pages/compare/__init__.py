"""The page that answers: What differs between A and B?

Begin with `page.py`; `inputs.py` asks what A and B are, `runs.py` runs them.
"""
