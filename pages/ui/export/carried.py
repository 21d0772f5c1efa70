"""What is on the screen, ready to be carried away: the map with all that a reader elsewhere has to be told of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pages.ui.canvas.packing import codes, difference_codes, pack
from pages.ui.panels.change_controls import stack_names
from pages.ui.panels.changes import Change, in_words
from pages.ui.panels.view_options import ViewOptions
from pages.ui.shell import controls
from pages.ui.shell.plain_names import file_stem

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from pages.ui.panels.attention_panel import Shown
    from tx_core.transformer.interventions import Interventions
    from tx_core.transformer.trace import Trace

KINDS = {"self": "", "decoder": " within what the decoder reads", "cross": " from the decoder to the text"}
MERGED = "Word pieces are merged into words: attention to a word is a sum, attention from it a mean."
HIDDEN = "Special tokens are left out, and each row scaled to sum to 1 again."
AXES = "Rows look, columns are looked at."


@dataclass(frozen=True)
class Carried:
    """A map as the page shows it, the run that it comes from, and how it is looked at."""

    trace: "Trace"
    shown: "Shown"
    options: ViewOptions

    @property
    def head_names(self) -> str:
        """Name the heads shown: "layer 4, head 5", or the mean of several."""
        names = [controls.head_name(head).lower() for head in self.shown.heads]
        return names[0] if len(names) == 1 else f"mean of {len(names)} heads ({'; '.join(names)})"

    @property
    def title(self) -> str:
        """Say in a line what it is."""
        kind = KINDS[self.shown.view.kind]
        compared = ", before and after a change" if self.shown.before is not None else ""
        return f"Attention{kind}{compared}: {self.head_names}, {controls.model_title(self.trace.model)}"

    @property
    def sentences(self) -> tuple[str, str]:
        """Give the text and the second sentence, "" for none, as they were typed."""
        source = self.trace.attention.query_tokens
        return source.text, source.pair or ""

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what was done to the weights, and to the run, before they were shown."""
        from tx_core.transformer.interventions import UNCHANGED

        notes = [MERGED] if self.options.words else []
        if self.shown.view.hides_special:
            notes.append(HIDDEN)
        if self.trace.interventions != UNCHANGED:
            notes.append(f"The run was changed: {changes_in_words(self.trace)}.")
        return tuple(notes)

    @property
    def caption(self) -> str:
        """Write what stands below a figure: model, heads, sentences, and whatever changes the numbers."""
        text, pair = self.sentences
        parts = [f"{self.title}.", f"Text: {quoted(text)}"]
        if pair:
            parts.append(f"Second sentence: {quoted(pair)}")
        row = self.shown.view.row_of(self.options.focus)
        if row is not None:
            parts.append(f"Marked: {self.shown.told.partition('. ')[2]}")
        return " ".join([*parts, AXES, *self.notes])

    @property
    def file_name(self) -> str:
        """Name a file without its ending: model, layer and head, in letters that every system takes."""
        heads = self.shown.heads
        which = f"layer{heads[0][0] + 1}-head{heads[0][1] + 1}" if len(heads) == 1 else f"mean-of-{len(heads)}-heads"
        return f"{self.stem}-{which}"

    @property
    def stem(self) -> str:
        """Begin the name of a file: the model and, where it has several kinds of attention, which one."""
        kind = f"-{self.shown.view.kind}" if len(self.trace.stacks) > 1 else ""
        return f"{file_stem('attention', self.trace.model)}{kind}"

    def packed(self, **more: object) -> bytes:
        """Lay out the map, or before, after and difference, as the canvas takes it; `more` goes into its header."""
        view, options = self.shown.view, self.options
        header = {
            "queries": list(view.queries),
            "keys": list(view.keys),
            "label": self.shown.told,
            "scale": options.scale,
            "strongest": options.lines,
            "show": options.show,
            "focus": view.row_of(options.focus),
        }
        before, after = self.shown.before, self.shown.weights
        if before is None:
            return pack(header | more, codes(after))
        return pack(header | more | {"maps": 3}, np.stack([codes(before), codes(after), difference_codes(after - before)]))


def quoted(sentence: str) -> str:
    """Put a sentence into quotation marks, with a full stop where it has no end of its own."""
    return f"“{sentence}”" if sentence.rstrip()[-1:] in ".!?…" else f"“{sentence}”."


def changes_in_words(trace: "Trace") -> str:
    """List what was changed in a run, named as on the page."""
    names = stack_names(trace)
    return "; ".join(in_words(change, names) for change in sorted(changes_of(trace.interventions), key=repr))


def changes_of(made: "Interventions") -> Iterator[Change]:
    """Say the changes of a run as the page does: the way back from `changes.interventions`."""
    for kind, heads in (("off", made.heads_off), ("even", made.uniform)):
        yield from (Change(kind, layer, head) for layer, head in heads)
    for kind, places in (("hide", made.hidden_tokens), ("cut", made.cut_edges)):
        yield from (Change(kind, layer, head, tuple(at)) for layer, head, *at in places)
    yield from (Change("temperature", layer, value=value) for layer, value in made.temperatures)
    yield from (Change(kind, layer) for layer, kind in made.normalisers)
