"""Every sentence of the page and of its exports. A pair holds the singular and the plural."""

SOURCE = "Sentences"
SOURCES = {"embedded": "Built-in sentences", "own": "Your own file", "scan": "Scan result"}
UPLOAD_SCAN = "The .json file that a scan has written"
SCAN_FIRST = (
    "A scan reads text or Parquet of any size on a machine of your own, and writes one file. Run this command in the folder of "
    "the app, then upload that file."
)
SCAN_BADGE = "Nothing is computed here: a scan has done it."
SCAN_COMMAND = "python -m tx_core.corpus.scan TEXTS --out heads.json"
SCANNED = (
    "{count:,} sentence of {source} with {tokens:,} tokens (without special tokens), read by {model} in {seconds:,.1f} s{half}.",
    "{count:,} sentences of {source} with {tokens:,} tokens (without special tokens), read by {model} in {seconds:,.1f} s{half}.",
)
IN_HALF = " in half precision (bfloat16)"
SCANNED_BY = "Model revision: {revision}. Version of this app: {version}."
OTHER_REVISION = (
    "This server has another revision of the model ({revision}): relations of grammar, and what a link to a sentence shows, are "
    "of that one."
)
MODEL_NOT_HERE = "This server does not offer this model: links to a sentence do not open it."
FULL_PRECISION = "Full precision"
FULL_PRECISION_HELP = (
    "As Python counts. Without it the model runs in bfloat16, which this machine computes in hardware: faster, and shares of a "
    "head's attention may differ by some hundredths."
)
RUN, RUN_HELP = "Run", "Reads every sentence"
NO_RUN_NEEDED = (
    "These results, of the built-in sentences and the built-in model, are ready-made. Press Run only for another model or for "
    "sentences of your own."
)
PRESS_RUN = "Press Run: the heads appear here when all sentences are read."
NOTHING_READABLE = "The model can read none of these sentences: each is too long for it, or contains no word."
LAST_RUN = "Your last run"
LAST_RUN_DIFFERS = "Of other sentences or another model than chosen above: {source}; {model}."
READ = (
    "{count:,} sentence with {tokens:,} tokens (without special tokens), read in {seconds:.1f} s{half}.",
    "{count:,} sentences with {tokens:,} tokens (without special tokens), read in {seconds:.1f} s{half}.",
)
STOPPED = ("It was stopped after {read:,} of {count:,} sentence.", "It was stopped after {read:,} of {count:,} sentences.")


COLOUR_BY = "Colour by"
COLOURS = {
    "pattern": "Kind of head",
    "grammar": "Grammar",
    "agreement": "Share of sentences",
    "spread": "Spread (entropy)",
    "distance": "Distance",
}
COLOUR_LABELS = COLOURS | {"pattern": "Kind", "spread": "Spread"}
_BY_KIND = "Each cell is a head. Colour and word show what it mostly does; a deeper colour means "
HEADS = {
    "pattern": f"{_BY_KIND}a clearer pattern.",
    "grammar": "Each cell is a head. A deeper colour means that it finds a word bound by grammar more often, on a treebank, not "
    "in these sentences.",
    "agreement": f"{_BY_KIND}that it does so in more of the sentences.",
    "spread": "Each cell is a head. A deeper colour means that its attention is spread more evenly.",
    "distance": "Each cell is a head. A deeper colour means that it looks farther.",
}
"""What the table of heads shows, by its colours."""
CELLS = {
    "pattern": "{head}: {kind}, confidence {confidence:.2f}, in {agreement} of the sentences",
    "agreement": "{head}: {kind} in {agreement} of the sentences",
}
HERE = "In the {count:,} sentences here:"
"""Between what was counted on a treebank and what was counted in the sentences of the page."""
NOT_BY_GRAMMAR = "These sentences are not ranked by grammar; Find heads lists those of a grammatical relation."
RANK_BY = "Strongest in"
RANKS = {"own": "what this head does", "focused": "attention to few tokens", "broad": "attention to many tokens"}
RANK_KIND = "attention to {aim}"
NO_STRONGEST = "No sentence is long enough, or none shows this at all."
STRONGEST_OF, STRONGEST_COLUMNS = "{head} and its strongest sentences", ("Score", "Sentence", "")
STRONGEST_SCORE = (
    "The number is the score in that sentence alone: 0 where the head gives {aim} no more attention than uniform attention does, "
    "1 where all of its attention goes there. Tokens without such a target are not counted."
)
STRONGEST_SCORES = {
    "broad": "The number is the score in that sentence alone: 0 where each token attends to one token only, 1 where attention is "
    "uniform.",
    "focused": "The number is the score in that sentence alone, 1 minus the normalised entropy: 0 where attention is uniform, 1 "
    "where each token attends to one token only.",
}
"""Scores that STRONGEST_SCORE does not fit."""
SEE_SENTENCE = "See line {line:,}"
TABLE_NOTE = (
    "Click a column's name to sort by it. Shares are of the attention of all of the sentences' own tokens, spread and distance "
    "are means over the same tokens; one link may count for two kinds. Confidence counts only tokens that have such a target: "
    "the last word has no token after it."
)
CAVEAT = (
    "Averages over many sentences show what a head usually does by rules made by people, not what it is for; in a single "
    "sentence it may do something else. Sentences of fewer than five tokens are not ranked."
)

PART = "What to see"
PARTS = {"kinds": "What each head does", "find": "Find heads"}
NOTICE = (
    "A head follows a relation if it beats the best fixed distance, such as always looking one word back, by 10 percentage "
    "points."
)
RELATION = "Relation: {relation}"
REVERSE, REVERSE_HELP = "⇄", "Reverse the relation: from the word that was attended to, to the one that attended"
COLUMN_NAMES = {
    "deprel": "dependency",
    "form": "word",
    "lemma": "lemma",
    "upos": "part of speech",
    "xpos": "tag (xpos)",
    "feats": "feature",
}
QUERY_COLUMNS = COLUMN_NAMES
KEY_COLUMNS = {name: COLUMN_NAMES[name] for name in ("form", "deprel", "lemma", "upos", "xpos", "feats")}
LINKS = {
    "head": "the word that it depends on (its head)",
    "dependent": "a word that depends on it",
    "any": "any other word of the sentence",
}
LINK = "attends to"
LINK_NAMES = {"head": "its head", "dependent": "a dependent", "any": ""}
SIDES = {"query": ("A word whose", "matches (of the word that attends)"), "key": ("whose", "matches (of the word attended to)")}
EXPRESSION = {
    "placeholder": "any",
    "help": "A regular expression (RE2) for the whole value, upper case or lower: she|he, .*ing, VERB. Empty: any word.",
    "label_visibility": "collapsed",
}
OR_CONDITIONS = (
    "Or say what words must match. Dependencies, such as subject (nsubj), object (obj) or adjective (amod), parts of speech and "
    "features need annotated sentences: a file in the format CoNLL-U, one word a line."
)
PAIR_SENTENCE = "Two words of a sentence"
PAIR_WORDS = "Click the word that attends, then the one that it attends to"
PAIR_HOW = "Look for pairs with the same"
PAIR_WAYS = {"dependency": "dependency", "parts": "parts of speech", "words": "words"}
PAIR_SHOWN = "Shown is still: {relation}. Click two words for another relation; “⇄” turns this one round."
NOT_LINKED = "Neither of these two words depends on the other: choose parts of speech or words."
ANY_WORD = "any word"
IN_WORDS = "{word} ({name})"
CONDITION = "{column} “{expression}”"
RELATION_NAME = "from {query} to {goal}"
FOUND_TITLE = "Heads that lead {relation}"
FOUND_HEAD = (
    "{head} finds the related word for {share} of {occurrences:,} words (95 % interval {low} to {high}). Always looking "
    "{distance}, the best fixed distance, finds {baseline}, chance {chance}."
)
FOUND_BEST = "Best: {best}"
FOUND_NONE = "None of {heads} heads is clearly above that distance: what they find here, a fixed distance finds, too."
FOUND_FOLLOWING = (
    "None of {heads} heads is {points} points above that distance, but the best is above it.",
    "1 of {heads} heads is {points} points above that distance.",
    "{following} of {heads} heads are {points} points above that distance.",
)
FOUND_CELL = (
    "Cells: the share, and the points above the best fixed distance. Counted in the sentences here; {grammar} counts on a "
    "treebank ({treebank}), where other heads may be ahead."
)
FOUND_LEGEND = ("10 points or more above the best fixed distance", "less than that")
EXAMPLES_OF, EXAMPLE_COLUMNS = "{head}: strongest and weakest sentences", ("Attention", "Words and sentence", "")
OR = " or "
HIT, MISS = "✓ {query} → {attended}: {text}", "✗ {query} → {attended} (expected: {expected}): {text}"
EXAMPLES_NOTE = (
    "✓ The word's largest attention is on a related word, ✗ on another one. First the surest hits, then the surest misses, one "
    "in a sentence."
)
COPULA = (
    "Universal Dependencies makes the word after a form of “be” the predicate: in “The roses are red” it is “red”, so that "
    "“roses → are” counts as wrong."
)
"""Of relations between a subject and its predicate."""
FOUND_NOTE = (
    "A share counts the words that have a related word in their sentence, each once. Attention to a word is the sum over its "
    "tokens, from it the mean (Clark et al. 2019). The best of many heads is partly best by chance: look for it again in other "
    "sentences."
)
SKIPPED = "{count:,} sentences are left out: their words do not fit the model's tokens, or there were too many."
SCAN_HAS_NO_WORDS = "A scan keeps no words to look for: choose the built-in sentences, or a file of your own."

EXPORT_TITLE = (
    "All heads over {count:,} sentence with {tokens:,} tokens, {model}",
    "All heads over {count:,} sentences with {tokens:,} tokens, {model}",
)
EXPORT_SOURCE = "Sentences: {source}."
EXPORT_AXES = "One row per layer, one column per head."
CODE_READS_ON = (
    "It reads all {count:,} sentences, while the figure shows the {read:,} that were read before it was stopped: its numbers "
    "will differ."
)
