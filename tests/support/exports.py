"""The export menu of a page, opened as its reader opens it."""

from streamlit.testing.v1 import AppTest

from pages.ui.export import texts


def opened(app: AppTest, page: str, view: str = "", form: str = texts.FIGURE) -> AppTest:
    """A page with one of its views open for export, in one form."""
    app.session_state[f"{page}_export"] = True
    app.session_state[f"{page}_export_form"] = form
    if view:
        app.session_state[f"{page}_export_view"] = view
    app.run()
    assert not app.exception
    return app


def exported_code(app: AppTest, page: str, view: str, kind: str) -> str:
    """The code of a kind, "project" or "transformers", that a view offers; "" where it offers none."""
    comment = {"project": texts.PROJECT_COMMENT, "transformers": texts.TRANSFORMERS_COMMENT}[kind].removeprefix("# {title}")
    app.session_state[f"{page}_code_kind"] = kind
    opened(app, page, view, texts.CODE)
    return next((code.value for code in app.code if code.value.startswith("# ") and comment in code.value), "")
