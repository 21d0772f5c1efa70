"""The stage of a page: a run is packed and sent once, and the browser looks at it (assets/stage) without asking again.

Uses `pages.ui.shell`, `canvas`, `panels` and `export`, and `tx_core`; no page.
Begin with `table.py`, which lists the stages, then `mount.py`.
"""
