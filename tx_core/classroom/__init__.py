"""Lessons: files of steps, each a view with a text and a question whose answer is computed from the model. Rooms: classes.

Uses fill_mask, analysis and the engine; reads YAML and checks it with pydantic, keeps rooms by SQLAlchemy.
Begin with `lesson_file.py`, then `measures.py`; `rooms.py` is apart from both.
"""
