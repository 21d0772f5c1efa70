"""What the page says. Every string is a whole sentence or label; named placeholders are filled by `format`."""

INTRODUCTION = """
Each word becomes a vector, an encoder lets the words attend to one another, and then each dimension takes its **greatest value**
over all words, which is called **max-pooling**. A single matrix turns these values into a score for every label. The model knows
nothing about words in advance: it has to learn from the labels that *the plot was dull* is negative and that *the plot was not
dull at all* is positive. With the default settings it learns both, and classifies nearly all new sentences of the kinds that it
was trained on correctly. It does not learn what *not* means: *not dull* alone and *nothing about the plot was dull*, a kind of
sentence that it has never seen, are negative to it.
"""
FORMULA = "How label and contributions are computed"
EQUATION = r"\text{scores} = W \max_t h_t + b\;"
OWN_MODEL = (
    "No pretrained model is used on this page: the classifier begins with random weights and learns from the labelled texts "
    "alone. BERT, written out puts such heads on a pretrained model."
)
MODEL = "Classifier"
SHARED = (
    "This link holds the settings and your sentence, but neither the trained model nor your own texts. Whoever opens it can "
    "train a model with the same settings."
)

# Data and settings: label and help by name in the address

DATA_TITLE = "Training data"
DATA = {"opinions": "Film opinions (generated)", "own": "Your own CSV", "imdb": "IMDB reviews"}
IMDB = (
    "{train:,} reviews to train on and {test:,} to test on (Maas et al. 2011), downloaded from the Hugging Face Hub when you "
    "press Train, unless this server has them already."
)
CSV = "CSV file with the columns text and label"
CSV_MISSING = "Upload a CSV file first. Its first line is text,label; each other line holds a text and its label."
DATA_SUMMARY = "{train:,} texts to train on, {test:,} held out for the test. Labels: {labels}. Source: {source}."
EXAMPLE = "{label}: {text}"
SAVE_CSV = "Download all as CSV"
SIZES = {
    "epochs": ("Epochs", "How many times the model sees every text."),
    "batch": ("Batch size", "Texts per batch."),
    "width": ("Hidden size", "Length of the vector of each word. Must be divisible by the number of heads."),
    "layers": ("Layers", None),
    "heads": ("Heads", None),
    "feed": ("Feed-forward size", "Width of the hidden layer in each feed-forward network."),
    "tokens": ("Maximum words", "Longer texts are cut off for the training."),
    "seed": ("Random seed", "The same seed, settings and data give the same run."),
}
OTHER_DATA = "texts: {source}"

# The training

LOSS, TEST_LOSS, ACCURACY, TEST_ACCURACY = "training loss", "test loss", "training accuracy", "test accuracy"
LOSS_CURVE, ACCURACY_CURVE = "Loss", "Accuracy"
RESULTS = "Results on the test texts"
OVERFITTING = (
    "Since epoch {epoch}, the test loss has risen from {best:.3f} to {last:.3f} while the training loss went on falling: the "
    "model memorises its training texts, which is called overfitting."
)
TEST_RESULT = (
    "{correct:,} of {total:,} test texts are classified correctly ({share}). Rows: true labels. Columns: predicted labels."
)
IMDB_NOTEBOOK = (
    "For comparison, the notebook that this page is based on: 22,500 reviews to train on and 2,500 to test on, hidden size 32, "
    "1 layer, 2 heads, feed-forward size 128, vocabulary size 50,002, at most 200 words, batch size 164, learning rate 0.001, "
    "10 epochs: 80.9 % of the test texts classified correctly."
)
KNOWN_FRAMES = "Sentences made from templates of the training texts: {correct:,} of {total:,} are classified correctly."
NEW_FRAMES = "Sentences made from templates that no training text has: {correct:,} of {total:,}."
NOT_LEARNED = "Not learned (below {limit}, where guessing gives half): {frames}."
WEAK_FRAME = "“{frame}” ({correct} of {total})"
FRAME_KINDS = {True: "new", False: "as in training"}
FRAME_COLUMNS = ("template", "kind", "correct", "of")
FRAMES_CAPTION = (
    "The test texts by the template that they were made from. ‹good› stands for a word of praise and ‹bad› for one of blame; in "
    "negative texts they change places, and ‹loved› becomes what somebody says who hated it."
)
TRUE_LABEL, PREDICTED_LABEL = "true: {label}", "predicted: {label}"

# The visitor's own sentence

FIRST_SENTENCE = "the plot was not dull at all"
LIMITS_SENTENCE = "the acting was wonderful and the plot was never boring"
SENTENCE = "Your sentence"
NOTICE = "Notice: which words add most to the label? Move along the curve to see when that began."
NOTICES = {
    FIRST_SENTENCE: "Notice: *not … at all* turns *dull* into praise. Move along the curve to see when.",
    LIMITS_SENTENCE: "Notice: this is praise, and the model says negative. It knows words, not what *never boring* means.",
}
"""What to notice in the sentences that the page brings; in others, NOTICE."""
LIMITS_FAMILIAR = "the plot is never boring and always wonderful"
LIMITS = (
    "**What such a classifier cannot do:** it learns which words and phrases go with a label, not what they mean. Trained with "
    f"the default settings, it classifies *{LIMITS_SENTENCE}* as negative, at more than 99 %. In its training texts, *never* "
    f"stands before a word of praise or blame only in sentences like *{LIMITS_FAMILIAR}*, which it classifies as positive. A "
    "high probability does not mean that the label is right."
)
TRY_LIMITS = "Try one that it gets wrong"
STILL_TRAINING = "The sentence that you have typed is classified as soon as the training stops."
KEPT = "Reloading the page discards it; the same settings and texts train the same model again."
ALL_UNKNOWN = (
    "The model knows none of these words, because they are not in its training texts. The label below means nothing, and no "
    "contributions of words are shown. Use words from the training texts."
)
UNKNOWN = "Not in the training texts, so all the same to the model: {words}"
SAID = "{label}, {share}."
LABEL_PROBABILITIES = "Probability of each label"
CONTRIBUTIONS_CAPTION = (
    "Each dimension of the pooled vector is the value of one word. What this value adds to the score of a label, beyond what it "
    "adds to all labels on average, counts as the **contribution** of that word. A word counts with the vector that it has after "
    "attention, which has taken in the others: with the default settings, *the*, *plot* or *was* contributes far more to "
    "“negative” in *the plot was dull* than in *the plot was good*, though it begins with the same vector in both."
)
CONTRIBUTIONS_TITLE = "Contribution of each word to the score of each label"
TOP_CONTRIBUTION = "“{word}” contributes most to “{label}”: {amount}."
HEADS = "Self-attention"

NUMBERS_TRAINING = "The training"
EXPORT_TRAINING = "Training of a classifier, {batches} batches"
EXPORT_TRAINING_RESULT = "It prints loss and accuracy of every batch."
EXPORT_PREDICTION = "What a classifier makes of a text after {batches} batches"
EXPORT_PREDICTION_RESULT = "It ends with `prediction`: labels, probabilities, contributions; and `weights`, one row per query."
