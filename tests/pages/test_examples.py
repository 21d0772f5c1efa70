"""The examples of every page: each is a click away with its view and a hint of its own, and what it claims is true."""

import importlib
import re

import pytest

from tests.support.drawings import problems, says
from tx_core.classroom import claims
from tx_core.engine import catalogue

CLAIMS = {
    "attention": claims.attention_claims,
    "compare": claims.compare_claims,
    "fill_mask": lambda engine, _, shown: claims.word_claims(engine, shown),
    "patching": lambda engine, _, shown: claims.patch_claims(engine, shown),
}
"""What returns the claims of an example on one of its sentences, by page."""


@pytest.mark.parametrize("page", [*CLAIMS, "importance"])
def test_examples_and_counter_examples_are_a_click_away_each_with_its_view_and_a_hint_of_its_own(open_app, page: str):
    app, examples = open_app(page), importlib.import_module(f"pages.{page}.inputs").EXAMPLES
    for example in (*examples[1:], examples[0]):
        for key, shown in (("example", example), *(("counter_example", counter) for counter in example.counters)):
            app.pills(key=f"{page}_{key}").set_value(shown.title).run()
            assert not app.exception and not problems(app)
            view = {name: str(app.session_state[f"{page}_{name}"]) for name in shown.view}
            assert view == {name: str(value) for name, value in shown.view.items()}
            assert [one.notice for one in (example, *example.counters) if one.notice in says(app)] == [shown.notice]
            assert app.pills(key=f"{page}_example").value == example.title


@pytest.mark.parametrize("page", CLAIMS)
def test_what_examples_claim_is_true_and_the_numbers_of_a_hint_are_those_of_its_claims(page: str):
    for entry, shown in claims.sentences(page):
        engine = catalogue.load(shown["view"].get("model", catalogue.DEFAULT) if page == "patching" else catalogue.DEFAULT)
        found = CLAIMS[page](engine, entry, shown)
        assert found and [claim for claim in found if not claim.margin >= 0] == []
        if page in ("attention", "compare"):
            assert {*re.findall(r"\d\.\d\d", shown.get("notice", ""))} <= {f"{claim.value:.2f}" for claim in found}
