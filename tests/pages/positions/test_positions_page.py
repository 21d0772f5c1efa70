"""The page of positions: what is drawn of each encoding is its formula, written out once more, or measured on the spot."""

import math

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest
from torch import Tensor

from pages.positions import texts
from pages.positions.encodings import ENCODING_VIEWS
from pages.ui.shell.numbers import NEARLY_UNCHANGED
from tests.support.staged import staged, staged_picture
from tx_core.engine import catalogue
from tx_core.lessons.position_encodings import BIAS_HEADS, SHAW_LIMIT, T5_BUCKETS
from tx_core.transformer.positions import rotary_angles, rotate, sinusoids, t5_buckets

SENTENCE = "He opened the [MASK] with a key."


def test_a_visit_and_a_sentence_alone_begin_with_shuffled_words_and_older_links_with_the_encodings(open_app):
    assert staged(open_app("positions"))["settings"]["part"] == "shuffle"
    assert staged(open_app("positions", text="Birds sing."))["settings"]["part"] == "shuffle"
    assert staged(open_app("positions", length="9"))["settings"]["part"] == "ways"


def measured(app) -> dict[str, list[str]]:
    return {name: cells for name, *cells in staged_picture(app, texts.MEASURED)["chart"]["rows"]}


def test_the_learned_table_is_far_from_consistent_and_position_0_stands_out(open_app):
    app = open_app("positions", part="demands", length="128")
    rows = {name: cells[-1] for name, cells in measured(app).items()}
    table = catalogue.load("embedded").model.embeddings.positions.weight[:128].detach().double().numpy()
    apart = np.array([[np.linalg.norm(one - other) for other in table] for one in table])
    spreads = [max(float(np.ptp(part.diagonal(k))) for k in range(1, len(part))) / part.max() for part in (apart, apart[1:, 1:])]
    learned, rest = (f"{spread:.3f}" for spread in spreads)
    random = rows["a new random table"].split()[-1]
    note = texts.LEARNED_TABLE_NOTE.format(learned=learned, rest=rest, random=random)
    assert staged_picture(app, texts.MEASURED)["sentence"] == note
    assert rows["learned table"].split() == ["✗", learned]
    assert spreads[1] < spreads[0]
    assert apart[0, 1:].min() > apart[1:, 1:].max()


@pytest.mark.parametrize(("text", "meaning"), [("dog dog dog", texts.SAME_ORDER), (SENTENCE, texts.ORDER_MATTERS)])
def test_whether_order_matters_is_described_by_what_moved(open_app, text, meaning):
    sentence = staged_picture(open_app("positions", text=text, part="shuffle"), texts.CHANGE_BY_TOKEN)["sentence"]
    assert f": {meaning}. Without" in sentence
    assert sentence.endswith(f": {meaning if text != SENTENCE else NEARLY_UNCHANGED}.")


LENGTH, WIDTH, HEAD = 24, 64, 3
"""The sizes of the pictures below; heads are counted from 1."""


def learned() -> Tensor:
    """The scores of the model's first layer, where LayerNorm(W[mask] + P[t] + S[0]) enters."""
    engine = catalogue.load("embedded")
    parts, block = engine.model.embeddings, engine.model.encoder.blocks[0].attention
    summed = parts.words.weight[engine.tokenizer.mask_id] + parts.positions.weight[:LENGTH] + parts.segments.weight[0]
    read = torch.nn.functional.layer_norm(summed, summed.shape[1:], parts.norm.weight, parts.norm.bias, parts.norm.eps)
    size = summed.shape[1] // engine.info.num_heads
    query, key = ((read @ part.weight.T + part.bias).split(size, dim=1)[HEAD - 1] for part in (block.query, block.key))
    return (query @ key.T / math.sqrt(size)).detach()


def by_formula(scheme: str) -> Tensor:
    """The scores of an encoding, from its formula; random tables are drawn after the word. tests/tx_core holds its parts."""
    generator, root = torch.Generator().manual_seed(0), math.sqrt(WIDTH)
    word = torch.randn(WIDTH, generator=generator).expand(LENGTH, WIDTH)
    plain, apart = word @ word.T, torch.arange(LENGTH) - torch.arange(LENGTH)[:, None]
    if scheme == "sinusoidal":
        read = word + sinusoids(LENGTH, WIDTH)
        return read @ read.T / root
    if scheme == "rotary":
        turned = rotate(word, rotary_angles(LENGTH, WIDTH))
        return turned @ turned.T / root
    if scheme == "shaw":
        table = torch.randn(2 * SHAW_LIMIT + 1, WIDTH, generator=generator)
        return (plain + table[apart.clamp(-SHAW_LIMIT, SHAW_LIMIT) + SHAW_LIMIT] @ word[0]) / root
    if scheme == "t5":
        table = torch.randn(T5_BUCKETS, BIAS_HEADS, generator=generator)
        return plain + table[t5_buckets(LENGTH, LENGTH, buckets=T5_BUCKETS), HEAD - 1]
    return plain / root - 2.0**-HEAD * apart.abs() if scheme == "alibi" else learned()


def stage(open_app, scheme: str, length: int = LENGTH) -> AppTest:
    return open_app("positions", scheme=scheme, length=str(length), width=str(WIDTH), head=str(HEAD))


@pytest.mark.parametrize("scheme", ENCODING_VIEWS)
def test_the_effect_on_scores_is_that_of_the_formula(open_app, scheme):
    scores, app = by_formula(scheme), stage(open_app, scheme)
    np.testing.assert_allclose(staged_picture(app, texts.SCORES)["values"], scores - scores.mean(), atol=1e-4)
    np.testing.assert_allclose(staged_picture(app, texts.WEIGHTS)["values"], scores.softmax(-1), atol=1e-5)
