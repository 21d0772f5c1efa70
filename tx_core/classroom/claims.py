"""Claims: what lessons and the examples of Attention and of Fill the blank say of a model, put to any model, one row each.

    python -m tx_core.classroom.claims --model film_reviews

Another model than the embedded one, or one fine-tuned from it, has other heads: each sentence is then put to the head that does
best what is claimed, so that a claim fails where no head does it.
"""

import argparse
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np
from jaxtyping import Float

from tx_core.analysis import views
from tx_core.classroom.lesson_file import open_lesson
from tx_core.classroom.measures import Measure, compute_answer, score_word
from tx_core.classroom.questions import shares_by_name
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine
from tx_core.errors import ExplorerError
from tx_core.fill_mask.predictions import fill_jointly
from tx_core.fill_mask.word_scores import read_words, score_words
from tx_core.settings import ASSETS

EXAMPLES, LESSONS = ASSETS / "examples", ASSETS / "lessons"
LESSON_CLAIMS = LESSONS / "claims.json"
"""By lesson and title of a step, claims on the answer to its question, or on another measure of the same fields."""
MORE_LIKELY = 1.2
"""How many times as likely as another a word must be, where a claim does not say."""
Example = Mapping[str, Any]


class Claim(NamedTuple):
    """What is claimed of a sentence, the number that a model has for it, and the range in which the claim holds.

    The number is NaN where the model does not read the tokens or score the words. where: the heads that were asked, as 2-8.
    link: where the app shows it with this model, behind its address.
    """

    text: str
    says: str
    value: float
    least: float = -math.inf
    most: float = math.inf
    where: str = ""
    link: str = ""

    @property
    def margin(self) -> float:
        """How far within the range the number is; negative where the claim fails, NaN where it cannot be asked."""
        return min(self.value - self.least, self.most - self.value)


def link_to(engine: Engine, text: str, **view: str) -> str:
    """Return the address of a text: on the page Attention where heads are named, else where words are predicted."""
    page = "attention" if view.get("heads") else "next_word" if engine.info.predicts_next else "fill_mask"
    named = {name: value for name, value in view.items() if value}
    return f"{page}?{urlencode({'text': text, 'model': engine.name, **named})}"


def sentences(page: str) -> Iterator[tuple[Example, Example]]:
    """Yield every example of a page, "attention" or "fill_mask", with each of its sentences, counter-examples included."""
    for entry in json.loads((EXAMPLES / f"{page}.json").read_text("utf-8")):
        yield from ((entry, sentence) for sentence in (entry, *entry["same_kind"], *entry["counters"]))


def attention_claims(engine: Engine, entry: Example, sentence: Example) -> list[Claim]:
    """Return the claims of an example of Attention on one of its sentences: where tokens look, and how much."""
    same = has_heads_of(engine, catalogue.DEFAULT)
    shown = views.view(engine.trace(sentence["text"], sentence.get("pair", "")).attention, merge_words=entry["words"] or not same)
    if same:
        heads = [(layer - 1, head - 1) for layer, head in entry["heads"]]
        return _claims_of(engine, shown, views.mean_of_heads(shown.weights, heads), sentence, heads)
    every = np.ndindex(shown.weights.shape[:2])
    return most_true(_claims_of(engine, shown, shown.weights[head], sentence, [head]) for head in every)


def has_heads_of(engine: Engine, model: str) -> bool:
    """Return whether the heads of an engine are those of a model: it is the model, or fine-tuned from it."""
    return model in (engine.name, catalogue.card(engine.name).fine_tuned_from)


def most_true(tried: Iterable[list[Claim]]) -> list[Claim]:
    """Return the claims on the head of which the worst of them is best."""
    return max(tried, key=lambda claims: min((claim.margin for claim in claims if not math.isnan(claim.margin)), default=0.0))


def _claims_of(
    engine: Engine,
    shown: views.View,
    weights: Float[np.ndarray, "query key"],
    sentence: Example,
    heads: Sequence[tuple[int, int]],
) -> list[Claim]:
    own, claims = ~np.array(shown.query_special), []
    names = [[label.replace("␣", "").casefold() for label in labels] for labels in (shown.queries, shown.keys)]

    def put(says: str, value: Any, least: float = -math.inf, most: float = math.inf) -> None:
        names = [f"{layer + 1}-{head + 1}" for layer, head in heads]
        link = link_to(engine, sentence["text"], pair=sentence.get("pair", ""), heads="_".join(names))
        claims.append(Claim(sentence["text"], says, float(value), least, most, " ".join(names), link))

    def weight(*tokens: str | int) -> tuple[float, float]:
        """Return a weight, and by how much it exceeds the others of its row; tokens by name, or by number from 1."""
        query, key = (
            name - 1 if isinstance(name, int) else [*known, name.casefold()].index(name.casefold())
            for name, known in zip(tokens, names, strict=True)
        )
        if query >= len(weights) or key >= weights.shape[1]:
            return math.nan, math.nan
        return float(weights[query, key]), float(weights[query, key] - np.delete(weights[query], key).max())

    for query, key, least in sentence["links"]:
        value, ahead = weight(query, key)
        put(f"{query} → {key}", value, least)
        put(f"{query} → {key} before any other", ahead, 0.0)
    for query, key, most in sentence.get("at_most", ()):
        put(f"{query} → {key}", weight(query, key)[0], most=most)
    if {"special", "special_at_most"} & sentence.keys():
        share = weights[own][:, ~own].sum(axis=1).mean()
        put("special tokens", share, sentence.get("special", 0.0), sentence.get("special_at_most", 1.0))
    if "step" in sentence:
        step, least = sentence["step"]
        put(f"{step:+d} tokens", weights.diagonal(step)[np.outer(own, own).diagonal(step)].mean(), least)
    return claims


def word_claims(engine: Engine, prompt: Example) -> list[Claim]:
    """Return the claims of an example of Fill the blank on one of its sentences: words so many times as likely as others."""
    claims = []
    for name, blank, word, other_name, other_word, *times in prompt["claims"]:
        asked = ((name, word), (other_name, other_word))
        one, other = (score_words(engine, prompt[text], read_words(each), blank=blank)[0].probability for text, each in asked)
        value = one / other if one is not None and other else math.nan
        least, link = times[0] if times else MORE_LIKELY, link_to(engine, prompt[name])
        claims.append(Claim(prompt[name], f"{word} : {other_word}", value, least, link=link))
    if "joint" in prompt:
        best = list(fill_jointly(engine, prompt["text"])[0].words)
        link = link_to(engine, prompt["text"])
        claims.append(Claim(prompt["text"], " … ".join(prompt["joint"]), float(best == prompt["joint"]), 1, link=link))
    return claims


def lesson_claims(engine: Engine) -> list[Claim]:
    """Return the claims of lessons on models of its kind, which write or fill blanks."""
    claims: list[Claim] = []
    every = [f"{layer + 1}-{head + 1}" for layer, head in np.ndindex(engine.info.num_layers, engine.info.num_heads)]
    for name, said in json.loads(LESSON_CLAIMS.read_text("utf-8")).items():
        for step in open_lesson(LESSONS / f"{name}.yaml").steps:
            model = step.view.get("model", catalogue.DEFAULT)
            if catalogue.card(model).predicts_next != engine.info.predicts_next:
                continue
            own = step.question.answer.model_dump() if step.question and step.question.answer else {}
            for entry in said.get(step.title, ()):
                measure = Measure(**{field: value for field, value in (own | entry).items() if field in Measure.model_fields})
                heads = every if measure.head and not has_heads_of(engine, model) else [measure.head]
                asked = (measure.model_copy(update={"head": head}) for head in heads)
                claims += most_true(_answer_claims(engine, one, entry) for one in asked)
    return claims


def _answer_claims(engine: Engine, measure: Measure, entry: Example) -> list[Claim]:
    """Return what an entry says of an answer: which is before any other, and the range of its number."""
    ahead = value = math.nan
    with suppress(ExplorerError):  # it has no such token, or no blank
        answer = compute_answer(engine, measure)
        value, shares = answer.value, shares_by_name(answer)
        if "right" in entry:
            own = shares.pop(entry["right"].casefold(), None)
            if own is None and measure.measure == "top_word":
                own = score_word(engine, measure, entry["right"]).probability
            ahead = math.nan if own is None else own - max(shares.values())
    asked = " ".join(filter(None, (measure.measure, measure.query, measure.key, measure.word, measure.changes)))
    link = link_to(engine, measure.text, heads=measure.head or "", changes=measure.changes)
    about, claims = {"where": measure.head or "", "link": link}, []
    if "right" in entry:
        claims.append(Claim(measure.text, f"{asked}: {entry['right']} before any other", ahead, 0.0, **about))
    if {"least", "most"} & entry.keys():
        bounds = entry.get("least", -math.inf), entry.get("most", math.inf)
        claims.append(Claim(measure.text, asked, value, *bounds, **about))
    return claims


def main(argv: Sequence[str] | None = None) -> None:
    """Print a row of each claim: whether it holds, the number and the range, what is claimed, of which sentence, and where."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default=catalogue.DEFAULT, help="a name of the catalogue")
    try:
        engine = catalogue.load(parser.parse_args(argv).model)
    except ExplorerError as problem:
        parser.exit(1, f"{problem}\n")
    rows = lesson_claims(engine)
    rows += [claim for entry, sentence in sentences("attention") for claim in attention_claims(engine, entry, sentence)]
    try:
        rows += [claim for _, prompt in sentences("fill_mask") for claim in word_claims(engine, prompt)]
    except ExplorerError as problem:
        print(problem)
    verdicts = ["holds" if row.margin >= 0 else "?" if math.isnan(row.margin) else "fails" for row in rows]
    for row, word in zip(rows, verdicts, strict=True):
        bounds = f"{row.least:.2f} to {row.most:.2f}".replace("-inf to ", "at most ").replace(" to inf", " at least")
        print(f"{word:5} {row.value:8.2f} ({bounds}) {row.where:4} {row.says}: {row.text} {row.link}")
    print(f"{verdicts.count('holds')} hold, {verdicts.count('fails')} fail, {verdicts.count('?')} cannot be asked.")


if __name__ == "__main__":
    main()
