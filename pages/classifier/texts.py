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
    "This classifier begins with random weights and learns from the labelled texts alone. The fine-tuned BERT of this page began "
    "with a model that had read much English."
)
MODEL = "Classifier"

# The model that ships

MODEL_TITLE = "Which model"
MODELS = {"film_reviews": "Fine-tuned BERT", "own": "Train your own"}
FINE_TUNED_MODEL, FINE_TUNED = "Tiny BERT", "Fine-tuned on film reviews"
SCORE = "Of {total:,} sentences that it was not trained on, it labels {share} correctly (95 % interval: {low} to {high})."
FINE_TUNING = """
BERT learned English by filling blanks. Then it was **fine-tuned**: a **label head** was put on the vector of [CLS], and all
layers were trained a little further on 8,105 sentences of film reviews that people had rated (Pang & Lee 2005; Hutto & Gilbert
2014).
{score} Naive Bayes, which only counts words and pairs of neighbours, does as well: {baseline}.
"""
BEFORE_AND_AFTER = "Which heads did the fine-tuning change? Compare before and after"
FINE_TUNED_EQUATION = r"\text{scores} = W \tanh(P\,h_{\text{[CLS]}} + p) + b\;"
INTEGRATED_CAPTION = (
    "What a word adds is measured by **integrated gradients** (Sundararajan et al. 2017): the words are faded in from a text of "
    "[MASK] alone, and every change of the score on the way is put to the word that caused it. All together they add up to the "
    "difference between the score of the sentence and that of the masked one."
)
EXPORT_LABEL = "What {model} makes of a text"
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
    "seed": ("Random seed", "On a processor (CPU), the same seed, settings and data give the same run."),
}

# The training

LOSS, TEST_LOSS, ACCURACY, TEST_ACCURACY = "training loss", "test loss", "training accuracy", "test accuracy"
CURVES = "Loss", "Accuracy"
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
TRUE_LABEL, PREDICTED_LABEL = "true: {label}", "predicted: {label}"

# The visitor's own sentence

NOT_BORING, BOREDOM, NO_REVIEW = "It is not boring at all.", "What a masterpiece of boredom.", "The train arrives at noon."
NO_NOON = "The train arrives."
FILM_SENTENCE = "The acting is wonderful, but the story never comes to life."
FIRST_SENTENCE = "the plot was not dull at all"
LIMITS_SENTENCE = "the acting was wonderful and the plot was never boring"
SENTENCE = "Your sentence"
NOTICE = {
    True: "Train it, and notice: which words add most to the label? The curve says since when.",
    False: "Notice: which words add most to the label?",
}
"""What to notice in any sentence, of a model of one's own and of the one that ships."""
NOTICES: dict[bool, dict[str, str]] = {
    True: {
        FIRST_SENTENCE: "Train it, and notice: *not … at all* turns *dull* into praise. The curve says when.",
        LIMITS_SENTENCE: "This is praise, and the trained model says negative: it knows words, not what *never boring* means.",
    },
    False: {
        FILM_SENTENCE: "Notice: “wonderful” speaks for the film, “never” against it. Which of them wins?",
        NOT_BORING: "Notice: “boring” adds most to “negative”, and *not … at all* does nothing to turn it round.",
        BOREDOM: "Notice: “masterpiece” outweighs “boredom”: irony is lost on it.",
        NO_REVIEW: "Notice: it must choose one of two labels, even for a sentence that is neither.",
    },
}
"""What to notice in the sentences that the page brings."""
LIMITS_FAMILIAR = "the plot is never boring and always wonderful"
LIMITS = (
    "**What such a classifier cannot do:** it learns which words and phrases go with a label, not what they mean. Trained with "
    f"the default settings, it classifies *{LIMITS_SENTENCE}* as negative, at more than 99 %. In its training texts, *never* "
    f"stands before a word of praise or blame only in sentences like *{LIMITS_FAMILIAR}*, which it classifies as positive. A "
    "high probability does not mean that the label is right."
)
TRIES = {
    True: {"Try one that it gets wrong": LIMITS_SENTENCE},
    False: {"Not boring": NOT_BORING, "Irony": BOREDOM, "No review": NO_REVIEW},
}
"""Sentences to try, by what their buttons say."""
FAILURES = f"""
**What it cannot do.** It finds words of praise and blame, and hardly weighs how they are put together:

- **Negation.** *{NOT_BORING}* and *{LIMITS_SENTENCE}* are negative to it: *boring* adds most.
- **Irony.** *{BOREDOM}* is positive to it: *masterpiece* outweighs *boredom*.
- **Other texts.** It has two labels and must choose one: *{NO_REVIEW}* is negative to it, at 84 %; *{NO_NOON}*
  is, too, at 66 %: *noon* adds to a leaning that is there without it.

A high probability does not mean that the label is right.
"""
STILL_TRAINING = "The sentence that you have typed is classified as soon as the training stops."
KEPT = "Reloading the page discards it; on a processor (CPU), the same settings and texts train the same model again."
ALL_UNKNOWN = (
    "The model knows none of these words, because they are not in its training texts. The label below means nothing, and no "
    "contributions of words are shown. Use words from the training texts."
)
UNKNOWN = "Not in the vocabulary of the model, so all the same to it: {words}"
SAID = "{label}, {share}."
LABEL_PROBABILITIES = "Probability of each label"
CONTRIBUTIONS_CAPTION = (
    "Each dimension of the pooled vector is the value of one word. What this value adds to the score of a label, beyond what it "
    "adds to all labels on average, counts as the **contribution** of that word. A word counts with the vector that it has after "
    "attention, which has taken in the others: with the default settings, *the* or *was* contributes far more to "
    "“negative” in *the plot was dull* than in *the plot was good*, though it begins with the same vector in both."
)
CONTRIBUTIONS_TITLE = "Contribution of each word to the score of each label"
TOP_CONTRIBUTION = "“{word}” contributes most to “{label}”: {amount}."
MOST_AGAINST = " “{word}” speaks most against it: {amount}."
HEADS = "Self-attention"

EXPORT_TRAINING = "Training of a classifier, {batches} batches"
EXPORT_PREDICTION = "What a classifier makes of a text after {batches} batches"
