"""An engine for the transformers library's models: what is put in, what comes out, what a decoder reads.

The library itself is not needed here: a model arrives ready, its attention already ours (see hub.py).

What the decoder of an encoder-decoder reads is the second sentence, behind the model's start token,
as while it writes that sentence. Without a second sentence, a model that fills blanks (BART) reads
its first sentence again, which is how it fills them; any other (T5) reads its start token alone.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from torch import Tensor, nn

from tx_core.engine import MOST_TOKENS, BlankLogits, LayerWeights, batch_tensors, check_length, stack_layers
from tx_core.interventions import UNCHANGED, Interventions, RowInterventions, check_fit, for_rows
from tx_core.placement import Placement, Result
from tx_core.plain_text import plain_encoding
from tx_core.recorder import Recorder
from tx_core.tokenizer import Tokenizer
from tx_core.trace import AttentionStack, Encoding, Kind, Trace, check_parts

START_ONLY = "The decoder has only its start token to read: give a second sentence to see how it would write that."


@dataclass(frozen=True)
class Shape:
    """What hub.py found out about a model.

    layers: the number of layers of each kind of attention, in the order of `Trace.stacks`. max_tokens: the model's own.
    segments: how many kinds of sentence the embeddings tell apart, 0 for none.
    decoder_start: the id that an encoder-decoder's decoder begins with, None for any other model.
    """

    layers: dict[Kind, int]
    num_heads: int
    max_tokens: int
    segments: int
    has_head: bool
    decoder_start: int | None

    @property
    def first_layer(self) -> dict[Kind, int]:
        """Where each stack's layers begin when all are numbered through; empty for one stack."""
        starts, total = {}, 0
        for kind, count in self.layers.items():
            starts[kind], total = total, total + count
        return starts if len(starts) > 1 else {}


@dataclass(frozen=True)
class HubEngine:
    """A model of the transformers library with its tokenizer."""

    name: str
    title: str
    tokenizer: Tokenizer
    placement: Placement
    shape: Shape

    @property
    def device(self) -> str:
        """Where it computes."""
        return self.placement.device

    @property
    def max_tokens(self) -> int:
        """The longest input, special tokens included."""
        return min(self.shape.max_tokens, MOST_TOKENS)

    @property
    def num_layers(self) -> int:
        """The number of layers of the first stack."""
        return self.shape.layers["self"]

    @property
    def num_heads(self) -> int:
        """The number of heads in each layer."""
        return self.shape.num_heads

    @property
    def fills_blanks(self) -> bool:
        """Whether the checkpoint holds a masked-word head, and the vocabulary a blank to fill."""
        return self.shape.has_head and self.tokenizer.mask_id is not None

    def encode(self, text: str, pair: str | None = None) -> Encoding:
        """Read the text; raise TextProblem when it is empty or too long for the model.

        An encoder-decoder reads the two sentences apart: this is what its encoder reads.
        """
        if self.shape.decoder_start is None:
            return check_length(self.tokenizer.encode(text, pair), self.max_tokens)
        source = check_length(self.tokenizer.encode(text), self.max_tokens)
        pair = pair if pair and pair.strip() else None
        if pair is not None:
            check_length(self.tokenizer.encode(pair), self.max_tokens)
        return replace(source, pair=pair)

    def trace(
        self,
        text: str,
        pair: str | None = None,
        *,
        keep: Collection[str] = ("weights",),
        interventions: Interventions = UNCHANGED,
    ) -> Trace:
        """Run the model once and keep the parts asked for (`trace.PARTS`)."""
        parts, source = check_parts(keep), self.encode(text, pair)
        target = self._target(source)
        check_fit(interventions, self.num_heads, self._sizes(source, target))

        def compute(model: nn.Module, device: str) -> tuple[Recorder, Sequence[Tensor] | None]:
            recorder = Recorder(parts - {"hidden"}, interventions, self.shape.first_layer)
            inputs = self._inputs([source], None if target is None else [target], device)
            output = model(**inputs, recorder=recorder, output_hidden_states="hidden" in parts)
            return recorder, output.get("encoder_hidden_states" if target else "hidden_states")

        (recorder, hidden), device, notice = self.placement.run(compute)
        axes = _axes(source, target)
        stacks = tuple(_stack(kind, *axes[kind], recorder.layers[kind]) for kind in self.shape.layers)
        notices = [notice, START_ONLY if target is not None and len(target) == 1 else ""]
        return Trace(
            self.name, device, stacks, stack_layers(hidden) if "hidden" in parts else None, interventions,
            " ".join(sentence for sentence in notices if sentence),
        )  # fmt: skip

    def blank_logits(
        self, rows: Sequence[Encoding], *, interventions: Interventions | Sequence[Interventions] = UNCHANGED
    ) -> BlankLogits:
        """Score the whole vocabulary at every blank of every row, in one batch; a row may have its own interventions.

        Raises ValueError when the checkpoint has no masked-word head, and ChangeProblem for interventions on what a
        row does not have.
        """
        if not self.fills_blanks:
            raise ValueError(f"{self.name} has no masked-word head")
        targets = None if self.shape.decoder_start is None else [self._writing(row) for row in rows]
        changes = for_rows(interventions, len(rows))
        for row, target, change in zip(rows, targets or [None] * len(rows), changes, strict=True):
            check_fit(change, self.num_heads, self._sizes(row, target))

        def compute(model: nn.Module, device: str) -> list[Tensor]:
            recorder = Recorder((), RowInterventions(changes), self.shape.first_layer)
            logits = model(**self._inputs(rows, targets, device), recorder=recorder).logits
            return [logits[number, list(row.blanks)].cpu() for number, row in enumerate(rows)]

        return BlankLogits(*self.placement.run(compute))

    def over_weights(self, rows: Sequence[Encoding], measure: Callable[[LayerWeights], Result]) -> Result:
        """Run the rows in one padded batch and give what `measure` makes of the weights of the first stack's layers.

        Of an encoder-decoder, the encoder alone is run: what a decoder would compute is not asked for.
        """

        def compute(model: nn.Module, device: str) -> Result:
            recorder = Recorder(("weights",), first_layer=self.shape.first_layer)
            body = model.base_model if self.shape.decoder_start is None else model.get_encoder()
            body(**self._inputs(rows, None, device), recorder=recorder)  # no head: its scores are large
            return measure([layer["weights"] for layer in recorder.layers["self"]])

        return self.placement.run(compute)[0]

    def _sizes(self, source: Encoding, target: Encoding | None) -> list[tuple[int, int]]:
        axes = _axes(source, target)
        return [tuple(map(len, axes[kind])) for kind, count in self.shape.layers.items() for _ in range(count)]

    def _inputs(self, rows: Sequence[Encoding], targets: Sequence[Encoding] | None, device: str) -> dict[str, Tensor | bool]:
        ids, segments, mask = batch_tensors(rows, self.tokenizer.padding_id, device)
        inputs: dict[str, Tensor | bool] = {"input_ids": ids, "use_cache": False}
        if mask is not None:
            inputs["attention_mask"] = mask[:, 0, 0].long()
        if self.shape.segments > 1:
            inputs["token_type_ids"] = segments
        if targets is not None:  # padding at their ends needs no mask: a decoder only looks back
            inputs["decoder_input_ids"] = batch_tensors(targets, self.tokenizer.padding_id, device)[0]
        return inputs

    def _target(self, source: Encoding) -> Encoding | None:
        """Give what the decoder reads, or None where there is no decoder."""
        if self.shape.decoder_start is None:
            return None
        if source.pair is not None:
            return self._writing(self.tokenizer.encode(source.pair))
        if self.fills_blanks:
            return self._writing(source)
        start = self.shape.decoder_start
        return plain_encoding([self.tokenizer.word(start)], [start], [True])

    def _writing(self, sentence: Encoding) -> Encoding:
        """Give what the decoder has read when it writes each token of the sentence: the start, and all before."""
        start, last = self.shape.decoder_start, len(sentence) - 1
        return replace(
            sentence,
            pair=None,
            ids=(start, *sentence.ids[:-1]),
            tokens=(self.tokenizer.word(start), *sentence.tokens[:-1]),
            segments=(0, *sentence.segments[:-1]),
            special=(True, *sentence.special[:-1]),
            words=(None, *sentence.words[:-1]),
            blanks=tuple(place + 1 for place in sentence.blanks if place < last),
            unknown=tuple(place + 1 for place in sentence.unknown if place < last),
        )


def _axes(source: Encoding, target: Encoding | None) -> dict[Kind, tuple[Encoding | None, Encoding | None]]:
    """Say what looks and what is looked at in each kind of attention."""
    return {"self": (source, source), "decoder": (target, target), "cross": (target, source)}


def _stack(kind: Kind, query: Encoding, key: Encoding, layers: Sequence[dict[str, Tensor]]) -> AttentionStack:
    parts = {part: stack_layers([layer[part] for layer in layers]) for part in layers[0]}
    return AttentionStack(kind, query, key, **parts)
