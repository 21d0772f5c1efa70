"""The export menu of a page, opened as its reader opens it."""

from collections.abc import Sequence

from streamlit.testing.v1 import AppTest

from pages.ui.export import texts
from pages.ui.export.attention import AttentionMap
from tx_core.engine import catalogue
from tx_core.transformer.interventions import Intervention


def opened(app: AppTest, page: str, view: str = "", form: str = texts.DATA) -> AppTest:
    """A page with one of its views open for export, in one form."""
    app.session_state[f"{page}_export"] = True
    app.session_state[f"{page}_export_form"] = form
    if view:
        app.session_state[f"{page}_export_view"] = view
    app.run()
    assert not app.exception
    return app


def exported_code(app: AppTest, page: str, view: str = "") -> str:
    """The code that a view offers, with this project."""
    opened(app, page, view, texts.CODE)
    return next(code.value for code in app.code if code.value.startswith("# "))


def map_of_page(
    model: str, text: str, pair: str = "", changes: Sequence[Intervention] = (), *, special: bool = True, **options: object
) -> AttentionMap:
    """What a page would export of a run. special: whether it is read with special tokens; options: of the map."""
    engine = catalogue.load(model, special_tokens=special)
    runs = [engine.trace(text, pair or None, interventions=made) for made in ((changes, ()) if changes else ((),))]
    return AttentionMap(runs[0], **{"heads": ((1, 2),), "plain": runs[1] if changes else None} | options)
