"""The page that answers: What does the class think?

Uses `pages.ui` and `tx_core`, no other page. `events.py` is served beside the pages: app.py mounts its routes.
Begin with `page.py`.
"""
