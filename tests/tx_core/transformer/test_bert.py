"""Our BERT computes what transformers' BERT computes, layer by layer, on checkpoints that it wrote; its heads classify."""

from pathlib import Path

import pytest
import torch
from transformers import BertForMaskedLM

from tests.support.checkpoints import write_bert
from tx_core.engine import catalogue
from tx_core.engine.checkpoint import load_bert
from tx_core.engine.tokenizer import load_tokenizer
from tx_core.transformer.attention import padding_mask
from tx_core.transformer.bert import max_pool, random_head

SIZES = {
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 40,
    "max_position_embeddings": 19,
    "type_vocab_size": 2,
}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory):
    directory = tmp_path_factory.mktemp("bert")
    write_bert(directory, seed=3, **SIZES)
    theirs = BertForMaskedLM.from_pretrained(directory, attn_implementation="eager", dtype=torch.float32).eval()
    return load_bert(directory), theirs


def random_ids(batch: int, tokens: int, seed: int) -> torch.Tensor:
    return torch.randint(90, (batch, tokens), generator=torch.Generator().manual_seed(seed))


def assert_equal_everywhere(pair, ids: torch.Tensor, segments: torch.Tensor, lengths: list[int]) -> None:
    """Hold hidden states within 1e-5, weights within 1e-6 and logits within 1e-4, at every real token."""
    ours, theirs = pair
    mask = padding_mask(lengths)
    real = mask[:, 0, 0]
    with torch.no_grad():
        run = ours(ids, segments, mask, keep=("weights", "hidden"))
        expected = theirs(
            input_ids=ids, token_type_ids=segments, attention_mask=real.long(), output_attentions=True, output_hidden_states=True
        )
    for hidden, reference in zip(run.hidden, expected.hidden_states, strict=True):
        torch.testing.assert_close(hidden[real], reference[real], atol=1e-5, rtol=0)
    for layer, reference in zip(run.layers, expected.attentions, strict=True):
        rows = real[:, None, :, None].expand_as(reference)
        torch.testing.assert_close(layer["weights"][rows], reference[rows], atol=1e-6, rtol=0)
    torch.testing.assert_close(ours.predict(run.output)[real], expected.logits[real], atol=1e-4, rtol=0)


def test_pairs_of_sentences_of_every_length_in_one_padded_batch(pair):
    most = SIZES["max_position_embeddings"]
    segments = (torch.arange(most) > 4).long().expand(3, most)
    assert_equal_everywhere(pair, random_ids(3, most, seed=5), segments, lengths=[most, 3, 1])


@pytest.mark.parametrize("activation", ["gelu_new", "relu"])
def test_every_activation_that_the_config_allows(tmp_path: Path, activation: str):
    write_bert(tmp_path, seed=4, **SIZES, hidden_act=activation)
    theirs = BertForMaskedLM.from_pretrained(tmp_path, attn_implementation="eager", dtype=torch.float32).eval()
    assert_equal_everywhere((load_bert(tmp_path), theirs), random_ids(2, 6, seed=7), torch.zeros(2, 6).long(), [6, 6])


def test_the_embedded_checkpoint_too_number_for_number_in_double_precision():
    directory = catalogue.MODELS / catalogue.DEFAULT
    theirs = BertForMaskedLM.from_pretrained(directory, attn_implementation="eager", dtype=torch.float32).eval().double()
    ours, encoding = load_bert(directory).double(), load_tokenizer(directory).encode("Time flies like an arrow.", "It is [MASK].")
    ids, segments = torch.tensor([encoding.ids]), torch.tensor([encoding.segments])
    with torch.no_grad():
        run = ours(ids, segments, keep=("weights", "hidden"))
        expected = theirs(input_ids=ids, token_type_ids=segments, output_attentions=True, output_hidden_states=True)
    pairs = [*zip(run.hidden, expected.hidden_states, strict=True), (ours.predict(run.output), expected.logits)]
    pairs += [(layer["weights"], weights) for layer, weights in zip(run.layers, expected.attentions, strict=True)]
    for found, reference in pairs:
        torch.testing.assert_close(found, reference, atol=1e-11, rtol=0)


def test_max_pooling_names_the_token_that_speaks_for_each_dimension():
    hidden = torch.tensor([[[1.0, 9.0], [5.0, 2.0], [3.0, 4.0]]])
    values, winners = max_pool(hidden)
    assert values.tolist() == [[5.0, 9.0]]
    assert winners.tolist() == [[1, 0]]


def test_padding_never_speaks_in_max_pooling():
    head, hidden = random_head("max-pooled", 12, 3, seed=0), torch.randn(2, 5, 12)
    mask = padding_mask([3, 5])
    alone = head(hidden[:1, :3])
    hidden[0, 3:] = 1e6
    torch.testing.assert_close(head(hidden, mask)[:1], alone)
    assert not torch.allclose(head(hidden)[:1], alone)
    assert head(hidden, mask).shape == (2, 3)
