"""BERT: embeddings, a post-norm encoder, a masked-word head, and the heads that classify (Devlin et al. 2019)."""

from collections.abc import Callable, Collection, Mapping, Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from tx_core.transformer.config import BertConfig
from tx_core.transformer.interventions import Intervention, Vectors, reads_positions
from tx_core.transformer.layers import ACTIVATION, Encoder, EncoderRun, LayerNorm, draw_weights


class SegmentEmbedding(nn.Embedding):
    """A vector for each sentence of a pair; both sentences get the same one where a model has only one."""

    def forward(self, segments: Int[Tensor, "..."]) -> Float[Tensor, "... hidden"]:
        return super().forward(segments.clamp(max=self.num_embeddings - 1))


class BertEmbeddings(nn.Module):
    """The sum of word, position and segment embeddings, then a layer norm (Devlin et al. 2019, figure 2)."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.words = nn.Embedding(config.vocab_size, config.hidden_size)
        self.positions = nn.Embedding(config.max_positions, config.hidden_size)
        self.segments = SegmentEmbedding(config.num_segments, config.hidden_size)
        self.norm = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        ids: Int[Tensor, "batch token"],
        segments: Int[Tensor, "batch token"] | None = None,
        inputs_embeds: Float[Tensor, "batch token hidden"] | None = None,
        with_positions: Bool[Tensor, "_run"] | None = None,
    ) -> Float[Tensor, "_run token hidden"]:
        """Embed the tokens. Without segments, all belong to the first sentence.

        inputs_embeds: word vectors to use in place of those of `ids`. with_positions: the rows to which position embeddings
        are added, by default all.
        """
        segments = torch.zeros_like(ids) if segments is None else segments
        positions = self.positions.weight[: ids.shape[1]]
        if with_positions is not None:
            positions = positions * with_positions[:, None, None]
        words = self.words(ids) if inputs_embeds is None else inputs_embeds
        embedded = self.norm(words + self.segments(segments) + positions)
        return self.dropout(embedded) if self.training else embedded


class MaskedWordHead(nn.Module):
    """Logits over the vocabulary from a token's vector (Devlin et al. 2019, section 3.1)."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = ACTIVATION[config.activation]
        self.norm = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.vocabulary = nn.Linear(config.hidden_size, config.vocab_size)

    def forward(self, hidden: Float[Tensor, "... hidden"]) -> Float[Tensor, "... vocab"]:
        return self.vocabulary(self.norm(self.activation(self.dense(hidden))))


def max_pool(
    hidden: Float[Tensor, "batch token hidden"], mask: Bool[Tensor, "..."] | None = None
) -> tuple[Float[Tensor, "batch hidden"], Int[Tensor, "batch hidden"]]:
    """Return the maximum of each dimension over the tokens, and the position of the token that has it (Collobert & Weston 2008).

    mask: True = a real token, as from `padding_mask`; every sentence has one.
    """
    if mask is not None:
        hidden = hidden.masked_fill(~mask.reshape(len(mask), -1, 1), -torch.inf)
    return tuple(hidden.max(dim=1))


Read = Callable[[Float[Tensor, "batch token hidden"], Bool[Tensor, "..."] | None], Float[Tensor, "..."]]
"""A pooling function: from the tokens' vectors, and the mask of real tokens, to what the head classifies."""


def first_token(hidden: Float[Tensor, "batch token hidden"], mask: Bool[Tensor, "..."] | None) -> Float[Tensor, "batch hidden"]:
    """Return the vector of the first token, [CLS]. It is always a real token, so that the mask is not needed."""
    return hidden[:, 0]


def every_token(
    hidden: Float[Tensor, "batch token hidden"], mask: Bool[Tensor, "..."] | None
) -> Float[Tensor, "batch token hidden"]:
    """Return the vectors of all tokens; those of padding mean nothing."""
    return hidden


def max_pooled(hidden: Float[Tensor, "batch token hidden"], mask: Bool[Tensor, "..."] | None) -> Float[Tensor, "batch hidden"]:
    """Return the maximum of each dimension over the real tokens."""
    return max_pool(hidden, mask)[0]


class LabelHead(nn.Module):
    """A pooling function, then one linear layer."""

    def __init__(self, read: Read, hidden_size: int, labels: int, dropout: float = 0.0):
        super().__init__()
        self.read = read
        self.dropout = nn.Dropout(dropout)
        self.label = nn.Linear(hidden_size, labels)

    def forward(
        self, hidden: Float[Tensor, "batch token hidden"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch *token label"]:
        """Compute logits over the labels, of a sentence or of each token. mask: True = a real token."""
        return self.label(self.dropout(self.read(hidden, mask)))


class Pooler(nn.Module):
    """A layer with tanh on the first token's vector, which a label head of BERT reads (Devlin et al. 2019, section 3.1)."""

    def __init__(self, hidden_size: int):
        super().__init__()
        self.dense = nn.Linear(hidden_size, hidden_size)

    def forward(
        self, hidden: Float[Tensor, "batch token hidden"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch hidden"]:
        return torch.tanh(self.dense(first_token(hidden, mask)))


class Bert(nn.Module):
    """The encoder, with a masked-word head unless `with_head` is False, and a label head where there are labels."""

    def __init__(self, config: BertConfig, *, with_head: bool = True, labels: int = 0):
        super().__init__()
        self.config = config
        self.embeddings = BertEmbeddings(config)
        self.encoder = Encoder(config)
        self.head = MaskedWordHead(config) if with_head else None
        self.label_head = LabelHead(Pooler(config.hidden_size), config.hidden_size, labels, config.dropout) if labels else None

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
    ) -> EncoderRun:
        """Run a batch, or one text several times.

        mask: True = may be attended to. inputs_embeds: word vectors to use in place of those of `ids`, before positions
        and segments are added. keep: the parts to keep, see `trace.ALL_PARTS`. interventions: those of each row; empty for none.
        Where `ids` has one row, they may be those of several runs: each begins at the layer where it first differs from the
        first run. places: the positions whose last vectors are wanted; None for all. vectors: as of `Encoder`.
        """
        reading = [reads_positions(row) for row in interventions]
        # None for all, one for all alike
        with_positions = None if all(reading) else torch.tensor(reading if any(reading) else [False], device=ids.device)
        embedded = self.embeddings(ids, segments, inputs_embeds, with_positions)
        return self.encoder(embedded, mask, keep=keep, interventions=interventions, places=places, vectors=vectors)

    @property
    def words(self) -> nn.Embedding:
        """The word vectors."""
        return self.embeddings.words

    def predict_early(self, states: Float[Tensor, "depth hidden"]) -> Float[Tensor, "depth vocab"]:
        """Compute logits from one token's hidden states after every layer (logit lens): the head reads each as the last."""
        return self.predict(states)

    def predict(self, hidden: Float[Tensor, "... hidden"]) -> Float[Tensor, "... vocab"]:
        """Compute logits over the vocabulary from the vectors of the last layer.

        Raises ValueError when the checkpoint has no masked-word head.
        """
        if self.head is None:
            raise ValueError("this BERT has no masked-word head")
        return self.head(hidden)


def tie_head(model: Bert) -> None:
    """Tie output and word embeddings: the head multiplies by the word embedding matrix (Press & Wolf 2017)."""
    if model.head is not None:
        model.head.vocabulary.weight = model.embeddings.words.weight


def random_bert(config: BertConfig, seed: int) -> Bert:
    """Build an untrained BERT: normal weights of standard deviation 0.02, biases 0 (Devlin et al. 2019)."""
    model = draw_weights(Bert(config), seed, lambda name: 0.02)
    tie_head(model)
    return model


HEADS: dict[str, Read] = {"first token": first_token, "every token": every_token, "max-pooled": max_pooled}


def random_head(kind: str, hidden_size: int, labels: int, seed: int) -> LabelHead:
    """Build an untrained head of a kind of `HEADS`: normal weights of standard deviation 0.02, biases 0, as in BERT."""
    return draw_weights(LabelHead(HEADS[kind], hidden_size, labels), seed, lambda name: 0.02)
