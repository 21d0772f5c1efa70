"""All that the page of masks says."""

PART = "Part"
PARTS = {"batch": "Why masks?", "one": "One head", "penalty": "−∞ or −10,000"}

# One sentence
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
CAUSAL, PADDING, COMBINED = "Causal", "Padding", "Causal and padding"
WINDOW, NO_MASK, CUSTOM = "Window", "None", "Custom (draw)"
LAYER = "Layer"
HEAD = "Head"
PADDING_TOKENS = "Padding tokens after the sentence"
NEIGHBOURS = "Neighbours on each side"
BLOCK_ROW = "Block an entire row"

# The matrices
MASK_TITLE = "Mask"
SCORES_BEFORE, SCORES_AFTER = "Scores before", "Scores after"
WEIGHTS_BEFORE, WEIGHTS_AFTER = "Weights before", "Weights after"
CHANGE = "Change"
MASK_ALT = "{allowed} of {pairs} pairs are allowed."
MASK_NOTE = "{allowed} of {pairs} pairs are allowed"
SCORES_BEFORE_ALT = "The scores of all pairs."
SCORES_BEFORE_NOTE = "orange: below zero, blue: above"
SCORES_AFTER_ALT = "The scores, −∞ where the mask says no."
SCORES_AFTER_NOTE = "−∞ where the mask says no"
CHANGE_ALT = "The largest change: {query} to {key}, {change:+.2f}."
CHANGE_NOTE = "blue: more weight, orange: less"
WEIGHTS_BEFORE_ALT = "Softmax of the scores before."
WEIGHTS_BEFORE_NOTE = "every row sums to 1"
WEIGHTS_AFTER_ALT = "Softmax of the scores after."
WEIGHTS_AFTER_NOTE = "masked weight went to the other tokens"
WEIGHTS_AFTER_NOTE_EMPTY_ROW = "masked weight went to the others, or is lost"
DRAW_HINT = (
    "Click or drag on the mask to allow or block pairs; click a name for its whole row or column. "
    "Point at a cell to read its numbers."
)
READ_HINT = "Point at a cell to read its numbers. A sentence of up to {most} tokens lets you draw the mask."
NO_CELL = "No cell is chosen."

# Rows that are masked as a whole
EMPTY_ROWS = "Nothing to attend to: {tokens}"
EMPTY_ROW = "“{token}” (row {row})"
EMPTY_ROWS_TEXT = (
    "Softmax of a row of only −∞ is 0 ÷ 0, which is not a number (NaN), and it would spread through the whole model. Our "
    "function gives such a row **zeros** instead: the token gets nothing from this head. With −10,000 in place of −∞ the row "
    "looks like real attention, because softmax does not change when all scores of a row shift together."
)

# −∞ or −10,000
PENALTY_TEXT = (
    "The original BERT code did not set masked scores to −∞: it **added −10,000** to them. That is nearly the same as long as "
    "the scores are much smaller than the penalty and every token may attend to something. Choose a smaller penalty and watch "
    "attention leak."
)
PENALTY_FORMULA = r"e^{-\infty} = 0 \qquad e^{-10\,000} \approx 10^{-4343}"
PENALTY = "Penalty"
INFINITE, UNMASKED = "−∞", "No mask"
INFINITE_ALT = "Masked pairs are exactly zero."
INFINITE_NOTE = "masked pairs: exactly 0"
PENALISED_ALT = "The weights with a penalty added to masked scores."
PENALISED_NOTE = "at most {leak} leaks to masked tokens"
UNMASKED_ALT = "The weights without a mask."
UNMASKED_NOTE = "up to {leak} goes to masked tokens"
LEAK = "Largest weight that leaks past the penalty"
DIFFERENCE = "Largest difference between −∞ and {penalty}"
DIFFERENCE_EMPTY = "The same for rows that are blocked entirely"
NO_EMPTY_ROW = "no such row"

# Why masks: a padded batch
BATCH_TITLE = "Padding must not count"
BATCH_TEXT = (
    "A model reads sentences in batches, so the shorter ones are filled up with **[PAD]** tokens. These must not affect the "
    "result, and a **padding mask** sees to that: no token attends to padding. Below, the shorter sentence is read alone, then "
    "next to the longer one, with the mask and without it. Change the sentences and compare."
)
BATCH_FORMULA = r"\max_{t,\,i}\;\bigl|\,h^{\text{in the batch}}_{t,i} - h^{\text{alone}}_{t,i}\,\bigr| \;\overset{?}{=}\; 0"
FIRST_SENTENCE, SECOND_SENTENCE = "First sentence", "Second sentence"
NO_PADDING = "Both sentences have the same number of tokens, so there is no padding. Make one of them longer."
CHANGE_MASKED, CHANGE_UNMASKED = "Padding masked: largest change", "Padding not masked: largest change"
PADDING_COUNTS = "the padding counts"
ALL_CHANGED = "every token has changed"
SOME_CHANGED = "{changed} of {tokens} tokens have changed"
CHANGE_BY_TOKEN = "Change of each token"
CHANGE_BY_TOKEN_ALT = "Masked, no token changes by more than {most}; not masked, each token changes by at least {least}."
PADDING_CELL = "{column}, padding {row}"
MASKED, NOT_MASKED = "masked", "not masked"
BATCH_CAPTION = "The number that changed most, of all numbers in each token's vector after the last layer."

EXPORT_TITLES = {
    "one": "A mask on layer {layer}, head {head}: scores and weights before and after",
    "penalty": "−∞ against a penalty of {penalty} on layer {layer}, head {head}",
    "batch": "Two sentences in one batch, with the padding masked and not",
}
EXPORT_RESULTS = {
    "one": "It ends with `effect`: the scores after the mask, and the weights before and after.",
    "penalty": "It ends with `ways`: the weights masked by −∞, by the penalty, and not at all.",
    "batch": "It ends with `proof`: how much each token changes, with the padding masked and not.",
}
EXPORT_RUN = "A mask on the whole model and its prediction: {change}"
EXPORT_RUN_RESULT = "It ends with `moved`: for each blank, the probability of each word before and after."

# Why masks: the whole model
RUN_TITLE = "A mask changes what the model predicts"
RUN_TEXT = (
    "Write a sentence with a blank, choose a change of the whole model, and compare the predictions before (outline) and after "
    "(filled). The blank is a token called [MASK]; a mask is something else: a ban, which says who may not attend to whom."
)
RUN_SENTENCE = "Sentence with a blank"
RUN = "Change of the whole model"
RUN_LABELS = {"causal": "Causal mask (left to right)", "padding": "Padding not masked", "positions": "No positions"}
RUN_TEXTS = {
    "causal": "In every layer, no token attends to a later one, as in GPT. This model was trained to read in both directions: "
    "under the mask, the blank can no longer take in what stands to its right.",
    "padding": "{padding} [PAD] tokens follow the sentence, as in a batch with a longer one, and the padding mask is left out: "
    "in every layer, every token attends to them, too.",
    "positions": "No position embeddings are added to the words, so the model cannot tell their order. Positions are no mask; "
    "this is here to compare.",
}
"""By the change."""
SAME_WORD_FIRST = "“{word}” comes first before and after the change: {before} → {after}."
OTHER_WORD_FIRST = "“{word}” came first with {before} and has {after} now; “{now}” comes first with {share}."
RANKS = "rank {before} → {after}"
PADDING_TAKES = "The {padding} padding tokens take {share} of the attention, averaged over layers, heads and tokens."
SEE_CHANGED = {
    "attention": "See every head under this change",
    "fill_mask": "Change more on Fill the blank",
}
"""By the page."""
