"""What a page offers for export, where it comes from, and names that are safe in files.

Every file is written only when the reader asks for it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pages.ui.export import texts
from pages.ui.export.computation import Computation, python
from pages.ui.stage import texts as stage_texts
from pages.ui.stage.sources import Source
from tx_core.engine import catalogue
from tx_core.settings import app_version


@dataclass(frozen=True)
class DataFiles:
    """The same numbers as files of several formats.

    Attributes:
        name: which numbers, where a view has several sets.
        description: what is in the files.
        file_name: without its suffix.
        files: by suffix, the function that writes the file with the source of its numbers; None where the file would be
            too large.
    """

    name: str
    description: str
    file_name: str
    files: Mapping[str, Callable[[Source], bytes] | None]


@dataclass(frozen=True)
class Code:
    """Python that computes what is shown.

    Attributes:
        result: what the code ends with, in one sentence.
        computed: makes the computations that the code prints, with this project.
        transformers: writes the code that uses the transformers library only; None where there is none.
        omitted: what the transformers code leaves out, "" for nothing.
    """

    result: str
    computed: Callable[[], Sequence[Computation]]
    transformers: Callable[[], str] | None = None
    omitted: str = ""

    def project(self) -> str:
        """Write the code that uses this project."""
        return python(self.computed())


@dataclass(frozen=True)
class Export:
    """One view of a page as data and as code; its stage makes figure and web page by itself.

    Attributes:
        title: one line.
        file_name: without its suffix.
        about: what the view is of, as `source` names it.
        link: the address of the view, "" where there is none.
    """

    title: str
    file_name: str
    data: tuple[DataFiles, ...]
    code: Code
    about: Source
    link: str = ""

    @property
    def source(self) -> Source:
        """Where the numbers come from, for every file of them: what was run, this app's version, and the address."""
        return {**self.about, "version": f"{stage_texts.APP} {app_version()}", "link": self.link}

    @property
    def origin(self) -> str:
        """The part of it in one line that titles and captions do not say: models, versions and the address."""
        models = dict.fromkeys(stage_texts.MODEL_REVISION.format(**run) for run in self._runs)
        parts = [*models, f"{stage_texts.APP} {app_version()}", self.link]
        return "; ".join(part for part in parts if part)

    @property
    def _runs(self) -> list[Source]:
        """What `source` names of each run."""
        return [run for run in (self.about, *self.about.values()) if isinstance(run, Mapping) and "model" in run]

    def needs(self, kind: str) -> list[str]:
        """Return what a new process needs before it runs the code, one sentence each. kind: "project" or "transformers"."""
        models = dict.fromkeys(str(run["model"]) for run in self._runs)
        if kind == "project":
            return [needed for model in models if (needed := catalogue.needed_to_load(model))]
        local = [model.removeprefix(catalogue.LOCAL) for model in models if model.startswith(catalogue.LOCAL)]
        return [texts.NEEDS_FOLDER.format(folder=folder) for folder in local]


Exports = Mapping[str, Callable[[], Export]]
"""The views of a page by name; none is made before the reader chooses it."""
