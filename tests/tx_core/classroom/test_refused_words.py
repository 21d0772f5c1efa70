"""Swear words are found by whole word, whatever their spelling; words that hold one are not."""

import json

import pytest

from tx_core.classroom.refused_words import is_refused, refused
from tx_core.engine import catalogue

DISGUISED = {
    "signs": ("Shit", "well, SH1T!", "$hiiit", "shít", "Niggers", "a fucking-word"),
    "set apart": ("f u c k", "s.h.i.t", "oh fu ck", "b-i-t-c-h", "w_a_n_k", "s*h*i*t"),
    "repeated": ("shhit", "fuuck", "biitchh", "ffagg otts", "waaaank"),
    "glued": ("fuckyou", "whatthefuck", "sonofabitch", "dumbasshole", "dumb_bastard", "absofuckinglutely"),
    "plural": ("arseholes", "pussies", "trannies", "tossers", "niggaz", "bitches", "spics"),
    "other letters": ("ѕhіt", "сunt", "fuсk", "ｆｕｃｋ", "wаnk", "κike"),
}
ORDINARY = (
    *("went", "class", "Scunthorpe", "cocktail", "as", "123", "", "Dick", "go!", "push it", "wash it", "this hit", "shiitake"),
    *("spices", "spice", "Niger", "Nigeria", "sniggers", "niggardly", "swank", "saltwater", "wristwatch", "Yamashita", "woop"),
    *(
        "woops",
        "a pass",
        "assess",
        "bass hole",
        "peacock",
        "Matsushita",
        "title",
        "titan",
        "tit for tat",
        "Pakistan",
        "pak choi",
        "fagus",
    ),
    *("the first word is I", "a b c d e f g", "who reads", "can't its", "кит и кот", "Στο τέλος", "pushy", "bullseye", "basted"),
    *("sluice", "wopsy-daisy", "butch", "batch", "whole", "shore", "pique", "ticket", "muck", "cant", "county", "tranquil"),
)


@pytest.mark.parametrize("how", DISGUISED)
def test_a_refused_word_is_found_in_any_simple_spelling(how: str):
    assert [word for word in DISGUISED[how] if not is_refused(word)] == []


def test_ordinary_words_pass_also_all_that_the_built_in_model_knows():
    assert [word for word in ORDINARY if is_refused(word)] == []
    tokenizer = json.loads((catalogue.MODELS / catalogue.DEFAULT / "tokenizer.json").read_text("utf-8"))
    known = [token for token in tokenizer["model"]["vocab"] if token.isalpha()]
    assert len(known) > 5000
    assert {word for word in known if is_refused(word)} <= refused()


def test_a_long_text_of_single_letters_is_read_at_once():
    assert not is_refused("f " * 500) and is_refused("f " * 500 + "u c k")
