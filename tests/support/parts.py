"""Run a part of a page in AppTest as a browser has it run: alone."""

from functools import partial

import pytest
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest, app_test, local_script_runner


def run_part(app: AppTest, widget: str, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """Run what a browser asks for when it sends a widget: the part that the widget stands in, nothing else."""
    known = app._session_state._state._new_widget_state.widget_metadata
    (part,) = {known[name].fragment_id for name in known if name.endswith(f"-{widget}")}
    assert part

    class KnownPages(PagesManager):
        """A server remembers the pages of the last whole run; AppTest begins anew each time."""

        def __init__(self, *options: object, **named: object):
            super().__init__(*options, **named)
            self.set_pages_and_resolve(app._registered_pages)

    with monkeypatch.context() as patched:
        patched.setattr(local_script_runner, "RerunData", partial(local_script_runner.RerunData, fragment_id=part))
        patched.setattr(app_test, "PagesManager", KnownPages)
        return app.run()
