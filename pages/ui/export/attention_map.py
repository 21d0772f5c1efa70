"""An attention map as it is exported: its title, file name, and what was done to its numbers."""

from dataclasses import dataclass

from pages.ui.export import texts
from pages.ui.export.records import Source, file_stem, reading, source
from pages.ui.panels.changes import describe_change, stack_names
from pages.ui.panels.head_map import HeadMap
from pages.ui.panels.view_options import ViewOptions
from pages.ui.shell import controls
from tx_core.transformer.trace import Trace


@dataclass(frozen=True)
class AttentionMap:
    """A map as the page shows it, the run that it comes from, and the options that it is shown with."""

    trace: Trace
    shown: HeadMap
    options: ViewOptions

    @property
    def head_names(self) -> str:
        """Return the names of the heads: "layer 4, head 5", or the mean of several."""
        names = [controls.head_name(head).lower() for head in self.shown.heads]
        return names[0] if len(names) == 1 else texts.MEAN_OF_HEADS.format(count=len(names), names="; ".join(names))

    @property
    def title(self) -> str:
        """Describe the map in one line."""
        titles = texts.ATTENTION_TITLES if self.shown.before is None else texts.CHANGED_ATTENTION_TITLES
        return titles[self.shown.view.kind].format(heads=self.head_names, model=controls.model_title(self.trace.model))

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
        notes = [] if self.reads_special else [texts.WITHOUT_SPECIAL]
        if self.options.words:
            notes.append(texts.MERGED)
        if self.shown.view.hides_special:
            notes.append(texts.SPECIAL_HIDDEN)
        if self.trace.interventions:
            notes.append(texts.CHANGED.format(changes=changes_in_words(self.trace)))
        return tuple(notes)

    @property
    def source(self) -> Source:
        """Return what the map is of, for the header of its files."""
        text, pair = self.sentences
        changes = changes_in_words(self.trace)
        kind = self.shown.view.kind if len(self.trace.stacks) > 1 else ""
        read = reading(self.reads_special) | {"written": list(self.trace.attention.query_tokens.written)}
        return source(self.trace.model, text=text, pair=pair, **read, changes=changes, attention=kind, heads=self.head_names)

    @property
    def file_name(self) -> str:
        """Return a file name without its suffix: model, layer and head, in ASCII letters."""
        heads = self.shown.heads
        which = f"layer{heads[0][0] + 1}-head{heads[0][1] + 1}" if len(heads) == 1 else f"mean-of-{len(heads)}-heads"
        return f"{self.stem}-{which}"

    @property
    def stem(self) -> str:
        """Begin a file name: the model, and the kind of attention where it has several."""
        kind = f"-{self.shown.view.kind}" if len(self.trace.stacks) > 1 else ""
        return f"{file_stem('attention', self.trace.model)}{kind}"


def changes_in_words(trace: Trace) -> str:
    """List what was changed in a run, named as on the page."""
    names = stack_names(trace)
    return "; ".join(describe_change(change, names) for change in trace.interventions)
