"""What pages share, in four folders: shell, stage, panels, export.

Uses `tx_core` and `pages.contents`; panels and export may use the stage, the stage may use the shell.
Begin with `shell/frame.py`, then `stage/mount.py`.
"""
