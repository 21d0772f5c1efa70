"""Several blanks at once, against a beam search written out over the answers of transformers' BERT."""

import pytest
import torch

from tx_core.fill_mask.predictions import fill_jointly

TEXT, BEAMS = "the [MASK] fox [MASK] over the [MASK] dog", 12


@torch.inference_mode()
def test_the_best_fillings_are_the_likeliest_of_all_that_go_on_from_the_likeliest_beginnings(hub_engine, reference):
    engine = hub_engine("bert")
    encoding, products = engine.encode(TEXT), {(): 1.0}
    for place in encoding.blanks:
        longer = {}
        for begun, product in products.items():
            row = torch.tensor([encoding.ids])
            row[0, list(encoding.blanks[: len(begun)])] = torch.tensor(begun, dtype=torch.long)
            shares = reference("bert")(row).logits[0, place].double().softmax(-1)
            longer |= {(*begun, entry): product * share for entry, share in enumerate(shares.tolist())}
        products = dict(sorted(longer.items(), key=lambda one: -one[1])[:BEAMS])
    found = fill_jointly(engine, TEXT, best=BEAMS, beams=BEAMS)
    assert [filling.ids for filling in found] == list(products)
    assert [filling.probability for filling in found] == pytest.approx([*products.values()], rel=1e-4)
