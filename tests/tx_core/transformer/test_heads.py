"""Labels from vectors: which tokens they read, and which they must not."""

import pytest
import torch

from tx_core.transformer.heads import HEADS, max_pool, random_head
from tx_core.transformer.masks import padding_mask


def test_the_first_token_alone_decides_a_label_from_cls():
    head, hidden = random_head("first token", 12, 3, seed=0), torch.randn(2, 5, 12)
    logits = head(hidden)
    assert logits.shape == (2, 3)
    torch.testing.assert_close(logits, hidden[:, 0] @ head.label.weight.T)
    hidden[:, 1:] = 7.0
    assert torch.equal(head(hidden), logits)


def test_every_token_gets_its_own_label():
    head, hidden = random_head("every token", 12, 3, seed=0), torch.randn(2, 5, 12)
    logits = head(hidden)
    assert logits.shape == (2, 5, 3)
    torch.testing.assert_close(logits[1, 4], head.label.weight @ hidden[1, 4])


def test_max_pooling_names_the_token_that_speaks_for_each_dimension():
    hidden = torch.tensor([[[1.0, 9.0], [5.0, 2.0], [3.0, 4.0]]])
    pooled = max_pool(hidden)
    assert pooled.values.tolist() == [[5.0, 9.0]]
    assert pooled.winners.tolist() == [[1, 0]]


def test_padding_never_speaks_in_max_pooling():
    head, hidden = random_head("max-pooled", 12, 3, seed=0), torch.randn(2, 5, 12)
    mask = padding_mask([3, 5])
    alone = head(hidden[:1, :3])
    hidden[0, 3:] = 1e6
    torch.testing.assert_close(head(hidden, mask)[:1], alone)
    assert not torch.allclose(head(hidden)[:1], alone)
    assert head(hidden, mask).shape == (2, 3)


def test_a_sentence_of_nothing_but_padding_is_refused():
    with pytest.raises(ValueError, match="at least one real token"):
        max_pool(torch.randn(2, 4, 6), padding_mask([0, 4]))


@pytest.mark.parametrize("kind", sorted(HEADS))
def test_a_head_is_drawn_from_its_seed(kind):
    one, two, three = (random_head(kind, 12, 3, seed).label.weight for seed in (1, 1, 2))
    assert torch.equal(one, two)
    assert not torch.equal(one, three)
