"""A trained model with another vocabulary: what both know stays, what is new inherits."""

import torch

from tx_core.training.pretraining.transplant import inherited, spelling, with_vocabulary
from tx_core.training.pretraining.vocabulary import MARKS, from_pieces
from tx_core.transformer.bert import random_bert
from tx_core.transformer.config import BertConfig

OLD = from_pieces([*MARKS, "sun", "##day", "day", "##s", "s", "u", "##u"])
NEW = from_pieces([*MARKS, "day", "sunday", "##days", "sun", "x"])


def config(size: int) -> BertConfig:
    return BertConfig(
        vocab_size=size,
        hidden_size=6,
        num_layers=1,
        num_heads=2,
        intermediate_size=10,
        max_positions=9,
        num_segments=2,
        activation="gelu",
        layer_norm_eps=1e-12,
        dropout=0.0,
    )


def test_a_piece_is_spelled_with_the_longest_old_pieces_and_one_with_a_strange_letter_not_at_all():
    spelled = [[OLD.id_to_token(number) for number in spelling(piece, OLD)] for piece in ("day", "sunday", "##days", "suns", "x")]
    assert spelled == [["day"], ["sun", "##day"], ["##day", "##s"], ["sun", "##s"], []]


def test_new_rows_are_the_mean_of_those_that_spell_them():
    old = torch.tensor([[1.0, 2.0], [3.0, 8.0], [5.0, 5.0]])
    otherwise = torch.full((3, 2), -7.0)
    assert torch.equal(inherited(old, [[2], [0, 1], []], otherwise), torch.tensor([[5.0, 5.0], [2.0, 5.0], [-7.0, -7.0]]))


def test_the_scores_of_the_words_that_both_know_are_the_same_as_before():
    trained = random_bert(config(OLD.get_vocab_size()), 3)
    trained.head.vocabulary.bias.data += torch.randn(OLD.get_vocab_size(), generator=torch.Generator().manual_seed(1))
    moved = with_vocabulary(trained, OLD, NEW, config(NEW.get_vocab_size()), seed=8)
    both = [piece for piece in (*MARKS, "sun", "day") if piece in NEW.get_vocab()]
    ids = [[backend.token_to_id(piece) for piece in ("[CLS]", "sun", "day", "[SEP]")] for backend in (OLD, NEW)]
    before, after = (
        model.predict(model(torch.tensor([row]), torch.zeros(1, 4, dtype=torch.long)).output)[0]
        for model, row in zip((trained, moved), ids, strict=True)
    )
    columns = [[backend.token_to_id(piece) for piece in both] for backend in (OLD, NEW)]
    torch.testing.assert_close(after[:, columns[1]], before[:, columns[0]])
    sunday = after[:, NEW.token_to_id("sunday")]
    torch.testing.assert_close(sunday, before[:, [OLD.token_to_id("sun"), OLD.token_to_id("##day")]].mean(1))
