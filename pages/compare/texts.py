"""Every sentence of the page and of its exports. Tables go by what differs, as in `inputs.VARIES`."""

from pages.ui.stage.browser_texts import page_texts

PICTURE = page_texts("compare")
"""What the picture says; lists hold what is said of A, then of B."""
FIRST_TEXT = "time flies like an arrow"

ASK_VARIES = "What differs in B?"
VARIES = {
    "text": "Another sentence",
    "head": "Another layer or head",
    "untrained": "Untrained model",
    "changes": "A part switched off",
    "model": "Another model",
}
SENTENCE = "Sentence"
SENTENCES = {"A": "Sentence A", "B": "Sentence B"}
SECOND_SENTENCES = {"A": "Second sentence A (optional)", "B": "Second sentence B (optional)"}
SAME_AS_A = "Sentence B: the same as A"
MODEL_B = "Model B"
WEIGHTS = {"": "Weights", "A": "Weights A", "B": "Weights B"}
SWITCHED_OFF = {"A": "Switched off A", "B": "Switched off B"}
OF_SIDE, SIDE_OFF = "{side}: {value}", "{side} without: {value}"
TRAINED, RANDOM = "Trained", "Random weights {seed}"
NOTHING, ALL_HEADS = "Nothing switched off", "All heads of layer {layer}"
LAYER_MEAN = PICTURE["layerMean"]

TWO_SENTENCES, TWO_SENTENCES_HELP = "Second sentences", "Let the model read two sentences at once, in A and in B."
BOTH_CHANGED_ONCE = "Both are run with a change: {changes}."
BOTH_CHANGED = "Both are run with changes: {changes}."
UNDO_ONE, UNDO_ALL = "Undo the change", "Undo the changes"

NOT_SHOWN = {"A": "**A cannot be shown:**", "B": "**B cannot be shown:**"}
SAME_SIDES = "A and B are the same. Change B to see what differs."
SAME_MODEL = (
    "A and B are the same model: choose another one for B. Without a model hub, “Untrained model” shows the trained model "
    "beside the same model with random weights."
)
RANDOM_SIDE, TRAINED_SIDE = "random weights {seed}", "trained"
CHANGED_SIDE, UNCHANGED_SIDE = "changed ({changes})", "unchanged"
SHOWS = (
    "**The difference B − A shows** where a word gives more (blue, +) or less (orange, −) of its attention to the same word in B "
    "than in A."
)
DOES_NOT_SHOW = {
    "text": "**It does not show** why. Every row shares out 1 in all, so the attention that a word without a partner takes is "
    "missing elsewhere: not every difference is about the two words it stands between. And attention is not meaning.",
    "head": "**It does not show** which head matters more: a head that looks elsewhere may still pass on the same information.",
    "untrained": "**It does not show** what training was for, only what it changed. Other random weights give nearly the same "
    "difference, because an untrained head attends almost uniformly.",
    "changes": "**It does not show** what the missing part is for: what stays the same may have been done twice.",
    "tuned": "**It does not show** which heads the new task needs: a head may have moved because those below it did. Heads that "
    "stayed as they were may serve it, too.",
    "model": "**It does not show** which model is right, and heads of two models have no common numbering: layer 2, head 3 of "
    "one has nothing to do with that of the other.",
}
TABLE = "The differences as a table"
TABLE_ROWS = "Each row is a link in A or B. Cells are empty where a word has no partner."
TABLE_CUT = "Of {all:,} links, the {shown:,} with the largest differences are listed; the files of the export hold all of them."

NO_COMMON_SPACE = {
    "head": "A and B are heads of the same run, so every word has the same vector in both.",
    "untrained": "The two models have different weights, so their vectors live in different spaces: the angle between them means "
    "nothing.",
    "tuned": "The fine-tuning has changed what the vectors' dimensions stand for: the angle between them would mean little.",
    "model": "Vectors of two models live in different spaces: the angle between them means nothing.",
}
NO_COMMON_WORD = "A and B share no word: use one word in both sentences to see whether its vector stays the same."
WORD_SERIES = "“{word}” in A and B"
SHARED_SERIES = "other shared words (mean of {count})"
DIFFERENT_SERIES = "words that differ (mean of {count} pairs)"
COSINES = "Cosine similarity by layer"
BAND = "From the embeddings to the last layer. The shaded area is one standard deviation around the words that differ."
WORD_SHOWS = (
    "**The similarity shows** whether the words around it change a word's vector, and from which layer on. **It does not show** "
    "what the vectors mean or in what they differ. Words that have nothing in common are similar, too (Ethayarajh 2019), so read "
    "a similarity against theirs. With few words that baseline is rough, and a word's position in its sentence counts."
)
SIMILARITIES = "The similarities as a table"
EMBEDDINGS, LAYER = "embeddings", PICTURE["step"]
SIMILARITY_COLUMNS = {
    "depth": "after",
    "word": "“{word}”",
    "shared": "other shared words",
    "different": "words that differ",
    "deviation": "standard deviation",
}

MAPS_EXPORT, WORD_EXPORT = "A, B and B − A", "The word through the layers"
MAPS_TITLE, HEAD_OF_MODEL, AND = (PICTURE["captions"][name] for name in ("title", "heads", "and"))
WORD_TITLE = "Similarity of “{word}” in A and in B, layer by layer, {models}"
RANDOM_MODEL = "{model}, random weights"
SIDE_TEXTS = {"A": "A: {sentence}", "B": "B: {sentence}"}
SIDE_PAIRS = {"A": "Second sentence of A: {sentence}", "B": "Second sentence of B: {sentence}"}
SIDE_WITHOUT_SPECIAL = {"A": "A was read without special tokens.", "B": "B was read without special tokens."}
SIDE_CHANGES = {"A": "A was changed: {changes}.", "B": "B was changed: {changes}."}
