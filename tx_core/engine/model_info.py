"""What a model is: its family, its sizes and what it can do."""

from dataclasses import dataclass

from tx_core.transformer.attention import AttentionKind


@dataclass(frozen=True)
class ModelInfo:
    """The sizes and abilities of a model.

    Attributes:
        family: Its architecture, by the transformers library's name.
        layers: Number of layers of each kind of attention, in the order of `Trace.stacks`.
        num_heads: Number of heads in a layer.
        hidden_size: Length of a token's vector.
        max_tokens: Longest input that it reads here, special tokens included.
        has_head: Whether the checkpoint has a head that scores the vocabulary.
        fills_blanks: Whether that head scores masked words, and the vocabulary has a mask token.
        predicts_next: Whether that head scores the token that follows.
        num_segments: Number of segment embeddings, 0 for none.
        decoder_start: The id that the decoder of an encoder-decoder begins with, None for any other model.
        can_omit_positions: Whether a run can leave its position embeddings out (the intervention "no_positions").
    """

    family: str
    layers: dict[AttentionKind, int]
    num_heads: int
    hidden_size: int
    max_tokens: int
    has_head: bool
    fills_blanks: bool
    predicts_next: bool = False
    num_segments: int = 0
    decoder_start: int | None = None
    can_omit_positions: bool = False

    @property
    def num_layers(self) -> int:
        """Number of layers of the first stack."""
        return self.layers["self"]

    @property
    def first_layer(self) -> dict[AttentionKind, int]:
        """Number of the first layer of each stack when all are numbered through; empty for one stack."""
        starts, total = {}, 0
        for kind, count in self.layers.items():
            starts[kind], total = total, total + count
        return starts if len(starts) > 1 else {}
