"""Every sentence of the page and of its exports."""

from pages.ui.stage.texts import LAYERS_UP_AND_HEADS, progress_texts

UPLOAD = "JSONL or CSV, each line a pair as BLiMP has them, or a text with its answer"
UPLOAD_FIRST = (
    "Upload a file. A line of JSONL is {pair} or {prompt}; a CSV has the same names as columns. “other” may be left out: then "
    "the log-probability of the answer counts. Prompts that share a “phrase” are drawn again together for the intervals; of "
    "each “group” the mean is told. A link does not bring a file along: whoever opens one uploads it again."
)
PAIR = '{"sentence_good": "The key is old.", "sentence_bad": "The key are old."}'
PROMPT = '{"text": "The key [MASK] old.", "answer": "is", "other": "are"}'
TOO_MANY = "The file has {count:,} prompts, and at most {most:,} are measured here: take a part of it, or use the command."
TOO_LARGE = "The file has more than {most:,} bytes: split it, or use a part of it."
NO_LINES = "The file has no prompts: put one on each line."
FILE_READ = "Prompts in {file}: {count:,}."
BUILT_IN = "built-in set “{name}”"

RUN, RUN_HELP = "Measure", "Measures every prompt"
PROGRESS = progress_texts("Measuring", "prompt")
PRESS_RUN = "Press Measure: the picture appears here when all prompts are measured."
LAST_RUN = "Your last run, of other prompts or settings than are chosen above: {file}; {model}; {ablation}."
STOPPED = "It was stopped after {count:,} of {total:,} prompts."
LEFT_OUT = "Left out: {count:,} of {total:,} prompts, {reasons}."

ABLATION, ABLATION_HELP = (
    "Instead of the part",
    "Off: nothing. Mean: its mean over everyday sentences. Other: what it computes for the next prompt (resampling).",
)
ABLATIONS = {"off": "Off", "mean": "Mean", "resample": "Other"}
IN_WORDS = {
    "off": "switched off",
    "mean": "replaced by its mean over everyday sentences",
    "resample": "replaced by what it computes for the next prompt",
}
WHAT = "Which parts"
WHATS = {"head": "Heads", "layer": "Layers"}
SUBLAYERS = {"attention": "Attention", "mlp": "Feed-forward"}
PLACES = {"attention": "All heads of layer {layer}", "mlp": "Feed-forward of layer {layer}"}

TITLES = {"head": "What each head adds to the answer (nats)", "layer": "What each layer adds to the answer (nats)"}
AXES = {"head": LAYERS_UP_AND_HEADS, "layer": "Layer ↑"}
CELLS = {"head": "Layer {row}, head {column}", "layer": "Layer {row}, {column}"}
BARS = {
    "head": "The most important of {all} heads, with 95 % intervals",
    "layer": "All sublayers by importance, with 95 % intervals",
}
READ = "95 % interval {low} to {high}"
SAID = (
    "{place}, {how}: the answer {moves} {effect} nats on average (n = {count:,}, 95 % interval over {over} {low} to {high})"
    "{factor}.{groups}{turned}"
)
OVER_PHRASES, OVER_PROMPTS = "these {count:,} phrases", "these prompts"
GROUP = "{group} {effect}"
BEST_BY_CHANCE = (
    "The first of many parts are first partly by chance, and their intervals begin too high: look for them again in other "
    "prompts."
)
LOSES, GAINS = "loses", "gains"
GROUPS = {LOSES: " Lost by {groups}.", GAINS: " Gained by {groups}."}
ODDS = {
    LOSES: "; its odds against the other one become {times} times smaller",
    GAINS: "; its odds against the other one become {times} times larger",
}
LIKELY = {LOSES: "; it becomes {times} times less likely", GAINS: "; it becomes {times} times more likely"}
TURNED = " The likelier of the two answers changes in {turned:,} of {pairs:,}."
EXTREMES = "Prompts that lose most and least without {place}"
COLUMNS = ("Adds", "Prompt", "Answer", "")
NOT = "{answer}, not {other}"
SEE_OFF, SEE_MEAN = "See it off", "See its mean"
TO_PATCHING = "Put this head of “{answer}” into a prompt with “{other}” (Patching)"

SHOWS = (
    "**A long bar shows** what the answer loses without a part, in these prompts. "
    "**It does not show** what the part does, nor that it does it alone: others may step in when it is gone, and a part that is "
    "switched off may harm what reads from it. The three ways to take it out can disagree: trust what all three agree on."
)
FORMULA = r"\text{effect} = s - s_{\text{without}}, \qquad s = \log p(\text{answer}) - \log p(\text{other answer})"
TABLE_NOTE = (
    "Effect: mean fall of the answer's lead in nats, with its 95 % bootstrap interval over {over}. Turned: share of prompts in "
    "which the likelier answer changes. {chance}"
)
EXPORT_TITLE = "What {model} loses on {count:,} prompts: {file}, each part {how}"
ALL_PROMPTS = "All prompts"
