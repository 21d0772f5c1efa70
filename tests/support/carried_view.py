"""What a page offers to carry away, opened as its reader opens it."""

from streamlit.testing.v1 import AppTest


def opened(app: AppTest, page: str, what: str = "", form: str = "Figure") -> AppTest:
    """A page with one of its views open, in one form."""
    app.session_state[f"{page}_carry"] = True
    app.session_state[f"{page}_carry_form"] = form
    if what:
        app.session_state[f"{page}_carry_what"] = what
    app.run()
    assert not app.exception
    return app
