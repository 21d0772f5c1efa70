"""Every sentence of the page and of its exports."""

from pages.ui.stage.texts import progress_texts

NOTICE = (
    "A claim is what this app says of a model: “her” gives 0.8 or more of its attention to “mary”. Each is computed anew here; a "
    "model with other heads is asked for its best head or layer."
)
RUN, RUN_HELP = "Check", "Puts every claim to the model, which takes minutes with a large one,"
PROGRESS = progress_texts("Checking", "sentence")
PRESS_RUN = "Press Check: the picture appears here when the model has been asked."
STOPPED = "The check was stopped: these are the first {count:,} claims."

SHOW, SHOWS = "Which claims", {"all": "All", "fails": "Those that fail"}
MADE, ANYWHERE = "Made in", "all pages"
VERDICTS = {"fails": "Fails by {margin}", "unasked": "Cannot be asked", "holds": "Holds by {margin}"}
TITLE = "Claims that hold, of those that can be asked"
SHARE, HOLD, NOT_ASKED = "share", "{holds} of {asked}", "none can be asked"
SAID = "Of {count:,} claims, {holds:,} hold for {model}, {fails:,} fail, and {unasked:,} cannot be asked of it."
READ = "{fails:,} fail, {unasked:,} cannot be asked"
LISTED = {"all": "{count:,} claims: {made}", "fails": "{count:,} claims that fail: {made}"}
NONE = {"all": "Nothing that is claimed here can be put to this model.", "fails": "None of these claims fails."}
COLUMNS = ("Verdict", "Measured", "Claimed", "What is claimed", "Of the sentence or example", "Made in", "")
AT_HEAD = "{where}: {says}"
SEE = "See it"

SHOWS_WHAT = (
    "**A claim fails** where no head or layer of the model gives a number in the range. **It cannot be asked** where the model "
    "reads the words as other tokens, has no blank to fill, or does not score the words. What fails is nothing against a model: "
    "the sentences were chosen for built-in ones. Of another model than the built-in BERT, **Importance** measures the first "
    "{prompts} prompts of each set, taking out each part of the model in turn; they are too few for claims on an interval. The "
    "probes of **Vectors** are left out: to train them takes minutes."
)
EXPORT_TITLE = "What holds for {model} of the claims of examples and lessons"
