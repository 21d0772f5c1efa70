"""The engine for models of the transformers library, whose attention load.py has replaced by ours."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from tx_core.engine.engine import ModelInfo, head_missing
from tx_core.engine.hub.parts import Parts, apply_head, position_ids, projection_weight, read_early, with_changes
from tx_core.engine.hub.recorder import Recorder
from tx_core.engine.local_engine import Batch, Computed, LocalEngine
from tx_core.engine.tensors import batch_tensors
from tx_core.engine.tokenizer import Tokenizer
from tx_core.errors import ModelUnavailable
from tx_core.transformer.changed_run import VECTOR_PARTS
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import Encoding, plain_encoding

START_ONLY = "The decoder's input is only its start token. Enter a second sentence to see how the decoder would write it."


def model_inputs(
    rows: Sequence[Encoding],
    targets: Sequence[Encoding] | None,
    info: ModelInfo,
    padding_id: int,
    device: str,
    interventions: Sequence[Sequence[Intervention]] = (),
) -> dict[str, Tensor | bool]:
    """Build the keyword arguments of a model's call.

    targets: the decoder input for each row, None to give no decoder input. interventions: those of each row, for the padding that
    they add; empty for none.
    """
    ids, segments, mask = batch_tensors(rows, padding_id, device, interventions)
    arguments: dict[str, Tensor | bool] = {"input_ids": ids, "use_cache": False}
    if mask is not None:
        arguments["attention_mask"] = mask[:, 0, 0].long()
    if info.num_segments > 1:
        arguments["token_type_ids"] = segments
    if targets is not None:  # padding at the end needs no mask, since decoder attention is causal
        arguments["decoder_input_ids"] = batch_tensors(targets, padding_id, device)[0]
    return arguments


def shift_right(sentence: Encoding, start: int, tokenizer: Tokenizer) -> Encoding:
    """Return the decoder input for a sentence: the start token, then all tokens but the last (teacher forcing)."""
    last = len(sentence) - 1
    return replace(
        sentence,
        pair=None,
        ids=(start, *sentence.ids[:-1]),
        tokens=(tokenizer.word(start), *sentence.tokens[:-1]),
        segments=(0, *sentence.segments[:-1]),
        special=(True, *sentence.special[:-1]),
        words=(None, *sentence.words[:-1]),
        blanks=tuple(position + 1 for position in sentence.blanks if position < last),
        unknown=tuple(position + 1 for position in sentence.unknown if position < last),
    )


HEAD_ON_DECODER = (
    "{title} predicts with its decoder, but only its encoder's hidden states are available here. {limitation} "
    "Choose a BERT or one of its relatives from the list."
)
HYBRID = "Only some layers of this model have attention. Layers 1 to {count} here are its layers {numbers}."


@dataclass(frozen=True)
class HubEngine(LocalEngine):
    """A model of the transformers library."""

    info: ModelInfo
    parts: Parts | None

    def forward(self, model: Any, device: str, batch: Batch) -> Computed:
        rows, targets, keep, blanks = batch.rows, batch.targets, batch.keep, batch.blanks
        recorder = Recorder({*keep} - {"hidden", "blank_logits"}, batch.changes, self.info.first_layer, batch.vectors)
        change = recorder.changes
        if VECTOR_PARTS & {*change.parts, *change.keep}:  # more than what attention computes
            self.require_layers()
            model = with_changes(model, self.parts, change.change)
        if not blanks:  # no head without blanks: its logits are large
            model = model.get_encoder() if self.info.decoder_start is not None and targets is None else model.base_model
        inputs = model_inputs(rows, targets, self.info, self.tokenizer.padding_id, device, batch.changes)
        output = model(**inputs, recorder=recorder, output_hidden_states="hidden" in keep)
        states = output["encoder_hidden_states" if targets else "hidden_states"] if "hidden" in keep else ()
        for part, layers in change.kept.items():
            for layer, values in zip(recorder.layers["self"], layers, strict=True):
                layer[part] = values
        logits = [output.logits[number, list(own)] for number, own in enumerate(blanks)]
        return Computed(recorder.layers, states, logits, recorder.scales)

    def read_target(self, source: Encoding) -> Encoding | None:
        """Return the decoder input for a text, or None for a model without a decoder.

        It is the second sentence, shifted right behind the start token (teacher forcing). Without one, a model that fills blanks
        (BART) gets the first sentence again, which is how it fills them, and any other model (T5) gets its start token alone.
        """
        start, tokenizer = self.info.decoder_start, self.tokenizer
        if start is None:
            return None
        if source.pair is not None:
            return shift_right(tokenizer.encode(source.pair), start, tokenizer)
        if self.info.fills_blanks:
            return shift_right(source, start, tokenizer)
        return plain_encoding([tokenizer.word(start)], [start], [True])

    def read_vectors(
        self, model: Any, device: str, encoding: Encoding, steps: int
    ) -> Callable[[Float[Tensor, "step token embedding"]], Float[Tensor, "step token hidden"]]:
        inputs = model_inputs([encoding] * steps, None, self.info, self.tokenizer.padding_id, device)
        inputs |= position_ids(model, inputs.pop("input_ids"))
        return lambda vectors: model.base_model(**inputs, inputs_embeds=vectors, recorder=Recorder())[0]

    def require_head(self, limitation: str) -> None:
        """Raise ModelUnavailable also for an encoder-decoder."""
        info, why = self.info, {"title": self.title, "limitation": limitation}
        if info.decoder_start is not None:
            raise ModelUnavailable(HEAD_ON_DECODER.format(**why))
        if not info.has_head:
            raise head_missing(**why)
        self._require_parts(self.parts, limitation)

    def predict(self, model: Any, hidden: Float[Tensor, "row hidden"]) -> Float[Tensor, "row vocab"]:
        return apply_head(model, self.parts, hidden)

    def predict_early(self, model: Any, states: Float[Tensor, "depth hidden"]) -> Float[Tensor, "depth vocab"]:
        return read_early(model, self.parts, states)

    def projection(self, model: Any, layer: int) -> Float[Tensor, "hidden joined"]:
        self._require_parts(self.parts, "The contributions of its heads cannot be computed.")
        return projection_weight(model, self.parts, layer)

    def words(self, model: Any) -> nn.Module:
        return model.get_input_embeddings()

    def require_layers(self) -> None:
        self._require_parts(self.parts and self.parts.blocks, "What its layers compute cannot be replaced: undo this change.")

    def _require_parts(self, located: object, limitation: str) -> None:
        """Raise ModelUnavailable where parts are not located. limitation: what cannot be computed without them."""
        if not located:
            raise ModelUnavailable(
                f"The architecture of {self.title} is not one whose modules this app can locate. {limitation} Choose a BERT or "
                "one of its relatives from the list."
            )

    def notices(self, target: Encoding | None) -> tuple[str, ...]:
        numbers = self.info.layer_numbers
        hybrid = HYBRID.format(count=len(numbers), numbers=", ".join(str(number + 1) for number in numbers)) if numbers else ""
        return START_ONLY if target is not None and len(target) == 1 else "", hybrid
