"""Vectors of tokens after each layer: as points in the plane (PCA, t-SNE), and what a linear probe reads off them."""

import time
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from tx_core.analysis.comparison import cosines
from tx_core.analysis.probabilities import bootstrap_interval
from tx_core.corpus.sentence_file import Sentences
from tx_core.corpus.words import Word, word_of_tokens
from tx_core.engine.engine import Engine
from tx_core.engine.progress import Progress
from tx_core.engine.threads import compute_slot
from tx_core.errors import TextProblem
from tx_core.settings import host_settings
from tx_core.transformer.trace import Encoding

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

MOST_TOKENS = 400
"""Of a projection: more points would cover each other."""
METHODS = ("pca", "tsne")
MOST_NEIGHBOUR_TOKENS, LEAST_NEIGHBOUR_TOKENS, PERPLEXITY = 200, 5, 30.0
"""Of a neighbour map: more take many seconds, fewer have no neighbours worth a map; how many neighbours of each count."""
NEIGHBOURS = 3
MOST_PROBE_TOKENS = 3000
"""By default: a probe of this many takes seconds."""
PROBE_C, PROBE_STEPS = 0.1, 300
"""Of the logistic regression: how little it is held back, and how long it may take to converge."""
FOLDS = 5
LEAST_OF_LABEL = 10
"""Words that a label must have: of fewer, some folds would have none."""
NOTHING_READ = "There is no word in these texts that the model can read: type a sentence."
TOO_MANY_VECTORS = (
    "The vectors of {tokens:,} tokens of {title} take {megabytes:,.0f} MB of memory, and this server allows {limit:,} MB: read "
    "fewer tokens, or choose a smaller model."
)
FEW_NEIGHBOURS = "A neighbour map needs {least} tokens, got {tokens}: type a longer text, or choose the plane."
NOT_ANNOTATED = "None of these sentences is annotated in this column: choose another column, or a CoNLL-U file that has it."


class Token(NamedTuple):
    """A token of a text.

    text: as a reader sees it. sentence: number of its text among those that were read. position: among the tokens of its text,
    from 0, special ones left out. number: of its word in the text. word: with the annotation that it has.
    """

    text: str
    sentence: int
    position: int
    number: int
    word: Word


@dataclass(frozen=True)
class TokenVectors:
    """The vectors of the tokens of some texts, special tokens left out, after the embeddings and after each layer.

    left_out: how many texts the model cannot read, or had too many tokens.
    """

    texts: tuple[str, ...]
    left_out: int
    tokens: tuple[Token, ...]
    vectors: Float[np.ndarray, "layer_and_embeddings token hidden"]


@dataclass(frozen=True)
class Projection:
    """Tokens in the plane of the two first principal components of their vectors, or in a neighbour map, layer by layer.

    Attributes:
        texts, left_out, tokens: as of `TokenVectors`.
        places: Both coordinates of each token. 1 is the typical distance of a token from the mean of its layer: the root of the
            mean square, in all dimensions; in a neighbour map, that of its place from the middle. From layer to layer the plane
            is turned and mirrored so that tokens move least (orthogonal Procrustes, Schönemann 1966), so that the axes of a place
            have no meaning, and its distances have, in a neighbour map only those to the nearest.
        explained: The share of the variance of a layer that each principal component explains.
        nearest, similarities: Of each token, the other tokens with the largest cosine similarity in all dimensions.
        repeated: By their letters, the tokens that are in several texts: the mean cosine similarity of all pairs from two texts.
        different: The mean cosine similarity of two tokens of other letters; 0 without such.
    """

    texts: tuple[str, ...]
    left_out: int
    tokens: tuple[Token, ...]
    method: str
    places: Float[np.ndarray, "layer_and_embeddings token axis"]
    explained: Float[np.ndarray, "layer_and_embeddings component"]
    nearest: Int[np.ndarray, "layer_and_embeddings token neighbour"]
    similarities: Float[np.ndarray, "layer_and_embeddings token neighbour"]
    repeated: dict[str, Float[np.ndarray, "layer_and_embeddings"]]
    different: Float[np.ndarray, "layer_and_embeddings"]


def token_vectors(engine: Engine, sentences: Sentences | Sequence[str], most: int = MOST_TOKENS) -> TokenVectors:
    """Return the vectors of the tokens of texts, each read alone; no more texts than have `most` tokens together, but one.

    Raises TextProblem where the model can read none of them.
    """
    reading = _read_each(engine, sentences, most)
    while True:
        try:
            next(reading)
        except StopIteration as end:
            return end.value


def _read_each(
    engine: Engine, sentences: Sentences | Sequence[str], most: int, more: int = 0
) -> Generator[Progress, None, TokenVectors]:
    """Read a text per update, and return the vectors of all. more: updates that follow."""
    texts, annotated = (sentences.texts, sentences.annotated) if isinstance(sentences, Sentences) else (sentences, {})
    read, tokens, vectors, begun, problem = [], [], [], time.monotonic(), TextProblem(NOTHING_READ)
    for done, text in enumerate(texts, 1):
        try:
            encoding = engine.encode(text)
        except TextProblem as unread:
            problem = unread if len(texts) == 1 else problem
            continue
        owned = [at for at, number in enumerate(encoding.words) if number is not None]
        if tokens and len(tokens) + len(owned) > most:
            break
        if owned:
            tokens += _tokens(encoding, owned, len(read), annotated.get(text))
            vectors.append(engine.trace(text, keep=("hidden",)).hidden[:, owned])
            read.append(text)
        yield Progress(done, len(texts) + more, time.monotonic() - begun)
    if not read:
        raise problem
    return TokenVectors(tuple(read), len(texts) - len(read), tuple(tokens), np.concatenate(vectors, axis=1))


def _tokens(read: Encoding, owned: Sequence[int], sentence: int, words: Sequence[Word] | None) -> list[Token]:
    """Return the tokens at the places `owned` of a text; without annotation where its words do not fit them."""
    owners = word_of_tokens(read, words) if words else None
    numbers = [(owners or read.words)[at] for at in owned]
    found = [words[number] if owners else Word(read.word_texts[number]) for number in numbers]
    each = enumerate(zip(owned, numbers, found, strict=True))
    return [Token(read.tokens[at], sentence, position, number, word) for position, (at, number, word) in each]


def project(engine: Engine, sentences: Sentences | Sequence[str], method: str = "pca") -> Projection:
    """Place the tokens of texts, all together, in a plane after each layer.

    method: "pca", that of their two first principal components, or "tsne", `neighbour_map`.

    Raises TextProblem as `token_vectors` and `neighbour_map` do, and ValueError for another method.
    """
    if method not in METHODS:
        raise ValueError(f"method must be among {', '.join(METHODS)}, got {method}")
    read = token_vectors(engine, sentences, MOST_TOKENS if method == "pca" else MOST_NEIGHBOUR_TOKENS)
    planes, explained = zip(*map(_principal_plane, read.vectors), strict=True)
    if method == "tsne":
        import_module("sklearn.manifold")  # takes seconds, in which nobody waits for the slot
        with compute_slot():
            planes = [neighbour_map(layer) for layer in read.vectors]
    similarities = cosines(read.vectors, read.vectors)
    count = min(NEIGHBOURS, len(read.tokens) - 1)
    order = np.stack([np.argsort(-(one - 9 * np.eye(len(one))), axis=-1, kind="stable")[:, :count] for one in similarities])
    found = np.stack([np.take_along_axis(one, nearest, -1) for one, nearest in zip(similarities, order, strict=True)])
    letters = [token.text.casefold() for token in read.tokens]
    sentence = np.array([token.sentence for token in read.tokens])
    alike = np.array(letters)[:, None] == np.array(letters)
    repeated = {}
    for word in dict.fromkeys(letters):
        of_word = np.flatnonzero(np.array(letters) == word)
        pairs = np.array([pair for pair in combinations(of_word, 2) if sentence[pair[0]] != sentence[pair[1]]])
        if len(pairs):
            repeated[word] = np.array([one[pairs[:, 0], pairs[:, 1]].mean() for one in similarities])
    different = np.array([one[~alike].mean() if not alike.all() else 0.0 for one in similarities])
    return Projection(
        read.texts, read.left_out, read.tokens, method, _aligned(planes), np.stack(explained), order, found, repeated, different
    )


def _principal_plane(
    vectors: Float[np.ndarray, "token hidden"],
) -> tuple[Float[np.ndarray, "token axis"], Float[np.ndarray, "component"]]:
    """Return the tokens in the plane of the first principal components, in typical distances, and what these explain."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    # The eigenvalues of the smaller product are the squared singular values: of a base model, a tenth of the time of an SVD.
    by_token = len(centred) <= centred.shape[1]
    squares, found = np.linalg.eigh(centred @ centred.T if by_token else centred.T @ centred)
    squares, found = np.clip(squares[:-3:-1], 0, None), found[:, :-3:-1]
    variance = (centred**2).sum()
    if variance < 1e-12:  # one token, or several with the same vector
        return np.zeros((len(vectors), 2)), np.zeros(2)
    places = found * np.sqrt(squares) if by_token else centred @ found
    more = max(0, 2 - len(squares))
    return np.pad(places, ((0, 0), (0, more))) / np.sqrt(variance / len(vectors)), np.pad(squares / variance, (0, more))


def neighbour_map(vectors: Float[np.ndarray, "token hidden"]) -> Float[np.ndarray, "token axis"]:
    """Place tokens so that those near by cosine stay near: t-SNE (van der Maaten & Hinton 2008), from their principal plane.

    How far apart groups lie, and how large they are, depends on the perplexity, at most a third of the tokens, more than on the
    vectors. 1 is the typical distance of a token from the middle.

    Raises TextProblem for fewer than five tokens.
    """
    count = len(vectors)
    if count < LEAST_NEIGHBOUR_TOKENS:
        raise TextProblem(FEW_NEIGHBOURS.format(least=LEAST_NEIGHBOUR_TOKENS, tokens=count))
    if np.ptp(vectors, axis=0).max() < 1e-6:  # all alike
        return np.zeros((count, 2))
    from sklearn.manifold import TSNE  # imported here: it takes seconds, and few ask for it

    asked = TSNE(perplexity=min(PERPLEXITY, (count - 1) / 3), metric="cosine", init="pca", random_state=0)
    places = asked.fit_transform(vectors).astype(np.float64)
    centred = places - places.mean(axis=0)
    return centred / np.sqrt((centred**2).sum() / count)


def _aligned(planes: Sequence[Float[np.ndarray, "token axis"]]) -> Float[np.ndarray, "layer_and_embeddings token axis"]:
    """Turn and mirror each plane to the one before; the first so that what is farthest out on an axis is on its right, or top."""
    first = planes[0]
    farthest = first[np.abs(first).argmax(axis=0), [0, 1]]
    found = [first * np.where(farthest < 0, -1, 1)]
    for plane in planes[1:]:
        left, _, right = np.linalg.svd(plane.T @ found[-1])
        found.append(plane @ left @ right)
    return np.stack(found)


@dataclass(frozen=True)
class ProbeScores:
    """What linear probes read off the vectors of words, and how often the same probes learn labels that mean nothing.

    Attributes:
        labels: The values of the column that are common enough.
        sentence: The number of each word's text.
        correct: Whether the label of a word is found by a probe trained on other texts, from what each layer computes.
        control_correct: The same of the control task.
        majority: The share of the most frequent label.
        seen: The share of words whose letters are among the texts that their probe was trained on: the others' labels in the
            control task can only be guessed.
        read: How many texts were read.
    """

    column: str
    labels: tuple[str, ...]
    sentence: Int[np.ndarray, "word"]
    correct: Bool[np.ndarray, "layer_and_embeddings word"]
    control_correct: Bool[np.ndarray, "layer_and_embeddings word"]
    majority: float
    seen: float
    read: int

    @property
    def accuracy(self) -> Float[np.ndarray, "layer_and_embeddings"]:
        """The share of words whose label is found."""
        return self.correct.mean(axis=1)

    @property
    def control(self) -> Float[np.ndarray, "layer_and_embeddings"]:
        """The share of words whose label in the control task is found."""
        return self.control_correct.mean(axis=1)

    @property
    def selectivity(self) -> Float[np.ndarray, "layer_and_embeddings"]:
        """How far the accuracy exceeds that of the control task."""
        return self.accuracy - self.control

    def intervals(self, values: Shaped[np.ndarray, "layer_and_embeddings word"]) -> Float[np.ndarray, "end layer_and_embeddings"]:
        """Return the 95 % bootstrap interval, over sentences, of a mean over words, such as of `correct`."""
        numbers = np.unique(self.sentence, return_inverse=True)[1]
        sums, sizes = np.stack([np.bincount(numbers, one) for one in values]), np.bincount(numbers)
        return bootstrap_interval(sums.T, sizes)

    def rows(self) -> list[dict[str, int | float]]:
        """List the layers, 0 for the embeddings, with accuracy, control task and selectivity, each with its interval."""
        difference = self.correct.astype(int) - self.control_correct
        values = {"accuracy": self.correct, "control": self.control_correct, "selectivity": difference}
        ends = {name: (one.mean(axis=1), *self.intervals(one)) for name, one in values.items()}
        names = ("", " low", " high")
        return [
            {"layer": layer}
            | {f"{name}{end}": float(one[layer]) for name, of in ends.items() for end, one in zip(names, of, strict=True)}
            for layer in range(len(self.correct))
        ]


def probe(engine: Engine, sentences: Sentences, column: str = "upos", most: int = MOST_PROBE_TOKENS) -> ProbeScores:
    """Train linear probes on what each layer computes, and test each on texts that it was not trained on.

    A probe is a multinomial logistic regression on the standardised vector of a word, the mean of its tokens'. The control task
    gives each word, by its letters, a label drawn at random from all (Hewitt & Liang 2019, section 2). Layer 0, the embeddings,
    is the baseline. Texts, each counted once, are split into five parts, each the test of probes trained on the others.

    most: no more texts are read than have this many tokens together, special ones left out.

    Raises TextProblem where too few words are annotated, or the host does not allow the vectors of so many tokens.
    """
    probing = Probing(engine, sentences, column, most)
    for _ in probing.updates():
        pass
    return probing.result()


class Probing:
    """Probes that are trained one after the other; arguments and errors are those of `probe`."""

    def __init__(self, engine: Engine, sentences: Sentences, column: str = "upos", most: int = MOST_PROBE_TOKENS):
        megabytes = 4e-6 * most * engine.info.hidden_size * (engine.info.num_layers + 1)
        if megabytes > (limit := host_settings().max_record_megabytes):
            raise TextProblem(TOO_MANY_VECTORS.format(tokens=most, title=engine.title, megabytes=megabytes, limit=limit))
        annotated = tuple(text for text in dict.fromkeys(sentences.texts) if text in sentences.annotated)
        if not annotated:
            raise TextProblem(NOT_ANNOTATED)
        self._engine, self._sentences, self._column, self._most = engine, replace(sentences, texts=annotated), column, most
        self._scores: ProbeScores | None = None

    def updates(self) -> Generator[Progress, None, None]:
        """Read a sentence, or train the probes of a layer, per update."""
        depth, begun = self._engine.info.num_layers + 1, time.monotonic()
        engine, self._engine = self._engine, None  # the scores that stay must not keep a large model in memory
        read = yield from _read_each(engine, self._sentences, self._most, depth)
        del engine
        words, vectors = _labelled_words(read, self._column)
        correct = np.zeros((2, depth, len(words.labels)), bool)
        for layer, of_layer in enumerate(vectors):
            for task, labels in enumerate((words.labels, words.control)):
                for test in words.tests:
                    trained = _train(of_layer[~test], labels[~test])
                    correct[task, layer, test] = trained.predict(of_layer[test]) == labels[test]
            total = len(self._sentences) + depth
            yield Progress(len(self._sentences) + layer + 1, total, time.monotonic() - begun)
        names, counts = np.unique(words.labels, return_counts=True)
        majority = float(counts.max() / counts.sum())
        labels = tuple(names.tolist())
        self._scores = ProbeScores(self._column, labels, words.sentence, *correct, majority, words.seen, len(read.texts))

    def result(self) -> ProbeScores | None:
        """Return the scores; None as long as not all probes are trained."""
        return self._scores


class _LabelledWords(NamedTuple):
    """Of the words of common labels: label, label in the control task, number of the text, and which each probe is tested on.

    seen: as of `ProbeScores`.
    """

    labels: np.ndarray
    control: np.ndarray
    sentence: Int[np.ndarray, "word"]
    tests: Bool[np.ndarray, "fold word"]
    seen: float


def _labelled_words(
    read: TokenVectors, column: str
) -> tuple[_LabelledWords, Float[np.ndarray, "layer_and_embeddings word hidden"]]:
    """Return the words whose label is common, and their vectors: the mean of their tokens'."""
    label_of = {(one.sentence, one.number): getattr(one.word, column).partition(":")[0] for one in read.tokens}
    counts = Counter(filter(None, label_of.values()))
    common = [label for label, count in counts.items() if count >= LEAST_OF_LABEL]
    places: dict[tuple[int, int], list[int]] = {}
    for place, one in enumerate(read.tokens):
        if label_of[one.sentence, one.number] in common:
            places.setdefault((one.sentence, one.number), []).append(place)
    sentence = np.array([number for number, _ in places], int)
    texts = np.unique(sentence)
    if len(common) < 2 or len(texts) < FOLDS:
        raise TextProblem(
            f"A probe needs {FOLDS} sentences, and two labels of {LEAST_OF_LABEL} words each, and finds {len(texts):,} sentences "
            f"and {len(common)} such labels: choose another column, or a larger file."
        )
    chance = np.random.default_rng(0)
    fold_of = dict(zip(chance.permutation(texts).tolist(), np.arange(len(texts)) % FOLDS, strict=True))
    tests = np.array([fold_of[number] for number in sentence.tolist()]) == np.arange(FOLDS)[:, None]
    labels = np.array([label_of[word] for word in places])
    letters = np.array([read.tokens[of[0]].word.form.casefold() for of in places.values()])
    drawn = {one: chance.choice(labels) for one in np.unique(letters)}
    seen = np.concatenate([np.isin(letters[test], letters[~test]) for test in tests]).mean()
    vectors = np.stack([read.vectors[:, of].mean(axis=1) for of in places.values()], axis=1)
    return _LabelledWords(labels, np.array([drawn[one] for one in letters]), sentence, tests, float(seen)), vectors


def _train(vectors: Float[np.ndarray, "word hidden"], labels: np.ndarray) -> "Pipeline":
    """Train a probe."""
    # Here: it takes 100 MB of memory, and no page but this one needs it.
    from sklearn.dummy import DummyClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    several = LogisticRegression(C=PROBE_C, max_iter=PROBE_STEPS)
    return make_pipeline(StandardScaler(), several if len(set(labels)) > 1 else DummyClassifier()).fit(vectors, labels)
