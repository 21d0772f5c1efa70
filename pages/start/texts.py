"""What the start page says, and where its doors lead."""

from dataclasses import dataclass

from tx_core.engine.catalogue import DEFAULT

SENTENCE = "Yesterday I [MASK] to school."
ASK_SENTENCE = "Your own sentence; write ___ where a word should go, or tap one below"
MEANINGS = {(DEFAULT, SENTENCE, "cut~4-2~5"): "The past is gone."}
"""What a change of a sentence here means, by model, text and change."""


@dataclass(frozen=True)
class Door:
    """A way on from the start page: to a page, by its key, with parameters of its address. promise: what one finds there."""

    name: str
    page: str
    settings: dict[str, str]
    icon: str
    promise: str


DOORS = (
    Door(
        "Learn",
        "fill_mask",
        {"lesson": "path", "step": "1"},
        ":material/school:",
        "Attention in 15 minutes: guess first, then see what the model does.",
    ),
    Door("Explore", "fill_mask", {}, ":material/search:", "Blank a word in your own sentence: what would BERT put there?"),
    Door("Build", "self_attention", {}, ":material/construction:", "Follow the sums behind one head, then build up to BERT."),
)
"""The first is the path for newcomers."""
WRITES = "And a model that writes: what comes next, and which words does it read for it?"
FOR_TEACHERS = "Do you teach? Choose a lesson, and use it in a class"
