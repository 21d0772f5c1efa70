"""A run in a notebook: the widget that `view` returns draws the stage of the app, and looks without a kernel."""

import base64
import json
import re

import pytest
from playwright.sync_api import Browser, Page, expect

from pages.ui.stage.browser_texts import CHANGED
from tests.support.seen import said, stage
from tx_core import Intervention, Trace, load, view

TEXT = "Mary lost her <b>keys</b>."
OFF = Intervention("off", layer=0, head=3)
CELL = """async ([source, message, traits]) => {
  const { default: widget } = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  const bytes = Uint8Array.from(atob(message), (sign) => sign.charCodeAt(0));
  const values = { ...traits, message: new DataView(bytes.buffer) };
  const cell = document.body.appendChild(document.createElement("div"));
  window.end = widget.render({ model: { get: (name) => values[name] }, el: cell });
}"""
"""What anywidget does to show a widget, without a kernel: https://anywidget.dev/en/afm."""


@pytest.fixture
def show(browser: Browser):
    """Show a widget in an empty page that can load nothing."""
    page = browser.contexts[0].new_page()
    page.route("**/*", lambda route: route.abort())
    problems = []
    page.on("pageerror", lambda problem: problems.append(str(problem)))

    def shown(*runs: Trace, **looks: int) -> Page:
        widget = view(*runs, **looks)
        page.set_content("<body style='background: #101014; margin: 16px'></body>")
        traits = {name: getattr(widget, name) for name in ("style", "texts", "paper")}
        page.evaluate(CELL, [str(widget._esm), base64.b64encode(widget.message).decode(), json.loads(json.dumps(traits))])
        return page

    yield shown
    assert problems == []
    page.close()


def test_a_run_is_looked_at_in_a_cell_without_a_kernel(show):
    trace = load("embedded").trace("Mary lost her keys.")
    page = show(trace)
    expect(said(page)).to_contain_text("Layer 1, head 1.")
    stage(page).get_by_role("gridcell", name="Layer 2, head 8", exact=True).click()
    tokens = trace.attention.query_tokens.tokens
    share = trace.attention.weights[1, 7, tokens.index("her"), tokens.index("mary")]
    expect(said(page)).to_contain_text(f"“her” gives {share:.2f} of its attention to “mary”")
    expect(stage(page)).to_have_class(re.compile(r"\bdark\b"))  # as the page behind it
    assert page.evaluate("document.querySelectorAll('style').length") == 0  # nothing of it reaches the notebook around it
    page.evaluate("window.end()")
    expect(stage(page)).to_have_count(0)


def test_before_after_and_difference_are_states_of_one_map(show):
    engine = load("embedded")
    page = show(engine.trace(TEXT, interventions=[OFF]), engine.trace(TEXT), head=3)
    expect(said(page)).to_contain_text("of its attention and now gives 0.00")
    row = stage(page).get_by_role("group", name=CHANGED["row"])
    expect(row.get_by_text(repr(OFF), exact=True)).to_be_visible()
    for needs_kernel in (CHANGED["undo"].format(change=repr(OFF)), CHANGED["reset"]):
        expect(row.get_by_role("button", name=needs_kernel)).to_have_count(0)


def test_what_cannot_be_shown_is_refused_with_the_rule():
    engine = load("embedded")
    trace = engine.trace(TEXT)
    for runs, looks, said_of in [
        ((engine.trace(TEXT, keep=("hidden",)),), {}, "must have kept"),
        ((trace, engine.trace("Mary")), {}, "same model and text"),
        ((trace,), {"layer": 6}, "within 6 × 8"),
    ]:
        with pytest.raises(ValueError, match=said_of):
            view(*runs, **looks)
