"""What came after BERT: the parameters that the formula counts are those of the library's own models."""

import pytest
import torch
import transformers

from tx_core.lessons.families import FAMILIES, Sizes


def library_model(kind: str, sizes: Sizes) -> torch.nn.Module:
    common = {name: getattr(sizes, name) for name in ("vocab_size", "hidden_size", "intermediate_size")} | {
        "num_hidden_layers": sizes.num_layers,
        "num_attention_heads": sizes.num_heads,
        "max_position_embeddings": sizes.positions,
        "type_vocab_size": sizes.segments,
    }
    narrow = {"embedding_size": sizes.embedding_size}
    distil = transformers.DistilBertConfig(
        vocab_size=sizes.vocab_size,
        dim=sizes.hidden_size,
        n_layers=sizes.num_layers,
        n_heads=sizes.num_heads,
        hidden_dim=sizes.intermediate_size,
        max_position_embeddings=sizes.positions,
    )
    with torch.device("meta"):
        return {
            "bert": lambda: transformers.BertModel(transformers.BertConfig(**common), add_pooling_layer=False),
            "roberta": lambda: transformers.RobertaModel(transformers.RobertaConfig(**common), add_pooling_layer=False),
            "albert": lambda: transformers.AlbertModel(transformers.AlbertConfig(**common, **narrow), add_pooling_layer=False),
            "electra": lambda: transformers.ElectraModel(transformers.ElectraConfig(**common, **narrow)),
            "distilbert": lambda: transformers.DistilBertModel(distil),
        }[kind]()


@pytest.mark.parametrize("name", FAMILIES)
def test_the_parameters_counted_are_those_of_the_librarys_model(name):
    sizes = FAMILIES[name].sizes
    model = library_model(name.split("-")[0], sizes)
    assert sizes.parameters == sum(parameter.numel() for parameter in model.parameters())
    inner = sum(parameter.numel() for part, parameter in model.named_parameters() if part.startswith("embeddings."))
    assert sizes.in_embeddings >= inner
