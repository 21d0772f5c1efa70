"""An attention map as it is exported: its title, file name, and what was done to its numbers."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from pages.ui.shell import controls
from pages.ui.shell.address import value_of
from pages.ui.stage.attention import drawn_padding
from pages.ui.stage.browser_texts import CAPTION
from pages.ui.stage.changes import describe_change, stack_names
from pages.ui.stage.sources import Source, file_stem, reading, source
from tx_core.analysis import views
from tx_core.analysis.views import View
from tx_core.transformer.interventions import Head
from tx_core.transformer.trace import AttentionStack, Trace


@dataclass(frozen=True)
class AttentionMap:
    """The weights of one head of a run, or the mean of several, as a page shows them.

    Attributes:
        trace: the run.
        heads: as (layer, head), counted from 0.
        kind: of attention.
        words, hide: whether pieces are merged into words, and special tokens left out.
        plain: the run without the reader's changes, where both are shown.
    """

    trace: Trace
    heads: tuple[Head, ...]
    kind: str = "self"
    words: bool = False
    hide: bool = False
    plain: Trace | None = None

    @cached_property
    def padding(self) -> int:
        """How many [PAD] the last column stands for, which no trace keeps; 0 for none."""
        return drawn_padding(self.trace.interventions, self._seen(self.trace)) if self.plain else 0

    @cached_property
    def view(self) -> View:
        """The tokens, and the weights of all heads."""
        return self._padded(self._seen(self.trace))

    @cached_property
    def unchanged(self) -> View | None:
        """The same without the reader's changes, where both are shown."""
        return self._padded(self._seen(self.plain)) if self.plain else None

    @cached_property
    def weights(self) -> Float[np.ndarray, "query key"]:
        """The weights that are drawn."""
        return views.mean_of_heads(self.view.weights, list(self.heads))

    @cached_property
    def before(self) -> Float[np.ndarray, "query key"] | None:
        """The same without the reader's changes."""
        return views.mean_of_heads(self.unchanged.weights, list(self.heads)) if self.unchanged else None

    def _seen(self, trace: Trace) -> View:
        return views.view(stack_of(trace, self.kind), merge_words=self.words, hide_special=self.hide)

    def _padded(self, view: View) -> View:
        return views.with_padding(view, self.padding) if self.padding else view

    @property
    def head_names(self) -> str:
        """Return the names of the heads: "layer 4, head 5", or the mean of several."""
        names = [controls.head_name(head).lower() for head in self.heads]
        return names[0] if len(names) == 1 else CAPTION["meanOfHeads"].format(count=len(names), names="; ".join(names))

    @property
    def title(self) -> str:
        """Describe the map in one line."""
        titles = CAPTION["titles" if self.plain is None else "changedTitles"]
        return titles[self.kind].format(heads=self.head_names, model=controls.model_title(self.trace.model))

    @property
    def sentences(self) -> tuple[str, str]:
        """Return the text and the second sentence ("" for none) as they were typed."""
        source = self.trace.attention.query_tokens
        return source.text, source.pair or ""

    @property
    def reads_special(self) -> bool:
        """Whether the text was read with the model's special tokens."""
        return self.trace.attention.query_tokens.special_tokens

    @property
    def notes(self) -> tuple[str, ...]:
        """List what was done to the weights, and to the run, before they were shown."""
        notes = [] if self.reads_special else [CAPTION["withoutSpecial"]]
        if self.words:
            notes.append(CAPTION["merged"])
        if self.view.hides_special:
            notes.append(CAPTION["specialHidden"])
        if self.trace.interventions:
            notes.append(CAPTION["changed"].format(changes=changes_in_words(self.trace)))
        return tuple(notes)

    @property
    def source(self) -> Source:
        """Return what the map is of, for the header of its files."""
        text, pair = self.sentences
        changes = changes_in_words(self.trace)
        kind = self.kind if len(self.trace.stacks) > 1 else ""
        read = reading(self.reads_special) | {"written": list(self.trace.attention.query_tokens.written)}
        return source(self.trace.model, text=text, pair=pair, **read, changes=changes, attention=kind, heads=self.head_names)

    @property
    def file_name(self) -> str:
        """Return a file name without its suffix: model, layer and head, in ASCII letters."""
        heads = self.heads
        which = f"layer{heads[0][0] + 1}-head{heads[0][1] + 1}" if len(heads) == 1 else f"mean-of-{len(heads)}-heads"
        return f"{self.stem}-{which}"

    @property
    def stem(self) -> str:
        """Begin a file name: the model, and the kind of attention where it has several."""
        kind = f"-{self.kind}" if len(self.trace.stacks) > 1 else ""
        return f"{file_stem('attention', self.trace.model)}{kind}"


def changes_in_words(trace: Trace) -> str:
    """List what was changed in a run, named as on the page."""
    names = stack_names(trace)
    return "; ".join(describe_change(change, names) for change in trace.interventions)


def shown_map(page: str, trace: Trace, plain: Trace | None = None) -> AttentionMap:
    """Return the map of a run as the browser shows it, by the fields of the page. plain: the run without changes, if any."""
    heads, kind, words, hide = (value_of(page, name) for name in ("heads", "stack", "words", "hide"))
    return AttentionMap(trace, tuple(heads), kind, words, hide, plain)


def stack_of(trace: Trace, kind: str) -> AttentionStack:
    """Return the attention of a kind."""
    return next(stack for stack in trace.stacks if stack.kind == kind)
