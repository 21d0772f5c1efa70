"""Run A and B, take from the address how they are looked at, and describe both for files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.compare import texts
from pages.compare.inputs import PAGE, SideHead, Sides, heads_of, name_head
from pages.ui.export.attention import changes_in_words
from pages.ui.shell import cache, controls
from pages.ui.shell.address import set_values, value_of, view_parameters, widget_key
from pages.ui.shell.frame import explain
from pages.ui.stage.browser_texts import CAPTION
from pages.ui.stage.packing import RunName
from pages.ui.stage.sources import quoted, reading, source
from pages.ui.stage.texts import NEAREST_HEAD
from pages.ui.stage.tokens import note_special_tokens, warn_of_unknown
from tx_core.analysis import views
from tx_core.analysis.comparison import Comparison, Spelling, compare_attention, spell_words
from tx_core.analysis.views import View
from tx_core.engine.catalogue import catalogue
from tx_core.errors import CheckpointProblem, ExplorerError, ModelUnavailable, memory_checked
from tx_core.transformer.interventions import Head
from tx_core.transformer.trace import Trace

TRACE_PARTS = ("weights", "hidden")


@dataclass(frozen=True)
class SideRun:
    """A side that has been run, as it is looked at.

    head: a head of it, or the mean of a layer. words, hide: whether pieces are merged into words, and special tokens left out.
    """

    name: RunName
    trace: Trace
    head: SideHead
    words: bool
    hide: bool

    @property
    def reads_special(self) -> bool:
        """Whether the texts were read with the model's special tokens; a model that never adds any counts as such."""
        return self.trace.attention.query_tokens.special_tokens

    @cached_property
    def view(self) -> View:
        """Return its weights as they are shown."""
        return views.view(self.trace.attention, merge_words=self.words, hide_special=self.hide)

    @cached_property
    def spelled(self) -> tuple[Spelling, ...]:
        """Return the spelling of what is shown."""
        return spell_words(self.trace.attention.query_tokens, self.view.query_places)

    def labels(self, words: bool, hide: bool) -> Self:
        """Return the side without weights: what follows from its tokens alone."""
        stack = replace(self.trace.attention, weights=self.trace.attention.weights[:0])
        return replace(self, trace=replace(self.trace, stacks=(stack,)), words=words, hide=hide)

    @property
    def heads(self) -> list[Head]:
        """List the heads that its map is the mean of."""
        return heads_of(self.head, self.trace.attention.weights.shape[1])

    @property
    def weights(self) -> Float[np.ndarray, "word word"]:
        """Return its map."""
        return views.mean_of_heads(self.view.weights, self.heads)

    @property
    def model(self) -> str:
        """Return the name of its model, marked where its weights are random."""
        title = controls.model_title(self.name.model)
        return texts.RANDOM_MODEL.format(model=title) if self.name.seed else title


@dataclass(frozen=True)
class RunPair:
    """Both sides, what differs between them, and sentences on what a model lacks of the view.

    vary: a key of `inputs.VARIES`, or "tuned" for two models of which one was fine-tuned from the other: a head of one is that of
    the other before or after its training.
    """

    one: SideRun
    other: SideRun
    vary: str
    notes: tuple[str, ...]

    @property
    def runs(self) -> tuple[SideRun, SideRun]:
        """A and B."""
        return self.one, self.other

    def compare(self) -> Comparison:
        """Return what A and B attend to, and what differs."""
        one, other = self.runs
        return compare_attention(one.view, other.view, one.spelled, other.spelled, one.weights, other.weights)

    @property
    def heads_and_models(self) -> str:
        """Return the names of A's head and model, and of B's where they differ."""
        names = [texts.HEAD_OF_MODEL.format(head=name_head(run.head), model=run.model) for run in self.runs]
        return _joined(*(name[0].lower() + name[1:] for name in names))

    @property
    def models(self) -> str:
        """Return the name of the model, or both."""
        return _joined(self.one.model, self.other.model)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Quote the sentences of both sides, and say what was changed in either run."""
        return tuple(sentence for name, run in zip("AB", self.runs, strict=True) for sentence in _about_side(name, run))

    @property
    def about(self) -> dict[str, object]:
        """Return the settings that a reader of the exported numbers needs."""
        sides = {
            name: source(
                run.name.model,
                text=run.name.text,
                pair=run.name.pair,
                head=name_head(run.head),
                seed_of_random_weights=run.name.seed,
                **reading(run.reads_special),
                changes=changes_in_words(run.trace),
            )
            for name, run in zip("AB", self.runs, strict=True)
        }
        how = {"merged": self.one.words, "specialHidden": self.one.view.hides_special}
        return sides | {"notes": [*self.sentences, *(CAPTION[name] for name, holds in how.items() if holds)]}


def _joined(one: str, other: str) -> str:
    return one if one == other else texts.AND.format(one=one, other=other)


def _about_side(name: str, run: SideRun) -> Iterator[str]:
    yield texts.SIDE_TEXTS[name].format(sentence=quoted(run.name.text))
    if run.name.pair:
        yield texts.SIDE_PAIRS[name].format(sentence=quoted(run.name.pair))
    if not run.reads_special:
        yield texts.SIDE_WITHOUT_SPECIAL[name]
    if run.name.changes:
        yield texts.SIDE_CHANGES[name].format(changes=changes_in_words(run.trace))


def run_sides(sides: Sides) -> RunPair | None:
    """Run A and B; where one cannot be run, show the reason and return None."""
    one = _run_side(sides.one)
    other = one if sides.other == sides.one else _run_side(sides.other)
    if isinstance(one, ExplorerError) or isinstance(other, ExplorerError):
        _explain({"A": one} if one is other else {"A": one, "B": other})
        return None
    vary = "tuned" if sides.vary == "model" and are_numbered_alike(sides.one.model, sides.other.model) else sides.vary
    fields = "head", "head_b" if vary in ("head", "model") else "head"
    notes = [note for trace, field in zip((one, other), fields, strict=True) if (note := _replace_missing_head(trace, field))]
    words, hide = (value_of(PAGE, name) for name in ("words", "hide"))
    runs = [
        SideRun(name, trace, value_of(PAGE, field), words, hide)
        for name, trace, field in zip((sides.one, sides.other), (one, other), fields, strict=True)
    ]
    return RunPair(*runs, vary, tuple(dict.fromkeys(notes)))


def are_numbered_alike(one: str, other: str) -> bool:
    """Return whether one model was fine-tuned from the other, so that their heads have the same numbers."""
    origins = {card.name: card.fine_tuned_from for card in catalogue()}
    return origins.get(one) == other or origins.get(other) == one


def _replace_missing_head(trace: Trace, field: str) -> str:
    """Replace a head that the model of a run lacks by the nearest in number; return a notice, "" where nobody chose the head."""
    layers, heads = trace.attention.weights.shape[:2]
    layer, number = value_of(PAGE, field)
    nearest = min(layer, layers - 1), None if number is None else min(number, heads - 1)
    if nearest == (layer, number):
        return ""
    set_values(PAGE, {field: nearest})
    if field not in view_parameters():
        return ""
    return NEAREST_HEAD.format(model=controls.model_title(trace.model), layers=layers, heads=heads)


def _run_side(name: RunName) -> Trace | ExplorerError:
    """Run a side, or return why it cannot be run."""
    try:
        with memory_checked(), controls.wait_for(name.model):
            return name.run(TRACE_PARTS)
    except ExplorerError as problem:
        return problem


def _explain(outcomes: Mapping[str, Trace | ExplorerError]) -> None:
    """Explain which sides cannot be run, by their letters, and offer the built-in model once for each choice of a model."""
    failed = {side: problem for side, problem in outcomes.items() if isinstance(problem, ExplorerError)}
    for side, problem in failed.items():
        st.markdown(texts.NOT_SHOWN[side])
        explain(problem)
    has_own = value_of(PAGE, "vary") == "model"
    without_model = (side for side, problem in failed.items() if isinstance(problem, ModelUnavailable | CheckpointProblem))
    for field in dict.fromkeys("model_b" if side == "B" and has_own else "model" for side in without_model):
        controls.offer_default_model(widget_key(PAGE, field))


def note_reading(pair: RunPair) -> None:
    """Show what a reader should know of how the texts were read; nothing where all is as usual."""
    names = [run.name for run in pair.runs]
    for note in dict.fromkeys([*(run.trace.notice for run in pair.runs if run.trace.notice), *pair.notes]):
        st.info(note)
    warn_of_unknown([run.trace.attention.key_tokens for run in pair.runs], names[0].model, widget_key(PAGE, "model"))
    if names[0].bare:
        models = dict.fromkeys(name.model for name in names)
        for model in models:
            engine = cache.engine(model, special_tokens=False)
            whose = controls.model_title(model) if len(models) > 1 else ""
            note_special_tokens(engine, False, names[0].pair or names[1].pair, whose=whose)
