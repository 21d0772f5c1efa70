"""Heads of a relation: the same numbers as plain loops over the attentions of transformers; findings and counter-examples."""

import io
from types import SimpleNamespace

import numpy as np
import pyarrow
import pytest
import torch
import transformers
from scipy.stats import binomtest

from tx_core import Condition, Relation, find_heads, read_sentences
from tx_core.corpus import find_heads as module
from tx_core.corpus import statistics
from tx_core.corpus.find_heads import NO_OCCURRENCE, NOT_ANNOTATED, NOTHING_READ, OFFSETS, HeadsFound, count_hits
from tx_core.corpus.sentence_file import embedded_sentences
from tx_core.corpus.words import (
    WRONG_COLUMNS,
    WRONG_HEAD,
    WRONG_NUMBER,
    AttendedWords,
    Word,
    read_conllu,
    split_words,
    word_of_tokens,
)
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine
from tx_core.errors import TextProblem

PRONOUNS = Relation(Condition("form", "his|her"), Condition("form", "(he|she)"))


def to_head(name: str) -> Relation:
    return Relation(query=Condition("deprel", name), link="head")


@pytest.fixture(scope="module")
def read(engine: Engine) -> HeadsFound:
    """What is found of one relation, with what every word attends to, so that others can be counted."""
    return find_heads(engine, to_head("obj"))


def related_by_hand(words: tuple[Word, ...], query: int, relation: str) -> set[int]:
    others = set(range(len(words))) - {query}
    if relation == "obj to head":
        return {words[query].head} if words[query].deprel == "obj" else set()
    forms = [word.form.lower() for word in words]
    return {one for one in others if forms[one] in ("he", "she")} if forms[query] in ("his", "her") else set()


def by_loops(relation: str, attentions, sentences):
    """Share of each head, of each offset, chance and the number of words, by plain loops. attentions: of words, by text."""
    hits, offsets, chance, count = 0, np.zeros(len(OFFSETS)), 0.0, 0
    for number, text in enumerate(sentences.texts):
        words = sentences.words_of(number)
        between = None
        for query in range(len(words)):
            goal = related_by_hand(words, query, relation)
            if not goal:
                continue
            between = attentions(text, words) if between is None else between
            others = [key for key in range(len(words)) if key != query]
            largest = np.array(others)[between[:, :, query][..., others].argmax(-1)]
            hits = hits + np.isin(largest, list(goal))
            offsets += [query + offset in goal for offset in OFFSETS]
            chance += len(goal) / len(others)
            count += 1
    return hits / count, offsets / count, chance / count, count


@pytest.mark.parametrize(("relation", "name"), [(to_head("obj"), "obj to head"), (PRONOUNS, "pronouns")], ids=["obj", "pronouns"])
def test_shares_baselines_and_chance_are_those_of_plain_loops_over_the_attentions_of_transformers(read, relation, name):
    path = catalogue.MODELS / catalogue.DEFAULT
    theirs = transformers.BertModel.from_pretrained(path, dtype=torch.float32, attn_implementation="eager").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)

    def attentions(text: str, words: tuple[Word, ...]) -> np.ndarray:
        read = tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
        starts, at = [], 0
        for word in words:
            starts.append(text.index(word.form, at))
            at = starts[-1] + len(word.form)
        owners = [
            None if start == end else sum(start >= one for one in starts) - 1 for start, end in read.pop("offset_mapping")[0]
        ]
        with torch.no_grad():
            weights = torch.cat(theirs(**read, output_attentions=True).attentions).double().numpy()
        pieces = [[place for place, owner in enumerate(owners) if owner == word] for word in range(len(words))]
        columns = np.stack([weights[..., own].sum(-1) for own in pieces], axis=-1)
        return np.stack([columns[:, :, own].mean(2) for own in pieces], axis=2)

    shares, offsets, chance, count = by_loops(name, attentions, embedded_sentences())
    found = count_hits(read.words, relation)
    assert found.occurrences == count > 10
    assert np.abs(found.shares - shares).max() <= 1.5 / count  # two words may get the same attention but for rounding
    assert np.mean(found.shares == shares) > 0.95
    assert (found.baseline, found.offset) == (pytest.approx(offsets.max()), OFFSETS[offsets.argmax()])
    assert found.chance == pytest.approx(chance)
    table = found.to_pandas()
    assert list(table["share"]) == sorted(found.shares.ravel(), reverse=True)
    interval = binomtest(round(table["share"][0] * count), count).proportion_ci(method="wilson")
    assert (table["low"][0], table["high"][0]) == pytest.approx(interval, rel=1e-4)


@pytest.mark.parametrize(
    ("link", "queries", "chances", "share"),
    [("any", [1, 3], [1, 2 / 3], 1), ("head", [3], [1 / 3], 0), ("dependent", [1], [1], 1)],
)
def test_by_hand_no_later_word_is_related_in_a_causal_model(link, queries: list[int], chances: list[float], share: float):
    words = (Word("a", head=1), Word("b", head=2), Word("a", head=1), Word("b", head=0))
    attended = np.array([[[0, 0, 1, 2]]])
    read = AttendedWords(words, np.array([0]), np.array([0, 4]), np.arange(4), attended, np.ones((1, 1, 4)), 0)
    found = count_hits(read, Relation(Condition("form", "b"), Condition("form", "a"), link))
    assert found.queries.tolist() == queries and found.chances.tolist() == pytest.approx(chances)
    assert (found.shares.item(), found.share_at(1)) == (share, 0)


def test_the_strongest_and_the_weakest_sentences_are_those_of_the_largest_attention(engine, read):
    strongest, weakest = (read.examples((1, 6), 3, weakest=weak) for weak in (False, True))
    assert len({one.sentence for one in strongest + weakest}) == 6
    assert [one.weight for one in strongest] == sorted((one.weight for one in strongest), reverse=True)
    for one in strongest + weakest:
        text = embedded_sentences().texts[one.sentence]
        trace = engine.trace(text).attention
        words = embedded_sentences().words_of(one.sentence)
        owners = word_of_tokens(trace.query_tokens, words)
        query = owners[one.token]
        assert words[query].form == one.query and words[query].deprel == "obj"
        row = trace.weights[1, 6][[owner == query for owner in owners]].mean(0)
        given = [row[[owner == word for owner in owners]].sum() for word in range(len(words))]
        given[query] = 0
        assert words[int(np.argmax(given))].form == one.attended
        assert one.weight == pytest.approx(max(given), abs=1e-4)
        assert one.hit == (int(np.argmax(given)) == words[query].head)
        assert one.related == (words[words[query].head].form,)


@pytest.mark.parametrize("expression", [r"(a+)+b", "(.{1,31}){1,32}b"])
def test_no_expression_takes_long(expression: str, monkeypatch):
    """In Python's `re` some of these take longer than the sun shines; what is slow in RE2, too, the clock ends."""
    words = tuple(Word("a" * 40 + str(number) + "a" * 2000) for number in range(5000))
    assert not Condition("form", expression).matches(words).any()
    monkeypatch.setattr(module, "MATCH_SECONDS", -1)
    with pytest.raises(TextProblem, match="too long"):
        Condition("form", expression).matches(words)


def test_of_a_slow_expression_the_clock_is_asked_after_few_values(monkeypatch):
    now, compared = 0.0, 0

    def take_long(values: pyarrow.Array, _expression: str, **_options: bool) -> pyarrow.Array:
        nonlocal now, compared
        now, compared = now + 0.01 * len(values), compared + len(values)
        return pyarrow.array([False] * len(values))

    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr("pyarrow.compute.match_substring_regex", take_long)
    with pytest.raises(TextProblem, match="too long"):
        Condition("form", "a").matches(tuple(Word(f"a{number}") for number in range(5000)))
    assert compared < 250


@pytest.mark.parametrize("expression", ["((((a{1000}){1000}){1000}){1000})", "[a", r"(a)\1", "\ud800", "a" * 201])
def test_an_expression_that_cannot_be_used_is_refused_with_a_reason(expression: str):
    with pytest.raises(TextProblem, match="regular expression"):
        Condition("form", expression).matches(split_words("one two"))


def test_a_condition_matches_whole_values_of_its_column():
    words = (Word("Cats", upos="NOUN", feats="Case=Nom|Number=Plur", deprel="nsubj:pass"), Word("cat"))
    for condition, wanted in [
        (Condition("form", "CAT"), (False, True)),
        (Condition("form", "cats?"), (True, True)),
        (Condition("deprel", "nsubj"), (True, False)),
        (Condition("deprel", "nsubj:pass"), (True, False)),
        (Condition("feats", "Number=Plur"), (True, False)),
        (Condition("upos", ".*"), (True, False)),
        (Condition(), (True, True)),
    ]:
        assert tuple(condition.matches(words)) == wanted, condition


def test_what_cannot_be_found_is_said(engine, read):
    plain = ["The cat sees a dog.", "He had a cup of tea."]
    assert find_heads(engine, Relation(Condition("form", "cat|he"), Condition("form", "dog|tea")), plain).occurrences == 2
    for relation, sentences, problem in [
        (to_head("obj"), plain, NOT_ANNOTATED),
        (Relation(Condition("form", "zebra")), plain, NO_OCCURRENCE),
        (to_head("vocative"), None, NO_OCCURRENCE),
        (to_head("obj"), ["word " * 400], NOTHING_READ),
        (Relation(Condition("heads")), plain, "heads"),
    ]:
        with pytest.raises(TextProblem) as refused:
            find_heads(engine, relation, sentences)
        assert problem in str(refused.value)


def test_only_as_many_words_are_kept_as_there_is_space_for(engine, monkeypatch):
    monkeypatch.setattr(statistics, "MOST_ATTENDED", 48 * 100)
    found = find_heads(engine, Relation(Condition("form", "the")))
    assert len(found.words.words) <= 100
    assert found.words.skipped + len(found.words.numbers) == len(embedded_sentences())


CONLLU = """# text = The cats can't
1\tThe\tthe\tDET\t_\t_\t2\tdet\t_\t_
2\tcats\tcat\tNOUN\t_\tNumber=Plur\t3\tnsubj\t_\t_
3-4\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
3\tca\tcan\tAUX\t_\t_\t0\troot\t_\t_
3.1\tghost\t_\t_\t_\t_\t_\t_\t_\t_
4\tn't\tnot\tPART\t_\t_\t3\tadvmod\t_\t_
"""


def test_a_conllu_file_is_read_with_its_columns_and_fits_the_tokens_of_several_models(engine, hub_engine):
    sentences = read_sentences(io.BytesIO(f"{CONLLU}\n{CONLLU}".encode()), "mine.CoNLLU")
    assert sentences.texts == ("The cats ca n't",) * 2 and sentences.lines == (2, 10)
    words = sentences.words_of(0)
    assert [word.head for word in words] == [1, 2, None, 2]
    assert words[1] == Word("cats", "cat", "NOUN", "", "Number=Plur", "nsubj", 2)
    for model in (engine, hub_engine("gpt2"), hub_engine("t5")):
        owners = word_of_tokens(model.tokenizer.encode(sentences.texts[0]), words)
        assert [one for one in dict.fromkeys(owners) if one is not None] == [0, 1, 2, 3]
    read = engine.tokenizer.encode("The cats cannot")
    assert word_of_tokens(read, (Word("The"), Word("cats"), Word("can"), Word("not"))) is None
    assert word_of_tokens(read, split_words("The cats can")) is None


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("2\tcats\tcat", "2 cats cat", WRONG_COLUMNS.partition("{")[0]),
        ("4\tn't", "5\tn't", WRONG_NUMBER.partition("{")[0]),
        ("\t_\t_\t3\tadvmod", "\t_\t_\t9\tadvmod", WRONG_HEAD.partition("{")[0]),
        ("\t_\t_\t3\tadvmod", "\t_\t_\t4\tadvmod", WRONG_HEAD.partition("{")[0]),
        ("\t_\t_\t3\tadvmod", "\t_\t_\t²\tadvmod", WRONG_HEAD.partition("{")[0]),
    ],
)
def test_a_file_that_is_no_conllu_is_refused_with_its_line(old: str, new: str, problem: str):
    with pytest.raises(TextProblem) as refused:
        list(read_conllu(CONLLU.replace(old, new)))
    assert problem in str(refused.value) and f"Line {3 if 'cats' in old else 7}" in str(refused.value)
