"""Everything that knows Streamlit: a folder a page, and `ui`, which pages share.

Uses `tx_core`; a page uses `pages.ui` and `tx_core`, never another page.
Begin with `main.py` and `contents.py`, then `attention/page.py`.
"""
