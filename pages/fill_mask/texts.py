"""What the fill-mask page says. Every string is a whole sentence or label; named placeholders are filled by `format`."""

# Input

SENTENCE, FIRST_SENTENCE, SECOND_SENTENCE = "Sentence", "First sentence", "Second sentence"
PLACEHOLDER = "Type ___ where a word should go"
HINT = ":material/lightbulb: {hint}"
GUESS = "There was no word to restore, so “{word}” is the model's top prediction. Click it to make it a blank again."
CHECK_WORDS = "Check specific words"
CHECK_WORDS_HELP = "Up to {maximum} words, separated by commas. A word of several pieces is scored piece by piece."
COMPARE = "Compare two sentences"
NO_BLANK = "**There is no blank yet.** Click a word above, or type `___` where a word should go."
BLANK_LAST_WORD = "Blank the last word"

# Predictions

TOP_WORDS = "Most likely words"
BLANK = "Blank {number}"
BLANK_OF_SENTENCE = "Sentence {sentence}, blank {number}"
CHECKED_WORDS = "Your words"
CHECKED_WORDS_AT = "Your words at blank {number}"
JOINT = "All blanks together"
REST = "All other {count:,} tokens of the vocabulary: {share}."
CONTINUES_WORD = "\\#\\# marks a piece that continues the word before the blank."
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

CHANGE_TITLE = "What your changes do to this blank"
WITHOUT_CHANGES = (
    "**Without your changes:** these are the predictions of the unmodified model. "
    "The effect of your changes is shown below, under “What your changes do to this blank”."
)
CHANGE_CAPTION = (
    "Arrows show how many ranks a word moved, counted over the whole vocabulary. "
    "“New” words entered the top {listed}, “gone” words left it."
)
NEW, GONE = "new, was no. {rank:,}", "gone, now no. {rank:,}"
TOP_UNCHANGED = (
    "The top prediction is still “{word}”: {before} → {after}. In total, {variation} of the probability moved to other words."
)
TOP_CHANGED = (
    "The top prediction is now “{new}” with {new_share}; before it was “{word}”, {before} → {after}. "
    "In total, {variation} of the probability moved to other words."
)

# Attention of a blank

WHERE = "Where does the blank look?"

# Head scan

SCAN = "Which heads does this prediction depend on?"
SCAN_START, SCAN_AGAIN = "Switch off each head in turn", "Scan again with your changes"
SCANNING = "Switching off one head after another …"
SCAN_STOPPING = "Stopping the previous scan …"
SCAN_STARTING = "Starting …"
SCAN_PROGRESS = "{done:,} of {total:,} runs, {seconds:.0f} s"
STOP = "Stop"
SCAN_BASE_ONE = "The scan includes your change: “before” already has it in place."
SCAN_BASE_MANY = "The scan includes {count} of your changes: “before” already has them in place."
SCAN_NOTE = "{share}; top prediction: {word}"
SCAN_CAPTION = (
    "Colour shows how the probability of the top prediction changes when only this head is switched off: orange where it "
    "falls, blue where it rises. A head with no effect on its own may still matter, because other heads can replace it. "
    "Click a head to switch it off in the view below."
)
SCAN_BEFORE = "With all heads on, the top prediction is “{word}” with {share}."
SCAN_LARGEST_FALL = "It falls most without {head}: to {share}."
SCAN_OTHERS = "Another word comes first for {count} of {total} heads."
SCAN_VARIATION = "Over all words, switching off {head} moves the most probability: {share} (total variation)."

# Export

EXPORT_LISTS, EXPORT_CHANGE = "The predictions", "What your changes do"
EXPORT_LISTS_TITLE = {False: "Most likely words at the blank, {model}", True: "Most likely words at the blanks, {model}"}
EXPORT_TEXT = "Text: {text}"
EXPORT_SENTENCE = "Sentence {number}: {text}"
EXPORT_SENTENCE_CHART = "Sentence {number} – {title}"
EXPORT_LISTS_CODE = "It ends with `predictions`: every listed word with its probability, from the first list to the last."
EXPORT_JOINT_NOTE = (
    "The joint fillings come from a search in this project; this code gives the lists at each blank and the words to check."
)
EXPORT_ALL_LISTS, EXPORT_ALL_LISTS_HELP = "All lists", "{count:,} words with their probabilities, ranks and pieces."
EXPORT_CHANGE_TITLE = "The effect of a change on blank {number}, {model}"
EXPORT_CHANGED_RUN = "The run was changed: {changes}."
EXPORT_ALL_WORDS, EXPORT_ALL_WORDS_HELP = "All words", "{count} words with their probability and rank before and after."
EXPORT_CHANGE_CODE = "It ends with `moved`: each word with its probability and rank before and after."
