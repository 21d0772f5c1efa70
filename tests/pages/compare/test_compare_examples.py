"""The examples of the comparison: each is wired to both sides, and what it claims is true of the embedded model."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.compare.inputs import EXAMPLES, FIELDS
from tests.support.drawings import says
from tests.support.serving import ROOT
from tests.support.staged import staged
from tx_core.analysis import comparison, patterns, views
from tx_core.engine import catalogue
from tx_core.lessons.untrained import untrained_engine

Open = Callable[..., AppTest]
ENTRIES = json.loads((ROOT / "assets" / "examples" / "compare.json").read_text("utf-8"))
READ = {field.name: field.read for field in FIELDS.all}


def test_examples_and_their_counter_examples_are_a_click_away_each_with_a_hint_of_its_own(open_app: Open):
    app = open_app("compare", text="something else", vary="head", word="9-9")
    for example in EXAMPLES:
        app.pills(key="compare_example").set_value(example.title).run()
        assert not app.exception
        assert app.pills(key="compare_example").value == example.title
        assert app.session_state["compare_vary"] == example.view["vary"]
        assert example.notice in says(app)
        assert staged(app)["rows"]["10"]
    for counter in example.counters:
        app.pills(key="compare_counter_example").set_value(counter.title).run()
        assert not app.exception
        assert counter.notice in says(app)
        assert example.notice not in says(app)
        assert app.pills(key="compare_example").value == example.title


@dataclass(frozen=True)
class Side:
    """One side of a comparison, in whole words: its labels in small letters, its vectors, the weights of its heads."""

    view: views.View
    spelled: tuple[comparison.Spelling, ...]
    vectors: np.ndarray
    weights: np.ndarray

    @property
    def words(self) -> list[str]:
        return [label.lower() for label in self.view.queries]

    @property
    def own(self) -> np.ndarray:
        return ~np.array(self.view.query_special)

    def weight(self, query: str, key: str) -> float:
        return self.weights[self.words.index(query), self.words.index(key)]

    def special(self) -> float:
        return self.weights[self.own][:, ~self.own].sum(1).mean()

    def step(self, step: int) -> float:
        """Return the mean weight from own word to own word, `step` further on."""
        return self.weights.diagonal(step)[np.outer(self.own, self.own).diagonal(step)].mean()

    def neighbours(self) -> float:
        """Return the mean weight of a word on the words beside it."""
        beside = np.eye(len(self.own), k=1) + np.eye(len(self.own), k=-1)
        return (self.weights * beside * self.own)[self.own].sum(1).mean()

    def spread(self) -> float:
        return patterns.normalised_entropy(self.weights).mean()


def side_of(values: dict, suffix: str, vary: str) -> Side:
    """Run one side of an example outside any page."""

    def value(name: str, default: object) -> object:
        varied = suffix if name in ({"untrained": "seed"}.get(vary, vary),) else ""
        written = values.get(f"{name}{varied}")
        return default if written is None else READ[f"{name}{varied}"](written)

    engine = catalogue.load(value("model", catalogue.DEFAULT))
    seed = value("seed", 1 if suffix and vary == "untrained" else 0)
    engine = untrained_engine(engine, seed) if seed else engine
    run = engine.trace(value("text", None), keep=("weights", "hidden"), interventions=value("changes", ()))
    shown = views.view(run.attention, merge_words=True)
    spelled = comparison.spell_words(run.attention.query_tokens, shown.query_places)
    layer, head = value("head", (0, None))
    weights = shown.weights[layer].mean(0) if head is None else shown.weights[layer, head]
    return Side(shown, spelled, comparison.word_vectors(run.hidden, shown.query_places), weights)


@dataclass(frozen=True)
class Sides:
    """Both sides of an example, and what a claim says of them."""

    one: Side
    other: Side

    @property
    def pairs(self) -> dict[str, tuple[int, int]]:
        """The words that are partners, or else the first pair that is equal."""
        pairs = [*comparison.align(self.one.spelled, self.other.spelled)]
        pairs += comparison.equal_words(self.one.spelled, self.other.spelled)
        return {self.one.spelled[mine][1]: (mine, yours) for mine, yours in reversed(pairs)}

    def similarity(self, word: str, step: int = -1) -> float:
        mine, yours = self.pairs[word]
        one, other = self.one.vectors[step, mine], self.other.vectors[step, yours]
        return one @ other / np.linalg.norm(one) / np.linalg.norm(other)

    def partners(self, name: str) -> set[str]:
        """Return the words of a side that have a partner."""
        side = "AB".index(name)
        pairs = comparison.align(self.one.spelled, self.other.spelled)
        return {(self.one, self.other)[side].spelled[pair[side]][1] for pair in pairs}

    def number(self, claim: list) -> float:
        """Return the number that a claim is about."""
        kind, first, *more = claim
        if kind == "moved":
            return comparison.moved_attention(self.one.weights, self.other.weights).mean()
        if kind.startswith("similarity"):
            return self.similarity(first, 0 if kind.endswith("before") else -1)
        side = {"A": self.one, "B": self.other}[first]
        arguments = {"weight": more[:2], "step": more[:1]}.get(kind, [])
        return getattr(side, kind)(*arguments)

    def holds(self, claim: list) -> bool:
        kind, first, *more = claim
        if kind == "lowest":
            shared = comparison.align(self.one.spelled, self.other.spelled)
            words = {self.one.spelled[mine] for mine, _ in shared} - {("special", "first"), ("special", "after")}
            return self.similarity(first) <= min(self.similarity(word) for _, word in words)
        if kind == "partners":
            return first in self.partners("A")
        if kind == "only in":
            side = (self.one, self.other)["AB".index(first)]
            return more[0] in side.words and more[0] not in self.partners(first)
        if kind == "step":
            return self.number(claim) >= more[1]
        return more[-2] <= self.number(claim) <= more[-1]


def sides_of(entry: dict, shown: dict) -> Sides:
    """Run both sides; what a comparison of the same kind does not name is as in the example."""
    values = shown["view"] if "title" in shown else entry["view"] | shown["view"]
    return Sides(side_of(values, "", entry["vary"]), side_of(values, "_b", entry["vary"]))


@pytest.mark.parametrize(
    ("entry", "shown"),
    [
        pytest.param(entry, shown, id=f"{entry['title']}: {shown.get('title', shown['view']['text'])}")
        for entry in ENTRIES
        for shown in (entry, *entry["same_kind"], *entry["counters"])
    ],
)
def test_what_an_example_claims_is_true_of_the_embedded_model(entry: dict, shown: dict):
    sides = sides_of(entry, shown)
    assert shown["claims"]
    assert [claim for claim in shown["claims"] if not sides.holds(claim)] == []


def test_words_that_differ_are_similar_too():
    for entry in ENTRIES:
        if entry["vary"] == "text":
            sides = sides_of(entry, entry)
            one, other = sides.one, sides.other
            alike = comparison.cosines(one.vectors, other.vectors)[-1][one.own][:, other.own]
            words = [[word for word, own in zip(side.words, side.own, strict=True) if own] for side in (one, other)]
            differ = np.array([[mine != yours for yours in words[1]] for mine in words[0]])
            assert alike[differ].mean() > 0.2


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["title"])
def test_the_numbers_of_a_hint_are_those_of_its_claims(entry: dict):
    for shown in (entry, *entry["counters"]):
        sides = sides_of(entry, shown)
        numbers = {f"{sides.number(claim):.2f}" for claim in shown["claims"] if isinstance(claim[-1], int | float)}
        assert set(re.findall(r"\d\.\d\d", shown["notice"])) <= numbers
