"""What tests of the evaluator share: a small vocabulary, a model that knows texts by heart, an untrained one, texts and trees."""

import math
from collections.abc import Sequence
from dataclasses import replace

import torch

from tests.support.torch_weights import SMALL_BERT
from tx_core.engine.tokenizer import Tokenizer
from tx_core.training.evaluation.masked_words import Probe
from tx_core.training.evaluation.pairs import SentencePair
from tx_core.training.pretraining.vocabulary import SPECIAL_TOKENS, from_pieces
from tx_core.transformer.bert import random_bert

SENTENCE_WORDS = "the a cat cats dog dogs sees see runs run that behind of is capital paris lima france peru oslo norway"
WORDS = f"{SENTENCE_WORDS} time flies like an arrow . , bird bananas ba ##na ##nas he she it was cold hot sun moon tea".split()
BACKEND = from_pieces(
    [*SPECIAL_TOKENS, *WORDS, *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"), *"bcdefghijklmnopqrstuvwxyz"]
)
VOCAB = BACKEND.get_vocab_size()
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


class Knowing(Probe):
    """A model that has learned some texts by heart: where one fits all that is not blank, it is certain of the blanks."""

    max_tokens = 40

    def __init__(self, texts: Sequence[str] = (), attention=None):
        self.tokenizer = Tokenizer(BACKEND, mask="[MASK]", unknown="[UNK]", padding="[PAD]")
        self.known = [BACKEND.encode(text).ids for text in texts]
        self._attention = attention

    def log_probabilities(self, rows):
        chances = torch.full((sum(len(row.places) for row in rows), VOCAB), -math.log(VOCAB))
        at = 0
        for row in rows:
            remembered = [
                ids
                for ids in self.known
                if len(ids) == len(row.ids)
                and all(a == b for place, (a, b) in enumerate(zip(ids, row.ids, strict=True)) if place not in row.places)
            ]
            for place in row.places:
                if remembered:
                    chances[at] = -30.0
                    chances[at, remembered[0][place]] = -1e-6
                at += 1
        return chances

    def weights(self, ids):
        return self._attention(ids)


def untrained(seed: int = 0) -> Probe:
    config = replace(SMALL_BERT, vocab_size=VOCAB, hidden_size=18, intermediate_size=30, max_positions=40)
    model = random_bert(config, seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(seed))
    return Probe(model, Tokenizer(BACKEND, mask="[MASK]", unknown="[UNK]", padding="[PAD]"))


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
