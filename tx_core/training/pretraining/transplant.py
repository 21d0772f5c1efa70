"""Going on from a trained model with another vocabulary: pieces that both have keep their vectors, new ones inherit."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from tokenizers import Tokenizer
from torch import Tensor

from tx_core.training.pretraining.vocabulary import UNKNOWN, pieces_of
from tx_core.transformer.bert import Bert, random_bert
from tx_core.transformer.config import BertConfig

_BY_VOCABULARY = ("embeddings.words.weight", "head.vocabulary.weight", "head.vocabulary.bias")


def with_vocabulary(trained: Bert, old: Tokenizer, new: Tokenizer, config: BertConfig, seed: int) -> Bert:
    """Give the trained model the new vocabulary; all else of it stays as it is.

    A piece that the old vocabulary spelled out in several begins as the mean of theirs, one that it could not spell
    as the random vector of `seed` (after Minixhofer et al. 2022, WECHSEL, which weighs by likeness what is plain here).
    """
    spelled = [spelling(piece, old) for piece in pieces_of(new)]
    model = random_bert(config, seed)
    weights = model.state_dict()
    for name, tensor in trained.state_dict().items():
        weights[name] = inherited(tensor, spelled, weights[name]) if name in _BY_VOCABULARY else tensor
    model.load_state_dict(weights)
    return model


def inherited(
    old: Float[Tensor, "old_vocab ..."], spelled: Sequence[Sequence[int]], otherwise: Float[Tensor, "new_vocab ..."]
) -> Float[Tensor, "new_vocab ..."]:
    """Average the old rows that each new piece is spelled with; `otherwise` where there are none."""
    return torch.stack([old[list(rows)].mean(0) if rows else otherwise[number] for number, rows in enumerate(spelled)])


def spelling(piece: str, old: Tokenizer) -> list[int]:
    """List the old pieces that spell a new one, the longest first match each time; none when a letter is unknown."""
    whole = old.token_to_id(piece)
    if whole is not None:
        return [whole]
    rest, start = (piece[2:], "##") if piece.startswith("##") and len(piece) > 2 else (piece, "")
    found: list[int] = []
    while rest:
        length = next((size for size in range(len(rest), 0, -1) if old.token_to_id(start + rest[:size]) is not None), 0)
        number = old.token_to_id(start + rest[:length]) if length else None
        if number is None or number == UNKNOWN:
            return []
        found.append(number)
        rest, start = rest[length:], "##"
    return found
