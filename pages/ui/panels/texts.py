"""What the panels say. Every string is a whole sentence or label; named placeholders are filled by `format`."""


# Attention map

HOW_TO_READ = (
    "Each row is a word that looks, each column a word that is looked at; the stronger the colour of a cell, the larger its "
    "share of the attention. The shares of a row sum to 1."
)
NOT_AN_EXPLANATION = "Attention is not an explanation: a weight shows what is mixed in, not what decided the result."
EXPLANATION_DEBATE = (
    "Attention is not an explanation: other weights can lead to the same prediction (Jain & Wallace 2019). "
    "Learned weights are not arbitrary, either (Wiegreffe & Pinter 2019)."
)
HOW_MERGED = (
    "Whole words: attention to a word is the sum over its pieces; attention from a word is the mean over its pieces "
    "(Clark et al. 2019)."
)
SPECIAL_TOKENS = "Special tokens ({tokens}) are markers that the model needs; they are not words of the text."
NOTHING_HIDDEN = "Nothing is hidden: one side has only special tokens, so nothing would be left to show."
SPECIAL_HIDDEN = (
    "Special tokens are hidden. They received {share:.2f} of the attention on average; "
    "the rest of each row was rescaled to sum to 1."
)
WEIGHTS_TABLE = "Weights as a table"
WEIGHTS_TABLE_CAPTION = "Each row is a query (a token that attends), each column a key (a token that is attended to)."

# View options

DRAWING_LABELS = {"both": "Both", "heatmap": "Heatmap", "lines": "Lines"}
STACK = "Attention"
STACK_LABELS = {
    "self": "Encoder self-attention",
    "decoder": "Decoder self-attention",
    "cross": "Cross-attention",
}
WHOLE_WORDS = "Whole words"
WHOLE_WORDS_HELP = "Show words instead of the word pieces that the model reads."
HIDE_SPECIAL_HELP = "Leave out [CLS], [SEP] and other special tokens, and rescale each row."
WITHOUT_SPECIAL = "Without special tokens"
WITHOUT_SPECIAL_HELP = (
    "Read the text without the special tokens that the model's tokenizer adds, such as [CLS] and [SEP] of BERT or <s> and </s> "
    "of RoBERTa. The model was never trained so."
)
READ_WITHOUT = "Read without {tokens}: the model was never trained so, and its heads and predictions may differ much."
NO_SEPARATOR = {
    True: "No separator stands between the two sentences: only their segment embeddings tell them apart.",
    False: "No separator stands between the two sentences: nothing tells the model where the second begins.",
}
ADDS_NONE = "The tokenizer of this model adds no special tokens: there are none to leave out."
SHOW = "Show"
LINES = "Number of lines, strongest first"
COLOURS = "Colour scale"
HEADS_MISSING = "This model has {layers} layers with {heads} heads each. Heads that do not exist were ignored."
TOKEN_MISSING = "This text has {tokens:,} tokens, so there is no token {position:,} to focus on."

# Tokens

TOKEN_TABLE = "Tokens, ids and segments"
SEGMENTS = ("first", "second")
REMARK_UNKNOWN, REMARK_BLANK, REMARK_SPECIAL = "not in the vocabulary", "blank", "special"
ONE_UNKNOWN = (
    "One word or symbol is not in this model's vocabulary. "
    "The model reads an unknown token there, the same one for every such word."
)
MANY_UNKNOWN = (
    "{count:,} words or symbols are not in this model's vocabulary. "
    "The model reads an unknown token there, the same one for every such word."
)
ENGLISH_ONLY = (
    "This model reads English only. It takes a text in another language apart into pieces that it has seldom seen together, "
    "or does not know."
)
BLANK = "Blank"

# Word buttons

WORD_BUTTONS = "Click a word to make it a blank. Click a blank to bring the word back or to see the model's guess."
TOO_MANY_WORDS = "This text has more than {maximum} words. To make a blank, type ___ in the box where a word should go."

# Pages in parts

SECOND_SENTENCE = "Second sentence (optional)"
ENCODER_ONLY = (
    "This model has an encoder and a decoder; only its encoder is shown here. "
    "Its decoder reads the second sentence, so that sentence changes nothing here."
)

# Predictions

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
TEMPERATURE_CHANGED = "The lists do not show the model's own probabilities: temperature is {temperature:g}."
TOP_P_CHANGED = "The lists do not show the model's own probabilities: top-p is {top_p:g}."
TEMPERATURE_AND_TOP_P_CHANGED = (
    "The lists do not show the model's own probabilities: temperature is {temperature:g} and top-p is {top_p:g}."
)
PREDICTION_COLUMNS = ("sentence", "list", "word", "pieces", "ids", "probability", "rank", "filled sentence or note")
BLANK_LIST = "blank {number}"
CHECKED_WORDS_LIST = "checked words at blank {number}"
JOINT_LIST = "all blanks together"

# Training

TRAIN, TRAIN_AGAIN, CONTINUE, STOP = "Train", "Train from scratch", "Continue", "Stop"
CONTINUE_HELP = "Continues from the batch at which you stopped it."
OTHER_MODEL = "The model that you trained has other settings: {differences}."
SHOW_OTHER_MODEL = "Show it"
UNTRAINED_MODEL = "Untrained: its weights are random numbers, so what it answers means nothing yet. Press Train."
NO_MODEL = "What you type is answered here once the model is trained. Press Train."
STORED_MODEL = "Trained with the default settings, and stored with this app. Train it yourself, or move along the curve."
UNTRAINED_MOMENT, TRAINED_MOMENT = "Untrained", "Trained"
MOMENT = "After {batch:,} of {batches:,} batches"
MOMENT_ON_PROBE = "After {batch:,} of {batches:,} batches, on “{probe}”"
MOMENTS = "Batch of the training at which the model is shown"
STARTING = "Starting …"
TRAINING_PROGRESS = {
    "running": "Training: batch {done:,} of {total:,}, {seconds:.0f} s",
    "stopping": "Stopping: batch {done:,} of {total:,}, {seconds:.0f} s",
    "stopped": "Stopped: batch {done:,} of {total:,}, {seconds:.0f} s",
    "finished": "Done: batch {done:,} of {total:,}, {seconds:.0f} s",
    "failed": "Failed: batch {done:,} of {total:,}, {seconds:.0f} s",
}
READING_PROGRESS = {
    "running": "Reading: sentence {done:,} of {total:,}, {seconds:.0f} s",
    "stopping": "Stopping: sentence {done:,} of {total:,}, {seconds:.0f} s",
    "stopped": "Stopped: sentence {done:,} of {total:,}, {seconds:.0f} s",
    "finished": "Done: sentence {done:,} of {total:,}, {seconds:.0f} s",
    "failed": "Failed: sentence {done:,} of {total:,}, {seconds:.0f} s",
}
QUEUE_NEXT = "Waiting: you are next. It starts automatically."
QUEUE_ONE_AHEAD = "Waiting: 1 visitor is ahead of you. It starts automatically."
QUEUE_MANY_AHEAD = "Waiting: {ahead:,} visitors are ahead of you. It starts automatically."
SIZES_DO_NOT_FIT = "These sizes do not fit together: {rule}."
SIZE_TOO_LARGE = "“{label}” {value:,} (here up to {maximum:,})"
SIZES_NEED_CARD = (
    "This needs a server with a graphics card (CUDA): {sizes}. Choose smaller numbers under “Sizes and training”, which Advanced "
    "shows."
)
SIZES = "Sizes and training"
SIZE_LABEL = "{label} ({minimum:,} to {maximum:,})"
LEARNING_RATE = "Learning rate"
LEARNING_RATE_RANGE = "The learning rate must be between {minimum} and {maximum}."
CURVE_STEP = "Batch {step}"

# Changes: their names

CHANGE_PLACES = {
    "layer": "Layer {layer}",
    "head": "Layer {layer}, head {head}",
    "layer in a stack": "Layer {layer} ({stack})",
    "head in a stack": "Layer {layer}, head {head} ({stack})",
}
STACK_NAMES = {"self": "encoder", "decoder": "decoder", "cross": "cross-attention"}
CHANGE_IN_PLACE = {
    "off": "{place}: switched off",
    "uniform": "{place}: uniform",
    "hidden": "{place}: {key} hidden",
    "cut": "{place}: {query} ↛ {key}",
    "temperature": "{place}: temperature {value:g}",
    "sparse": "{place}: sparse attention",
    "hard": "{place}: hard attention",
}
CHANGE_EVERYWHERE = {
    "hidden": "{key} hidden",
    "cut": "{query} ↛ {key}",
    "temperature": "Temperature {value:g}",
    "sparse": "Sparse attention",
    "hard": "Hard attention",
    "causal": "Causal mask",
    "no_padding_mask": "{value:.0f} [PAD] not masked",
    "no_positions": "No positions",
}
CHANGED_TOKEN = "“{token}” ({position})"
CHANGED_POSITION = "token {position}"

# Changes: chips

UNDO_CHANGE = "Undo this change"
RESET_CHANGES = "Reset"
RESET_CHANGES_HELP = "Undo all changes"
CHANGES_AT_MAXIMUM = "At most {maximum} changes at a time: undo one to make another."
TOKEN_CHANGES_UNDONE = "The tokens of the text are others now, so hidden tokens and cut links were undone."

# Changes: controls

SET_TO_UNIFORM = "Set to uniform"
SET_TO_UNIFORM_HELP = "Every query attends to all tokens equally."
SET_LAYER_TO_UNIFORM = "Set the whole layer to uniform"
TOKEN_OR_LINK = "**A token, or a link between two tokens**"
CHANGED_KEY = "Token that is attended to (key)"
CHANGED_QUERY = "Token that attends to it (query)"
CHANGE_SCOPE = "Where"
CHANGE_SCOPES = {"all": "Everywhere", "layer": "In layer {layer}", "head": "In layer {layer}, head {head}"}
SCOPE_IN_DECODER = "Within a decoder, and for links from it, choose a layer or a head."
HIDE_TOKEN = "Hide this token"
CUT_LINK = "Cut this link"
SOFTMAX = "**How scores become weights**"
SOFTMAX_LAYERS = "Layers"
ALL_LAYERS, ONE_LAYER = "All layers", "Layer {layer}"
SOFTMAX_TEMPERATURE = "Temperature"
NORMALISER = "Normalise with"
NORMALISER_LABELS = {"softmax": "Softmax", "sparse": "Sparse", "hard": "Hard"}
WHOLE_RUN = "**The whole run**"
CAUSAL_MASK, CAUSAL_MASK_HELP = "Causal mask (left to right)", "In every layer, no token attends to a later one, as in GPT."
OMIT_POSITIONS = "No positions"
OMIT_POSITIONS_HELP = "No position embeddings are added: the model cannot tell the order of the words."
UNMASKED_PADDING = "Padding that is not masked"
TO_PADDING = "[PAD] × {padding} takes {share:.2f} of the attention."
CHANGES_LIMITS = (
    "Taking something away shows what this run depended on. It does not show what the model would have learned without it. "
    "Two heads can also replace each other: switch off either one, and little changes."
)

# Changes: before and after

MOVED_HEAD = "{head}: {share}"
MOVED_HEADS_HELP = (
    "The share of a head's attention that moved to other tokens or was lost, averaged over the queries. Layers before the "
    "first change stay the same. The wall shows the heads after the changes."
)
NO_HEAD_MOVED = "No other head's attention moved by 0.0005 or more (mean over its queries)."
NOTHING_AFTER_LAST_LAYER = (
    "Layer {layer} is the last layer: no head comes after it, so no other attention can move. "
    "The change affects the answer: the words that the model predicts at a blank."
)
NOTHING_AFTER_LAST_LAYER_OFF = (
    "A head that is switched off attends to nothing, so its map is empty. "
    "Layer {layer} is the last layer: no head comes after it, so no other attention can move. "
    "The change affects the answer: the words that the model predicts at a blank."
)
SEE_ON_PAGE = "See it on {page}"

NO_SUCH_LESSON = (
    "There is no lesson of this name here. There are: {names}. A lesson from a file is opened on the page “Write a lesson”."
)
NO_SUCH_STEP = "This lesson has no such step: it has {count}, in {parts} parts. In the link, step=1 is the first."
LESSON_PROGRESS = "{title} · part {number} of {total}"
STEP_DONE, STEP_TO_DO, STEP_WAITS = "done", "not done yet", "make the change"
CHECK_GUESS = "Check my guess"
NO_GUESS = "Make a guess first: there is nothing to lose."
NOT_A_SHARE = "A share is a number from 0 to 1: write 0.25 for a quarter."
HIDDEN_UNTIL_ANSWERED = "The view opens below once you have answered."
GUESS_IS_FIRST = "Right: “{answer}” is first, with {share}."
GUESS_HAS_RANK = "“{answer}” is first, with {share}; your guess, “{guess}”, is number {rank}, with {guess_share}."
GUESS_HAS_SHARE = "“{answer}” is first, with {share}; your guess, “{guess}”, has {guess_share}."
GUESS_HAS_NO_SHARE = "“{answer}” is first, with {share}; your guess was “{guess}”."
YOUR_GUESS = "{guess} (your guess)"
REVEAL = "Reveal the answer"
REVEALED = "The model computes “{answer}” ({share})."
DISCUSS_NOW = "What do you think?"
DISCUSS = "You wrote: “{guess}”"
NOTE_ON_STEP = "Step {number}: {title}"
HEADS = "any of {count} heads: layers 1 to {layers}, heads 1 to {heads}"
SEE_BELOW = "See it below"
NEXT_STEP = "Next step"
NEXT_LESSON = "Next lesson: {title}"
TRY_OWN_SENTENCE = "{page}: type a sentence of your own"
SKIP_STEP = "Skip this step"
PREVIOUS_STEP = "Step before"
BACK_TO_WRITING = "Back to writing it"
LEAVE_LESSON = "Leave the lesson"
END_LESSON = "Finish: to the list of lessons"

NEEDS_OWN_BERT = (
    "{model} differs from BERT in a part, so the transformers library runs it; this page needs this project's own BERT."
)
BUILT_IN_ONLY = (
    "Computed with the built-in model: its vectors of {size} numbers, {width} per head, are small enough to be drawn. "
    "Heads and blocks and Positions also take larger BERTs."
)

# The list of lessons

LESSON_FINISHED = "Finished"
LESSON_DETAILS = "{minutes} minutes · {parts} parts · {level}"
BEGIN = "Begin"
USE_IN_CLASS = "Use this lesson in a class"
HOW_LESSONS_WORK = (
    "In each step you guess first; then the model computes the answer, and the view opens in which you can try further."
)
FOR_TEACHERS = (
    "In a class, you open a room from a lesson. Your students join it with a code and guess on their own devices; you reveal the "
    "answers, and everyone sees all guesses beside the model's answer."
)
TEACHER_NOTES = "Notes for the teacher"
