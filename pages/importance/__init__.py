"""What does the answer lose without a part? Every head and sublayer taken out of many prompts, one at a time.

Uses `pages.ui`, and `tx_core.causal.importance`, which measures. Begin with `page.py`; `inputs.py` asks, and finds the result,
`ranking.py` draws it.
"""
