"""The page that answers: What does the class think?

`events.py` is served beside the pages: app.py mounts its routes. Begin with `page.py`.
"""
