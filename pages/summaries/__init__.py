"""The page that answers: What do all the heads do?

Begin with `parts.py`, the table of the parts; each has a module of its own, and its sentences stand in `texts.py`.
"""
