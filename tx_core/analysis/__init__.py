"""What can be read off a `Trace`: views, patterns, similarity, rollout, attribution, comparison; pure functions.

Uses `tx_core.engine` and `tx_core.transformer`.
Begin with `views.py` (what is shown of a run), then `patterns.py`.
"""
