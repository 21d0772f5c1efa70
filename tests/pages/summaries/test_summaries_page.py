"""The page of summaries: links, texts and limits; every number is the core's; and what it shows of other models."""

import re

import numpy as np
import pytest
from scipy.stats import kendalltau
from streamlit.testing.v1 import AppTest

from pages.summaries import texts
from pages.summaries.attribution import describe_agreement
from pages.summaries.kinds import rows_of, summarise
from pages.ui.shell.numbers import whole_percent
from pages.ui.stage import texts as stage_texts
from pages.ui.stage.heads import UNDESCRIBED, describe_grammar, describe_head, grammar_cells, kind_styles
from tests.support.staged import looked_at, stage_says, staged
from tx_core.analysis.attribution import attribute
from tx_core.analysis.grammar import TREEBANK_NAME, grammar_of
from tx_core.analysis.patterns import name_heads, pattern_sums
from tx_core.analysis.rollout import flow, rollout
from tx_core.analysis.similarity import head_similarity, most_similar_heads
from tx_core.analysis.sinks import attention_sinks
from tx_core.analysis.value_weighted import row_shares
from tx_core.fill_mask.predictions import predict
from tx_core.transformer.interventions import Intervention

PAGE = "summaries"
TEXT = "She [MASK] the letter, and then the [MASK] came."


@pytest.fixture(scope="module")
def stack(engine):
    return engine.trace(TEXT, keep=("weights", "value")).attention


def matrices(app: AppTest, **looks: str) -> dict[str, np.ndarray]:
    return {one["chart"]["title"]: one["values"] for one in looked_at(app, **looks) if one["chart"]["kind"] == "matrix"}


def test_the_layers_are_drawn_as_rollout_and_flow_have_them(open_app, stack):
    app = open_app(PAGE, text=TEXT, part="layers", token="5")
    assert not app.exception
    np.testing.assert_allclose(matrices(app)[texts.FLOW], row_shares(flow(stack.weights, 4)), atol=1e-6)
    assert len({one["chart"]["limit"] for one in looked_at(app)}) == 1
    other = matrices(app, token="2")  # looked at before flow is solved for it
    np.testing.assert_allclose(other[texts.ROLLED], rollout(stack.weights)[:, 1], atol=1e-6)
    assert staged(app)["partial"] == {"token": ["5"]}


def test_the_nearest_heads_of_every_head_are_sent(open_app, stack):
    app = open_app(PAGE, text=TEXT, part="alike")
    similarities = head_similarity(stack.weights)
    for number in (1, 47):
        points, nearest = looked_at(app, heads=f"{number // 8 + 1}-{number % 8 + 1}")
        found = most_similar_heads(similarities, number, 5)
        assert (points["chart"]["chosen"], points["chart"]["neighbours"]) == (number, [other for other, _ in found])
        assert [float(row[2]) for row in nearest["chart"]["rows"]] == pytest.approx([share for _, share in found], abs=1e-3)
        assert nearest["choices"] == [f"{other // 8 + 1}-{other % 8 + 1}" for other, _ in found]


def test_the_share_of_a_token_is_said_as_a_mean_over_queries_and_of_all_that_the_head_adds(open_app, engine):
    """The numbers of the sentence, made vector by vector; in this head the two shares differ by half."""
    layer, head = 2, 0
    stack = engine.trace(texts.FIRST_TEXT, keep=("weights", "value")).attention
    brought = stack.value[layer, head].astype(np.float64) @ engine.output_projection(layer)[head]
    added = stack.weights[layer, head].astype(np.float64)[:, :, None] * brought
    lengths = np.sqrt((added**2).sum(axis=-1))
    of_rows = np.mean([row / row.sum() for row in lengths], axis=0)
    of_all = lengths.sum(axis=0) / lengths.sum()
    received = stack.weights[layer, head].mean(axis=0)
    assert of_rows[0] > 1.5 * of_all[0]
    numbers = f"{received[0]:.2f}", f"{of_rows[0]:.2f}", f"{of_all[0]:.2f}"
    app = open_app(PAGE, text=texts.FIRST_TEXT, part="values", heads="3-1")
    told = stage_says(app)
    assert re.findall(r"0\.\d\d", told.partition("is at 1 [CLS]")[2]) == list(numbers)
    app.session_state[f"{PAGE}_table"] = True
    table = app.run().dataframe[-1].value
    np.testing.assert_allclose(table[list(texts.VALUES_COLUMNS[3:])], np.stack([of_rows, of_all], axis=1), atol=1e-4)


def test_what_is_said_of_attention_sinks_is_true_of_the_embedded_model(open_app, engine):
    found = attention_sinks(engine.trace(texts.FIRST_TEXT, keep=("weights", "value")).attention)
    told = " ".join(texts.SINKS_FOUND)
    for layer in (4, 0):  # where attention rests, and the counter-example
        lengths = (array[layer].mean() for array in (found.sink_lengths, found.other_lengths))
        assert "{:.2f} against {:.2f}".format(*lengths) in told
        assert f": {whole_percent(found.shares[layer].mean())}" in told
    assert found.shares.mean(axis=1).argmax() == 4
    assert found.shares[0].mean() < found.even + 0.06

    def answers(*hidden: int) -> tuple[list[str], dict[str, str]]:
        changes = [Intervention("hidden", positions=(position,)) for position in hidden]
        best = predict(engine, texts.FIRST_TEXT, interventions=changes).blanks[0].predictions
        return [one.word for one in best], {one.word: whole_percent(one.probability) for one in best}

    first, last = found.positions
    before, both, alone = answers(), answers(first, last), answers(last)
    assert (before[0][0], both[0][0], alone[0][0]) == ("coffee", "wine", "coffee")
    assert f"from {before[1]['coffee']} to {both[1]['coffee']}" in told and f"stays at {alone[1]['coffee']}" in told
    without = engine.trace(texts.FIRST_TEXT, interventions=[Intervention("hidden", positions=(last,))]).attention.weights
    own = [place for place in range(len(without[0, 0])) if place not in found.positions]
    assert f"with {whole_percent(without[4][:, own, first].mean())}" in told

    shown = looked_at(open_app(PAGE, text=texts.FIRST_TEXT, part="sinks"))[:2]
    for picture, arrays in zip(shown, ((found.shares,), (found.sink_lengths, found.other_lengths)), strict=True):
        np.testing.assert_allclose(picture["values"][: len(arrays)], [array.mean(axis=1) for array in arrays], atol=1e-5)


@pytest.mark.parametrize("text", [texts.FIRST_TEXT, TEXT])
def test_attention_and_gradients_are_ranked_by_size_and_not_by_signed_value(engine, text: str):
    """What the sentence says: the order of signed values, which the bars show, agrees to another number."""
    filling = predict(engine, text, top_k=1)
    blank = filling.blanks[0]
    found = attribute(engine, filling.encoding, blank.place, blank.predictions[0].id)
    weights = engine.trace(text).attention.weights[:, :, blank.place].mean(axis=(0, 1))
    own = [place for place, special in enumerate(filling.encoding.special) if not special and place != blank.place]
    told = describe_agreement(found, weights)
    for values in (found.integrated, found.gradient_input):
        by_size, signed = (kendalltau(weights[own], part[own]).statistic for part in (np.abs(values), values))
        assert f" to {by_size:.2f}" in told
        assert f"{by_size:.2f}" != f"{signed:.2f}" and f" to {signed:.2f}" not in told


def table_of(app: AppTest, **looks: str) -> dict:
    return looked_at(app, **looks)[0]


def test_every_head_has_its_kind_and_confidence_in_the_table(open_app, engine, stack):
    app = open_app(PAGE, text=TEXT, heads="3-4")
    assert not app.exception
    table = table_of(app)
    shown = table["chart"]
    found = name_heads(pattern_sums(stack.weights, stack.query_tokens))
    kinds = kind_styles(stack.query_tokens)
    flat = [cell for row in shown["cells"] for cell in row]
    bound = {place: relations[0] for place, relations in grammar_of(engine.name).items()}
    for cell, head in zip(flat, found, strict=True):
        relation = bound.get((head.layer, head.head)) if head.kind in UNDESCRIBED else None
        word = stage_texts.GRAMMAR_WORDS[relation.relation] if relation else kinds[head.kind].word
        number = f"{whole_percent(relation.accuracy)}†" if relation else f"{head.confidence:.2f}"
        assert (cell["word"], cell["number"]) == (word, number)
    assert any(head.kind in UNDESCRIBED and (head.layer, head.head) in bound for head in found)
    assert {entry["name"] for entry in shown["legend"]} >= {stage_texts.GRAMMAR_TARGET} and "†" in stage_texts.GRAMMAR_TARGET
    assert (len(shown["cells"]), len(shown["cells"][0])) == (engine.info.num_layers, engine.info.num_heads)
    assert (table["chooses"], table["choices"][2 * 8 + 3]) == ("heads", "3-4")
    summary = summarise(engine.name, stack)
    for layer, head in ((2, 3), (0, 7)):  # all are sent
        assert describe_head(summary, (layer, head)) in stage_says(app, heads=f"{layer + 1}-{head + 1}")
    assert describe_head(summary, (0, 7)).startswith("Layer 1, head 8 looks at the token before")  # in plain words first
    pair = summarise(engine.name, engine.trace(TEXT, "It rains.").attention)  # of the same sentence with another
    assert describe_head(pair, (2, 3)) in stage_says(open_app(PAGE, text=TEXT, pair="It rains.", heads="3-4"))


def test_every_relation_of_grammar_is_described_with_its_baseline(open_app, engine):
    grammar = grammar_of(engine.name)
    followed = {(one.relation, one.direction) for relations in grammar.values() for one in relations}
    assert followed <= set(stage_texts.GRAMMAR_LINKS)
    place, (first, *_) = next(iter(grammar.items()))
    app = open_app(PAGE, text=TEXT, colour="grammar", heads=f"{place[0] + 1}-{place[1] + 1}")
    described = describe_grammar(engine.name, place)
    assert described in stage_says(app)
    for part in (
        stage_texts.GRAMMAR_LINKS[first.relation, first.direction],
        whole_percent(first.accuracy),
        whole_percent(first.baseline),
        f"{first.occurrences:,}",
        TREEBANK_NAME,
        stage_texts.GRAMMAR_LEAVES_OUT,
    ):
        assert part in described
    cell = table_of(app)["chart"]["cells"][place[0]][place[1]]
    assert (cell["word"], cell["strength"]) == (stage_texts.GRAMMAR_WORDS[first.relation], first.accuracy)


def test_a_model_that_was_not_measured_says_so_and_has_no_kinds_from_grammar(engine, stack):
    assert describe_grammar("some-other-model", (1, 5)) == stage_texts.GRAMMAR_NOT_MEASURED
    without = next(place for place in np.ndindex(6, 8) if place not in grammar_of(engine.name))
    assert describe_grammar(engine.name, without) == stage_texts.NO_GRAMMAR.format(points=10, treebank=TREEBANK_NAME)
    cells, _ = grammar_cells("some-other-model", 2, 3)
    assert {(cell.word, cell.strength) for cell in cells} == {(stage_texts.NO_RELATION, 0.0)}
    rows = {tuple(row[name] for name in stage_texts.GRAMMAR_COLUMNS) for row in rows_of(summarise("other", stack))}
    assert rows == {(stage_texts.NOT_MEASURED, None, None, None, None)}
