"""Vectors: points move with the layer and come to rest, and a file is coloured by its columns."""

import pytest
from playwright.sync_api import expect

from pages.vectors import texts
from pages.vectors.inputs import EXAMPLES
from tests.support.seen import answered, drawn, linked, main, says, stage
from tx_core.corpus.sentence_file import ANNOTATED

pytestmark = pytest.mark.ci
FEW = "\n\n".join(ANNOTATED.read_text("utf-8").split("\n\n")[:30]).encode()


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_points_move_unless_nobody_wants_motion_and_ones_own_file_is_coloured_by_its_columns(arrive, for_everybody, motion: str):
    page = arrive("/vectors?level=advanced")
    page.emulate_media(reduced_motion=motion)
    says(page, EXAMPLES[0].notice)
    points = drawn(stage(page).locator(".pad canvas").first)
    seen = "canvas => { window.moved = 0; new MutationObserver(() => window.moved += 1).observe(canvas, "
    points.evaluate(seen + "{ attributeFilter: ['data-moving'] }); }")
    stage(page).get_by_role("slider", name=texts.LAYER).press("Home")
    says(page, "“flies” 1.00", "“like” 1.00")
    linked(page, text="time flies like an arrow", token="2")  # without the layer: 0 is what a link leaves out
    expect(points).to_have_attribute("data-moving", "false")
    assert (page.evaluate("window.moved") > 2) == (motion == "no-preference")
    if motion == "reduce":
        return
    page.reload()
    expect(stage(page)).to_contain_text(texts.TITLES[0])
    main(page).get_by_role("combobox", name=texts.SOURCE).click()
    page.get_by_role("option", name=texts.SOURCES["own"]).click()
    page.locator("input[type=file]").set_input_files({"name": "x.conllu", "mimeType": "text/plain", "buffer": FEW})
    stage(page).get_by_role("combobox", name=texts.COLOUR).select_option(texts.COLOURS["upos"])
    linked(page, texts="own", colour="upos")
    answered(page)
    for_everybody(page)
