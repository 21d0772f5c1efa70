"""What a page says of a text that the model's vocabulary hardly knows."""

import pytest

from pages.bert import compare as bert_compare
from pages.ui.shell import controls
from pages.ui.shell import texts as shell_texts
from pages.ui.stage import texts as stage_texts
from pages.ui.stage.tokens import MAX_SPLIT_SHARE, MIN_SPLIT_WORDS, is_foreign
from tx_core.engine import catalogue
from tx_core.transformer.trace import Encoding

FOREIGN = "Der Hund schläft auf dem Sofa."


def encoding(*words: str, cut: int, unknown: tuple[int, ...] = ()) -> Encoding:
    """A text of these words between special tokens, the first of them cut into two pieces each."""
    numbers = [number for number in range(len(words)) for _ in range(2 if number < cut else 1)]
    count = len(numbers) + 2
    special = (True, *[False] * len(numbers), True)
    return Encoding("", None, (7,) * count, ("x",) * count, (0,) * count, special, (None, *numbers, None), words, (), unknown)


def test_the_rule_counts_words_that_are_cut_and_no_names_or_signs():
    assert (MAX_SPLIT_SHARE, MIN_SPLIT_WORDS) == (0.5, 2)
    assert is_foreign(encoding("a", "b", "c", cut=2))
    assert not is_foreign(encoding("a", "b", "c", "d", cut=2))
    assert is_foreign(encoding("a", "b", "c", "D", ".", "7", cut=2))
    assert not is_foreign(encoding("A", "B", "c", cut=2))
    assert not is_foreign(encoding("a", cut=1))
    assert is_foreign(encoding("a", "b", cut=0, unknown=(2,)))
    assert not is_foreign(encoding(cut=0))
    assert not is_foreign(encoding("so", "happy", "😀🎉", "^", cut=0, unknown=(3, 4)))


def test_a_multilingual_model_is_one_click_away_where_it_can_be_had(open_app, monkeypatch: pytest.MonkeyPatch, checkpoint):
    bert_compare.library.start().join()  # which another page may have begun to import, and which is not whole until then
    directory = checkpoint("bert")
    monkeypatch.setattr(catalogue, "fetch", lambda _hub_id, _revision: directory)
    monkeypatch.setattr(catalogue.hub_reach, "out_of_reach", lambda: frozenset())
    app = open_app(text=FOREIGN)
    name = "bert-base-multilingual-cased"
    offered = app.button(key="attention_model_multilingual")
    assert offered.label == shell_texts.USE_MODEL.format(model=controls.model_title(name))
    offered.click().run()
    assert not app.exception
    assert app.session_state["attention_model"] == name
    assert stage_texts.ENGLISH_ONLY not in [notice.value for notice in app.info]


def test_a_model_that_cannot_be_had_is_not_offered(open_app, monkeypatch: pytest.MonkeyPatch):
    missing = frozenset(card.name for card in catalogue.catalogue() if card.hub_id)
    monkeypatch.setattr(catalogue.hub_reach, "out_of_reach", lambda: missing)
    app = open_app(text=FOREIGN)
    assert stage_texts.ENGLISH_ONLY in [notice.value for notice in app.info]
    assert stage_texts.ENGLISH_ONLY not in [notice.value for notice in open_app(text="The dog sleeps on the sofa.").info]
    assert "attention_model_multilingual" not in [button.key for button in app.button]
