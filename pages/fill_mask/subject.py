"""What an export of the predictions is of: the lists on the page, and how they are shown."""

from dataclasses import dataclass

from pages.ui.panels.predictions import ListSettings, SentencePredictions


@dataclass(frozen=True)
class Lists:
    """All that is listed on the page, and how. model: its name."""

    model: str
    found: tuple[SentencePredictions, ...]
    chosen: ListSettings

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what makes the lists other than the model's own probabilities."""
        return (self.chosen.note,) if self.chosen.note else ()

    @property
    def about(self) -> dict[str, object]:
        """Give what a reader of the numbers has to know."""
        return {
            "model": self.model,
            "texts": [answer.text for answer in self.found],
            "temperature": self.chosen.temperature,
            "top_p": self.chosen.top_p,
            "notes": list(self.notes),
        }
