"""What the page says. Every string is a whole sentence or label; named placeholders are filled by `format`."""

INTRODUCTION = """
Each word becomes a vector, an encoder lets the words attend to one another, and then each dimension takes its **greatest value**
over all words, which is called **max-pooling**. A single matrix turns these values into a score for every label. The model knows
nothing about words in advance: it has to learn from the labels that *the plot was dull* is negative and that *the plot was not
dull at all* is positive. With the default settings it learns both, and classifies nearly all new sentences of the kinds that it
was trained on correctly. It does not learn what *not* means: *not dull* alone and *nothing about the plot was dull*, a kind of
sentence that it has never seen, are negative to it.
"""
EQUATION = r"\text{scores} = W \max_t h_t + b\;"
OWN_MODEL = (
    "No pretrained model is used on this page: the classifier begins with random weights and learns from the labelled texts "
    "alone. BERT, written out puts such heads on a pretrained model."
)
ENGINE = "Classifier, layers: {layers}, heads: {heads}"
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
EXAMPLES = "Examples"
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

TRY_IT = "Try it yourself"
SENTENCE = "Your sentence"
LIMITS_SENTENCE = "the acting was wonderful and the plot was never boring"
LIMITS_FAMILIAR = "the plot is never boring and always wonderful"
LIMITS = (
    "**What such a classifier cannot do:** it learns which words and phrases go with a label, not what they mean. Trained with "
    f"the default settings, it classifies *{LIMITS_SENTENCE}* as negative, at more than 99 %. In its training texts, *never* "
    f"stands before a word of praise or blame only in sentences like *{LIMITS_FAMILIAR}*, which it classifies as positive. A "
    "high probability does not mean that the label is right."
)
TRY_LIMITS = "Try this sentence"
NO_MODEL = "Your sentence is classified here once a model is trained."
STILL_TRAINING = "Your sentence is classified as soon as the training stops."
TRAINED = (
    "This model was trained on **{done:,} of {total:,} batches**. Reloading the page discards it; the same settings and texts "
    "train the same model again."
)
UNTRAINED = (
    ":material/casino: **Untrained model.** Its weights are random numbers, so its labels mean nothing yet. Train it first."
)
ALL_UNKNOWN = (
    "The model knows none of these words, because they are not in its training texts. The label below means nothing, and no "
    "contributions of words are shown. Use words from the training texts."
)
UNKNOWN = "Not in the training texts, so all the same to the model: {words}"
WHICH_LABEL = "**Which label?**"
LABEL_PROBABILITIES = "Probability of each label"
CONTRIBUTIONS = "**How much did each word contribute?**"
CONTRIBUTIONS_HELP = (
    "Each dimension of the pooled vector is the value of one word. What this value adds to the score of a label, beyond what it "
    "adds to all labels on average, counts as the contribution of that word."
)
CONTRIBUTIONS_CAPTION = (
    "A word counts with the vector that it has after attention, which has taken in the others. With the default settings, "
    "*the*, *plot* or *was* contributes far more to “negative” in *the plot was dull* than in *the plot was good*, though it "
    "begins with the same vector in both."
)
CONTRIBUTIONS_TITLE = "Contribution of each word to the score of each label"
CONTRIBUTIONS_NOTE = "orange: against the label, blue: for it"
WORD_OF_LABEL = "{row} · {column}"
TOP_CONTRIBUTION = "“{word}” contributes most to “{label}”: {amount}."
HEADS = "**Where does each head look?**"
ATTENTION = "Layer {layer}, head {head}: how much each of the {words} words attends to each of the others."

EXPORT_TRAINING = "Training of a classifier, {batches} batches"
EXPORT_TRAINING_RESULT = "It trains the same model anew and prints loss and accuracy of every batch."
EXPORT_PREDICTION = "What a classifier makes of a text after {batches} batches"
EXPORT_PREDICTION_RESULT = "It trains the same model anew and ends with `prediction`: labels, probabilities, contributions."
EXPORT_ATTENTION = "Attention of a classifier after {batches} batches: layer {layer}, head {head}"
EXPORT_ATTENTION_RESULT = "It trains the same model anew and ends with `weights`, one row per query."
