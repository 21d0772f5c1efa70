"""What pages share, in four folders: shell, canvas, panels, export.

Uses `tx_core` and `pages.contents`; export may use panels, panels may use canvas, canvas may use shell.
Begin with `shell/frame.py`.
"""
