"""Lessons, whose questions are answered by computing with the model, and rooms, in which a class takes a lesson together.

Uses fill_mask, analysis and the engine; reads YAML and checks it with pydantic, keeps rooms by SQLAlchemy.
Begin with `lesson_file.py`, then `questions.py` and `measures.py`; `rooms.py` is apart from them.
"""
