"""Our own causal language model with its tokenizer, as an engine: it runs as our BERT does, and predicts what comes next."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import nn

from tx_core.engine.bert_engine import BertEngine, prepare_model
from tx_core.engine.causal_checkpoint import load_causal_lm
from tx_core.engine.device import DeviceRunner, best_device
from tx_core.engine.engine import ModelInfo, ScoreGradients, encode_text, no_head, run_text
from tx_core.engine.tokenizer import Tokenizer, load_tokenizer
from tx_core.settings import host_settings
from tx_core.transformer.causal_lm import CausalLM
from tx_core.transformer.config import CAUSAL_FAMILY
from tx_core.transformer.trace import Encoding


@dataclass(frozen=True)
class CausalEngine:
    """Our own causal language model with its tokenizer. What it has in common with a BERT is the BERT engine's."""

    name: str
    title: str
    tokenizer: Tokenizer
    model: CausalLM
    runner: DeviceRunner

    encode, trace = encode_text, run_text
    device, bfloat16 = BertEngine.device, BertEngine.bfloat16
    run, blank_logits, over_weights = BertEngine.run, BertEngine.blank_logits, BertEngine.over_weights
    output_projection = BertEngine.output_projection
    _limits = BertEngine._limits

    @cached_property
    def info(self) -> ModelInfo:
        """What the model is."""
        config = self.model.config
        return ModelInfo(
            family=CAUSAL_FAMILY,
            layers={"self": config.num_layers},
            num_heads=config.num_heads,
            hidden_size=config.hidden_size,
            max_tokens=min(config.max_positions, host_settings().max_model_tokens),
            has_head=True,
            fills_blanks=False,
            predicts_next=True,
        )

    def early_scores(
        self, states: Float[np.ndarray, "layer_and_embeddings hidden"]
    ) -> Float[np.ndarray, "layer_and_embeddings vocab"]:
        """Score the next token by each of one token's vectors in a run."""

        def compute(model: nn.Module, device: str) -> np.ndarray:
            return model.predict_early(torch.tensor(states, device=device)).float().cpu().numpy()

        return self.runner.run(compute).value

    def embed(self, ids: Sequence[int]) -> Float[np.ndarray, "token embedding"]:
        """Look up word vectors."""

        def compute(model: nn.Module, device: str) -> np.ndarray:
            return model.words(torch.tensor(ids, device=device)).cpu().numpy()

        return self.runner.run(compute).value

    def gradients(
        self, encoding: Encoding, inputs_embeds: Float[np.ndarray, "step token embedding"], position: int, word: int
    ) -> ScoreGradients:
        """Raise ModelUnavailable: what is attributed is the word of a blank, and this model fills none."""
        raise no_head(self.title)


def load_causal_engine(directory: Path, name: str, title: str) -> CausalEngine:
    """Load a checkpoint of our causal language model, on the best device; raise CheckpointProblem if it cannot be used."""
    model = load_causal_lm(directory)
    tokenizer = load_tokenizer(directory, model.config.vocab_size)
    prepare_model(model)
    return CausalEngine(name, title, tokenizer, model, DeviceRunner(model, best_device()))
