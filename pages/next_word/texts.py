"""What the page Next word says. Every string is a whole sentence or label; named placeholders are filled by `format`."""

from pages.ui.stage.browser_texts import page_texts

BEGINNINGS = (
    ("Once upon a", "Hardly anything but “time” fits. Write it, and the choice is wide."),
    (
        "The old man went to the",
        "Many words fit. A higher temperature brings up rare ones.",
    ),
    ("Two plus two is", "A number follows, that it knows, and not which: words, not sums."),
    ("She opened the door and", "With top-k 1 chance has no part: the likeliest, every time."),
)
"""Each with what to notice."""
CLOSING = tuple(".,;:!?)]}’”…")
"""What is written without a space before it."""

PICTURE = page_texts("next_word")
"""What the stage says by itself; everything else comes with a run."""

# Below

HOW = """The model reads the tokens from left to right. At each one it gives every token of its vocabulary a *logit*, a score of \
how well it would follow; the **softmax** turns the logits into shares that sum to 1. Then one token is drawn by its share, \
written, and read like all others: that is all that writing is."""
EQUATION = r"p_i = \frac{e^{z_i / T}}{\sum_j e^{z_j / T}}"
SETTINGS = """**Temperature** divides the logits: below 1 the likely tokens become likelier, above 1 rarer ones come up. \
**Top-k** draws from the k likeliest tokens only, **top-p** from the fewest that reach the share p together; both let those \
share 100 %. None of them changes the model: it is what you do with its shares."""
AHEAD = """Every token looks at itself and back, never ahead: the striped part of a map is *forbidden*, not zero by choice \
(**causal mask**). So nothing that is written later changes what earlier tokens computed, and their keys and values can be kept. \
This app computes them again all the same, to show every map."""
COLUMNS = ("token", "id", "share")
EXPORT_NEXT = "What comes next"
EXPORT_TITLE = "What comes next, by {model}"
