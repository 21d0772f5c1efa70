"""The stage of a page: a run is packed and sent once, and the browser looks at it (assets/stage) without asking again.

Uses `pages.ui.shell` and `tx_core`; no page.
Begin with `mount.py`; `pictures.py`, `attention.py`, `training.py`, `routes.py` are kinds of stages, `inputs.py` and its
neighbours what is asked around them.
"""
