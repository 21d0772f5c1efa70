"""The parts of the page. A new part is one entry here and a module with its function."""

from collections.abc import Callable
from dataclasses import dataclass

from pages.summaries import attribution, kinds, logit_lens, rollout, similarity, texts, value_weighted
from pages.ui.export.menu import export_menu
from pages.ui.export.records import Export
from pages.ui.panels.parts_page import Part
from tx_core.engine.engine import Engine


@dataclass(frozen=True)
class Summary:
    """One summary of all the heads.

    Attributes:
        key: its name in addresses, which old links keep.
        title: what its export is called, with the standard term.
        button: what its button says, short enough for all buttons to stand in one line.
        show: draws it from the page's key, the engine and the two sentences; returns a function that makes its export.
    """

    key: str
    title: str
    button: str
    show: Callable[[str, Engine, str, str], Callable[[], Export]]

    def draw(self, page: str, engine: Engine, text: str, pair: str) -> None:
        """Draw the summary with its export menu."""
        export_menu(page, {self.title: self.show(page, engine, text, pair)})


SUMMARIES = (
    Summary("glance", texts.KINDS_TITLE, texts.KINDS_TITLE, kinds.show),
    Summary("layers", texts.ROLLOUT_TITLE, texts.ROLLOUT_BUTTON, rollout.show),
    Summary("values", texts.VALUES_TITLE, texts.VALUES_TITLE, value_weighted.show),
    Summary("alike", texts.SIMILARITY_TITLE, texts.SIMILARITY_TITLE, similarity.show),
    Summary("lens", texts.LENS_TITLE, texts.LENS_BUTTON, logit_lens.show),
    Summary("owed", texts.ATTRIBUTION_TITLE, texts.ATTRIBUTION_BUTTON, attribution.show),
)
PARTS = {summary.key: Part(summary.button, summary.draw) for summary in SUMMARIES}
