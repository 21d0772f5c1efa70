"""The examples of every page: each is a click away with its view and a hint of its own, whose numbers are the model's."""

import importlib
import re

import pytest

from tests.support.drawings import problems, says
from tx_core.classroom import claims


@pytest.mark.parametrize("page", ["attention", "compare", "fill_mask", "importance", "patching", "vectors"])
def test_examples_and_counter_examples_are_a_click_away_each_with_its_view_and_a_hint_of_its_own(open_app, page: str):
    app, examples = open_app(page), importlib.import_module(f"pages.{page}.inputs").EXAMPLES
    for example in (*examples[1:], examples[0]):
        for key, shown in (("example", example), *(("counter_example", counter) for counter in example.counters)):
            app.pills(key=f"{page}_{key}").set_value(shown.title).run()
            assert not app.exception and bool(problems(app)) == (shown.view.get("texts") == "own")
            view = {name: str(app.session_state[f"{page}_{name}"]) for name in shown.view}
            assert view == {name: str(value) for name, value in shown.view.items()}
            assert [one.notice for one in (example, *example.counters) if one.notice in says(app)] == [shown.notice]
            assert app.pills(key=f"{page}_example").value == example.title


@pytest.mark.parametrize("page", ["attention", "compare", "vectors"])
def test_the_numbers_of_a_hint_are_those_of_its_claims(page: str):
    numbers, stored = set(), [claim for claim in claims.stored_claims("embedded") if claim.made == page]
    for entry, shown in claims.sentences(page):
        text = shown.get("text") or claims._view_of(entry, shown).get("text") or shown["title"]
        if values := [claim.value for claim in stored if claim.text == text]:
            numbers |= (written := {*re.findall(r"\d\.\d\d|\d+ %", shown.get("notice", ""))})
            assert written <= {form for value in values for form in (f"{value:.2f}", f"{100 * value:.0f} %")}
    assert len(numbers) > 10
