"""What several pages put together from stage and controls: lessons and their questions, sizes of a training.

Uses `pages.ui.stage`, `pages.ui.shell` and `tx_core`.
Begin with `lesson.py`.
"""
