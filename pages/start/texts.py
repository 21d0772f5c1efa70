"""What the start page says, and where its doors lead."""

from dataclasses import dataclass

SENTENCE = "The old woman fed the cats because they were hungry."
ARCS_ALT = "The words of a sentence. Arrow keys go from word to word."
HINT = "Point at a word, or tap it, to see where the model looks when it reads it."
HEAD_LOOKS_AT = "Reading “{word}”, a head of the model looks at {keys}."
HEADS_LOOK_AT = "Reading “{word}”, heads of the model look at {keys} and {last}."
LOOKED_AT = "“{key}” ({share})"
LOOKS_NEARBY = "Reading “{word}”, no head looks far."
HOW_DRAWN = (
    "Blue arcs lead back to earlier words, violet arcs ahead to later ones; each grows stronger towards the word looked at, and "
    "is wider for a larger share of attention. The model has {heads} heads, which look in parallel: an arc shows the head that "
    "gives most of its attention to that word, where this is {share} or more. Neighbouring words are left out."
)


@dataclass(frozen=True)
class Door:
    """A way on from the start page.

    Attributes:
        name: its label.
        page: the page that it leads to, by its key.
        settings: the parameters of its address.
        icon: of Streamlit's own.
        promise: what one finds there.
    """

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
    Door("Explore", "attention", {}, ":material/search:", "Type your own sentence, and look into every head of a model."),
    Door("Build", "self_attention", {}, ":material/construction:", "Follow the sums behind one head, then build up to BERT."),
)
"""The first is the path for newcomers."""
FOR_TEACHERS = "Do you teach? Choose a lesson, and use it in a class"
