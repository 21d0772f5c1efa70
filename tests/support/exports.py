"""The export menu of a page, opened as its reader opens it."""

from collections.abc import Sequence
from dataclasses import replace

from streamlit.testing.v1 import AppTest

from pages.ui.export import texts
from pages.ui.export.attention_map import AttentionMap
from pages.ui.panels.head_map import HeadMap, changed_map, drawn_padding
from pages.ui.panels.view_options import ViewOptions
from tx_core.analysis import views
from tx_core.engine import catalogue
from tx_core.transformer.interventions import Intervention

PLAIN = ViewOptions("self", ((1, 2),), words=False, hide=False, show="both", lines=40, scale="blues", focus=None)


def opened(app: AppTest, page: str, view: str = "", form: str = texts.DATA) -> AppTest:
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
    comment = texts.CODE_TITLES[kind].removeprefix("{title}")
    app.session_state[f"{page}_code_kind"] = kind
    opened(app, page, view, texts.CODE)
    return next((code.value for code in app.code if code.value.startswith("# ") and comment in code.value), "")


def map_of_page(
    model: str, text: str, pair: str = "", changes: Sequence[Intervention] = (), *, special: bool = True, **options: object
) -> AttentionMap:
    """What a page would export of a run. special: whether it is read with special tokens; options: that differ from `PLAIN`."""
    engine, chosen = catalogue.load(model, special_tokens=special), replace(PLAIN, **options)

    def view(trace) -> views.View:
        stack = next(stack for stack in trace.stacks if stack.kind == chosen.stack)
        return views.view(stack, merge_words=chosen.words, hide_special=chosen.hide)

    trace = engine.trace(text, pair or None, interventions=changes)
    shown = view(trace)
    if not changes:
        weights = views.mean_of_heads(shown.weights, chosen.heads)
        return AttentionMap(trace, HeadMap(shown, chosen.heads, weights), chosen)
    unchanged, padding = view(engine.trace(text, pair or None)), drawn_padding(changes, shown)
    if padding:
        shown, unchanged = (views.with_padding(one, padding) for one in (shown, unchanged))
    return AttentionMap(trace, changed_map(unchanged, shown, chosen.heads, padding), chosen)
