"""Python for predictions: the lists at the blanks, and what changes do to one, by this project and with transformers only."""

from pages.fill_mask import texts
from pages.fill_mask.blank_attention import BlankView
from pages.fill_mask.head_scan import ShownScan
from pages.fill_mask.predictions import Lists
from pages.fill_mask.tables import followed_words
from pages.ui.export.project_code import header
from pages.ui.export.records import one_line
from pages.ui.export.texts import TRANSFORMERS_COMMENT
from pages.ui.export.transformers_code import intervention_lines, loading_lines, special_argument, with_mask_tokens
from pages.ui.panels.predictions import ListSettings

NUCLEUS = '''

def nucleus(share):
    """Keep the fewest that reach TOP_P together, and let them share 1 (Holtzman et al. 2020)."""
    ranked, order = share.sort(descending=True)
    kept = ranked * (ranked.cumsum(-1) - ranked < TOP_P)
    return torch.zeros_like(share).scatter(0, order, kept / kept.sum())
'''
READING = '''

def scores(ids):
    """Give the scores of the whole vocabulary at each token."""
    with torch.inference_mode():
        return model(torch.tensor([ids])).logits[0].double()


def blanks_of(ids):
    return [place for place, entry in enumerate(ids) if entry == tokenizer.mask_token_id]
'''
LISTING = """
predictions = []
for text, named in TEXTS:
    ids = tokenizer(text{bare}).input_ids
    blanks = blanks_of(ids)
    for place in blanks:
        best = nucleus((scores(ids)[place] / TEMPERATURE).softmax(-1)).topk(LISTED)
        entries = zip(tokenizer.convert_ids_to_tokens(best.indices), best.values.tolist())
        predictions += [(piece, share) for piece, share in entries if share > 0]
    for number, word, pieces in named:  # a word of several pieces: one after the other, in as many blanks
        probability = 1.0
        for known, piece in enumerate(pieces):
            wide = [*pieces[:known], *[tokenizer.mask_token_id] * (len(pieces) - known)]
            row = [*ids[: blanks[number]], *wide, *ids[blanks[number] + 1 :]]
            probability *= scores(row)[blanks[number] + known].softmax(-1)[piece].item()
        predictions.append((word, probability))

print(*predictions, sep="\\n")
"""
MOVING = """
after = at_blank()


def rank(logits, entry):
    return int((logits > logits[entry]).sum()) + 1


shares = [nucleus((logits / TEMPERATURE).softmax(-1)) for logits in (before, after)]
listed = [share.topk(min(LISTED, int((share > 0).sum()))).indices.tolist() for share in shares]
entries = sorted(dict.fromkeys(listed[1] + listed[0]), key=lambda entry: (entry not in listed[1], rank(after, entry)))
moved = []
for entry in entries:
    was, now = (share[entry].item() for share in shares)
    moved.append((tokenizer.convert_ids_to_tokens(entry), was, now, now - was, rank(before, entry), rank(after, entry)))

print(*moved, sep="\\n")
"""


def project_lists(title: str, lists: Lists) -> str:
    """Write the code that asks for every list on the page by tx_core."""
    named = next((tuple(score.word for score in answer.scores[0]) for answer in lists.sentences if answer.scores), ())
    joint = any(answer.joint for answer in lists.sentences)
    predicted = "fill_jointly, predict" if joint else "predict"
    imports = ["from tx_core import load", f"from tx_core.fill_mask.predictions import {predicted}"]
    imports += ["from tx_core.fill_mask.word_scores import score_words"] if named else []
    lines = [
        *header(title, lists.model, "\n".join(imports), special_tokens=lists.reads_special),
        "predictions = []",
        f"for text in {[answer.text for answer in lists.sentences]!r}:",
        f"    filling = predict(engine, text, {_predict_arguments(lists.chosen)})",
        "    for blank in filling.blanks:",
        "        predictions += [(entry.piece, entry.probability) for entry in blank.predictions]",
    ]
    if named:
        lines += [
            "    for blank in filling.blanks:",
            f"        scores = score_words(engine, text, {named!r}, blank=blank.number)",
            "        predictions += [(score.word, score.probability) for score in scores if score.probability is not None]",
        ]
    if joint:
        lines += [
            "    if len(filling.blanks) > 1:",
            "        predictions += [(one.words, one.probability) for one in fill_jointly(engine, text)]",
        ]
    return "\n".join([*lines, "", 'print(*predictions, sep="\\n")', ""])


def project_shift(title: str, lists: Lists, blank_view: BlankView) -> str:
    """Write the code that sets the predictions at one blank with and without the changes beside each other."""
    imports = "from tx_core import load\nfrom tx_core.fill_mask.prediction_shift import shift_predictions"
    return "\n".join(
        [
            *header(title, lists.model, imports, blank_view.changed, special_tokens=lists.reads_special),
            f"shift = shift_predictions(engine, {blank_view.text!r}, changes, {_predict_arguments(lists.chosen)})",
            "moved = [",
            "    (one.prediction.piece, one.before, one.after, one.after - one.before, one.rank_before, one.rank_after)",
            f"    for one in shift.blanks[{blank_view.number}].moved",
            "]",
            "",
            'print(*moved, sep="\\n")',
            "",
        ]
    )


def project_scan(title: str, lists: Lists, blank_view: BlankView, scan: ShownScan) -> str:
    """Write the code that switches off one head after the other, and follows the word or the difference of the page."""
    words = list(followed_words(scan.result))
    pairs = {texts.SCAN_DIFFERENCE.format(first=one, second=other): (one, other) for one in words for other in words}
    first, *rest = pairs.get(scan.followed.name, (scan.followed.name,))
    named = [one.ids for one in scan.result.named]
    imports = "from tx_core import load\nfrom tx_core.fill_mask.head_scan import Scan"
    arguments = [
        f"blank={blank_view.number}",
        *(["interventions=changes"] if scan.base else []),
        *([f"named={named}"] if named else []),
    ]
    return "\n".join(
        [
            *header(title, lists.model, imports, scan.base, special_tokens=lists.reads_special),
            f"scan = Scan(engine, {blank_view.text!r}, {', '.join(arguments)}).run()",
            "effects = {one.word: one.after - one.before for one in scan.named} | {scan.word: scan.change}",
            " - ".join([f"change = effects[{first!r}]", *(f"effects[{word!r}]" for word in rest)]) + "  # layer, head",
            "",
            "print(scan.word, scan.before, change.round(4), sep='\\n')",
            "",
        ]
    )


def transformers_lists(title: str, lists: Lists) -> str:
    """Write the code for the lists, and for the words that the reader named, without this project."""
    texts = [
        (
            with_mask_tokens(answer.text, answer.filling.encoding),
            [
                (number, score.word, list(score.ids))
                for number, scored in enumerate(answer.scores)
                for score in scored
                if score.probability is not None
            ],
        )
        for answer in lists.sentences
    ]
    return "\n".join(
        [
            TRANSFORMERS_COMMENT.format(title=one_line(title)),
            "import torch",
            "from transformers import AutoModelForMaskedLM, AutoTokenizer",
            "",
            *loading_lines(lists.model, "AutoModelForMaskedLM"),
            f"TEXTS = {texts!r}  # each with the words to score: at which blank, and their pieces",
            *_settings(lists.chosen),
            *READING.splitlines(),
            *NUCLEUS.splitlines(),
            "",
            *LISTING.format(bare=special_argument(lists.reads_special)).splitlines(),
            "",
        ]
    )


def transformers_shift(title: str, lists: Lists, blank_view: BlankView) -> str:
    """Write the code for what changes do to one blank without this project."""
    read = blank_view.trace.attention.query_tokens
    text = with_mask_tokens(blank_view.text, read)
    return "\n".join(
        [
            TRANSFORMERS_COMMENT.format(title=one_line(title)),
            "import torch",
            "from transformers import AttentionInterface, AttentionMaskInterface, AutoModelForMaskedLM, AutoTokenizer",
            "from transformers.masking_utils import eager_mask",
            "",
            *loading_lines(lists.model, "AutoModelForMaskedLM"),
            f'inputs = tokenizer({text!r}{special_argument(read.special_tokens)}, return_tensors="pt")',
            f"place = (inputs.input_ids[0] == tokenizer.mask_token_id).nonzero()[{blank_view.number}, 0]",
            *_settings(lists.chosen),
            "",
            "",
            "def at_blank():",
            "    with torch.inference_mode():",
            "        return model(**inputs).logits[0, place].double()",
            "",
            *NUCLEUS.splitlines(),
            "",
            "before = at_blank()",
            *intervention_lines(blank_view.trace),
            *MOVING.splitlines(),
            "",
        ]
    )


def _predict_arguments(chosen: ListSettings) -> str:
    return f"top_k={chosen.listed}, temperature={chosen.temperature}, top_p={chosen.top_p}"


def _settings(chosen: ListSettings) -> list[str]:
    return [f"LISTED, TEMPERATURE, TOP_P = {chosen.listed}, {chosen.temperature}, {chosen.top_p}"]
