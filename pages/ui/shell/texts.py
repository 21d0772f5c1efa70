"""All that the shell of a page says on the screen, as whole sentences."""

UNKNOWN_PARAMETERS = "This link has settings that cannot be used here: {names}. Their defaults are shown instead."
LINK_TOO_LONG_FOR_ADDRESS = (
    "This text is too long for the address of the page. It stays here while the page is open and is lost when you reload it."
)
LINK_TOO_LONG_TO_SHARE = (
    "A link to this view would have {length:,} characters, and links over {limit:,} often arrive cut off. "
    "Shorten the text and open this again, or send the text separately."
)
NAME, PAGES = "Attention explorer", "All pages"
CONNECTING = "Connecting to the server … If nothing changes here, check the connection, then reload the page."
NOT_WHOLE = "The page could not be loaded whole. Check the connection, then reload the page."
STILL_LOADING = "The model is loading: look around, changes are computed when it is there."
PART_NOT_LOADED = "This part of the page could not be loaded. Check the connection, then reload the page."

DEVICES = {"cpu": "running on CPU", "cuda": "running on a GPU (CUDA)", "mps": "running on Apple's GPU (MPS)"}
ENGINE = "{model} · {device}"
WARMING_UP = "The model is loading"
CHECK_INPUT = "Check the input"
TEXT_MISSING, SEE_EXAMPLE = "One more sentence", "See the example"
MODEL_NOT_LOADED = "The model cannot be loaded"
NOT_AVAILABLE = "Not available"
CHANGE_DOES_NOT_FIT = "The change does not fit"
BUSY = "Busy right now"
CANNOT_BE_SHOWN = "This cannot be shown"
TAKES_LONG = "This takes long"
OUT_OF_MEMORY = "Not enough memory"
ABOUT_THE_ROOM = "The room"
PLEASE_WAIT = "Please wait a moment"
SERVER_FULL = "All {limit:,} places of this server are taken."
SERVER_FULL_OF_ONE = "The only place of this server is taken."
WAITING_FOR_PLACE = "The page opens by itself as soon as there is a place: there is no need to reload it."

MODEL = "Model"
ALL_MODELS = "The first is built in. Others are downloaded from the model hub when you choose them, if this server reaches it."
MODEL_OUT_OF_REACH = "{model} (hub not reached)"
DOWNLOADING_MODEL, LOADING_MODEL = "Downloading and loading the model …", "Loading the model …"
USE_MODEL = "Use {model}"
TRY_AGAIN = "Try again"
MODEL_SIZE = "{layers} layers × {heads} heads"
MODEL_MEGABYTES = "{megabytes:,} MB"
MODEL_LICENCE = "licence: {licence}"
FILLS_BLANKS, CANNOT_FILL_BLANKS = "fills blanks", "cannot fill blanks"
SENTENCE = "Sentence"
TOKEN_BUDGET = "{used:,} of {limit:,} tokens"
HEAD = "Layer {layer}, head {head}"

EXAMPLES = "Examples"
BREAK_IT = "Try to break it"
HINT = ":material/lightbulb: {hint}"
HINT_SHOWN = ":material/lightbulb: **In {heads}:** {hint}"
HINT_ELSEWHERE = ":material/lightbulb: **This hint describes {heads}, unmodified:** {hint}"
AND = " and "

FORMULA = "The formula"
SOURCE_CODE = "The code that computes this"
NEXT_PAGE = "Next: {page}"
BACK_TO_LESSON = "Back to lesson, step {number}"
LEAVE = "Esc: back"
SESSION_LOST = "Lost with a server: trainings, uploads, and lessons opened from a file. Another took over."
ADD_AND_WRITE = "Add this view to your lesson, and go on writing it"
WRITE_LESSON = "Write the lesson (views added: {count})"

EXPLAIN_TERM, ALL_TERMS, CLOSE_TERM = "What is “{term}”?", "All terms", "Close"

LEVEL, BASIC, ADVANCED = "How much the pages show", "Basic", "Advanced"
HIDDEN_VALUES = "In effect, but set by controls that Basic does not show: {names}."
SHOW_HIDDEN = "Show them"
TRAINING_SIZES = "sizes of the model or of its training"
SETTING_NAMES = {
    "pair": "a second sentence",
    "model": "another model",
    "model_b": "another model as B",
    "nospecial": "no special tokens",
    "words": "whole words",
    "show": "what is drawn",
    "lines": "the number of lines",
    "scale": "the colour scale",
    "changes": "a change of the model",
    "changes_b": "a change of the model as B",
    "compare": "a second sentence",
    "listed": "the length of the lists",
    "limit": "where the bars end",
    "temperature": "the temperature",
    "top_p": "top-p",
    "top_k": "top-k",
    "two": "a second sentence",
    "exact": "full precision",
    "ablation": "what stands in for a part",
    "method": "the way points are placed",
    "most": "how many tokens a probe reads",
    "what": "which parts are shown",
    "weights": "whose matrices project the vectors",
    "seed": "the random seed",
    "seed_b": "the random seed of B",
    "normalise": "how scores become weights",
    "unscaled": "scores that are not divided by √d",
    "causal": "a causal mask",
    "store": "the rows of the store",
    **dict.fromkeys(("answer", "q1", "q2", "q3"), "the query of the store"),
    "bend": "the activation function",
    "layer": "the layer",
    "head": "the head",
    "padding": "tokens of padding",
    "length": "the length",
    "width": "the width of the vectors",
    "base": "the base of the frequencies",
    **dict.fromkeys(
        ("vocab", "batch", "size_batch", "batches", "layers", "heads", "feed", "rate", "post", "epochs", "tokens"), TRAINING_SIZES
    ),
}
"""How a sentence names what a hidden control sets, by the field; several fields may share a name."""

# Around the glossary

TERM = "- **{name}**: {meaning}"
SEE = "See it: {question}"
NOT_AN_EXPLANATION = (
    ":material/info: Attention is not an explanation: an attention weight says what was mixed, not what decided the output."
)

TWO_KINDS = (
    "**BERT looks both ways** and fills blanks: to guess a missing word, it may use the words before it and after it. "
    "**ChatGPT's kind looks back** and writes on: it may use only the words that are already there, guesses the next one, adds "
    "it, and guesses again. Both are made of what this app shows."
)
TWO_KINDS_PICTURES = ("BERT looks both ways to fill a blank.", "ChatGPT's kind looks back to write the next word.")
ARCS_ALT = "Arcs lead to the blank from: {words}."
TWO_KINDS_LINKS = {"fill_mask": "Let BERT fill a blank", "next_word": "Let a model write the next word"}
"""By the page."""
