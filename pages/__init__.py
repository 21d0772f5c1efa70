"""Everything that knows Streamlit: a folder a page, and `ui`, which pages share.

Uses `tx_core`; a page never imports another page.
Begin with `main.py` and `contents.py`, then `attention/page.py`.
"""
