"""Both sides of a comparison, described for its export."""

from dataclasses import dataclass

from pages.compare.run import Run
from pages.compare.state import name_head
from pages.ui.export.attention_map import changes_in_words
from pages.ui.export.texts import MERGED, SPECIAL_HIDDEN, quoted
from pages.ui.shell import controls
from pages.ui.shell.plain_names import file_stem


@dataclass(frozen=True)
class Sides:
    """Both runs, what differs between them, and whether special tokens are hidden."""

    one: Run
    other: Run
    vary: str
    hide: bool

    @property
    def runs(self) -> tuple[Run, Run]:
        """Give A and B."""
        return self.one, self.other

    @property
    def seeded(self) -> bool:
        """Tell whether a side has random weights."""
        return any(run.side.seed for run in self.runs)

    @property
    def told(self) -> str:
        """Name the head and the model of A, and those of B where they are others."""
        names = list(
            dict.fromkeys(
                f"{name_head(run.side.head)}, {controls.model_title(run.side.model)}"
                + (", random weights" if run.side.seed else "")
                for run in self.runs
            )
        )
        return " and ".join(name[0].lower() + name[1:] for name in names)

    @property
    def models(self) -> str:
        """Name the model, or both, and say where weights are random."""
        names = [controls.model_title(run.side.model) + (", random weights" if run.side.seed else "") for run in self.runs]
        return " and ".join(dict.fromkeys(names))

    @property
    def sentences(self) -> tuple[str, ...]:
        """Write the sentences of both sides, and what was changed in either run."""
        notes = []
        for name, run in zip("AB", self.runs, strict=True):
            pair = f" Its second sentence: {quoted(run.side.pair)}" if run.side.pair else ""
            changes = f" Changed in it: {changes_in_words(run.trace)}." if run.side.changes else ""
            notes.append(f"{name}: {quoted(run.side.text)}{pair}{changes}")
        return tuple(notes)

    @property
    def notes(self) -> tuple[str, ...]:
        """Write the sentences of both sides, and whatever changes the weights."""
        return (*self.sentences, MERGED, *([SPECIAL_HIDDEN] if self.one.view.hides_special else []))

    @property
    def about(self) -> dict[str, object]:
        """Give what a reader of the numbers has to know."""
        sides = {
            name: {
                "model": run.side.model,
                "text": run.side.text,
                "pair": run.side.pair,
                "head": name_head(run.side.head),
                "random weights": run.side.seed,
                "changes": changes_in_words(run.trace) if run.side.changes else "",
            }
            for name, run in zip("AB", self.runs, strict=True)
        }
        return sides | {"notes": list(self.notes)}

    def file_name(self, what: str) -> str:
        """Name a file without its ending, in letters that every system takes."""
        return file_stem(what, self.one.side.model)
