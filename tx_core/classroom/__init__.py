"""Lessons: files of steps, each a view with a text and a question whose answer is computed from the model.

Uses fill_mask, analysis and the engine; reads YAML and checks it with pydantic.
Begin with `lesson_file.py`, then `measures.py`.
"""
