"""A causal language model: pre-norm blocks, rotary positions, tied output, as Starcoder2 (Lozhkov et al. 2024).

Rotary positions because they need no weights, and because a score then depends on how far apart two tokens are, wherever in the
text (Su et al. 2021).
"""

import math
from collections.abc import Collection, Mapping, Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from tx_core.transformer.attention import causal_mask, combine
from tx_core.transformer.config import CausalConfig
from tx_core.transformer.interventions import Intervention, Vectors
from tx_core.transformer.layers import Encoder, EncoderRun, LayerNorm, draw_weights
from tx_core.transformer.positions import rotary_angles


class CausalLM(nn.Module):
    """The blocks of an encoder under a causal mask, a last layer norm, and logits by the word vectors (Press & Wolf 2017)."""

    def __init__(self, config: CausalConfig):
        super().__init__()
        self.config = config
        self.words = nn.Embedding(config.vocab_size, config.hidden_size)
        self.encoder = Encoder(config, norm_first=True)
        self.norm = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.label_head = None

    @property
    def head(self) -> nn.Embedding:
        """What scores the next token: the word vectors."""
        return self.words

    def forward(
        self,
        ids: Int[Tensor, "batch token"],
        segments: Int[Tensor, "batch token"] | None = None,
        mask: Bool[Tensor, "..."] | None = None,
        *,
        inputs_embeds: Float[Tensor, "batch token hidden"] | None = None,
        keep: Collection[str] = (),
        interventions: Sequence[Sequence[Intervention]] = (),
        places: Sequence[int] | None = None,
        vectors: Mapping[str, Vectors] = {},
        causal: bool = True,
    ) -> EncoderRun:
        """Run a batch; for the arguments see `bert.Bert.forward`. No token attends to a later one, whatever the mask.

        segments: ignored, since there are no segment embeddings. The last of the hidden states that are kept is normalised.
        causal: without it every token may attend to later ones too, which shows what the causal mask is for.
        """
        embedded = self.words(ids) if inputs_embeds is None else inputs_embeds
        allowed = combine(mask, causal_mask(ids.shape[1]).to(ids.device)) if causal else mask
        angles = self.angles(ids.shape[1]).to(ids.device)
        run = self.encoder(
            embedded, allowed, keep=keep, interventions=interventions, places=places, angles=angles, vectors=vectors
        )
        hidden = [*run.hidden[:-1], self.norm(run.hidden[-1])] if run.hidden else []
        return run._replace(output=self.norm(run.output), hidden=hidden)

    def angles(self, tokens: int) -> Float[Tensor, "token pair"]:
        """Return the angles by which queries and keys are rotated."""
        return rotary_angles(tokens, self.config.head_dim, self.config.rotary_base)

    def predict_early(self, states: Float[Tensor, "depth hidden"]) -> Float[Tensor, "depth vocab"]:
        """Compute the logits of the next token from one token's hidden states after every layer (logit lens)."""
        return self.predict(torch.cat([self.norm(states[:-1]), states[-1:]]))

    def predict(self, hidden: Float[Tensor, "... hidden"]) -> Float[Tensor, "... vocab"]:
        """Compute the logits of the next token from the output of a run."""
        return functional.linear(hidden, self.words.weight)


def random_causal_lm(config: CausalConfig, seed: int) -> CausalLM:
    """Build an untrained model: normal weights of standard deviation 0.02, biases 0.

    What a layer adds is smaller, by the root of the number of additions (Radford et al. 2019, section 2.3).
    """
    small = 0.02 / math.sqrt(2 * config.num_layers)
    adds = ("attention.output.weight", "feed_forward.down.weight")
    return draw_weights(CausalLM(config), seed, lambda name: small if name.endswith(adds) else 0.02)
