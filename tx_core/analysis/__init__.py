"""Analyses of a `Trace`: views, patterns, similarity, rollout, attribution, comparison; pure functions.

Uses `tx_core.engine` and `tx_core.transformer`.
Begin with `views.py` (weights prepared for display), then `patterns.py`.
"""
