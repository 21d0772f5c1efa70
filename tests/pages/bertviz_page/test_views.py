"""bertviz draws our run: the numbers and tokens that it is handed are the record's, and no token gets out of its string."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from pages.bertviz_page.frame import MAX_SENT_NUMBERS, has_bias, load_of, one_layer_only
from pages.bertviz_page.views import FIELDS, MAX_CHOICE_CHARACTERS, Extent, choice_line, draw, read_choice, read_heads
from tests.support.checkpoints import HEAD_DIM
from tx_core.engine import catalogue
from tx_core.engine.hub import load
from tx_core.errors import TextProblem
from tx_core.transformer.trace import AttentionStack, Encoding

TEXT, PAIR = "time flies like an arrow", "fruit flies"
HOSTILE = "</script><script>alert(1)</script>; // HACK: PYTHON_PARAMS <!--\u2028 & const params = {}"
KEEP = ("weights", "query", "key")


def stack_of(text: str = TEXT, pair: str = "") -> AttentionStack:
    return catalogue.load("embedded").trace(text, pair or None, keep=KEEP).attention


def data_of(html: str) -> dict:
    """The data within a document, once: as a browser reads them."""
    (found,) = re.findall(r"^\s*(?:const params|window\.bertviz_params) = begin\((\{.*\})\);", html, flags=re.MULTILINE)
    return json.loads(found)


class Scripts(HTMLParser):
    """The opening tags of a page, as a browser sees them."""

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


def test_a_pair_is_also_drawn_sentence_by_sentence():
    stack = stack_of(TEXT, PAIR)
    named = {part["name"]: part for part in data_of(draw("head", [stack], None, dark=False).html)["attention"]}
    first = stack.query_tokens.segments.index(1)
    crossing = named["Sentence A -> Sentence B"]
    assert crossing["right_text"] == list(stack.query_tokens.tokens[first:])
    np.testing.assert_allclose(crossing["attn"], stack.weights[:, :, :first, first:], atol=5.1e-4)


@pytest.mark.parametrize(("family", "scale", "biased"), [("t5", 1.0, True), ("gpt2", HEAD_DIM**-0.5, False)])
def test_the_neuron_view_scales_products_as_the_model_does(hub_engine, family: str, scale: float, biased: bool):
    stack = hub_engine(family).trace(TEXT, keep=(*KEEP, "scores")).attention
    html = draw("neuron", [stack], [1], dark=False).html
    assert f"var scaledDotProduct = dotProduct * [{scale}][config.layer]" in html
    assert has_bias(stack) == biased
    if not biased:
        products = np.einsum("lhqd,lhkd->lhqk", stack.query, stack.key)
        np.testing.assert_allclose(stack.scores, products * scale, atol=1e-4)


def test_the_neuron_view_of_our_own_bert_divides_by_the_root_of_the_size():
    stack = catalogue.load("embedded").trace(TEXT, keep=(*KEEP, "scores")).attention
    layers, size = len(stack.query), stack.query.shape[-1]
    assert f"dotProduct * {[size**-0.5] * layers}[config.layer]" in draw("neuron", [stack], None, dark=False).html
    assert not has_bias(stack)


@pytest.mark.parametrize("view", ["head", "model", "neuron"])
def test_one_layer_alone_keeps_its_number(view: str):
    stack = stack_of()
    html = draw(view, [stack], [2], dark=False).html
    data = data_of(html)
    if view == "neuron":
        np.testing.assert_allclose(data["attention"]["all"]["attn"][0], stack.weights[2], atol=5.1e-4)
        assert 'options[0].text = "2"' in html
    else:
        np.testing.assert_allclose(data["attention"][0]["attn"][0], stack.weights[2], atol=5.1e-4)
        assert data["include_layers"] == [2]


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


@pytest.mark.parametrize("family", ["t5", "bart"])
def test_the_three_attentions_of_an_encoder_decoder(checkpoint, family: str):
    stacks = load.load_engine(checkpoint(family), family, family).trace(TEXT, PAIR, keep=KEEP).stacks
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
    """A stack whose arrays take no memory, of any size."""
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


def test_the_longest_text_of_the_embedded_model_can_be_drawn_in_every_view():
    engine = catalogue.load("embedded")
    longest = sized(engine.info.num_layers, engine.info.num_heads, engine.info.max_tokens)
    alone = {view: one_layer_only(view, [longest]) for view in ("head", "model", "neuron")}
    numbers = load_of("head", [longest]).numbers
    assert numbers == engine.info.num_layers * engine.info.num_heads * engine.info.max_tokens**2
    assert alone == {"head": numbers > MAX_SENT_NUMBERS, "model": True, "neuron": True}
    document = draw("head", [engine.trace("tea " * 126).attention], [0] if alone["head"] else None, dark=False)
    assert len(document.html) < 8 * MAX_SENT_NUMBERS


EXTENT = Extent(range(4), 5, 3, 7)
VIEWS = ("head", "model", "neuron")
DEFAULTS = {field.name: field.default for field in FIELDS}


NONSENSE = (
    *(None, 7, b"layer=1", ["layer=1"], {"layer": 1}, "layer", "layer=", "layer=1&", "&layer=1", "layer=1&layer=2", "layer=1=1"),
    *("layer=4", "layer=-1", "layer=01234", "layer=1.0", "layer=1e0", "layer= 1", "layer=\u0661", "layer=1\n", "LAYER=1"),
    *("layer=0_1", "head=5", "heads=5", "heads=0_", "heads=_", "heads=0_0_9", "heads=0&heads=1", "filter=3", "token=7"),
    *("text=1", "__proto__=1", "layer=<img src=x onerror=alert(1)>", "heads=" + "_".join("0" * MAX_CHOICE_CHARACTERS)),
)


@pytest.mark.parametrize("view", VIEWS)
def test_nonsense_from_a_frame_is_no_choice(view: str):
    assert [told for told in NONSENSE if read_choice(view, told, EXTENT) is not None] == []


def test_heads_in_a_link_are_written_once_and_in_order():
    for written in ("", "0", "1_", "2_1", "1_1", "1-2", "1_1001", "\u0661", "all"):
        with pytest.raises(ValueError, match="must be written like"):
            read_heads(written)


@given(some.sampled_from(VIEWS), some.text() | some.from_regex(r"(layer|heads?|filter|token)=[0-9_]{0,4}(&[a-z]+=[0-9_]+)*"))
def test_whatever_a_frame_tells_nothing_is_chosen_but_what_is_there(view: str, told: str):
    chosen = DEFAULTS | (read_choice(view, told, EXTENT) or {})
    assert chosen.keys() == DEFAULTS.keys()
    assert chosen["layer"] - 1 in EXTENT.layers
    assert 1 <= chosen["head"] <= EXTENT.heads
    assert set(chosen["heads"]) < set(range(1, EXTENT.heads + 1))
    assert 1 <= chosen["filter"] <= EXTENT.filters
    assert 0 <= chosen["token"] <= EXTENT.tokens


@some.composite
def choices(draw: some.DrawFn) -> tuple[str, Extent, dict[str, object]]:
    """A view, what there is to choose from, and fields that hold a choice from it."""
    heads, filters, tokens = (draw(some.integers(1, most)) for most in (16, 5, 40))
    layers = draw(some.integers(0, 20))
    extent = Extent(range(layers, layers + draw(some.integers(1, 24))), heads, filters, tokens)
    on = draw(some.sets(some.integers(1, heads), max_size=heads - 1))
    chosen = {
        "layer": draw(some.sampled_from(extent.layers)) + 1,
        "head": draw(some.integers(1, heads)),
        "heads": tuple(sorted(on)),
        "filter": draw(some.integers(1, filters)),
        "enlarged": draw(some.booleans()),
        "token": draw(some.integers(0, tokens)),
    }
    return draw(some.sampled_from(VIEWS)), extent, chosen


@given(choices())
def test_what_a_drawing_begins_with_is_what_it_tells_and_a_link_brings_it_back(choice):
    view, extent, chosen = choice
    line = choice_line(view, chosen, extent)
    told = chosen | read_choice(view, line, extent)
    assert choice_line(view, told, extent) == line
    assert told == chosen
    written = {field.name: field.write(told[field.name]) for field in FIELDS if told[field.name] != field.default}
    assert DEFAULTS | {field.name: field.read(written[field.name]) for field in FIELDS if field.name in written} == chosen


def test_what_another_model_lacks_gives_way_to_the_last_that_is_there_or_to_nothing():
    chosen = {"layer": 12, "head": 12, "heads": (2, 12), "filter": 5, "enlarged": True, "token": 90}
    lines = [choice_line(view, chosen, EXTENT) for view in VIEWS]
    assert lines == ["layer=3&heads=1", "layer=3&head=4", "layer=3&head=4"]
    assert choice_line("head", chosen | {"heads": (9, 12)}, EXTENT) == "layer=3"
    assert choice_line("neuron", chosen, Extent(range(7, 8), 2, 1, 3)) == "layer=7&head=1"
