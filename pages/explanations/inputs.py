"""What the page is asked: two sentences that differ in one word, and a model; and its examples."""

from dataclasses import dataclass
from functools import partial
from operator import attrgetter

from pages.explanations import texts
from pages.ui.shell import controls
from pages.ui.shell.examples import read_examples
from pages.ui.shell.fields import StageFields, choice_field, place_field
from pages.ui.stage.controls import Control
from pages.ui.stage.inputs import PageInputs, ask_model, input_fields, pair_inputs

PAGE = "explanations"


EXAMPLES = read_examples(PAGE, {"text": str, "text_b": str, "ask": str, "model": controls.read_model}, ("model",))
FIELDS = StageFields(
    input_fields(EXAMPLES[0].view["text"], "text_b"),
    (choice_field("ask", tuple(texts.ASKS)), place_field("word", "{number}", "a word must be named by its number, from 1")),
    EXAMPLES[0].view,
)
CONTROLS = [Control("ask", "segments", texts.ASK, tuple(texts.ASKS.items()), help=texts.ASK_HELP)]


@dataclass(frozen=True)
class ExplanationInputs(PageInputs):
    """What the page is asked: why the answer to sentence A is not that to B, text_b."""

    text_b: str
    needs_blanks = True


def explanation_inputs() -> ExplanationInputs:
    """Read the address, draw the boxes and the examples, and return what is asked."""
    labels, offers = (texts.SENTENCE_A, texts.SENTENCE_B), attrgetter("fills_blanks")
    ask = partial(ask_model, PAGE, offers)
    return pair_inputs(PAGE, FIELDS, labels, ExplanationInputs, texts.EXCHANGE_HELP, ask, EXAMPLES)
