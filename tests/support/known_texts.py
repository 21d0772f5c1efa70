"""What tests of the evaluator share: a small vocabulary, a model that knows texts by heart, an untrained one, texts and trees."""

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from tests.support.torch_weights import SMALL_BERT
from tx_core.engine.bert_engine import OwnEngine
from tx_core.engine.device import DeviceRunner
from tx_core.engine.tokenizer import Tokenizer
from tx_core.training.evaluation.predictions import SentencePair
from tx_core.training.pretraining.vocabulary import SPECIAL_TOKENS, from_pieces
from tx_core.transformer.bert import random_bert

SENTENCE_WORDS = "the a cat cats dog dogs sees see runs run that behind of is capital paris lima france peru oslo norway"
WORDS = f"{SENTENCE_WORDS} time flies like an arrow . , bird bananas ba ##na ##nas he she it was cold hot sun moon tea".split()
BACKEND = from_pieces(
    [*SPECIAL_TOKENS, *WORDS, *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"), *"bcdefghijklmnopqrstuvwxyz"]
)
VOCAB = BACKEND.get_vocab_size()
TOKENIZER = Tokenizer(BACKEND, mask="[MASK]", unknown="[UNK]", padding="[PAD]")
CONLLU = """# text = The cats see bananas.
1\tThe\tthe\tDET\t_\t_\t2\tdet\t_\t_
2\tcats\tcat\tNOUN\t_\t_\t3\tnsubj\t_\t_
3\tsee\tsee\tVERB\t_\t_\t0\troot\t_\t_
4-5\tbananas.\t_\t_\t_\t_\t_\t_\t_\t_
4\tbananas\tbanana\tNOUN\t_\t_\t3\tobj:x\t_\t_
4.1\tghost\t_\t_\t_\t_\t_\t_\t_\t_
5\t.\t.\tPUNCT\t_\t_\t3\tpunct\t_\t_

1\tYes\tyes\tINTJ\t_\t_\t0\troot\t_\t_

"""


def engine_of(model) -> OwnEngine:
    """An engine of a model with the small vocabulary."""
    return OwnEngine("tiny", "Tiny", TOKENIZER, DeviceRunner(model.eval(), "cpu"))


def untrained(seed: int = 0) -> OwnEngine:
    config = replace(SMALL_BERT, vocab_size=VOCAB, hidden_size=18, intermediate_size=30, max_positions=40)
    model = random_bert(config, seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(seed))
    return engine_of(model)


class Knowing(OwnEngine):
    """An engine that has learned some texts by heart: where one fits all that is not blank, it is certain of the blanks.

    attention: the weights of all layers that it gives to a text, from its encoding.
    """

    def __init__(self, texts: Sequence[str] = (), attention=None):
        super().__init__(**vars(untrained()))
        vars(self).update(known=[tuple(BACKEND.encode(text).ids) for text in texts], given=attention)

    def blank_logits(self, rows, **_):
        return tuple(map(self._logits, rows))

    def _logits(self, row):
        logits = np.zeros((len(row.blanks), VOCAB))
        for ids in self.known:
            filled = {place: ids[place] for place in row.blanks if place < len(ids)}
            if tuple(filled.get(place, piece) for place, piece in enumerate(row.ids)) == ids:
                logits[range(len(filled)), list(filled.values())] = 40.0
        return logits

    def over_weights(self, rows, measure, **_):
        longest = max(map(len, rows))
        weights = torch.zeros(self.info.num_layers, len(rows), self.info.num_heads, longest, longest)
        for number, row in enumerate(rows):
            weights[:, number, :, : len(row), : len(row)] = self.given(row)
        return measure(list(weights))


def pairs() -> list[SentencePair]:
    good = [
        f"the {noun} {verb} {end} ."
        for noun, verb in (("cat", "sees"), ("dogs", "see"), ("dog", "runs"), ("cats", "run"))
        for end in ("the moon", "a dog", "the sun", "tea")
    ]
    swap = {"sees": "see", "see": "sees", "runs": "run", "run": "runs"}
    return [SentencePair(text, " ".join(swap.get(word, word) for word in text.split()), text.split()[2]) for text in good]


def held_out_files(folder):
    lines = [f"{pair.good} {pair.bad}" for pair in pairs()]
    (folder / "cats.txt").write_text("\n".join(lines[:8]) + "\n")
    (folder / "dogs.txt").write_text("\n".join(lines[8:]) + "\n")
    return sorted(folder.glob("*.txt")), lines


def write_data(folder):
    """Write what a checkpoint is measured on, of each kind a little; the held-out texts lie in the folder texts."""
    for name in ("blimp", "marvin_linzen", "ud_english_ewt", "capitals", "texts"):
        (folder / name).mkdir(parents=True)
    items = [
        json.dumps({"sentence_good": pair.good, "sentence_bad": pair.bad, "UID": "verbs", "linguistics_term": "agreement"})
        for pair in pairs()
    ]
    (folder / "blimp" / "verbs.jsonl").write_text("\n".join(items) + "\n")
    (folder / "marvin_linzen" / "s.jsonl").write_text('{"case": "sing_MV", "sents": ["the cat runs", "the cat run"]}\n')
    (folder / "ud_english_ewt" / "en_ewt-ud-dev.conllu").write_text(CONLLU * 120)
    (folder / "capitals" / "heldout_capitals.tsv").write_text("country\tcapital\nPeru\tLima\n")
    held_out_files(folder / "texts")
    return folder
