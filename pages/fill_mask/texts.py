"""What the fill-mask page says. Every string is a whole sentence or label; named placeholders are filled by `format`."""

from pages.ui.stage.browser_texts import ROUTES, page_texts

# The picture

PICTURE = page_texts("fill_mask")
"""What the stage says by itself; everything else comes with a run."""
ORDERS_MEASURED = {"count": 100, "better": 20, "worse": 16, "equal": 64}
"""Of Tiny BERT, by the pseudo-log-likelihood of the finished sentence."""
STEPS = PICTURE["steps"] | {"note": PICTURE["steps"]["note"].format(**ORDERS_MEASURED)}
"""What the stage says of blanks that are filled one after another."""
NOW = "{changed}: “{word}”, {share} (was “{before_word}”, {before})."
STILL = "{changed}: still “{word}”, {share} (was {before})."
WITHOUT = "Without {place}"
WITH_CHANGES = "With {count} changes"
MOVED = "{variation} of its bet moved to other words."

# Input

SENTENCE, FIRST_SENTENCE, SECOND_SENTENCE = "Sentence", "First sentence", "Second sentence"
PLACEHOLDER = "Your own sentence; type ___ where a word should go"
GUESS = "There was no word to restore, so “{word}” is the model's top prediction. Click it to make it a blank again."
CHECK_WORDS_HELP = "Up to {maximum} words, separated by commas. A word of several pieces is scored piece by piece."
COMPARE = "Compare two sentences"

# How the lists are shown

OPTIONS = "Options"
LIST_LENGTH = "Words in each list"
BAR_LIMIT = "Bars end at"
BAR_LIMIT_HELP = "All charts share this limit so that they can be compared. A longer bar is cut off; its number is still exact."
BAR_LIMIT_LABELS = {"100": "100 %", "50": "50 %", "20": "20 %", "5": "5 %"}
TEMPERATURE = "Temperature"
TEMPERATURE_HELP = (
    "The model's scores (logits) are divided by the temperature before the softmax. "
    "Above 1 the lists become flatter, below 1 sharper. At 1 you see the model's own probabilities."
)
TOP_P = "Top-p (nucleus)"
TOP_P_HELP = (
    "Keeps the fewest words that reach this share of the probability together, and rescales them to 100 %. At 1 all are kept."
)
LIST_SETTINGS_CAPTION = "Temperature and top-p change the lists only, not the words that you check nor the joint predictions."
LISTS_CHANGED = "The lists do not show the model's own probabilities: temperature is {temperature:g}, top-p {top_p:g}."
PREDICTION_COLUMNS = ("sentence", "list", "word", "pieces", "ids", "probability", "rank", "filled sentence or note")
BLANK_LIST = "blank {number}"
CHECKED_WORDS_LIST = "checked words at blank {number}"
JOINT_LIST = "all blanks together"

# Predictions

TOP_WORDS = "Most likely words"
BLANK = "Blank {number}"
BLANK_OF_SENTENCE = "Sentence {sentence}, blank {number}"
CHECKED_WORDS = "Your words"
CHECKED_WORDS_AT = "Your words at blank {number}"
JOINT = "All blanks together"
GUESSED_BESIDES = "Guessed in class, and not in this list: {words}."
GUESSED_BESIDES_CUT = "Guessed in class, and not in this list: {words}, and {count} more."
REST = "All other {count:,} tokens of the vocabulary: {share}."
QUOTED = ":material/format_quote: **Quoted, not computed here:** among the five likeliest words of {model} are {words}."
PIECES = ROUTES["pieces"]
QUOTED_LEFT_OUT = " Number {number}, with {share}, is left out here, since classes use this page."
CONTINUES_WORD = "## marks a piece that continues the word before the blank."
NOT_SCORED = "“{word}” – {reason}"
WORD_OF_PIECES = "{word} ({count} pieces)"
RANK = "rank {rank:,} in the vocabulary"
BEST_FILLING = "Best: {sentence}"
JOINT_CAPTION = (
    "Blanks are filled from left to right; each word is chosen with the earlier ones in place. "
    "The number is the product of the probabilities along the way. Another order could give another number."
)
TABLE = "Predictions as a table"

# What a change does

TOP_WORD = "Most likely: “{word}”, {share}."
FROM_TO, NO_RATIO = (PICTURE["scan"][name] for name in ("fromTo", "noRatio"))
WORD_DETAIL = "{sentence} – {rank}"
CLIMBED, FELL = "rank {before:,} → {after:,} ↑", "rank {before:,} → {after:,} ↓"
SAME_RANK = "rank {after:,}, as before"
CONTRAST = "“{first}” − “{second}”: {difference} points; “{first}” : “{second}” = {ratio}"
SHIFT_TABLE, UNCHANGED_TABLE = "With and without your changes:", "Without your changes:"
LISTS_UNCHANGED = "These lists are of the model without changes. What a change does is shown in the picture."

# Two sentences

DIFFERENCE = "Second sentence against the first"
SIDES = ("first", "second")
DIFFERENCE_CAPTION = "Δ is the probability in the second sentence minus that in the first, in percentage points."

# Head scan

SCAN_PICTURE = PICTURE["scan"]
"""What the stage says of a scan."""
SCAN_STOPPING = "Stopping the previous scan …"
SCAN_STARTING = "Starting …"
SCAN_PROGRESS = "{done:,} of {total:,} runs, {seconds:.0f} s"
SCAN_BASE_ONE = "The scan includes your change: “before” already has it in place."
SCAN_BASE_MANY = "The scan includes {count} of your changes: “before” already has them in place."
SCAN_DIFFERENCE = SCAN_PICTURE["difference"]
SCAN_RANKING = "Heads by their effect on “{followed}”"
PRESS_OFF = "Press “Switch off” above the picture, and see."
INVITATION = f"Of all {{count}} heads, “{{word}}” depends most on {{head}}. {PRESS_OFF}"
INVITATION_WITHOUT_SUPPORT = f"Of all {{count}} heads, {{head}} moves the most probability. {PRESS_OFF}"
SCAN_BEFORE = "With all heads on, the top prediction is “{word}” with {share}."
SCAN_LARGEST_FALL = "It falls most without {head}: to {share}."
SCAN_OTHERS = "Another word comes first for {count} of {total} heads."
SCAN_VARIATION = "Over all words, switching off {head} moves the most probability: {share} (total variation)."

# Export

EXPORT_LISTS, EXPORT_CHANGE = "The predictions", "What your changes do"
EXPORT_LISTS_TITLE = {False: "Most likely words at the blank, {model}", True: "Most likely words at the blanks, {model}"}
EXPORT_CHANGE_TITLE = "The effect of a change on blank {number}, {model}"

EXPORT_SCAN = "The head scan"
EXPORT_SCAN_TITLE = "Head scan: the change of “{followed}” with each head switched off, {model}"
