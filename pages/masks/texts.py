"""All that the page of masks says."""

from pages.ui.stage.browser_texts import page_texts

PART = "Part"
PARTS = {
    "one": "One head",
    "why": "Why hide it?",
    "penalty": "−∞ or −10,000",
    "batch": "Padding must not count",
}
"""By the names of links."""
BOXES = {"text": "Sentence", "pair": "Second sentence"}

# One sentence
NOTICE = {
    "one": "A causal mask hides the future: later words score −∞, so their weight is 0.",
    "why": "Without the mask, the loss falls to almost 0. Look at what that model writes.",
    "penalty": "BERT's own code added −10,000 to masked scores. With less, attention leaks.",
    "batch": "In a batch, [PAD] fills up the shorter sentence. Unmasked, it changes the result.",
}
"""One line on what to notice, by part."""
OWN_MASK_NOTICE = "What the mask forbids scores −∞, so its weight is 0; the rest of the row shares the attention."
"""Of one head with a mask that is not the causal one."""
ONE_TEXT = (
    "A mask answers **yes or no** for every pair of tokens: may this one attend to that one? A masked score becomes −∞. "
    "Softmax turns it into exactly 0 and distributes all the attention among the remaining tokens."
)
WEIGHTS_FORMULA = r"\text{weights} = \text{softmax}\!\left(\frac{QK^\top}{\sqrt{d}} + M\right)"
MASK_FORMULA = r"M_{ij} = \begin{cases} 0 & \text{if } i \text{ may attend to } j \\ -\infty & \text{otherwise} \end{cases}"
ONE_CAPTION = (
    "The scores are the model's own: the queries and keys of this layer and head, computed without any mask. "
    "The mask is applied to this one head only."
)

# Controls
MASK = "Mask"
KINDS = {
    "causal": "Causal",
    "padding": "Padding",
    "combined": "Causal and padding",
    "window": "Window",
    "none": "No mask",
    "painted": "Custom (draw)",
}
"""By the names of links: those of `masking.MASK_KINDS`, and the one drawn by hand."""
PADDING_TOKENS, PADDING_HELP = "Padding", "How many [PAD] tokens follow the sentence."
NEIGHBOURS, NEIGHBOURS_HELP = "Neighbours", "How many tokens on either side a token may attend to."
STATES = {"after": "After", "before": "Before", "difference": "Difference", "all": "All"}
STATE = "Which scores and weights are shown"
PENALTY = "Penalty"

# The matrices
MATRICES = {
    "mask": ("Mask M", "click or drag to draw", "0 where a query may attend to a key, −∞ where it may not."),
    "scores": ("Scores", "Q Kᵀ ÷ √d", "How well each key matches each query."),
    "masked": ("Scores + M", "−∞ where the mask says no", "The scores, −∞ where the mask says no."),
    "lowered": (
        "Scores and penalty",
        "Q Kᵀ ÷ √d, {penalty} added where the mask says no",
        "The scores, with a penalty added where the mask says no.",
    ),
    "before": ("Weights before", "softmax: every row sums to 1", "Softmax of the scores without a mask."),
    "weights": ("Weights after", "softmax: masked pairs exactly 0", "Softmax of the scores with the mask."),
    "change": ("Change", "after − before", "What each weight gained or lost by the mask."),
    "leaky": ("Weights with a penalty", "softmax with {penalty} added", "Softmax of the scores with a penalty in place of −∞."),
}
"""Title, formula and a sentence for each matrix, by its name."""
PENALTY_MATRICES = {
    "weights": ("−∞", *MATRICES["weights"][1:]),
    "leaky": ("{penalty}", *MATRICES["leaky"][1:]),
    "before": ("No mask", *MATRICES["before"][1:]),
}
"""Those that stand side by side to compare −∞ with a penalty."""
PICTURE = page_texts("masks")
"""What the stage of one head says by itself."""

# Why hide the future
MODELS = {"masked": "With the mask", "unmasked": "Without the mask"}
"""By the names of `future.MASKS`."""
MOMENT = "Batch"
TWO_MODELS = "Two models of one head"
LOSSES = "Loss: how surprised each model is by the next word"
LEAST = "Least without looking ahead"
LOSS_BELOW = "{title}: loss {masked} with the mask, {unmasked} without. No model that only looks back can get below {least}."
LOSS_ABOVE = "{title}: loss {masked} with the mask, {unmasked} without. The least that looking back allows is {least}."
UNTRAINED_LOSS = "Untrained: both models begin with the same random numbers."
WRITTEN = "What each model writes"
BEGINNING = "Beginning"
WRITING = "With nothing after it, as when a model writes, the loss of a word is {masked} with the mask and {unmasked} without."
WRITING_WORSE = (
    "With nothing after it, as when a model writes, the loss of a word is {masked} with the mask and {unmasked} without: worse "
    "than guessing all {words} words evenly ({even})."
)
UNTRAINED_WRITING = "Both models repeat the last word: an untrained model knows nothing else."
LOOKS = {"masked": "Where each word looks, with the mask", "unmasked": "Where each word looks, without the mask"}
LOOKS_CELL = "{row} looks at {column}"
NEXT_WORD = {
    "masked": "With the mask, no word sees a later one: the next word gets {share} of its attention.",
    "unmasked": "Without it, a word gives {share} of its attention, on average, to the next word, which is the answer.",
}
OWN_TRAINING = "Trained from other random numbers."
WHY_TEXT = (
    "Both models are trained on the same 2,304 sentences, such as “the old cat sat on the mat .”, and begin with the same random "
    "numbers. At every word they must name the **next** one. Without a causal mask the next word stands in plain sight, so the "
    "model learns to **copy** it: its loss goes below what looking back allows, and looks like success. But when it writes, "
    "there is no next word to copy yet. A model that fills blanks, like BERT, needs no such mask: the word that it must name was "
    "replaced by [MASK]."
)
WHY_FORMULA = (
    r"\text{loss} = -\frac{1}{n}\sum_{i=1}^{n} \log p(w_{i+1} \mid w_1 \ldots w_i) \;\ge\; \frac{\ln 2304}{7} \approx 1.11"
)

# −∞ or −10,000
PENALTY_TEXT = (
    "The original BERT code did not set masked scores to −∞: it **added −10,000** to them. That is nearly the same as long as "
    "the scores are much smaller than the penalty and every token may attend to something. Choose a smaller penalty and watch "
    "attention leak."
)
PENALTY_FORMULA = r"e^{-\infty} = 0 \qquad e^{-10\,000} \approx 10^{-4343}"


def write_penalty(penalty: str) -> str:
    """Write a penalty as a reader does: −10,000."""
    return f"{int(penalty):,}".replace("-", "−")


# Why masks: a padded batch
BATCH_TITLE = "The batch, as the model reads it"
BATCH_TEXT = (
    "A model reads sentences in batches, so the shorter ones are filled up with **[PAD]** tokens. These must not affect the "
    "result, and a **padding mask** sees to that: no token attends to padding. In the picture, the shorter sentence is read "
    "alone, then next to the longer one, with the mask and without it. Change the sentences and compare."
)
BATCH_FORMULA = r"\max_{t,\,i}\;\bigl|\,h^{\text{in the batch}}_{t,i} - h^{\text{alone}}_{t,i}\,\bigr| \;\overset{?}{=}\; 0"
FIRST_SENTENCE, SECOND_SENTENCE = "First sentence", "Second sentence"
NO_PADDING = "Both sentences have the same number of tokens, so there is no padding. Make one of them longer."
PADDING_COUNTS = "the padding counts"
ALL_CHANGED = "every token has changed"
SOME_CHANGED = "{changed} of {tokens} tokens have changed"
CHANGE_BY_TOKEN = "Change of each token"
CHANGES_BY_TOKEN = (
    "Padding masked: the largest change is {masked}, {verdict}. Padding not masked: the largest change is {unmasked}, {changed}."
)
PADDING_CELL = "{column}, padding {row}"
MASKED, NOT_MASKED = "masked", "not masked"
BATCH_CAPTION = "Below: the number that changed most, of all numbers in each token's vector after the last layer."

EXPORT_TITLES = {
    "one": "A mask on layer {layer}, head {head}: scores and weights before and after",
    "why": "Two tiny models in training, with and without the causal mask",
    "penalty": "−∞ against a penalty of {penalty} on layer {layer}, head {head}",
    "batch": "Two sentences in one batch, with the padding masked and not",
}
