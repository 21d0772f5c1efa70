"""The page of claims: those of the embedded model on arrival, every link, and another model, of which some fail."""

from itertools import islice
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from pages.claims import texts
from pages.claims.verdicts import KIND, MADE, PAGE, part_of_claims
from pages.ui.export.part import part_export
from pages.ui.shell.fields import parse_view
from tests.support.drawings import problems, says
from tests.support.staged import ask_stage, is_empty, looked_at, stage_says, staged_pictures
from tests.support.trainings import until_still
from tx_core.classroom import claims
from tx_core.classroom.claims import Claim, check_claims, stored_claims
from tx_core.engine import catalogue
from tx_core.training.background import Registry


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first claims of each page and of lessons: all take ten seconds."""
    every, lessons = claims.sentences, claims._lesson_questions
    monkeypatch.setattr(claims, "sentences", lambda page: islice(every(page), 5))
    monkeypatch.setattr(claims, "_lesson_questions", lambda engine: islice(lessons(engine), 3))


def rows_of(app: AppTest, **looks: str) -> list[list[str]]:
    """The rows of the table that is looked at, each with its verdict first and its address last."""
    chart = looked_at(app, **looks)[1]["chart"]
    return [[verdict, *chart["entries"][number]] for verdict, number in chart["picks"]]


def test_the_claims_of_the_embedded_model_are_there_on_arrival_and_every_row_s_link_opens(open_app):
    app, stored = open_app(PAGE), stored_claims(catalogue.DEFAULT)
    assert not app.exception and not problems(app)
    bars = looked_at(app)[0]
    assert sum(int(end.split(" of ")[1]) for end in bars["chart"]["ends"]) == len(rows_of(app)) == len(stored)
    assert rows_of(app, show="fails") == [] and texts.NONE["fails"] in stage_says(app, show="fails")
    assert len(rows_of(app, made="path")) == sum(claim.made == "path" for claim in stored)
    addresses, opened = {row[-1] for row in rows_of(app)}, {}
    for address in addresses:
        parts = urlsplit(address)
        page, view = parts.path.removeprefix("./"), dict(parse_qsl(parts.query, keep_blank_values=True))
        if page not in opened:
            opened[page] = open_app(page, **parse_qs(parts.query))
            assert not opened[page].exception and not problems(opened[page])
        fields = opened[page].session_state[f"{page}_view"].fields.all
        values, wrong = parse_view(fields, view)
        assert not wrong and view.keys() - {"level"} <= values.keys(), address
    assert opened.keys() == claims.EXAMPLE_CLAIMS.keys()


@pytest.mark.usefixtures("few")
def test_another_model_answers_in_the_background_and_what_fails_comes_first_with_its_numbers(open_app, runs: Registry, offer):
    own = offer("bert")
    app = open_app(PAGE, model=own, show="fails", made="attention")
    assert texts.PRESS_RUN in says(app) and is_empty(app)
    snapshot = until_still(ask_stage(app, "settings", {"training": "run"}), runs, KIND)
    assert snapshot.state == "finished" and not app.exception and not problems(app)
    every = check_claims(catalogue.load_named(own))
    fails = [claim for claim in every if claim.made == "attention" and claim.verdict == "fails"]
    rows = rows_of(app)
    assert len(rows) == len(fails) > 0
    for row, claim in zip(rows, fails, strict=True):
        assert row[0] == texts.VERDICTS["fails"].format(margin=f"{-claim.margin:.3f}")
        assert row[1:3] == [f"{claim.value:.3f}".replace("-", "−"), claim.claimed] and claim.text in row
        assert "model=local%3Aown" in row[-1]
    verdicts = [row[0].split()[0] for row in rows_of(app, show="all", made="all")]
    assert verdicts == sorted(verdicts, key=["Fails", "Cannot", "Holds"].index) and len(set(verdicts)) == 3
    again = open_app(PAGE, model=own)  # another visitor
    assert staged_pictures(again) and len(rows_of(again)) == len(every)
    again = open_app(PAGE, model="<b>own</b>")
    assert len(rows_of(again)) == len(stored_claims(catalogue.DEFAULT))


def test_the_file_has_a_row_of_each_claim_and_no_number_where_there_is_none():
    unasked = Claim("It rains.", "attention", float("nan"), where="1-2", link="attention?text=It", made="attention")
    export = part_export(part_of_claims(catalogue.DEFAULT, [*stored_claims(catalogue.DEFAULT)[:1], unasked]))
    (files,) = export.tables.values()
    first, second = files.files["csv"](export.source).decode("utf-8-sig").splitlines()[-2:]
    assert '"Mary lost her keys."' in first and '"holds"' in first
    assert second.startswith('"It rains.","attention","","","","1-2"') and '"unasked"' in second
    assert set(MADE) >= {claim.made for claim in stored_claims(catalogue.DEFAULT)}
