"""The stage of a page: a run is packed and sent once, and the browser looks at it (assets/stage) without asking again.

Uses `pages.ui.shell`, `canvas`, `panels` and `export`, and `tx_core`; no page.
Begin with `mount.py`; `pictures.py`, `attention.py`, `matrices.py`, `training.py`, `routes.py` are kinds of stages.
"""
