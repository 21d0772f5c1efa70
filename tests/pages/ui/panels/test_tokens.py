"""What a page says of a text that the model's vocabulary hardly knows."""

import numpy as np
import pytest

from pages.contents import PAGES
from pages.ui.panels import texts
from pages.ui.panels.tokens import MAX_PIECES_PER_WORD, is_foreign
from pages.ui.shell import cache, controls
from pages.ui.shell import texts as shell_texts
from tx_core.corpus.sentence_file import embedded_sentences
from tx_core.engine import catalogue
from tx_core.fill_mask.predictions import predict
from tx_core.transformer.trace import Encoding

FOREIGN = (
    "Der Hund schläft auf dem Sofa.",
    "Pies śpi na kanapie.",
    "Hunden sover på soffan.",
    "Köpek kanepede uyuyor.",
    "Собака спит на диване.",
    "狗在沙发上睡觉。",
    "犬がソファで寝ている。",
    "الكلب ينام على الأريكة",
)
ENGLISH = "The dog sleeps on the sofa."


def encoding(*pieces: int, unknown: tuple[int, ...] = (), sign: bool = False) -> Encoding:
    """A text whose words have these numbers of pieces, in special tokens; the last may be a sign."""
    words = [number for number, count in enumerate(pieces) for _ in range(count)]
    count = len(words) + 2
    spelled = tuple("." if sign and number == len(pieces) - 1 else "word" for number in range(len(pieces)))
    special = (True, *[False] * len(words), True)
    return Encoding("", None, (7,) * count, ("x",) * count, (0,) * count, special, (None, *words, None), spelled, (), unknown)


def test_the_rule_counts_the_pieces_of_words_and_not_signs_or_special_tokens():
    assert MAX_PIECES_PER_WORD == 1.8
    assert not is_foreign(encoding(1, 1, 1, 1, 5))  # 9 pieces in 5 words
    assert is_foreign(encoding(1, 1, 1, 1, 6))
    assert is_foreign(encoding(2, 2, 1, sign=True))  # 2 pieces a word without the sign, 1.67 with it
    assert is_foreign(encoding(1, 1, 1, 1, unknown=(2,)))
    assert not is_foreign(encoding())


def test_sentences_of_other_languages_fall_apart_and_english_ones_do_not():
    engine = cache.engine("embedded")
    assert all(is_foreign(engine.encode(sentence)) for sentence in FOREIGN)
    assert [sentence for sentence in embedded_sentences().texts if is_foreign(engine.encode(sentence))] == []
    assert not is_foreign(engine.encode("The quokka photosynthesises in the old barn near the river."))


def test_without_special_tokens_the_embedded_model_predicts_otherwise_and_its_heads_look_elsewhere():
    """That it never read a text so in training is held by the test that gives every batch its first and last token."""
    usual, bare = (cache.engine("embedded", special_tokens=added) for added in (True, False))
    sentences = ("Paris is the capital of [MASK].", "Yesterday I [MASK] to school.")
    words = [[predict(engine, text).blanks[0].predictions[0].word for text in sentences] for engine in (usual, bare)]
    assert words[0] == ["france", "went"]
    assert not {*words[0]} & {*words[1]}
    for text in sentences:
        own = usual.trace(text).attention.weights[:, :, 1:-1, 1:-1]
        moved = np.abs(own / own.sum(-1, keepdims=True) - bare.trace(text).attention.weights).sum(-1) / 2
        assert moved.mean() > 0.3


@pytest.mark.parametrize(
    "page",
    ["attention", "fill_mask", "compare", "summaries", "bertviz_page", "self_attention", "heads_and_blocks", "masks", "bert"],
)
def test_every_page_with_a_sentence_says_that_the_model_reads_english_only(open_app, page: str):
    assert page in {entry.key for entry in PAGES}
    said = [[notice.value for notice in open_app(page, text=text).info] for text in (FOREIGN[0], ENGLISH)]
    assert [texts.ENGLISH_ONLY in notices for notices in said] == [True, False]


def test_a_multilingual_model_is_one_click_away_where_it_can_be_had(open_app, monkeypatch: pytest.MonkeyPatch, checkpoint):
    directory = checkpoint("bert")
    monkeypatch.setattr(catalogue, "fetch", lambda _hub_id, _revision: directory)
    monkeypatch.setattr(catalogue.hub_reach, "out_of_reach", lambda: frozenset())
    app = open_app(text=FOREIGN[0])
    name = "bert-base-multilingual-cased"
    offered = app.button(key="attention_model_multilingual")
    assert offered.label == shell_texts.USE_MODEL.format(model=controls.model_title(name))
    offered.click().run()
    assert not app.exception
    assert app.session_state["attention_model"] == name
    assert texts.ENGLISH_ONLY not in [notice.value for notice in app.info]


def test_a_model_that_cannot_be_had_is_not_offered(open_app, monkeypatch: pytest.MonkeyPatch):
    missing = frozenset(card.name for card in catalogue.catalogue() if card.hub_id)
    monkeypatch.setattr(catalogue.hub_reach, "out_of_reach", lambda: missing)
    app = open_app(text=FOREIGN[0])
    assert texts.ENGLISH_ONLY in [notice.value for notice in app.info]
    assert "attention_model_multilingual" not in [button.key for button in app.button]


def test_only_models_of_the_catalogue_are_said_to_read_english_only():
    assert catalogue.reads_english_only("embedded")
    for name in ("bert-base-multilingual-cased", "t5-small", "someone/model", "local:own"):
        assert not catalogue.reads_english_only(name)
