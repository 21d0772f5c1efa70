"""The frame of a page: title, address, controls, caches, readiness, examples.

Uses `tx_core` and `pages.contents`.
Begin with `frame.py`, `fields.py` and `address.py`.
"""
