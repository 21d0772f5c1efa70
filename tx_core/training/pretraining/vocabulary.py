"""An uncased WordPiece vocabulary: learned from the corpus, or that of a list of pieces."""

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from tx_core.training.pretraining.corpus import CorpusFile, CorpusProblem, lines_of

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD_ID, UNK_ID, CLS_ID, SEP_ID, MASK_ID = range(5)
MAX_LETTERS = 200
SAMPLE_CHARACTERS = 60_000_000
MAX_VOCAB_SIZE = 65_536
"""The most pieces that 16 bits can number: texts are kept on disk as such numbers."""


def learn_vocabulary(sources: Sequence[CorpusFile], size: int, seed: int = 0) -> Tokenizer:
    """Learn pieces from a sample in which the sources have their weights."""
    backend = _uncased(models.WordPiece(unk_token=SPECIAL_TOKENS[UNK_ID]))
    sample = [backend.normalizer.normalize_str(line) for line in _sample(sources, seed)]
    counts = Counter(letter for line in sample for letter in line if not letter.isspace())
    letters = sorted(sorted(counts, key=lambda letter: (-counts[letter], letter))[:MAX_LETTERS])
    # Given in advance, single letters have the same ids in every run, so ties between merges are broken the same way.
    inner = [f"##{letter}" for letter in letters if letter.isalnum()]
    trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=[*SPECIAL_TOKENS, *letters, *inner], show_progress=False)
    others = re.compile(f"[^{re.escape(''.join(letters))}]+")
    backend.train_from_iterator((others.sub(" ", line) for line in sample), trainer)
    return from_pieces(pieces_of(backend)[:size])


def from_pieces(pieces: Sequence[str]) -> Tokenizer:
    """Build the tokenizer of these pieces, numbered in order; raise CorpusProblem for any that this training cannot read."""
    if tuple(pieces[: len(SPECIAL_TOKENS)]) != SPECIAL_TOKENS:
        raise CorpusProblem(f"A vocabulary begins with {' '.join(SPECIAL_TOKENS)}; this one with {' '.join(pieces[:5])}.")
    if len(set(pieces)) != len(pieces) or len(pieces) > MAX_VOCAB_SIZE:
        raise CorpusProblem(f"A vocabulary has each piece once and at most {MAX_VOCAB_SIZE:,}; this one has {len(pieces):,}.")
    numbers = {piece: number for number, piece in enumerate(pieces)}
    backend = _uncased(models.WordPiece(numbers, unk_token=SPECIAL_TOKENS[UNK_ID]))
    backend.add_special_tokens([*SPECIAL_TOKENS])
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", CLS_ID), ("[SEP]", SEP_ID)]
    )
    return backend


def pieces_of(backend: Tokenizer) -> list[str]:
    """Return the pieces in the order of their ids."""
    return [backend.id_to_token(number) for number in range(backend.get_vocab_size())]


def _uncased(model: models.Model) -> Tokenizer:
    backend = Tokenizer(model)
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    return backend


def _sample(sources: Sequence[CorpusFile], seed: int) -> Iterator[str]:
    """Sample lines in the proportions of the weights, up to about SAMPLE_CHARACTERS."""
    read = sum(source.file.stat().st_size * source.weight for source in sources)
    share = min(1.0, SAMPLE_CHARACTERS / read)
    for source in sources:
        chance = random.Random(f"{seed} {source.name}")
        for line in lines_of(source.file):
            copies, rest = divmod(source.weight * share, 1)
            for _ in range(int(copies) + (chance.random() < rest)):
                yield line
