"""Claims: what lessons and the examples of pages say of a model, put to any model, one row each.

    python -m tx_core.classroom.claims --model film_reviews

Another model than the embedded one, or one fine-tuned from it, has other heads and layers: each sentence is then put to the head,
or the layer, that does best what is claimed, so that a claim fails where none does it.
"""

import argparse
import json
import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import Any, Literal, NamedTuple, get_args
from urllib.parse import urlencode

import numpy as np
from jaxtyping import Bool, Float

from tx_core.analysis import comparison, patterns, views
from tx_core.causal.cut_effects import read_prediction
from tx_core.causal.deciding_words import explain_pair
from tx_core.causal.explain import METHODS
from tx_core.causal.importance import Importance, Measuring, component_name
from tx_core.causal.patch import Patch, patch
from tx_core.causal.prompt_sets import PROMPT_SETS, kept_scores, prompt_set
from tx_core.classroom.lesson_file import open_lesson
from tx_core.classroom.measures import Measure, compute_answer, score_word
from tx_core.classroom.questions import shares_by_name
from tx_core.corpus.sentence_file import embedded_sentences
from tx_core.corpus.vectors import Projection, project
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine
from tx_core.engine.progress import Progress
from tx_core.errors import ChangeProblem, ExplorerError, LessonProblem, ModelUnavailable, TextProblem
from tx_core.fill_mask.predictions import fill_jointly
from tx_core.fill_mask.word_scores import read_words, score_words
from tx_core.settings import ASSETS
from tx_core.transformer.interventions import read_interventions

EXAMPLES, LESSONS = ASSETS / "examples", ASSETS / "lessons"
LESSON_CLAIMS = LESSONS / "claims.json"
"""By lesson and title of a step, claims on the answer to its question, or on another measure of the same fields."""
UNASKABLE = (ChangeProblem, LessonProblem, ModelUnavailable, TextProblem)
"""What a model raises that cannot be asked; a busy host is another matter: measuring prompts waits, all else ends."""
STORED = catalogue.MODELS / catalogue.DEFAULT / "claims.jsonl"
"""The claims on the embedded model, one a line."""
YES = "(1: yes)"
FEW_PROMPTS = 10
"""Of each set of Importance, for another model than the embedded one: each prompt takes a run for every part of the model.

They are too few for the claims on an interval ("surely"), which were chosen for whole sets.
"""
MORE_LIKELY = 1.2
"""How many times as likely as another a word must be, where a claim does not say."""
Example = Mapping[str, Any]
Verdict = Literal["fails", "unasked", "holds"]


class Claim(NamedTuple):
    """What is claimed of a sentence, the number that a model has for it, and the range in which the claim holds.

    The number is NaN where the model does not read the tokens or score the words. where: the heads, or the layer, that were
    asked. link: behind the app's address. made: the page whose example says so, or the lesson.
    """

    text: str
    says: str
    value: float
    least: float = -math.inf
    most: float = math.inf
    where: str = ""
    link: str = ""
    made: str = ""

    @property
    def margin(self) -> float:
        """How far within the range the number is; negative where the claim fails, NaN where it cannot be asked."""
        return min(self.value - self.least, self.most - self.value)

    @property
    def verdict(self) -> Verdict:
        """Whether the claim holds of the model."""
        return "unasked" if math.isnan(self.margin) else "holds" if self.margin >= 0 else "fails"

    @property
    def claimed(self) -> str:
        """The range in words."""
        least, most = (f"{end:.3g}" for end in (self.least, self.most))
        if math.isinf(self.most):
            return f"at least {least}"
        return f"at most {most}" if math.isinf(self.least) else least if least == most else f"{least} to {most}"


def link_to(engine: Engine, text: str, **view: str) -> str:
    """Return the address of a text: on the page Attention where heads are named, else where words are predicted."""
    page = "attention" if view.get("heads") else "next_word" if engine.info.predicts_next else "fill_mask"
    return view_link(engine, page, {"text": text, "model": "", **view})


def view_link(engine: Engine, page: str, view: Example) -> str:
    """Return the address of a view of a page with this model."""
    return f"{page}?{urlencode({name: part for name, part in (view | {'model': engine.name}).items() if part})}"


def sentences(page: str) -> Iterator[tuple[Example, Example]]:
    """Yield every example of a page with each of its sentences, counter-examples included."""
    for entry in json.loads((EXAMPLES / f"{page}.json").read_text("utf-8")):
        yield from ((entry, one) for one in (entry, *entry.get("same_kind", ()), *entry.get("counters", ())))


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
    try:
        return model in (engine.name, catalogue.card(engine.name).fine_tuned_from)
    except ModelUnavailable:  # a directory that Python opened
        return False


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
        asked = [f"{layer + 1}-{head + 1}" for layer, head in heads]
        link = link_to(engine, sentence["text"], pair=sentence.get("pair", ""), heads="_".join(asked))
        claims.append(Claim(sentence["text"], says, float(value), least, most, " ".join(asked), link))

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
        put(_attention(query, key), value, least)
        put(f"{_attention(query, key)}, above that on any other", ahead, 0.0)
    for query, key, most in sentence.get("at_most", ()):
        put(_attention(query, key), weight(query, key)[0], most=most)
    if {"special", "special_at_most"} & sentence.keys():
        share = weights[own][:, ~own].sum(axis=1).mean()
        put("attention on special tokens", share, sentence.get("special", 0.0), sentence.get("special_at_most", 1.0))
    if "step" in sentence:
        step, least = sentence["step"]
        put(f"attention {step:+d} tokens away", weights.diagonal(step)[np.outer(own, own).diagonal(step)].mean(), least)
    return claims


def _attention(query: str | int, key: str | int) -> str:
    """Name a weight, of tokens by name or by number."""
    one, other = (f"token {name}" if isinstance(name, int) else f"“{name}”" for name in (query, key))
    return f"attention of {one} on {other}"


def word_claims(engine: Engine, _: Example, prompt: Example) -> list[Claim]:
    """Return the claims of an example of Fill the blank on one of its sentences: words so many times as likely as others."""
    claims = []
    for name, blank, word, other_name, other_word, *times in prompt["claims"]:
        asked = ((name, word), (other_name, other_word))
        one, other = (score_words(engine, prompt[text], read_words(each), blank=blank)[0].probability for text, each in asked)
        value = one / other if one is not None and other else math.nan
        least, link = times[0] if times else MORE_LIKELY, link_to(engine, prompt[name])
        says = f"“{word}” so many times as likely as “{other_word}”" + (
            f" in “{prompt[other_name]}”" if other_name != name else ""
        )
        claims.append(Claim(prompt[name], says, value, least, link=link))
    if "joint" in prompt:
        best = list(fill_jointly(engine, prompt["text"])[0].words)
        link = link_to(engine, prompt["text"])
        says = f"the blanks are filled with “{' … '.join(prompt['joint'])}” {YES}"
        claims.append(Claim(prompt["text"], says, float(best == prompt["joint"]), 1, 1, link=link))
    return claims


class _Patched(NamedTuple):
    """The patches that the claims of an example are read off, as its view asks and of every head; None where none can be made.

    same: whether the model has the heads of the example. Of another one every layer, or the strongest head, is asked.
    """

    same: bool
    grid: Patch | None
    heads: Patch | None

    def effects(self, layer: int, token: str) -> list[tuple[float, str]]:
        """Return the effects at a token, at its first place, each with its layer as links write it."""
        if self.grid is None or token not in self.grid.target.tokens:
            return [(math.nan, "")]
        column = self.grid.effect[:, self.grid.target.tokens.index(token)]
        return [(column[at], str(at + 1)) for at in ([layer - 1] if self.same else range(len(column)))]

    def strongest(self, patched: Patch | None, layer: int, head: int) -> tuple[float, float, str]:
        """Return the effect of a head, or of the strongest, how far it exceeds all others, and its name."""
        if patched is None:
            return math.nan, math.nan, ""
        effect = np.nan_to_num(patched.effect)
        best = (layer - 1, head - 1) if self.same else np.unravel_index(effect.argmax(), effect.shape)
        others = np.delete(effect, np.ravel_multi_index(best, effect.shape))
        return effect[best], effect[best] - others.max(), f"{best[0] + 1}-{best[1] + 1}"


def patch_claims(engine: Engine, _: Example, example: Example) -> list[Claim]:
    """Return the claims of an example of Patching on models of its kind: which places and heads bring A's answer, and how far.

    Another model has other layers and heads: it is asked for the layer, or the head, that does best what is claimed.
    """
    view = {"what": "residual", "answer": "", "answer_b": "", "sender": ""} | example["view"]
    if catalogue.card(view.get("model", catalogue.DEFAULT)).predicts_next != engine.info.predicts_next:
        return []
    link = view_link(engine, "patching", view)
    rows = [
        [Claim(view["text_b"], says, float(value), *bounds, where, link) for value, where in values]
        for says, values, *bounds in _patch_rows(engine, view, example["claims"])
    ]
    return [max(tried, key=lambda claim: -math.inf if math.isnan(claim.margin) else claim.margin) for tried in rows]


def _patched(engine: Engine, view: Example, answers: Sequence[str], kinds: set[str]) -> _Patched:
    same, heads, grid, sender = has_heads_of(engine, view.get("model", catalogue.DEFAULT)), None, None, None
    run = partial(patch, engine, source=view["text"], target=view["text_b"], answers=tuple(answers))
    with suppress(*UNASKABLE):  # an answer is no single token, or both texts prefer the same one
        if "head" in kinds or (view["sender"] and not same):
            heads = run(what="head")
        if view["sender"] and same:
            sender = _head(view["sender"])
        elif view["sender"]:
            lower = np.abs(heads.effect[: max(1, engine.info.num_layers // 2)])
            sender = tuple(map(int, np.unravel_index(lower.argmax(), lower.shape)))
        grid = run(what=view["what"], sender=sender)
    return _Patched(same, grid, heads)


def _patch_rows(
    engine: Engine, view: Example, said: Sequence[list]
) -> Iterator[tuple[str, list[tuple[float, str]], float, float]]:
    """Yield what is claimed, the values of the places that may be meant, each as links write it, and the range."""
    answers = next((words for kind, *words in said if kind == "answers"), [view["answer"], view["answer_b"]])
    patched = _patched(engine, view, answers, {kind for kind, *_ in said})
    grid = patched.grid
    for claim in said:
        match claim:
            case ["answers" | "first", first, *second]:
                for word, text in zip((first, *(second or [first])), (view["text"], view["text_b"]), strict=True):
                    yield f"“{word}” is most likely in “{text}” {YES}", [(_likely_word(engine, text) == word, "")], 1, 1
            case ["cell", layer, token, low, high]:
                yield f"effect at “{token}”", patched.effects(layer, token), low, high
            case ["above", layer, token, other]:
                pairs = zip(patched.effects(layer, token), patched.effects(layer, other), strict=False)
                values = [(more - less, where) for (more, where), (less, _) in pairs]
                yield f"effect at “{token}”, above that at “{other}”", values, 0, math.inf
            case ["nothing", token]:
                read = grid is not None and token in grid.target.tokens
                value = np.abs(grid.effect[:, grid.target.tokens.index(token)]).max() if read else math.nan
                yield f"largest effect at “{token}”", [(value, "")], -math.inf, 0.02
            case ["head" | "strongest" as kind, layer, head, low, high]:
                value, ahead, where = patched.strongest(patched.heads if kind == "head" else grid, layer, head)
                yield "effect of the strongest head", [(value, where)], low, high
                yield "effect of the strongest head, above that of any other", [(ahead, where)], 0, math.inf
            case ["near", word, limit]:
                at = answers.index(word)
                value = abs(grid.source_probabilities[at] - grid.target_probabilities[at]) if grid else math.nan
                yield f"probability of “{word}”: difference of A and B", [(value, "")], -math.inf, limit
            case _:
                raise ValueError(f"patching has no such claim: {claim}")


def _likely_word(engine: Engine, text: str) -> str:
    row = read_prediction(engine, text)
    return engine.tokenizer.readable(int(engine.blank_logits([row])[0][0].argmax()))


def _head(written: str) -> tuple[int, int | None]:
    """Read a head as links write it, 2-6, or a layer for the mean of its heads."""
    layer, _, head = written.partition("-")
    return int(layer) - 1, int(head) - 1 if head else None


class Side(NamedTuple):
    """One side of a comparison, in whole words: their labels in small letters, which are the text's own, spellings, vectors."""

    words: list[str]
    own: Bool[np.ndarray, "word"]
    spelled: Sequence[comparison.Spelling]
    vectors: Float[np.ndarray, "depth word hidden"]
    weights: Float[np.ndarray, "layer head word word"]

    def weights_of(self, head: tuple[int, int | None]) -> Float[np.ndarray, "word word"]:
        """Return the weights of a head, or the mean of a layer."""
        layer, number = head
        return self.weights[layer].mean(0) if number is None else self.weights[layer, number]


def sides_of(engine: Engine, entry: Example, shown: Example) -> tuple[Side, Side]:
    """Run both sides of a comparison: an example, or one of its kind, which names what is other than in the example."""
    view, vary = _view_of(entry, shown), entry["vary"]

    def side(suffix: str) -> Side:
        own = {name: view.get(f"{name}{suffix if name == vary else ''}", "") for name in ("text", "changes", "model")}
        runs = catalogue.load(own["model"]) if own["model"] else engine
        seed = int(view.get(f"seed{suffix}", 1)) if suffix and vary == "untrained" else 0
        if seed:
            from tx_core.lessons.untrained import untrained_engine  # imports torch, which a page of stored claims does without

            runs = untrained_engine(runs, seed)
        changes = read_interventions(own["changes"]) if own["changes"] else ()
        trace = runs.trace(own["text"], keep=("weights", "hidden"), interventions=changes)
        read = views.view(trace.attention, merge_words=True)
        spelled = comparison.spell_words(trace.attention.query_tokens, read.query_places)
        vectors = comparison.word_vectors(trace.hidden, read.query_places)
        return Side([label.lower() for label in read.queries], ~np.array(read.query_special), spelled, vectors, read.weights)

    first = side("")
    return first, first if vary == "head" else side("_b")


def _view_of(entry: Example, shown: Example) -> Example:
    return shown["view"] if "title" in shown else entry["view"] | shown["view"]


def compare_claims(engine: Engine, entry: Example, shown: Example) -> list[Claim]:
    """Return the claims of an example of Compare on one of its pairs.

    There are none of two models but for the embedded one, and of an untrained twin but for a BERT of ours. Of another model, the
    head, or the layer where means are compared, is asked that does best what is claimed.
    """
    from tx_core.engine.bert_engine import OwnEngine  # imports torch, as above

    view, vary = _view_of(entry, shown), entry["vary"]
    is_own_bert = isinstance(engine, OwnEngine) and not engine.info.predicts_next
    if (vary == "model" and engine.name != catalogue.DEFAULT) or (vary == "untrained" and not is_own_bert):
        return []
    sides = sides_of(engine, entry, shown)
    heads = [_head(view.get("head", "1"))] * 2 if vary != "head" else [_head(view[name]) for name in ("head", "head_b")]
    by_head = [claim for claim in shown["claims"] if claim[0] in _OF_HEADS]
    found = [_word_claim(engine, view, sides, claim) for claim in shown["claims"] if claim not in by_head]
    groups = [by_head] if vary != "head" else [[claim for claim in by_head if claim[1] == side] for side in "AB"]
    for group in filter(None, groups):
        head = heads["AB".index(group[0][1])]
        tried: Iterable[tuple[int, int | None]] = [head]
        if not has_heads_of(engine, catalogue.DEFAULT):
            layers, count = sides[0].weights.shape[:2]
            tried = [(layer, None) for layer in range(layers)] if head[1] is None else np.ndindex(layers, count)
        found += most_true([_head_claim(engine, view, sides, one, claim) for claim in group] for one in tried)
    return found


_OF_HEADS = {
    "weight": "attention of “{0}” on “{1}” in {side}",
    "step": "attention {0:+d} words away in {side}",
    "special": "attention on special tokens in {side}",
    "neighbours": "attention on the words beside, in {side}",
    "spread": "spread of attention in {side}",
    "moved": "attention that moves from A to B",
}
"""What is claimed on the weights of a head, or the mean of a layer."""


def _compared(engine: Engine, view: Example, says: str, value: Any, least: Any, most: Any, where: str = "") -> Claim:
    link = view_link(engine, "compare", view | ({"head": where} if where else {}))
    return Claim(view["text"], says, float(value), least, most, where, link)


def _head_claim(engine: Engine, view: Example, sides: tuple[Side, Side], head: tuple[int, int | None], claim: list) -> Claim:
    """Return a claim on the weights of a head, or the mean of a layer: those of A or B, or how far they moved from A to B."""
    kind, name, *rest = claim
    side = sides["AB".index(name)]
    weights, own = side.weights_of(head), side.own
    if kind == "weight":
        read = all(word in side.words for word in rest[:2])
        value = weights[side.words.index(rest[0]), side.words.index(rest[1])] if read else math.nan
    elif kind == "step":
        value = weights.diagonal(rest[0])[np.outer(own, own).diagonal(rest[0])].mean()
        rest = [*rest, math.inf]
    elif kind == "special":
        value = weights[own][:, ~own].sum(1).mean()
    elif kind == "neighbours":  # the mean weight of a word on the words beside it
        beside = np.eye(len(own), k=1) + np.eye(len(own), k=-1)
        value = (weights * beside * own)[own].sum(1).mean()
    elif kind == "spread":
        value = patterns.normalised_entropy(weights).mean()
    else:
        value = comparison.moved_attention(*(one.weights_of(head) for one in sides)).mean()
    where = f"{head[0] + 1}" if head[1] is None else f"{head[0] + 1}-{head[1] + 1}"
    return _compared(engine, view, _OF_HEADS[kind].format(*rest, side=name), value, *rest[-2:], where)


def _word_claim(engine: Engine, view: Example, sides: tuple[Side, Side], claim: list) -> Claim:
    """Return a claim on the words that A and B share: how similar their vectors are, and which words have a partner."""
    kind, first, *rest = claim
    spelled = [side.spelled for side in sides]
    aligned = comparison.align(*spelled)
    pairs = {spelled[0][mine][1]: (mine, yours) for mine, yours in reversed([*aligned, *comparison.equal_words(*spelled)])}

    def similarity(word: str, depth: int = -1) -> float:
        if word not in pairs:
            return math.nan
        one, other = (side.vectors[depth, at] for side, at in zip(sides, pairs[word], strict=True))
        return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))

    if kind == "lowest":
        words = {spelled[0][mine][1] for mine, _ in aligned if comparison.is_word(spelled[0][mine])}
        least = min((similarity(word) for word in words), default=math.nan)
        return _compared(
            engine, view, f"similarity of “{first}” in A and B, below that of all others", least - similarity(first), 0, math.inf
        )
    if kind in ("partners", "only in"):
        word, side = (first, 0) if kind == "partners" else (rest[0], "AB".index(first))
        with_partner = {spelled[side][pair[side]][1] for pair in aligned}
        is_true = word in with_partner if kind == "partners" else word in sides[side].words and word not in with_partner
        says = f"“{word}” has a partner" if kind == "partners" else f"“{word}” is only in {first}"
        return _compared(engine, view, f"{says} {YES}", is_true, 1, 1)
    at, depth = (" before the first layer", 0) if kind.endswith("before") else ("", -1)
    return _compared(engine, view, f"similarity of “{first}” in A and B{at}", similarity(first, depth), *rest)


def explanation_claims(engine: Engine, _: Example, shown: Example) -> list[Claim]:
    """Return the claims of an example of Explanations: both answers, and which methods name the word that decides."""
    text, other = (shown["view"][side] for side in ("text", "text_b"))
    found, (answers, named) = explain_pair(engine, text, other), (rest for _, *rest in shown["claims"])
    word = found.rather[0].encoding.word_texts[found.word]
    ranks = {one.method: one.rank(found.word) for one in found.rather}
    rows = [
        (f"“{answer}” is most likely in “{side}” {YES}", answer == likely, 1, 1)
        for answer, likely, side in zip(answers, found.answers, (text, other), strict=True)
    ]
    for method in METHODS:
        bounds = (1, 1) if method in named else (2, math.inf)
        rows.append((f"rank of “{word}” by {method.replace('_', ' ')}", ranks.get(method, math.nan), *bounds))
    link = view_link(engine, "explanations", shown["view"])
    return [Claim(text, says, float(value), *bounds, link=link) for says, value, *bounds in rows]


def vector_claims(engine: Engine, _: Example, shown: Example) -> list[Claim]:
    """Return the claims of an example of Vectors on a layer, or of another model on the one that does best what is claimed.

    There are none on a probe: to train those of all layers takes minutes.
    """
    view, said = shown["view"], shown["claims"]
    if not said or view.get("part") == "probe":
        return []
    found = project(engine, embedded_sentences() if view.get("texts") == "embedded" else [view["text"], view["text_b"]])

    def at_layer(layer: int, claim: list) -> Claim:
        kind, _, word, *bounds = claim
        says, number = _OF_LAYERS[kind]
        says = says.format(word) + ("" if layer else " before the first layer")
        link = view_link(engine, "vectors", view | {"layer": str(layer)})
        return Claim(_text_of(shown), says, number(found, layer, word), *bounds, where=str(layer or ""), link=link)

    claims, same = [], has_heads_of(engine, catalogue.DEFAULT)
    for layer in dict.fromkeys(claim[1] for claim in said):
        tried = [layer] if same or not layer else range(1, engine.info.num_layers + 1)
        claims += most_true([at_layer(one, claim) for claim in said if claim[1] == layer] for one in tried)
    return claims


def _alike_in_kind(found: Projection, layer: int, _: str) -> float:
    """Return how often the nearest neighbour of a word has its part of speech, where it is not the same word elsewhere."""
    nearest = found.nearest[layer, :, 0]
    parts, words = (np.array(values) for values in zip(*((one.word.upos, one.text) for one in found.tokens), strict=True))
    return float((parts[nearest] == parts)[(parts != "") & (words[nearest] != words)].mean())


def _same_word(found: Projection, layer: int, _: str) -> float:
    words, parts = (np.array(values) for values in zip(*((one.text, one.word.upos) for one in found.tokens), strict=True))
    return float((words[found.nearest[layer, :, 0]] == words)[parts != ""].mean())


_OF_LAYERS: dict[str, tuple[str, Callable[[Projection, int, str], float]]] = {
    "repeated": (
        "similarity of “{0}” in both texts",
        lambda found, layer, word: float(found.repeated[word][layer]) if word in found.repeated else math.nan,
    ),
    "same part": (
        "share of words whose nearest neighbour, where it is another word, has their part of speech",
        _alike_in_kind,
    ),
    "same word": ("share of words whose nearest neighbour is the same word", _same_word),
    "plane": ("share of the variance that the plane shows", lambda found, layer, _: float(found.explained[layer].sum())),
}
"""What is claimed on the vectors after a layer, of a word where there is one."""


def measure_sets(
    engine: Engine, entry: Example, shown: Example, measured: dict[tuple[str, str], Importance]
) -> Generator[Progress, None, None]:
    """Measure the sets of prompts that an example of Importance names, unless they are in `measured`, by set and ablation."""
    asked = entry["view"] | shown["view"]
    ablation, own = asked.get("ablation", "off"), engine.name == catalogue.DEFAULT
    for name in (name for _, part, *_ in shown["claims"] for name in (asked["set"], part)):
        if name in PROMPT_SETS and (name, ablation) not in measured:
            prompts, kept = (prompt_set(name), kept_scores(name, ablation)) if own else (prompt_set(name)[:FEW_PROMPTS], None)
            measuring = Measuring(engine, prompts, ablation, kept_in=kept)
            yield from measuring.updates()
            measured[name, ablation] = measuring.result()


def importance_claims(engine: Engine, entry: Example, shown: Example, measured: dict | None = None) -> list[Claim]:
    """Return the claims of an example of Importance: what the answers of a set of prompts lose without a part.

    Another model than the embedded one is asked for few of the prompts, and one with other heads for its strongest part. A part
    named as a set is the head that is strongest there. measured: the importance that is known, by set and ablation, which is
    added to.
    """
    asked, same = entry["view"] | shown["view"], has_heads_of(engine, catalogue.DEFAULT)
    ablation = asked.get("ablation", "off")
    measured = {} if measured is None else measured
    for _ in measure_sets(engine, entry, shown, measured):
        pass

    def rows_of(name: str, part: str) -> dict[str, dict]:
        """Return the heads, or the sublayers, by name, the most important first."""
        rows = [row for row in measured[name, ablation].rows() if (row["head"] is None) == part.endswith("mlp")]
        return {f"{row['layer']}-{row['head'] or row['part']}": row for row in rows}

    claims, link = [], view_link(engine, "importance", asked)
    for kind, part, *bounds in shown["claims"]:
        if kind == "surely" and engine.name != catalogue.DEFAULT:
            continue
        rows, (says, number) = rows_of(asked["set"], part), _OF_PARTS[kind]
        if part in PROMPT_SETS or (part and not same):
            part = next(iter(rows_of(part, "") if part in PROMPT_SETS else rows))
        value, about = (
            number(measured[asked["set"], ablation], rows, part),
            {"where": part, "link": link + f"&head={part}" * bool(part)},
        )
        claims.append(Claim(_text_of(shown), says.format(how=_INSTEAD[ablation]), float(value), *bounds, **about))
    return claims


def _place(found: Importance, part: str) -> int:
    return [component_name(one) for one in found.components].index(part)


def _stay_right(found: Importance, _: object, part: str) -> float:
    return float((found.scores > found.effects[:, _place(found, part)]).mean())


def _group_effects(found: Importance, part: str) -> list[float]:
    return [float(effects[_place(found, part)]) for effects in found.by_group.values()]


_INSTEAD = {
    "off": "switched off",
    "mean": "its mean in its place",
    "resample": "what it computes for another prompt in its place",
}
_OF_PARTS: dict[str, tuple[str, Callable[[Importance, Mapping[str, Mapping], str], float]]] = {
    "used": (
        "share of the prompts that can be used",
        lambda found, *_: len(found.scores) / (len(found.scores) + sum(found.left_out.values())),
    ),
    "score": ("how far the right answer exceeds the other, in nats", lambda found, *_: found.scores.mean()),
    "loses": ("nats that the right answer loses, {how}", lambda _, rows, part: rows[part]["effect"]),
    "surely": ("low end of their 95 % interval", lambda _, rows, part: rows[part]["low"]),
    "ahead": (
        "nats that the right answer loses, {how}, above those of any other",
        lambda _, rows, part: rows[part]["effect"] - max(row["effect"] for name, row in rows.items() if name != part),
    ),
    "least_group": (
        "nats that the right answer loses, {how}, in the group that loses least",
        lambda found, _, part: min(_group_effects(found, part)),
    ),
    "most_group": (
        "nats that the right answer loses, {how}, in the group that loses most",
        lambda found, _, part: max(_group_effects(found, part)),
    ),
    "right": ("share of answers that are right, {how}", _stay_right),
    "turns": ("share of answers that turn, {how}", lambda _, rows, part: rows[part]["turned"]),
}
"""What is claimed on a set of prompts, and on a part of the model."""


EXAMPLE_CLAIMS: dict[str, Callable[[Engine, Example, Example], list[Claim]]] = {
    "attention": attention_claims,
    "fill_mask": word_claims,
    "patching": patch_claims,
    "compare": compare_claims,
    "explanations": explanation_claims,
    "vectors": vector_claims,
    "importance": importance_claims,
}
"""By page, what puts the claims of an example, on one of its sentences or pairs, to a model."""


class _Question(NamedTuple):
    """What is asked of a model: the page whose example claims it, or the lesson, the text, and what returns the claims.

    prepare: What is measured for it beforehand, where that takes long.
    """

    made: str
    text: str
    ask: Callable[[], list[Claim]]
    prepare: Callable[[], Iterable[Progress]] = tuple


def _lesson_questions(engine: Engine) -> Iterator[_Question]:
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
                asked = [measure.model_copy(update={"head": head}) for head in heads]
                yield _Question(name, measure.text, partial(_best_answer, engine, asked, entry))


def _best_answer(engine: Engine, asked: Sequence[Measure], entry: Example) -> list[Claim]:
    return most_true(_answer_claims(engine, one, entry) for one in asked)


_MEASURED = {
    "top_word": "probability of the likeliest word",
    "rank_of": "rank of “{word}”",
    "strongest_key": "attention of “{query}”",
    "strongest_cell": "largest weight",
    "attention_weight": "attention of “{query}” on “{key}”",
    "more_than_half": "attention of “{query}” on “{key}”",
    "head_with_largest_effect": "what the prediction loses without a head",
}
"""What a measure of a lesson is called."""


def _answer_claims(engine: Engine, measure: Measure, entry: Example) -> list[Claim]:
    """Return what an entry says of an answer: which is before any other, and the range of its number."""
    ahead = value = math.nan
    with suppress(*UNASKABLE):  # it has no such token, or no blank
        answer = compute_answer(engine, measure)
        value, shares = answer.value, shares_by_name(answer)
        if "right" in entry:
            own = shares.pop(entry["right"].casefold(), None)
            if own is None and measure.measure == "top_word":
                own = score_word(engine, measure, entry["right"]).probability
            ahead = math.nan if own is None else own - max(shares.values())
    changed = f" with {measure.changes}" if measure.changes else ""
    asked = _MEASURED[measure.measure].format(**measure.model_dump()) + changed
    link = link_to(engine, measure.text, heads=measure.head or "", changes=measure.changes)
    about, claims = {"where": measure.head or "", "link": link}, []
    if "right" in entry:
        claims.append(Claim(measure.text, f"{asked}: “{entry['right']}” above any other", ahead, 0.0, **about))
    if {"least", "most"} & entry.keys():
        bounds = entry.get("least", -math.inf), entry.get("most", math.inf)
        claims.append(Claim(measure.text, asked, value, *bounds, **about))
    return claims


class ClaimCheck:
    """All claims put to a model, an example or a question of a lesson after the other; `claims` has those of all updates so far.

    Of a text that the model cannot read, one claim that cannot be asked says why.
    """

    def __init__(self, engine: Engine):
        self.engine: Engine | None = engine
        self.claims = list[Claim]()
        self.left = list[_Question]()
        measured: dict[tuple[str, str], Importance] = {}
        for page, ask in EXAMPLE_CLAIMS.items():
            for entry, one in sentences(page):
                question = _Question(page, _text_of(one), partial(ask, engine, entry, one))
                if page == "importance":
                    shared = engine, entry, one, measured
                    question = question._replace(ask=partial(ask, *shared), prepare=partial(measure_sets, *shared))
                self.left.append(question)
        self.left += _lesson_questions(engine)
        self.finished = False

    def updates(self) -> Generator[Progress, None, None]:
        """Ask one after the other, yielding the progress also while prompts are measured for one."""
        started, engine, questions = perf_counter(), self.engine, self.left
        self.engine, self.left = None, []  # what is kept of a check must not keep a large model in memory
        for done, (made, text, ask, prepare) in enumerate(questions, 1):
            try:
                for _ in prepare():
                    yield Progress(done - 1, len(questions), perf_counter() - started)
                found = ask()
            except UNASKABLE as problem:
                found = [Claim(text, str(problem), math.nan, link=link_to(engine, text))]
            self.claims += [claim._replace(made=made) for claim in found]
            self.finished = done == len(questions)
            yield Progress(done, len(questions), perf_counter() - started)


def _text_of(shown: Example) -> str:
    """Return the first text of an example, or what it is called, of many texts."""
    return shown.get("text") or shown["view"].get("text") or shown["title"]


def check_claims(engine: Engine) -> list[Claim]:
    """Return every claim of examples and lessons put to a model."""
    check = ClaimCheck(engine)
    for _ in check.updates():
        pass
    return check.claims


def stored_claims(model: str) -> list[Claim]:
    """Return the claims that are stored of a model by its name; none of any but the embedded one."""
    if model != catalogue.DEFAULT:
        return []
    return [Claim(*json.loads(line)) for line in STORED.read_text("utf-8").splitlines()]


def main(argv: Sequence[str] | None = None) -> None:
    """Print a row of each claim: whether it holds, the number and the range, what is claimed, of which sentence, and where."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default=catalogue.DEFAULT, help="a name of the catalogue")
    parser.add_argument("--write", action="store_true", help=f"store those of the embedded model in {STORED.name}, for the page")
    given = parser.parse_args(argv)
    try:
        rows = check_claims(catalogue.load(catalogue.DEFAULT if given.write else given.model))
    except ExplorerError as problem:
        parser.exit(1, f"{problem}\n")
    if given.write:
        lines = (json.dumps([*row[:2], float(f"{row.value:.6g}"), *row[3:]], ensure_ascii=False) for row in rows)
        STORED.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    counts = dict.fromkeys(get_args(Verdict), 0)
    for row in rows:
        counts[row.verdict] += 1
        print(f"{row.verdict:7} {row.value:8.2f} ({row.claimed}) {row.where:4} {row.says}: {row.text} {row.link}")
    print(f"{counts['holds']} hold, {counts['fails']} fail, {counts['unasked']} cannot be asked.")


if __name__ == "__main__":
    main()
