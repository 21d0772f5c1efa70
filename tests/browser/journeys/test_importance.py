"""Importance: a part is chosen, taken out in another way, and a visitor's own prompts are measured."""

import json
import re

import pytest
from playwright.sync_api import expect

from pages.importance import texts
from pages.importance.inputs import EXAMPLES
from tests.support.seen import answered, choose, choose_head, linked, press, says, stage
from tx_core import load
from tx_core.causal.importance import importance
from tx_core.causal.prompt_sets import kept_scores, prompt_set

pytestmark = pytest.mark.ci
OWN = [
    {"sentence_good": "The key is old.", "sentence_bad": "The key are old."},
    {"text": "The keys [MASK] <b>old</b>.", "answer": "are", "other": "is"},
]


def test_parts_are_ranked_taken_out_otherwise_and_shown_in_prompts_of_ones_own(arrive, for_everybody):
    page, engine = arrive("/importance?level=advanced"), load("embedded")
    found = importance(engine, prompt_set("agreement"), kept_in=kept_scores("agreement", "off"))
    says(page, EXAMPLES[0].notice)
    choose_head(page, 5, 5)  # the second row from below is layer 2
    linked(page, head="2-5")
    effect = found.effects[:, 1 * 8 + 4].mean()
    says(page, "Layer 2, head 5, switched off: the answer gains", f"{-effect:.2f} nats")
    expect(stage(page).get_by_test_id("listing")).to_contain_text("Prompts that need layer 2, head 5")
    first = stage(page).get_by_role("link", name=texts.SEE_OFF).first
    expect(first).to_have_attribute("href", re.compile("fill_mask.*changes=off~2-5&heads=2-5$"))
    choose(page, "The other number")
    linked(page, ablation="resample")
    says(page, "Layer 5, head 3, replaced by what it computes for the next prompt: the answer loses 4.93 nats")
    press(page, texts.WHATS["layer"])
    linked(page, what="layer", ablation="resample")
    says(page, "All heads of layer 5", "7.58 nats")
    choose(page, "Your own file")
    written = "\n".join(map(json.dumps, OWN)).encode()
    page.locator("input[type=file]").set_input_files({"name": "x.jsonl", "mimeType": "text/plain", "buffer": written})
    says(page, texts.PRESS_RUN)
    press(page, texts.RUN)
    own = importance(engine, OWN)
    says(page, f"{own.effects.mean(axis=0)[:48].max():.2f} nats on average (n = 2")
    expect(stage(page).get_by_test_id("listing")).to_contain_text("The keys [MASK] <b>old</b>.")
    answered(page)
    for_everybody(page)
