"""What the stage of Attention begins with: its fields and examples. Every other page has these in its own `inputs.py`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pages.ui.shell import controls, examples
from pages.ui.shell.address import Field, choice_field, is_offered, text_field
from pages.ui.shell.examples import Example
from pages.ui.shell.texts import SENTENCE
from pages.ui.stage import view_options
from pages.ui.stage.address import StageFields
from pages.ui.stage.changes import CHANGES_FIELD
from pages.ui.stage.tokens import SPECIAL_FIELD
from tx_core.engine.catalogue import ModelCard

COMPARED = ("after", "before", "difference")
"""Which of a changed run is shown."""


@dataclass(frozen=True)
class StageEntry:
    """What a page with a stage begins with.

    Attributes:
        fields: of its view.
        examples: sentences worth looking at.
        offers: which models may be chosen; None for all.
        asks: what the box of the sentence asks for.
        counts: whether the tokens of the sentence are counted beside it.
    """

    fields: StageFields
    examples: Sequence[Example] = ()
    offers: Callable[[ModelCard], bool] | None = None
    asks: str = SENTENCE
    counts: bool = True


def attention_entry() -> StageEntry:
    """Describe the stage of Attention; examples with a second sentence are left out where the page asks for none."""
    first = examples.curated()[0]
    own = (
        text_field("text", first.text),
        text_field("pair", first.pair),
        Field("model", "embedded", controls.read_model),
        SPECIAL_FIELD,
        CHANGES_FIELD,
    )
    looks = (*view_options.view_fields(first.heads), choice_field("compared", COMPARED))
    offered = [example for example in examples.curated() if not example.pair or is_offered("pair")]
    return StageEntry(StageFields(own, looks, {"focus": first.focus}), offered)


STAGES = {"attention": attention_entry}
"""By the key of a page, what describes its stage."""
