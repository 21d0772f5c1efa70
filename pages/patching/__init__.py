"""Where does the answer travel? Parts of one sentence's run put into the run of another (activation patching).

Uses `pages.ui`, and `tx_core.causal.patch`, which computes. Begin with `page.py`.
"""
