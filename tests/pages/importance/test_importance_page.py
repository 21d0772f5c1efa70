"""The page of importance: the built-in sets, a visitor's own file, and the numbers of its examples."""

import json
import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.importance import texts
from pages.importance.inputs import KIND, PAGE, ImportanceInputs, Upload
from pages.importance.ranking import ranking_part
from pages.ui.export.part import part_export
from tests.support.drawings import problems, says
from tests.support.staged import ask_stage, is_empty, looked_at, stage_says, staged, staged_pictures
from tests.support.trainings import until_still
from tx_core.causal.importance import Importance, component_name, importance, parse_answer_prompts
from tx_core.causal.prompt_sets import kept_scores, prompt_set
from tx_core.classroom.claims import importance_claims, sentences
from tx_core.engine import catalogue
from tx_core.training.background import Registry

PAIR, PROMPT, ALONE = (
    {"sentence_good": "The key is old.", "sentence_bad": "The key are old."},
    {"text": "The **keys** [MASK] <b>old</b>.", "answer": "are", "other": "is"},
    {"text": "Mary lost [MASK] keys.", "answer": "her"},
)


def measured(name: str, ablation: str = "off") -> Importance:
    engine = catalogue.load(catalogue.DEFAULT)
    return importance(engine, prompt_set(name), ablation, kept_in=kept_scores(name, ablation))


def entries_of(app: AppTest, what: str) -> list[list[str]]:
    """The prompts that are sent to be listed."""
    (listing,) = [one for one in staged_pictures(app) if one["chart"]["kind"] == "listing" and what in one["when"]["what"]]
    return listing["chart"]["entries"]


def written(number: float) -> str:
    return f"{number:.2f}".replace("-", "−")


@pytest.mark.parametrize(("what", "part"), [("head", "2-5"), ("layer", "4-mlp")])
def test_the_wall_is_the_core_s_and_a_part_is_said_ranked_and_shown_in_prompts(open_app, what: str, part: str):
    app = open_app(PAGE, set="gender", ablation="mean", what=what, head=part)
    assert not app.exception and not problems(app)
    found = measured("gender", "mean")
    wall, bars, listing = looked_at(app)
    names = [component_name(one) for one in found.components]
    effects, (low, high) = found.effects.mean(axis=0), found.intervals
    np.testing.assert_allclose(wall["values"].ravel(), [effects[names.index(name)] for name in wall["choices"]], atol=1e-6)
    assert wall["rows"] == ["6", "5", "4", "3", "2", "1"]
    ranked = sorted(wall["choices"], key=lambda name: -effects[names.index(name)])
    assert bars["choices"] == ranked[: len(bars["choices"])]
    first = names.index(ranked[0])
    assert bars["chart"]["intervals"][0] == pytest.approx([low[first], high[first]])
    at = names.index(part)
    said = stage_says(app)
    for number in (effects[at], low[at], high[at]):
        assert f"{abs(number):.2f}" in said
    groups = found.by_group
    assert len(groups) == 2 and all(f"{name} {abs(mean[at]):.2f}" in said.replace("−", "") for name, mean in groups.items())
    assert "over these 10 phrases" in said and bars["sentence"] == texts.BEST_BY_CHANCE
    entries = entries_of(app, what)
    picks = {number: entries[place] for number, place in listing["chart"]["picks"]}
    of_part = np.sort(found.effects[:, at])
    assert list(picks) == [written(one) for one in (*of_part[:-4:-1], *of_part[2::-1])]
    change = "mean~mlp~4" if what == "layer" else "mean~2-5&heads=2-5"
    assert listing["chart"]["adds"] == f"&changes={change}"
    assert all(address.startswith("./fill_mask?text=") for *_, address in picks.values())
    assert (listing.get("link") is None) == (what == "layer")


def test_the_link_to_patching_puts_a_prompt_beside_the_one_that_differs_least(open_app):
    label, address = looked_at(open_app(PAGE))[2]["link"]
    assert label == texts.TO_PATCHING.format(answer="are", other="is")
    assert "text=The+doors+near+the+tree+%5BMASK%5D+old.&text_b=The+door+near+the+tree+%5BMASK%5D+old." in address


def upload(app: AppTest, content: bytes | list[dict], name: str = "mine.jsonl") -> AppTest:
    data = content if isinstance(content, bytes) else "\n".join(map(json.dumps, content)).encode()
    return app.file_uploader(key=f"{PAGE}_file").set_value((name, data, "text/plain")).run()


def escape_less(text: str) -> str:
    return text.replace("\\", "")


def test_a_file_is_measured_in_the_background_and_what_was_left_out_is_said(open_app, runs: Registry):
    app = open_app(PAGE, set="own", ablation="resample")
    assert "A link does not bring a file along" in says(app) and is_empty(app)
    assert staged(app)["training"]["buttons"] == []
    unusable = {"text": "The key [MASK].", "answer": "antidisestablishmentarianism", "other": "is"}
    upload(app, [PAIR, PROMPT, ALONE, {"text": "No blank.", "answer": "her"}, *[unusable] * 2])
    assert texts.PRESS_RUN in says(app)
    told = "Left out: 3 of 6 prompts, "
    (said,) = [escape_less(one.value) for one in app.caption if told in escape_less(one.value)]
    assert "2 (an answer is no single token" in said and "1 (" in said
    snapshot = until_still(ask_stage(app, "settings", {"training": "run"}), runs, KIND)
    assert snapshot.state == "finished" and not app.exception
    found = importance(catalogue.load(catalogue.DEFAULT), [PAIR, PROMPT, ALONE], "resample")
    np.testing.assert_allclose(snapshot.result.work.result().effects, found.effects, atol=1e-4)
    assert [note for note in staged(app)["caption"] if told in note] == [said.partition(" ")[2]]
    assert "95 % interval over these prompts" in stage_says(app)
    assert ["The **keys** [MASK] <b>old</b>.", "are, not is"] in [entry[:2] for entry in entries_of(app, "head")]
    assert not any("<b>" in one.value for one in (*app.markdown, *app.caption))
    ask_stage(app, "settings", {"ablation": "mean"})
    assert texts.LAST_RUN.partition(":")[0] in says(app) and not is_empty(app)


def test_the_prompts_are_saved_as_lines_that_the_page_takes_again():
    found = importance(catalogue.load(catalogue.DEFAULT), [PAIR, ALONE])
    export = part_export(ranking_part(found, ImportanceInputs("own", "off", Upload("mine.jsonl", (PAIR, ALONE)))))
    parts, prompts = export.tables.values()
    again = importance(catalogue.load(catalogue.DEFAULT), parse_answer_prompts(prompts.files["jsonl"](export.source), "a.jsonl"))
    assert again.prompts == found.prompts
    rows = json.loads(parts.files["json"](export.source))["table"]
    table = found.to_pandas()
    assert [row["part"] for row in rows] == table["part"].to_list()
    for name in ("layer", "effect", "low", "high", "turned"):
        assert [row[name] for row in rows] == pytest.approx(table[name].to_list(), abs=1e-4)
    assert "read_answer_prompts(Path('mine.jsonl'))" in export.project()


# Examples


def test_the_numbers_of_a_hint_are_those_of_its_claims(engine):
    known = {}
    for top, entry in sentences(PAGE):
        if claims := importance_claims(engine, top, entry, known):
            view = top["view"] | entry["view"]
            found = known[view["set"], view.get("ablation", "off")]
            names = [component_name(one) for one in found.components]
            highs = [found.intervals[1, names.index(claim.where)] for claim in claims if claim.where]
            values = [claim.value for claim in claims]
            numbers = set(re.findall(r"\d\.\d\d", entry["notice"]))
            assert numbers and numbers <= {f"{abs(number):.2f}" for number in (*values, *highs)}
            assert set(re.findall(r"(\d+) of 40", entry["notice"])) <= {f"{40 * value:.0f}" for value in values}
