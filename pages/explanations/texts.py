"""Every sentence of the page and of its exports; A is the sentence whose answer is explained."""

from pages.ui.stage.texts import progress_texts

SENTENCE_A, SENTENCE_B = "Sentence A: its answer is explained", "Sentence B: A with one word changed"
EXCHANGE_HELP = "Exchange A and B: why does B have its answer?"

ASK = "What is explained"
ASKS = {"rather": "This answer, not B's", "alone": "This answer"}
ASK_HELP = (
    "“Why are and not is?” has other reasons than “why are?”. Only methods that change the text or differentiate the answer can "
    "be asked either; attention is the same for both."
)
TITLES = {"rather": "Why “{answer}” and not “{other}”?", "alone": "Why “{answer}”?"}
METHODS = {
    "erasure": "Erasure: [MASK]",
    "removal": "Erasure: left out",
    "routes": "Routes cut",
    "integrated": "Integrated gradients",
    "gradient_input": "Gradient × input",
    "lrp": "AttnLRP",
    "value_weighted": "Attention × values",
    "rollout": "Attention rollout",
    "largest_head": "Largest head",
    "last_layer": "Last layer, mean",
    "all_layers": "All layers, mean",
}
MEANINGS_TITLE = "What each method does"
MEANINGS = {
    "erasure": "what the answer loses when the word is replaced by [MASK].",
    "removal": "what it loses when the word is left out (Li et al. 2016).",
    "routes": "what the answer loses when no other token may look at the word in one layer, added up over the layers.",
    "integrated": "gradients added up on the way from [MASK]s alone to this sentence (Sundararajan et al. 2017).",
    "gradient_input": "how much the answer gains when the word's vector grows a little (Denil et al. 2014; Shrikumar et al. "
    "2016).",
    "lrp": "its part of the answer's logit, shared out layer by layer among the inputs; what goes to biases and positions is "
    "left out (Achtibat et al. 2024). In our own layers only.",
    "value_weighted": "the length of what attention brings the blank from it, mean of all layers (Kobayashi et al. 2020).",
    "rollout": "attention multiplied through all layers, as if nothing else happened there (Abnar & Zuidema 2020).",
    "largest_head": "the largest weight that any head gives the word from the blank.",
    "last_layer": "the mean weight from the blank in the last layer.",
    "all_layers": "the mean weight from the blank in all layers.",
}
"""Each behind the name of its method, and behind its scores where a cell is read out."""
SAID = {
    "rather": "A and B differ in the framed word alone: “{word}” tells “{answer}” from “{other}”. Its rank stands at the row's "
    "end.",
    "alone": "Of “{answer}” alone no word is known to be the reason, so no row is right or wrong. The framed word, “{word}”, is "
    "the one in which B differs; its rank stands at the row's end.",
}
FIRST = "First by: {first}. The last {all} rows read one run without asking for the answer: {reads} of them rank it first."
SCALE = (
    "Each row is scaled so that its largest number is 1 or −1; below 0, a word speaks against the answer. Hatched: not ranked (a "
    "blank or punctuation)."
)
LEFT_OUT = "Left out, since all methods together run {model} {runs:,} times on these {tokens:,} tokens: {left}."
NONE = "no method"
CELL = "{row}: “{column}”"
READ, NOT_RANKED = "{score} · {rank} of {words}: {meaning}", "not ranked: a blank or punctuation"
CHOSEN = "“{word}”"
LEADS_ON = "Choose a word in the picture to follow it elsewhere."
LEADS_HEAD = ["On this pair", "Go on"]
LEADS = [["In which head does the blank look most at it?", "Attention"], ["How does it reach the answer?", "Patching"]]

SHOWS = (
    "**One word tells A from B**, since no other differs. A method that ranks another one first does not name the word that "
    "tells A from B; it may answer another question, as erasure does, which puts no word of B in its place. **It does not "
    "follow** that a method that names it here does so elsewhere, nor, of this answer alone, that any word is the right one."
)
METHOD = "Method"
TABLE = "The word that tells A from B is ranked first in … of {count} pairs"
BY_KIND = "By kind of word (least and most of a template), and asked for this answer alone"
COLUMNS = {
    "number": "Number: key, keys ({count})",
    "verb": "Verb form: has, will ({count})",
    "gender": "Gender: aunt, uncle ({count})",
    "alone": "This answer alone ({count})",
}
TEMPLATES_TITLE = "Shares by template"
BY_TEMPLATE = "How often each method ranks the word that tells A from B first, by template"
TEMPLATE_AXES = "Method ↓ Template →"
TEMPLATE_CELL = "{row}, template {column}"
OF_TEMPLATE = "{share} of {count} pairs"
TEMPLATE = "{number}: {text} ({count} pairs)"
TABLE_NOTE = (
    "In brackets: 95 % intervals over {templates} templates drawn again, since pairs of a template resemble each other; methods "
    "whose intervals overlap are not ranked. {model} answers both sentences differently, each answer at least twice as likely as "
    "the other's, in {kept} of {drawn} pairs that were drawn; only these are counted. A word chosen at random would be that word "
    "in {chance} of them."
)
FOUND = (
    "**What reads one run without asking for the answer names that word rarely**: in {least} to {most} of the pairs, where "
    "chance is {chance}. "
    "The two most frequent, the mean of the last layer ({last_layer}) and attention rollout ({rollout}), do so almost only where "
    "a verb agrees with a noun ({last_layer_number} and {rollout_number}). The others name it in {low} to {high}, by template "
    "anywhere from {least_template} to {most_template}.",
    "**The question matters as much as the method**: asked why this answer, and not why rather than B's, integrated gradients "
    "name the word in {integrated_alone} instead of {integrated}, erasure in {erasure_alone} instead of {erasure}. Alone, no "
    "word is known to be the reason, so this is no error.",
)
"""Said of the embedded model, whose table is stored; the numbers are the table's."""
NOT_READ = (
    "How often the methods name the word that tells A from B is not known of {model} yet: press the button above the picture."
)
NONE_DECIDED = "{model} answers both sentences with a word of their own in none of the {drawn} pairs that were drawn."
RUN = "Read {count} pairs"
RUN_HELP = "Reads pairs, and counts how often each method ranks the word that tells A from B first,"
PROGRESS = progress_texts("Reading", "pair")
BOTH = "{one} / {other}"


def ordinal(number: int) -> str:
    """Write a rank: 1st, 2nd, 3rd, 4th, 11th."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
