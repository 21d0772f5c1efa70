"""Explanations of one prediction, word by word, by methods that may disagree: on which word does the answer rest?

Some change the text and look at what becomes of the answer, some differentiate it, and some read one run without asking for it.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from tx_core.analysis.attribution import INTEGRATION_STEPS, Attribution, attribute, gradient_times_input
from tx_core.analysis.probabilities import log_probabilities
from tx_core.analysis.rollout import rollout
from tx_core.analysis.value_weighted import row_shares, value_weighted
from tx_core.causal.cut_effects import read_prediction
from tx_core.causal.patch import SAME_ANSWER, answer_entries
from tx_core.engine.engine import Engine, no_head
from tx_core.engine.progress import count_runs, share_of_layers
from tx_core.errors import ModelUnavailable, TextProblem
from tx_core.fill_mask.predictions import blank_logits_in_batches
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import AttentionStack, Encoding

if TYPE_CHECKING:
    import pandas

NO_OTHER_WORD = "There is no word beside the blank: write a sentence around it."
NOT_OUR_LAYERS = "AttnLRP changes how gradients pass our own layers, and {title} runs in the library's: choose a BERT."


@dataclass(frozen=True)
class Explanation:
    """How far the answer at a blank rests on each word of the text, by one method.

    Attributes:
        answer, against: The most likely vocabulary entry, and the one that it is compared with; None for none.
        words: The words that are ranked, by their number in `encoding.word_texts`: all but blanks and punctuation.
        scores: Of each of them. Differences of log-probability (nats) of what changes the text and of gradients, of logits of
            "lrp"; attention weights or shares of what reads one run.
    """

    method: str
    encoding: Encoding
    answer: int
    against: int | None
    words: tuple[int, ...]
    scores: Float[np.ndarray, "word"]

    def rank(self, word: int) -> int:
        """Return the rank of a word, by its number in the text, from 1; of equal scores, the last.

        The largest score comes first: a word that speaks against the answer comes last. Raises ValueError for a word that is not
        ranked.
        """
        return int((self.scores >= self.scores[self.words.index(word)]).sum())

    def to_pandas(self) -> "pandas.DataFrame":
        """Return a row for each word: method, word (its number from 0), text, score and rank."""
        import pandas  # here: it takes a tenth of a second, and no page of a run needs it

        texts, ranks = [self.encoding.word_texts[word] for word in self.words], [self.rank(word) for word in self.words]
        columns = {"word": self.words, "text": texts, "score": self.scores, "rank": ranks}
        return pandas.DataFrame({"method": self.method, **columns})


def explain(engine: Engine, text: str, method: str = "erasure", *, blank: int = 0, against: str = "") -> Explanation:
    """Measure by one method how far the most likely word at a blank rests on each other word of a text.

    A word of several tokens is masked, left out or cut off as a whole; by any other method it has the sum of its tokens.

    Args:
        method: "erasure": the fall of the log-probability when the word is replaced by [MASK], "removal": when it is left out (Li
            et al. 2016). "integrated", "gradient_input": see `Attribution`. "lrp": AttnLRP, from the logit (`AttnLRP`). "routes":
            the fall when no other token may look at the word in one layer, added up over the layers. "value_weighted": the share
            of the word in the lengths of what attention adds at the blank, mean of all layers (Kobayashi et al. 2020, section
            3.3). "rollout": attention rollout from the blank (Abnar & Zuidema 2020). "largest_head": the largest weight of any
            head from the blank to the word. "last_layer", "all_layers": the mean weight from the blank.
        blank: Which of the text's blanks.
        against: A word of one token. Then what is explained is how far the answer exceeds it: why "are" rather than "is" (Yin &
            Neubig 2022). What reads one run cannot be asked this, and stays as it is.

    Raises TextProblem and ModelUnavailable as `predict` and `attribute` do; ModelUnavailable also of "lrp" for a model that does
    not run in our own layers; ValueError for a method or a blank that is not there.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method}")
    run = read_answer(engine, text, blank)
    if against:
        run = replace(run, against=answer_entries(engine, run.encoding, [against])[0])
        if run.against == run.answer:
            raise TextProblem(SAME_ANSWER.format(answer=against))
    return run.explain(method)


def side_by_side(explanations: Sequence[Explanation]) -> Float[np.ndarray, "method word"]:
    """Scale the scores of each method to a largest magnitude of 1, for all words of the text; NaN for what is not ranked."""
    first = explanations[0]
    rows = np.full((len(explanations), len(first.encoding.word_texts)), np.nan)
    scores = np.stack([one.scores for one in explanations])
    rows[:, list(first.words)] = scores / np.maximum(np.abs(scores).max(axis=1, keepdims=True), np.finfo(float).tiny)
    return rows


def methods_of(engine: Engine) -> list[str]:
    """Return the methods that a model allows."""
    return [name for name in METHODS if name != "lrp" or hasattr(engine, "relevance")]


def method_runs(run: "AnswerRun", method: str) -> tuple[int, float]:
    """Return how often a method runs the model on a text, and how many whole runs without gradients take as long."""
    words, layers = len(run.words), run.engine.info.num_layers
    if method == "routes":
        return words * layers, words * layers * share_of_layers(run.engine)
    if method == "integrated":
        return INTEGRATION_STEPS, 3.0 * INTEGRATION_STEPS
    return (words, float(words)) if method in CHANGES else (1, 3.0) if method in DIFFERENTIATES_ONCE else (0, 0.0)


@dataclass(frozen=True)
class AnswerRun:
    """A text whose answer is explained, and what several methods compute of it.

    groups: the positions of the tokens of each word. words, against: as of `Explanation`. What is computed for one explanation is
    kept for the next.
    """

    engine: Engine
    encoding: Encoding
    groups: tuple[tuple[int, ...], ...]
    words: tuple[int, ...]
    against: int | None = None
    kept: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def explain(self, method: str, *, alone: bool = False) -> Explanation:
        """Explain by a method of `METHODS`. alone: not rather than `against`."""
        against = None if alone else self.against
        if method in CHANGES:
            falls = self._keep((method, self.against), lambda: CHANGES[method](self))
            scores = falls[:, 0] if against is None else falls[:, 0] - falls[:, 1]
        else:
            about = None if method in READS_ATTENTION else against  # attention knows of no answer
            tokens = self._keep((method, about), lambda: READINGS[method](self, about))
            if method in DIFFERENTIATES_ONCE:
                count_runs(1)
            scores = np.array([tokens[list(self.groups[word])].sum() for word in self.words], np.float64)
        return Explanation(method, self.encoding, self.answer, against, self.words, scores)

    def _keep(self, name: Hashable, compute: Callable[[], Any]) -> Any:
        if name not in self.kept:
            self.kept[name] = compute()
        return self.kept[name]

    @property
    def place(self) -> int:
        return self.encoding.blanks[0]

    @property
    def logits(self) -> Float[np.ndarray, "vocab"]:
        return self._keep("logits", lambda: self.engine.blank_logits([self.encoding])[0][0])

    @property
    def answer(self) -> int:
        return int(self.logits.argmax())

    def gradients(self, against: int | None) -> Attribution:
        """Return the gradients of the answer, rather than another entry."""
        return self._keep(("gradients", against), lambda: attribute(self.engine, self.encoding, self.place, self.answer, against))

    def gradient_input(self, against: int | None) -> Float[np.ndarray, "token"]:
        """Return gradient × input of the answer, rather than another entry."""
        if found := self.kept.get(("gradients", against)):
            return found.gradient_input
        return gradient_times_input(self.engine, self.encoding, self.place, self.answer, against)

    @property
    def attention(self) -> AttentionStack:
        return self._keep("attention", lambda: self.engine.trace(self.encoding.text, keep=("weights", "value")).attention)

    @property
    def looks(self) -> Float[np.ndarray, "layer head key"]:
        return self.attention.weights[:, :, self.place]

    def falls(self, rows: Sequence[Encoding], changes: Sequence[Sequence[Intervention]] = ()) -> Float[np.ndarray, "row answer"]:
        """Return by how much less likely the answer is in each of other runs, and the one that it is compared with."""
        entries = [self.answer] if self.against is None else [self.answer, self.against]
        batches = blank_logits_in_batches(self.engine, rows, changes)
        found = [log_probabilities(logits[0])[entries] for batch in batches for logits in batch]
        return log_probabilities(self.logits)[entries] - np.array(found)


def read_answer(engine: Engine, text: str, blank: int = 0) -> AnswerRun:
    """Read a text, and find the words on which its answer may rest; raises what `explain` raises of them."""
    if not engine.info.fills_blanks:
        raise no_head(engine.title)
    encoding, mask = read_prediction(engine, text, blank), engine.tokenizer.mask_id
    groups = tuple(
        tuple(place for place, number in enumerate(encoding.words) if number == word) for word in range(len(encoding.word_texts))
    )
    words = tuple(
        word
        for word, places in enumerate(groups)
        if places and all(encoding.ids[place] != mask for place in places) and any(map(str.isalnum, encoding.word_texts[word]))
    )
    if not words:
        raise TextProblem(NO_OTHER_WORD)
    return AnswerRun(engine, encoding, groups, words)


def _mask(run: AnswerRun) -> Float[np.ndarray, "word answer"]:
    mask = run.engine.tokenizer.mask_id

    def masked(word: int) -> Encoding:
        ids = tuple(mask if place in run.groups[word] else entry for place, entry in enumerate(run.encoding.ids))
        return replace(run.encoding, ids=ids)

    return run.falls([masked(word) for word in run.words])


def _leave_out(run: AnswerRun) -> Float[np.ndarray, "word answer"]:
    def without(word: int) -> Encoding:
        kept = [place for place in range(len(run.encoding)) if place not in run.groups[word]]
        names = ("ids", "tokens", "segments", "special", "words")
        parts = {name: tuple(getattr(run.encoding, name)[place] for place in kept) for name in names}
        return replace(run.encoding, **parts, blanks=(kept.index(run.place),), unknown=())

    return run.falls([without(word) for word in run.words])


def _cut_off(run: AnswerRun) -> Float[np.ndarray, "word answer"]:
    layers = range(run.engine.info.num_layers)

    def cuts(word: int, layer: int) -> list[Intervention]:
        others = [place for place in range(len(run.encoding)) if place not in run.groups[word]]
        return [Intervention("cut", layer, positions=(query, key)) for query in others for key in run.groups[word]]

    changes = [cuts(word, layer) for word in run.words for layer in layers]
    falls = run.falls([run.encoding] * len(changes), changes)
    return falls.reshape(len(run.words), len(layers), -1).sum(axis=1)


def _propagate(run: AnswerRun, against: int | None) -> Float[np.ndarray, "token"]:
    if not hasattr(run.engine, "relevance"):
        raise ModelUnavailable(NOT_OUR_LAYERS.format(title=run.engine.title))
    return run.engine.relevance(run.encoding, run.place, run.answer, against)


def _weigh_values(run: AnswerRun, _: int | None) -> Float[np.ndarray, "token"]:
    layers = [value_weighted(run.engine, run.attention, layer) for layer in range(len(run.attention.weights))]
    return np.mean([row_shares(one.together)[run.place] for one in layers], axis=0)


CHANGES: Mapping[str, Callable[[AnswerRun], Float[np.ndarray, "word answer"]]] = {
    "erasure": _mask,
    "removal": _leave_out,
    "routes": _cut_off,
}
"""Methods that change words, which tell of all answers what becomes of them."""
READINGS: Mapping[str, Callable[[AnswerRun, int | None], Float[np.ndarray, "token"]]] = {
    "integrated": lambda run, against: run.gradients(against).integrated,
    "gradient_input": lambda run, against: run.gradient_input(against),
    "lrp": _propagate,
    "value_weighted": _weigh_values,
    "rollout": lambda run, _: rollout(run.attention.weights)[-1, run.place],
    "largest_head": lambda run, _: run.looks.max(axis=(0, 1)),
    "last_layer": lambda run, _: run.looks[-1].mean(axis=0),
    "all_layers": lambda run, _: run.looks.mean(axis=(0, 1)),
}
"""Methods that read one run, and score its tokens as reasons for the answer rather than for another entry, None for none."""
METHODS = (*CHANGES, *READINGS)
"""Every method; `explain` says what each is."""
DIFFERENTIATES_ONCE = ("gradient_input", "lrp")
"""Those that run the model once, forward and backward."""
READS_ATTENTION = ("value_weighted", "rollout", "largest_head", "last_layer", "all_layers")
"""Those that read one run, its attention or also its values, without asking for the answer or what becomes of it."""
