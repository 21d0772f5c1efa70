"""The page on blocks: what each part draws is the model's own, a link brings it back, and no text can break it."""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from streamlit.testing.v1 import AppTest

from pages.bert import texts as bert_texts
from pages.heads_and_blocks import texts
from pages.heads_and_blocks.depth import ALIKE_AFTER, BLOCKS, MAX_DEPTH_SEEDS
from pages.ui.canvas.charts import lines_in_words
from pages.ui.shell.frame import HEADINGS
from pages.ui.shell.numbers import whole_percent
from tests.support.drawings import OURS, problems, says, sent_to
from tests.support.drawn_lines import drawn_lines
from tests.support.drawn_matrices import matrix_row, panels
from tx_core.engine import catalogue
from tx_core.errors import TextProblem
from tx_core.lessons.bert_parts import block_run, embedding_run, matrix_and_bias, norm_run
from tx_core.lessons.families import FAMILIES
from tx_core.lessons.residual_stream import run_random_blocks, skip_effect

PAGE = "heads_and_blocks"
TEXT = "The old man drank a cup of [MASK] by the fire."
PARTS = ("embeddings", "heads", "feed", "norm", "depth", "journey")


@pytest.fixture(scope="module")
def engine():
    return catalogue.load("embedded")


def components(app: AppTest) -> list[str]:
    """The names of our components on the page, from the first to the last."""
    return [element.proto.component_name.removeprefix(OURS) for element in app.get("bidi_component")]


def charts(app: AppTest) -> dict[str, str]:
    """The charts of the page by title, each as what it tells those who cannot see it."""
    return {chart["title"]: chart["alt"] for chart in drawn_lines(app)}


def test_without_special_tokens_every_part_is_of_the_words_alone_and_the_same_words_are_followed(open_app):
    app = open_app(PAGE, text=TEXT, part="journey")
    app.toggle(key=f"{PAGE}_nospecial").set_value(True).run()
    assert app.session_state[f"{PAGE}_words"] == [3, 6, 8]
    app.toggle(key=f"{PAGE}_nospecial").set_value(False).run()
    assert app.session_state[f"{PAGE}_words"] == [4, 7, 9]
    for part in ("embeddings", "heads", "feed", "norm"):
        (header, _), *_ = sent_to(open_app(PAGE, text=TEXT, part=part, nospecial="1"), "matrix_row")
        assert "[MASK]" in str(header) and "[CLS]" not in str(header)


def test_the_page_begins_with_the_length_of_what_each_head_adds(open_app, engine):
    app = open_app(PAGE, text=TEXT, layer="3")
    assert [name for name in components(app) if name in ("matrices", "matrix_row")] == ["matrices", "matrix_row"]
    (drawn,) = panels(app)[1].values()
    block = engine.model.encoder.blocks[2].attention
    context = engine.trace(TEXT, keep=("context",)).attention.context[2]  # head, token, head_dim
    rows = block.output.weight.detach().numpy().T.reshape(8, 32, 256)
    lengths = np.linalg.norm(context @ rows, axis=-1)
    np.testing.assert_allclose(drawn, lengths, atol=1e-5)
    head, token = np.unravel_index(lengths.argmax(), lengths.shape)
    means = lengths.mean(axis=1)
    averages = {"most": means.argmax() + 1, "most_mean": means.max(), "least": means.argmin() + 1, "least_mean": means.min()}
    word = engine.encode(TEXT).tokens[token]
    assert texts.HEAD_ADDS_MOST.format(head=head + 1, length=lengths.max(), token=word, **averages) in says(app)


def test_heads_that_take_no_part_are_not_drawn_and_add_nothing(open_app, engine):
    app = open_app(PAGE, text=TEXT, heads="2-5", layer="3")
    _, found = matrix_row(app)
    run = block_run(engine, TEXT, layer=2)
    _, bias = matrix_and_bias(engine.model.encoder.blocks[2].attention.output)
    assert [name for name in found if name.startswith("head")] == ["headb", "heade"]
    np.testing.assert_allclose(found["output"], run.by_head[[1, 4]].sum(0) + bias, atol=1e-5)
    assert not found["joined"][:, :32].any()
    np.testing.assert_allclose(found["joined"][:, 32:64], run.context[1], atol=1e-5)
    app = open_app(PAGE, text=TEXT, heads="none", layer="3")
    np.testing.assert_allclose(matrix_row(app)[1]["output"][3], bias, atol=1e-6)
    assert texts.NO_HEAD in says(app)


def test_embeddings_are_drawn_with_both_segments(open_app, engine):
    app = open_app(PAGE, text="The dog saw the cat.", pair="It ran.", part="embeddings")
    _, found = matrix_row(app)
    run = embedding_run(engine, "The dog saw the cat.", "It ran.")
    for name in ("words", "positions", "segments", "normed"):
        np.testing.assert_allclose(found[name], getattr(run, name), atol=1e-6)
    read = engine.trace("The dog saw the cat.", "It ran.", keep=("hidden",))
    np.testing.assert_allclose(found["normed"], read.hidden[0], atol=1e-6)
    encoding = read.attention.query_tokens
    ids = [texts.TOKEN_ID.format(token=token, id=number) for token, number in zip(encoding.tokens, encoding.ids, strict=True)]
    assert ids[1] == f"the {engine.tokenizer.backend.token_to_id('the')}"
    assert texts.IDS.format(ids=" · ".join(ids)) in says(app)
    np.testing.assert_array_equal(found["words"], engine.model.embeddings.words.weight.detach()[list(encoding.ids)])
    np.testing.assert_allclose(found["sum"], run.summed, atol=1e-6)
    np.testing.assert_array_equal(found["words"][1], found["words"][4])
    twice = {"token": "the", "first": 2, "second": 5, "difference": abs(found["sum"][1] - found["sum"][4]).max()}
    assert texts.WORD_TWICE.format(**twice) in says(app)


@pytest.mark.parametrize(("bend", "function"), [("gelu", torch.nn.functional.gelu), ("relu", torch.relu)])
def test_feed_forward_bends_as_chosen_and_is_a_convolution(open_app, bend, function):
    app = open_app(PAGE, text=TEXT, part="feed", bend=bend, layer="2")
    header, found = matrix_row(app)
    np.testing.assert_allclose(found["bent"], function(torch.tensor(found["widened"])), atol=1e-5)
    bias = next(one["origin"]["bias"] for one in header["matrices"] if one["name"] == "output")
    np.testing.assert_allclose(found["bent"] @ found["narrow"] + bias, found["output"][:, :5], atol=1e-4)
    (apart, _) = app.metric
    assert apart.value == "0" or "10⁻" in apart.value
    below = found["widened"] < 0
    passed = function(torch.tensor(found["widened"])).abs().numpy()
    shares = {"share": whole_percent(below.mean()), "carried": whole_percent(passed[below].sum() / passed.sum())}
    assert texts.BELOW_ZERO[bend].format(**shares) in says(app)


def test_gelu_leaves_at_most_0_17_of_a_number_below_zero_and_relu_nothing(engine):
    below = torch.linspace(-50, 0, 100_001, dtype=torch.float64)
    largest = float(torch.nn.functional.gelu(below).abs().max())
    assert (f"{largest:.2f}" in texts.BELOW_ZERO["gelu"], f"{largest:.2f}") == (True, "0.17")
    assert not torch.relu(below).any()
    assert engine.model.config.activation == "gelu"


def test_a_norm_by_hand_stands_beside_pytorchs_and_is_written_out(open_app, engine):
    app = open_app(PAGE, text=TEXT, part="norm", norm="feed_forward", layer="2", cell="normed-3-2")
    _, found = matrix_row(app)
    run = norm_run(engine, TEXT, place="feed_forward", layer=1)
    np.testing.assert_allclose(found["ours"], found["theirs"], atol=1e-5)
    np.testing.assert_allclose(found["variance"][:, 0], run.tensors.variance, rtol=1e-4)
    assert texts.WRITTEN_OUT.format(row=3, token="old", column=2) in says(app)
    assert f"÷ √({float(run.tensors.variance[2]):.3f} + 10⁻¹²)" in says(app)
    assert f"= {float(run.tensors.result.ours[2, 1]):.3f}".replace("-", "−") in says(app)


def test_adding_x_to_x_is_hidden_by_a_norm_and_doubles_every_vector_without_one(engine):
    run, norm = block_run(engine, TEXT, layer=1), engine.model.encoder.blocks[1].attention_norm
    torch.testing.assert_close(norm(run.input + run.input), norm(run.input), atol=1e-5, rtol=0)
    torch.testing.assert_close((run.input + run.input).norm(dim=-1), 2 * run.input.norm(dim=-1))


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


def test_depth_shows_24_blocks_of_both_kinds_and_the_readers_sentence(open_app, engine):
    app = open_app(PAGE, text=TEXT, part="depth", cut="1", seed="3")
    post, pre = (run_random_blocks(norm_first=first, skips=False, seed=3) for first in (False, True))
    shown = charts(app)
    lengths = {texts.POST_NORM: post.length, texts.PRE_NORM: pre.length}
    assert shown[texts.MEAN_LENGTH] == lines_in_words(texts.MEAN_LENGTH, lengths)
    assert texts.UNTRAINED_WITHOUT.format(blocks=24) in says(app)
    own = skip_effect(engine, TEXT)
    series = {texts.AS_TRAINED: own.with_skips, texts.RESIDUALS_CUT: own.without_skips}
    assert shown[texts.TRAINED_SIMILARITY] == lines_in_words(texts.TRAINED_SIMILARITY, series)


def test_the_tokens_that_a_link_names_are_followed_and_missing_ones_dropped(open_app, engine):
    app = open_app(PAGE, text="A bird sings.", part="journey", words="2-3-40")
    assert not app.exception
    words = app.pills(key=f"{PAGE}_words")
    assert words.value == [2, 3]
    trace = engine.trace("A bird sings.", keep=("hidden",))
    length = np.linalg.norm(trace.hidden[:, 2], axis=1)
    assert f"bird (3) from {length[0]:.3g} to {length[-1]:.3g}" in charts(app)[texts.LENGTH]
    assert list(app.dataframe[0].value.columns) == ["a (2)", "bird (3)"]
    words.set_value([]).run()
    assert texts.FOLLOW_NONE in says(app)


def test_the_ninth_token_chosen_takes_the_place_of_the_first(open_app):
    app = open_app(PAGE, text=TEXT, part="journey", words="1-2-3-4-5-6-7-8")
    app.pills(key=f"{PAGE}_words").set_value([1, 2, 3, 4, 5, 6, 7, 8, 9]).run()
    assert not app.exception
    assert app.query_params["words"] == "2-3-4-5-6-7-8-9"
    assert len(app.dataframe[0].value.columns) == 8


@pytest.mark.parametrize(("part", "text"), [("heads", "   "), ("depth", "word " * 200)])
def test_a_text_that_cannot_be_read_is_explained_and_kept(open_app, part, text):
    app = open_app(PAGE, text=text, part=part)
    assert not app.exception
    assert HEADINGS[TextProblem] in problems(app)
    assert app.text_input(key=f"{PAGE}_text").value == text
    assert app.query_params["text"] in (text, [text])


def test_another_bert_is_computed_with_all_its_heads_and_its_own_numbers(open_app, monkeypatch, checkpoint):
    monkeypatch.setattr(catalogue, "fetch", lambda hub_id, revision: checkpoint("bert"))
    text, built_in, other = "a cat", catalogue.load("embedded"), catalogue.load("bert-base-cased")
    assert other.info.num_heads != built_in.info.num_heads
    app = open_app("heads_and_blocks", text=text)
    for engine in (built_in, other):
        app.selectbox(key="heads_and_blocks_model").set_value(engine.name).run()
        assert not app.exception
        assert app.session_state["heads_and_blocks_heads"] == list(range(1, engine.info.num_heads + 1))
        (_, cells), *_ = sent_to(app, "matrices")
        expected = block_run(engine, text, layer=0).head_lengths.numpy()
        np.testing.assert_allclose(np.frombuffer(cells, "<f4").reshape(expected.shape), expected, rtol=1e-5)


def test_a_layer_that_only_a_larger_model_has_gives_way_to_the_last(open_app, engine):
    app = open_app(PAGE, layer="12")
    assert not app.exception
    assert app.session_state[f"{PAGE}_layer"] == engine.info.num_layers


def test_the_page_of_bert_says_what_a_larger_model_would_take_beside_the_librarys_copy(open_app, engine, checkpoint):
    stored = load_file(catalogue.MODELS / "embedded" / "model.safetensors").values()
    ours, base = 4 * sum(value.numel() for value in stored) / 1e6, catalogue.card("bert-base-uncased").megabytes
    said = bert_texts.BUILT_IN_ONLY.format(ours=ours, base=base)
    assert f"{ours:.0f} MB" in said
    assert 4 * FAMILIES["bert"].sizes.parameters / 1e6 == pytest.approx(base, rel=0.02)  # without the head
    for part in bert_texts.PARTS:
        assert said in [caption.value for caption in open_app("bert", part=part).caption]
    assert type(catalogue.load(checkpoint("bert"))) is type(engine)
