"""The export menu of a page, opened as its reader opens it."""

from streamlit.testing.v1 import AppTest

from pages.ui.export.texts import FIGURE


def opened(app: AppTest, page: str, view: str = "", form: str = FIGURE) -> AppTest:
    """A page with one of its views open for export, in one form."""
    app.session_state[f"{page}_export"] = True
    app.session_state[f"{page}_export_form"] = form
    if view:
        app.session_state[f"{page}_export_view"] = view
    app.run()
    assert not app.exception
    return app
