"""What is mixed into a token: vectors that add up to what the layer norm after attention gives, in the library's own BERT."""

import numpy as np
import torch
import transformers

from tx_core.analysis.mixing import mixed_in
from tx_core.engine.bert_engine import load_own_engine

TEXT = "the quick ___ jumps over"


@torch.inference_mode()
def test_the_norms_are_those_of_vectors_that_add_up_to_the_librarys_output(checkpoint):
    engine = load_own_engine(checkpoint("bert"), "bert", "Bert")
    model = transformers.BertModel.from_pretrained(checkpoint("bert"), attn_implementation="eager", dtype=torch.float32).eval()
    trace = engine.trace(TEXT, keep=("weights", "value", "hidden"))
    found = mixed_in(engine.model, trace)
    run = model(torch.tensor([trace.attention.query_tokens.ids]), output_hidden_states=True, output_attentions=True)
    for layer, block in enumerate(model.encoder.layer):
        states, weights = run.hidden_states[layer][0], run.attentions[layer][0]
        output, norm = block.attention.output.dense, block.attention.output.LayerNorm
        values = block.attention.self.value(states).unflatten(-1, (len(weights), -1))
        own = output.weight.unflatten(-1, (len(weights), -1))
        vectors = torch.einsum("hqk,khd,ohd->qko", weights, values, own) + torch.diag_embed(states.T).permute(1, 2, 0)
        received = vectors.sum(1) + output.bias
        spread = (received.var(-1, correction=0) + norm.eps).sqrt()[:, None, None]
        scaled = (vectors - vectors.mean(-1, keepdim=True)) / spread * norm.weight
        from_biases = (output.bias - output.bias.mean()) / spread[:, 0] * norm.weight + norm.bias
        expected = norm(output(block.attention.self(states[None])[0][0]) + states)
        torch.testing.assert_close(scaled.sum(1) + from_biases, expected, atol=1e-4, rtol=0)
        np.testing.assert_allclose(found[layer], scaled.norm(dim=-1), atol=1e-4)
