"""Run A and B, prepare what their maps show, and describe them for captions and files."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pages.compare import texts
from pages.compare.state import Head, Side, name_head
from pages.ui.export.attention_map import changes_in_words
from pages.ui.export.records import file_stem, reading, source
from pages.ui.export.texts import MERGED, SPECIAL_HIDDEN, quoted
from pages.ui.shell import cache, controls
from tx_core.analysis import views, word_comparison
from tx_core.analysis.views import View
from tx_core.analysis.word_comparison import Spelling
from tx_core.engine.engine import Engine
from tx_core.errors import ModelUnavailable
from tx_core.transformer.trace import Trace

TRACE_PARTS = ("weights", "hidden")


@dataclass(frozen=True)
class Run:
    """A side that has been run: in whole words, with the weights of its head and the spelling of its words."""

    side: Side
    trace: Trace
    view: View
    spelled: tuple[Spelling, ...]
    weights: Float[np.ndarray, "word word"]

    @property
    def reads_special(self) -> bool:
        """Whether the texts were read with the model's special tokens; a model that never adds any counts as such."""
        return self.trace.attention.query_tokens.special_tokens


def run(side: Side, *, hide: bool) -> Run:
    """Run a side, or take it from the cache.

    Raises:
        ExplorerError: it cannot be run.
    """
    trained = cache.engine(side.model, special_tokens=side.special, weights=bool(side.seed))
    identity = ("compared", cache.engine_key(trained), side.seed, side.text, side.pair or None, frozenset(side.changes))

    def trace_side() -> Trace:
        engine = _with_weights(trained, side.seed)
        return engine.trace(side.text, side.pair or None, keep=TRACE_PARTS, interventions=side.changes)

    trace = cache.get_or_compute(identity, trace_side)
    stack = trace.attention
    view = cache.get_or_compute((*identity, hide), lambda: views.view(stack, merge_words=True, hide_special=hide))
    spelled = word_comparison.spell_words(stack.query_tokens, view.query_places)
    return Run(side, trace, view, spelled, views.mean_of_heads(view.weights, heads_of(side.head, view.weights.shape[1])))


def _with_weights(trained: Engine, seed: int) -> Engine:
    """Return the model itself for seed 0, else the same model with random weights."""
    if not seed:
        return trained
    # Imported here: they import torch, which this page needs for random weights only.
    from tx_core.engine.bert_engine import BertEngine
    from tx_core.lessons.untrained import untrained_engine

    if not isinstance(trained, BertEngine):
        raise ModelUnavailable(texts.RANDOM_WEIGHTS_NEED_BERT)
    return untrained_engine(trained, seed)


def heads_of(head: Head, num_heads: int) -> list[tuple[int, int]]:
    """List the heads that a choice is the mean of."""
    layer, number = head
    return [(layer, every) for every in range(num_heads)] if number is None else [(layer, number)]


def nearest_head(head: Head, num_layers: int, num_heads: int) -> Head:
    """Return the head itself if the model has it, else the one nearest in number."""
    layer, number = head
    return min(layer, num_layers - 1), None if number is None else min(number, num_heads - 1)


@dataclass(frozen=True)
class RunPair:
    """Both runs, what differs between them (`state.VARIES`), and whether special tokens are hidden."""

    one: Run
    other: Run
    vary: str
    hide: bool

    @property
    def runs(self) -> tuple[Run, Run]:
        """A and B."""
        return self.one, self.other

    @property
    def heads_and_models(self) -> str:
        """Return the names of A's head and model, and of B's where they differ."""
        names = [texts.HEAD_OF_MODEL.format(head=name_head(run.side.head), model=model_of(run)) for run in self.runs]
        return _joined(*(name[0].lower() + name[1:] for name in names))

    @property
    def models(self) -> str:
        """Return the name of the model, or both."""
        return _joined(*map(model_of, self.runs))

    @property
    def sentences(self) -> tuple[str, ...]:
        """Quote the sentences of both sides, and say what was changed in either run."""
        return tuple(sentence for name, run in zip("AB", self.runs, strict=True) for sentence in _about_side(name, run))

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the sentences of both sides, and whatever changes the weights, for a caption."""
        return (*self.sentences, MERGED, *([SPECIAL_HIDDEN] if self.one.view.hides_special else []))

    @property
    def about(self) -> dict[str, object]:
        """Return the settings that a reader of the exported numbers needs."""
        sides = {
            name: source(
                run.side.model,
                text=run.side.text,
                pair=run.side.pair,
                head=name_head(run.side.head),
                seed_of_random_weights=run.side.seed,
                **reading(run.reads_special),
                changes=changes_in_words(run.trace),
            )
            for name, run in zip("AB", self.runs, strict=True)
        }
        return sides | {"notes": list(self.notes)}

    def file_name(self, stem: str) -> str:
        """Return a file name without its suffix, in ASCII letters."""
        return file_stem(stem, self.one.side.model)


def model_of(run: Run) -> str:
    """Return the name of a run's model, marked where its weights are random."""
    title = controls.model_title(run.side.model)
    return texts.RANDOM_MODEL.format(model=title) if run.side.seed else title


def _joined(one: str, other: str) -> str:
    return one if one == other else texts.AND.format(one=one, other=other)


def _about_side(name: str, run: Run) -> Iterator[str]:
    yield texts.SIDE_TEXTS[name].format(sentence=quoted(run.side.text))
    if run.side.pair:
        yield texts.SIDE_PAIRS[name].format(sentence=quoted(run.side.pair))
    if not run.reads_special:
        yield texts.SIDE_WITHOUT_SPECIAL[name]
    if run.side.changes:
        yield texts.SIDE_CHANGES[name].format(changes=changes_in_words(run.trace))
