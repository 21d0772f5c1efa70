"""The page on blocks: what each part draws is the model's own, a link brings it back, and no text can break it."""

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from pages.heads_and_blocks import texts
from pages.heads_and_blocks.depth import ALIKE_AFTER, BLOCKS
from pages.heads_and_blocks.inputs import MAX_DEPTH_SEEDS, PARTS
from pages.ui.shell.level import BASIC, LEVEL
from pages.ui.shell.numbers import whole_percent
from tests.support.staged import staged, staged_picture, staged_steps
from tx_core.lessons.residual_stream import run_random_blocks

PAGE = "heads_and_blocks"
TEXT = "The old man drank a cup of [MASK] by the fire."


def controls(app: AppTest) -> dict[str, dict]:
    return {one["name"]: one for one in staged(app)["controls"]}


def boxes(app: AppTest) -> dict[str, dict]:
    (stack, *_) = staged(app)["architecture"]["stacks"]
    return {box["name"]: box for box in (*stack["before"], *stack["parts"], *stack["after"], stack["whole"])}


def looks(app: AppTest, name: str) -> str:
    return staged(app)["view"][name]


def test_the_page_begins_with_the_length_of_what_each_head_adds(open_app, engine):
    app = open_app(PAGE, text=TEXT, layer="3")
    header, found = staged_steps(app)
    assert header["firstStep"] == "adds" and looks(app, "cell").startswith("lengths-")
    block = engine.model.encoder.blocks[2].attention
    context = engine.trace(TEXT, keep=("context",)).attention.context[2]  # head, token, head_dim
    rows = block.output.weight.detach().numpy().T.reshape(8, 32, 256)
    lengths = np.linalg.norm(context @ rows, axis=-1)
    np.testing.assert_allclose(found["lengths"], lengths, atol=1e-5)
    head, token = np.unravel_index(lengths.argmax(), lengths.shape)
    means = lengths.mean(axis=1)
    averages = {"most": means.argmax() + 1, "most_mean": means.max(), "least": means.argmin() + 1, "least_mean": means.min()}
    word = engine.encode(TEXT).tokens[token]
    assert header["sentence"] == texts.HEAD_ADDS_MOST.format(head=head + 1, length=lengths.max(), token=word, **averages)


@pytest.mark.parametrize("part", PARTS)
def test_the_architecture_lights_the_part_and_leads_to_every_other(open_app, part):
    app = open_app(PAGE, text=TEXT, part=part, layer="3")
    (stack, *others) = staged(app)["architecture"]["stacks"]
    assert len(others) == (part == "depth")  # a pre-norm block beside the model's
    assert (stack["count"], stack["block"], stack["field"]) == (6, 3, "layer")
    assert bool(stack["sets"]) == (part in ("embeddings", "depth", "journey"))  # which look at no block: a click leads to heads
    lit = [box for box in boxes(app).values() if box["lit"]]
    assert {box["sets"]["part"] for box in lit} == {part}
    assert {box["sets"].get("part") for box in boxes(app).values()} - {None} == set(PARTS)
    basic = open_app(PAGE, text=TEXT, part=part, **{LEVEL: BASIC})
    assert {box["sets"].get("part") for box in boxes(basic).values()} - {None} == set(PARTS) - {"norm", "depth"}


@pytest.mark.parametrize(("bend", "function"), [("gelu", torch.nn.functional.gelu), ("relu", torch.relu)])
def test_feed_forward_bends_as_chosen_and_is_a_convolution(open_app, bend, function):
    app = open_app(PAGE, text=TEXT, part="feed", bend=bend, layer="2")
    header, found = staged_steps(app)
    np.testing.assert_allclose(found["bent"], function(torch.tensor(found["widened"])), atol=1e-5)
    (apart, _) = app.metric
    assert apart.value == "0" or "10⁻" in apart.value
    below = found["widened"] < 0
    passed = function(torch.tensor(found["widened"])).abs().numpy()
    shares = {"share": whole_percent(below.mean()), "carried": whole_percent(passed[below].sum() / passed.sum())}
    assert header["sentence"] == texts.BELOW_ZERO[bend].format(**shares)


def test_gelu_makes_a_number_from_minus_0_17_to_0_of_one_below_zero_and_relu_nothing(engine):
    below = torch.linspace(-50, 0, 100_001, dtype=torch.float64)
    bent = torch.nn.functional.gelu(below)
    assert bent.max() <= 0 and f"{float(-bent.min()):.2f}" == "0.17"
    assert bent[-2] / below[-2] > 0.49  # of a small number almost half is left, not 0.17 of it
    assert "a number from −0.17 to 0" in texts.BELOW_ZERO["gelu"]
    assert not torch.relu(below).any()
    assert engine.model.config.activation == "gelu"


SEEDS = [1, *(pytest.param(seed, marks=pytest.mark.ci) for seed in range(2, MAX_DEPTH_SEEDS + 1))]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_the_page_says_of_untrained_blocks_holds_for_every_seed_that_it_offers(seed: int):
    few_post, few_pre, post, pre = (
        run_random_blocks(norm_first=first, blocks=blocks, seed=seed) for blocks in (3, BLOCKS) for first in (False, True)
    )
    assert min(*few_post.gradient, *few_pre.gradient) > 0.85
    assert min(pre.gradient) > 0.999
    assert min(post.gradient) < 0.5
    assert post.cosine[-1] > 0.99 > pre.cosine[-1]
    assert post.length[1:] == pytest.approx([8.0] * BLOCKS, abs=1e-3)  # √64
    assert pre.length[-1] > 3 * pre.length[0]
    cut = [run_random_blocks(norm_first=first, skips=False, seed=seed).cosine[ALIKE_AFTER] for first in (False, True)]
    assert min(cut) > 0.99


def test_every_token_is_sent_and_the_link_says_which_are_followed(open_app, engine):
    app = open_app(PAGE, text="A bird sings.", part="journey", words="2-3-40")
    assert not app.exception
    assert looks(app, "words") == "2-3-40"
    trace = engine.trace("A bird sings.", keep=("hidden",))
    shown = staged_picture(app, texts.LENGTH)
    assert (shown["picks"], shown["rows"][2]) == ("words", "bird (3)")
    np.testing.assert_allclose(shown["values"], np.linalg.norm(trace.hidden, axis=-1).T, rtol=1e-5)
    assert controls(app)["words"]["options"][2] == ["3", "bird"]
