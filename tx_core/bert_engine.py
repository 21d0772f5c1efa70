"""Our own BERT with its tokenizer, as an engine."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from torch import Tensor, nn

from tx_core.bert import Bert
from tx_core.encoder import EncoderRun
from tx_core.engine import MOST_TOKENS, BlankLogits, LayerWeights, batch_tensors, check_length, stack_layers
from tx_core.fused import all_weights
from tx_core.interventions import UNCHANGED, Interventions, RowInterventions, check_fit, for_rows
from tx_core.placement import Placement, Result
from tx_core.tokenizer import Tokenizer
from tx_core.trace import AttentionStack, Encoding, Trace, check_parts


@dataclass(frozen=True)
class BertEngine:
    """Our own BERT with its tokenizer."""

    name: str
    title: str
    tokenizer: Tokenizer
    model: Bert
    placement: Placement

    @property
    def device(self) -> str:
        """Where it computes."""
        return self.placement.device

    @property
    def max_tokens(self) -> int:
        """The longest input, special tokens included."""
        return min(self.model.config.max_positions, MOST_TOKENS)

    @property
    def num_layers(self) -> int:
        """The number of blocks."""
        return self.model.config.num_layers

    @property
    def num_heads(self) -> int:
        """The number of heads in each block."""
        return self.model.config.num_heads

    @property
    def fills_blanks(self) -> bool:
        """Whether there is a masked-word head and a blank to fill."""
        return self.model.head is not None and self.tokenizer.mask_id is not None

    def encode(self, text: str, pair: str | None = None) -> Encoding:
        """Read the text; raise TextProblem when it is empty or too long for the model."""
        return check_length(self.tokenizer.encode(text, pair), self.max_tokens)

    def trace(
        self,
        text: str,
        pair: str | None = None,
        *,
        keep: Collection[str] = ("weights",),
        interventions: Interventions = UNCHANGED,
    ) -> Trace:
        """Run the model once and keep the parts asked for (`trace.PARTS`)."""
        parts, encoding = check_parts(keep), self.encode(text, pair)
        check_fit(interventions, self.num_heads, self._sizes(encoding))

        def compute(model: nn.Module, device: str) -> EncoderRun:
            ids, segments, _ = batch_tensors([encoding], self.tokenizer.padding_id, device)
            return model(ids, segments, None, keep=parts, interventions=interventions)

        run, device, notice = self.placement.run(compute)
        stacked = {part: stack_layers([layer[part] for layer in run.layers]) for part in run.layers[0]}
        hidden = stack_layers(run.hidden) if "hidden" in parts else None
        stack = AttentionStack("self", encoding, encoding, **stacked)
        return Trace(self.name, device, (stack,), hidden, interventions, notice)

    def blank_logits(
        self, rows: Sequence[Encoding], *, interventions: Interventions | Sequence[Interventions] = UNCHANGED
    ) -> BlankLogits:
        """Score the whole vocabulary at every blank of every row, in one batch; a row may have its own interventions.

        Raises ChangeProblem for interventions on what a row does not have.
        """

        changes = for_rows(interventions, len(rows))
        for row, change in zip(rows, changes, strict=True):
            check_fit(change, self.num_heads, self._sizes(row))
        changes = RowInterventions(changes)

        def compute(model: nn.Module, device: str) -> list[Tensor]:
            ids, segments, mask = batch_tensors(rows, self.tokenizer.padding_id, device)
            output = model(ids, segments, mask, interventions=changes).output
            return [model.predict(output[number, list(row.blanks)]).cpu() for number, row in enumerate(rows)]

        return BlankLogits(*self.placement.run(compute))

    def over_weights(self, rows: Sequence[Encoding], measure: Callable[[LayerWeights], Result]) -> Result:
        """Run the rows in one padded batch and give what `measure` makes of the weights of its layers."""

        def compute(model: nn.Module, device: str) -> Result:
            return measure(all_weights(model, *batch_tensors(rows, self.tokenizer.padding_id, device)))

        return self.placement.run(compute)[0]

    def _sizes(self, encoding: Encoding) -> list[tuple[int, int]]:
        return [(len(encoding), len(encoding))] * self.num_layers
