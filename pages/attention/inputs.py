"""What the page is asked: a sentence or two and a model, and sentences worth looking at."""

from pages.ui.shell import texts
from pages.ui.shell.address import ask_for_view, is_offered
from pages.ui.shell.controls import head_name
from pages.ui.shell.examples import Example, offer_examples, read_examples
from pages.ui.shell.fields import StageFields, choice_field
from pages.ui.stage import view_options
from pages.ui.stage.changes import CHANGES_FIELD, active_changes
from pages.ui.stage.inputs import SentenceInputs, input_fields, sentence_inputs
from pages.ui.stage.tokens import SPECIAL_FIELD
from tx_core.engine.catalogue import DEFAULT

EXAMPLES = read_examples(
    "attention",  # a file that counts layers, heads and tokens from 1
    {
        "text": str,
        "pair": str,
        "heads": lambda heads: [(layer - 1, head - 1) for layer, head in heads],
        "words": bool,
        "focus": lambda place: place and place - 1,
    },
    ("heads", "words"),
)
FIRST = EXAMPLES[0].view
FIELDS = StageFields(
    (*input_fields(FIRST["text"], "pair"), CHANGES_FIELD),
    (*view_options.view_fields(FIRST["heads"]), choice_field("compared", view_options.COMPARED)),
    {"focus": FIRST["focus"]},
)


def attention_inputs(page: str) -> SentenceInputs:
    """Ask for the sentences and the model; offer examples, for the one on the page what to notice, and what breaks it."""
    inputs = sentence_inputs(page, FIELDS)
    is_as_shown = not active_changes(page) and not inputs.bare
    usual = {"pair": "", "hide": False, "stack": "self", "changes": (), SPECIAL_FIELD.name: False}
    offer_examples(
        page,
        [one for one in EXAMPLES if not one.view.get("pair") or is_offered("pair")],
        lambda one: (one.view["text"], one.view.get("pair", "")) == (inputs.text, inputs.pair),
        lambda chosen: ask_for_view(page, usual | chosen.view),
        lambda example: notice(example, inputs.model, shown=is_as_shown),
    )
    return inputs


def notice(example: Example, model: str, *, shown: bool) -> str:
    """Return what to notice in an example, and in which heads of the embedded model; nothing beside any other model.

    shown: whether those heads are on the screen, unmodified.
    """
    if model != DEFAULT:
        return ""
    heads = texts.AND.join(head_name(head).lower() for head in example.view["heads"])
    template = texts.HINT_SHOWN if shown else texts.HINT_ELSEWHERE
    return template.format(heads=heads, hint=example.notice)
