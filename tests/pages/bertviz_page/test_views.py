"""bertviz draws our run: the numbers and tokens that it is handed are the record's, and no token gets out of its string."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from pages.bertviz_page import texts
from pages.bertviz_page.frame import has_bias, one_layer_only
from pages.bertviz_page.views import FIELDS, draw
from tests.support.checkpoints import HEAD_DIM
from tx_core.engine import catalogue
from tx_core.errors import TextProblem
from tx_core.transformer.trace import AttentionStack, Encoding

TEXT, PAIR = "time flies like an arrow", "fruit flies"
HOSTILE = "</script><script>alert(1)</script>; // HACK: PYTHON_PARAMS <!--\u2028 & const params = {}"
KEEP = ("weights", "query", "key")


def stack_of(text: str = TEXT, pair: str = "") -> AttentionStack:
    return catalogue.load("embedded").trace(text, pair or None, keep=KEEP).attention


def data_of(html: str) -> dict:
    (found,) = re.findall(r"^\s*(?:const params|window\.bertviz_params) = begin\((\{.*\})\);", html, flags=re.MULTILINE)
    return json.loads(found)


class Scripts(HTMLParser):
    def __init__(self, html: str):
        super().__init__()
        self.seen = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))


@pytest.mark.parametrize("view", ["head", "model"])
def test_weights_and_tokens_are_those_of_the_run(view: str):
    stack = stack_of()
    (given,) = data_of(draw(view, [stack], None, dark=False).html)["attention"]
    np.testing.assert_allclose(given["attn"], stack.weights, atol=5.1e-4)
    assert given["left_text"] == given["right_text"] == list(stack.query_tokens.tokens)


def test_the_neuron_view_has_queries_keys_and_weights_of_the_run():
    stack = stack_of()
    data = data_of(draw("neuron", [stack], None, dark=True).html)
    given = data["attention"]["all"]
    for name, part in (("attn", stack.weights), ("queries", stack.query), ("keys", stack.key)):
        np.testing.assert_allclose(given[name], part, atol=5.1e-4)
    assert given["left_text"] == list(stack.query_tokens.tokens)
    assert (data["display_mode"], data["bidirectional"]) == ("dark", True)


@pytest.mark.parametrize(
    ("view", "labels"),
    [("head", [texts.LAYER]), ("model", [texts.LAYERS, texts.HEADS]), ("neuron", [texts.LAYER, texts.HEAD])],
)
def test_numbers_say_where_they_begin_and_no_text_is_changed(view: str, labels: list[str]):
    read = "Layer: < MATRIX_WIDTH = 115;"
    html = draw(view, [stack_of(read)], None, dark=False).html
    assert all(label in html for label in labels)
    assert "MATRIX_WIDTH = 115" not in html  # those of the head view are as long as its frame is wide
    given = data_of(html)["attention"]
    tokens = given["all"]["left_text"] if view == "neuron" else given[0]["left_text"]
    assert tokens == list(stack_of(read).query_tokens.tokens)


@pytest.mark.parametrize(("family", "scale", "biased"), [("t5", 1.0, True), ("roberta", HEAD_DIM**-0.5, False)])
def test_the_neuron_view_scales_products_as_the_model_does(hub_engine, family: str, scale: float, biased: bool):
    stack = hub_engine(family).trace(TEXT, keep=(*KEEP, "scores")).attention
    html = draw("neuron", [stack], [1], dark=False).html
    assert f"var scaledDotProduct = dotProduct * [{scale}][config.layer]" in html
    assert has_bias(stack) == biased
    if not biased:
        products = np.einsum("lhqd,lhkd->lhqk", stack.query, stack.key)
        np.testing.assert_allclose(stack.scores, products * scale, atol=1e-4)


@pytest.mark.parametrize("view", ["head", "model", "neuron"])
def test_no_token_is_ever_markup_or_script_and_nothing_is_asked_of_a_server(view: str):
    stack = stack_of()
    tokens = (HOSTILE, *stack.query_tokens.tokens[1:])
    labelled = Encoding(**vars(stack.query_tokens) | {"tokens": tokens, "text": HOSTILE})
    hostile = AttentionStack(**vars(stack) | {"query_tokens": labelled, "key_tokens": labelled})
    document = draw(view, [hostile], None, dark=False)
    data = data_of(document.html)["attention"]
    given = data["all"] if view == "neuron" else data[0]
    assert given["left_text"][0] == HOSTILE
    assert document.html.count("alert(1)") == document.html.count("\\u003cscript\\u003ealert(1)") > 0
    tags = Scripts(document.html).seen
    assert {attributes.get("nonce") for tag, attributes in tags if tag == "script"} == {document.nonce}
    assert sum(tag == "script" for tag, _ in tags) == 6
    assert not [attributes for _, attributes in tags if {"src", "href"} & set(attributes)]


def test_the_three_attentions_of_an_encoder_decoder(hub_engine):
    stacks = hub_engine("t5").trace(TEXT, PAIR, keep=KEEP).stacks
    names = {"self": None, "decoder": "Decoder", "cross": "Cross"}
    for stack in stacks:
        (given,) = data_of(draw("head", [stack], None, dark=False).html)["attention"]
        assert given["name"] == names[stack.kind]
        assert given["left_text"] == list(stack.query_tokens.tokens)
        assert given["right_text"] == list(stack.key_tokens.tokens)
        np.testing.assert_allclose(given["attn"], stack.weights, atol=5.1e-4)
    together = data_of(draw("model", stacks, [1], dark=False).html)["attention"]
    assert [part["name"] for part in together] == ["Encoder", "Decoder", "Cross"]
    assert not data_of(draw("neuron", [stacks[1]], None, dark=False).html)["bidirectional"]


def sized(layers: int, heads: int, tokens: int) -> AttentionStack:
    label = stack_of().query_tokens
    spread = np.broadcast_to(np.float32(0), (layers, heads, tokens, tokens))
    wide = np.broadcast_to(np.float32(0), (layers, heads, tokens, 64))
    return AttentionStack("self", label, label, weights=spread, query=wide, key=wide)


@pytest.mark.parametrize(
    ("view", "tokens", "alone"),
    [(view, most + more, more) for view, most in {"head": 64, "model": 32, "neuron": 26}.items() for more in (False, True)],
)
def test_what_was_measured_as_too_heavy_is_drawn_a_layer_at_a_time(view: str, tokens: int, alone: bool):
    assert one_layer_only(view, [sized(12, 12, tokens)]) is alone


@pytest.mark.parametrize("view", ["head", "model", "neuron"])
def test_a_layer_that_is_too_heavy_by_itself_is_refused_and_says_what_to_do(view: str):
    with pytest.raises(TextProblem, match="16 × 512 × 512"):
        one_layer_only(view, [sized(12, 16, 512)])


def test_heads_in_a_link_are_written_once_and_in_order():
    heads = next(field for field in FIELDS if field.name == "heads")
    assert (heads.read("2_1"), heads.write([2, 1]), heads.read(heads.write([]))) == ([1, 2], "1_2", [])
    for written in ("0", "1_", "1_1", "1-2", "1_1001", "\u0661", "all"):
        with pytest.raises(ValueError, match="must be numbers of 1 to 1000, each once"):
            heads.read(written)
