"""Find heads on the page: two words that are clicked, conditions, a file of one's own, and what cannot be found."""

import pytest
from streamlit.testing.v1 import AppTest

from pages.many_sentences import texts
from pages.many_sentences.relation import name_relation, relation_of_pair
from pages.ui.shell.numbers import whole_percent
from pages.ui.stage import texts as stage_texts
from pages.ui.stage.heads import distance_in_words
from pages.ui.stage.texts import GRAMMAR_LINKS
from pages.ui.stage.tokens import escape_markdown
from tests.support.drawings import says
from tests.support.sentences_page import KIND, PAGE, Open, links, numbers_of, press, shown_head, upload
from tests.support.staged import staged, staged_pictures
from tests.support.trainings import until_still
from tests.tx_core.corpus.test_find_heads import CONLLU
from tx_core import Condition, Relation, find_heads, load
from tx_core.corpus.find_heads import NOT_ANNOTATED
from tx_core.corpus.sentence_file import embedded_sentences
from tx_core.corpus.words import WRONG_COLUMNS


def relation_asked(app: AppTest) -> tuple[str, ...]:
    return tuple(app.session_state[f"{PAGE}_{name}"] for name in ("query_in", "query", "link", "key_in", "key"))


def pair_of(words: str, text: str) -> list[int]:
    forms = [word.form for word in embedded_sentences().annotated[text]]
    return [forms.index(word) for word in words.split()]


CLOSED = "The old man closed the door and went home."


def test_the_best_head_of_a_relation_is_shown_first_with_its_baselines_and_sentences_one_click_away(open_app: Open):
    app = open_app(PAGE, part="find")
    found = find_heads(load("embedded"), Relation(query=Condition("deprel", "obj"), link="head"))
    assert staged(app)["view"]["heads"] == "2-7" and found.best == (1, 6)
    assert f"looking {distance_in_words(found.offset)}" in shown_head(app)["sentence"]
    low, high = found.interval((1, 6))
    said = shown_head(app)["sentence"]
    for number in (found.shares[1, 6], low, high, found.baseline, found.chance):
        assert whole_percent(float(number)) in said
    assert f"of {found.occurrences} words" in said
    grid = staged_pictures(app)[0]
    assert grid["chart"]["title"] == texts.FOUND_TITLE.format(relation=GRAMMAR_LINKS["obj", "to head"])
    assert sum(cell["colour"] != grid["chart"]["cells"][0][0]["colour"] for row in grid["chart"]["cells"] for cell in row) == 2
    assert len(links(app)) == 6 and all("heads=2-7" in link and "focus=" in link for link in links(app))
    numbers = numbers_of(app).set_index(["layer", "head"])
    assert numbers.loc[(2, 7), "share"] == pytest.approx(found.shares[1, 6], abs=1e-4)
    assert set(numbers["occurrences"]) == {found.occurrences}


def test_two_words_that_are_clicked_become_the_relation_that_they_have(open_app: Open):
    app = open_app(PAGE, part="find", heads="1-1")
    assert staged(app)["view"]["heads"] == "1-1"  # a link that names a head shows it
    app.button_group(key=f"{PAGE}_pair_words").set_value(pair_of("closed door", CLOSED)).run()
    assert [app.session_state[f"{PAGE}_{name}"] for name in ("query", "key_in", "key", "link")] == [
        "",
        "deprel",
        "obj",
        "dependent",
    ]
    assert staged(app)["view"]["heads"] == "2-6"  # the best of the new relation
    app.button(key=f"{PAGE}_reverse").click().run()
    assert relation_asked(app) == ("deprel", "obj", "head", "form", "") and not app.exception
    assert GRAMMAR_LINKS["obj", "to head"] in staged_pictures(app)[0]["chart"]["title"]
    app.button(key=f"{PAGE}_reverse").click().run()
    app.button_group(key=f"{PAGE}_pair_how").set_value("parts").run()
    assert relation_asked(app) == ("upos", "VERB", "any", "upos", "NOUN")
    app.button_group(key=f"{PAGE}_pair_how").set_value("words").run()
    assert relation_asked(app) == ("form", "closed", "any", "form", "door")
    app.button_group(key=f"{PAGE}_pair_how").set_value("dependency").run()
    app.button_group(key=f"{PAGE}_pair_words").set_value(pair_of("old door", CLOSED)).run()
    assert texts.NOT_LINKED in says(app)
    app.button_group(key=f"{PAGE}_pair_words").set_value(pair_of("old", CLOSED)).run()
    assert texts.PAIR_SHOWN.format(relation=GRAMMAR_LINKS["obj", "to dependent"]) in says(app)


def test_what_words_must_match_is_no_markup(open_app: Open):
    app = open_app(PAGE, part="find", query="**x** :red[y]", query_in="form")
    labels = [box.proto.popover.label for box in app.get("popover")]
    assert any(escape_markdown("**x** :red[y]") in label for label in labels)


def test_a_relation_is_named_as_grammar_names_it_and_any_other_by_its_conditions():
    words = embedded_sentences().annotated[CLOSED]
    old, man, door = pair_of("old man door", CLOSED)
    assert name_relation(relation_of_pair(words, man, man + 1, "dependency")) == GRAMMAR_LINKS["nsubj", "to head"]
    assert relation_of_pair(words, old, door, "dependency") is None
    assert name_relation(Relation(Condition("form", "she"), Condition("upos", "VERB"), "head")) == texts.RELATION_NAME.format(
        query="word “she”", goal="its head, part of speech “VERB”"
    )


def test_a_miss_names_the_word_that_was_expected_and_what_a_predicate_is_after_be(open_app: Open):
    listing = shown_head(open_app(PAGE, part="find", query="nsubj"))["chart"]
    said = next(said for _, said, _ in listing["rows"] if "The roses in the garden are red" in said)
    assert said.startswith("✗ roses → are (expected: red): ") and texts.COPULA in listing["note"]
    assert texts.COPULA not in shown_head(open_app(PAGE, part="find"))["chart"]["note"]
    sentences = [embedded_sentences().words_of(number) for number in range(len(embedded_sentences()))]
    copulas = [(words, word) for words in sentences for word in words if word.deprel == "cop"]
    subjects = [(words, one) for words, _ in copulas for one in words if one.deprel.startswith("nsubj")]
    assert subjects and not any(words[one.head].deprel == "cop" for words, one in subjects)


@pytest.mark.parametrize(("deprel", "said"), [("amod", texts.FOUND_NONE), ("det", texts.FOUND_FOLLOWING[0])])
def test_what_a_fixed_distance_finds_too_is_no_finding(open_app: Open, deprel: str, said: str):
    """Adjectives stand before their nouns: no head is better. Articles often do: one head is, but by less than 10 points."""
    grid = staged_pictures(open_app(PAGE, part="find", query=deprel))[0]
    assert said.format(heads=48, points=10) in grid["sentence"]


def test_an_annotated_file_is_read_in_the_background_and_a_plain_one_says_what_it_lacks(open_app: Open, runs):
    app = upload(open_app(PAGE, part="find", texts="own"), CONLLU.replace("2\tcats", "2 cats"), "mine.conllu")
    assert WRONG_COLUMNS.format(line=3, wanted=10, found=9)[:40] in says(app)
    upload(app, f"{CONLLU}\n" * 3, "mine.conllu")
    assert stage_texts.SENTENCES_READ[1].format(count=3, source="mine.conllu") in says(app)
    app.text_input(key=f"{PAGE}_query").set_value("nsubj").run()
    until_still(press(app, "run"), runs, KIND)
    assert not app.exception and "of 3 words" in shown_head(app)["sentence"]
    assert len(links(app)) <= 2  # the same sentence is shown once
    upload(app, "The cat sees a dog.\nA dog sees the cat.\n")
    until_still(press(app, "run"), runs, KIND)
    assert NOT_ANNOTATED in says(app)
    for name, value in {"query": "cat", "query_in": "form", "link": "any", "key": "dog"}.items():
        app.session_state[f"{PAGE}_{name}"] = value
    assert "of 2 words" in shown_head(app.run())["sentence"]
