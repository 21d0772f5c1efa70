"""The engine for models of the transformers library, whose attention load.py has replaced by ours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from tx_core.engine.device import DeviceRunner
from tx_core.engine.engine import (
    NO_GRADIENTS,
    NO_LOGIT_LENS,
    BlankLogits,
    ModelInfo,
    Result,
    RunRequest,
    ScoreGradients,
    WeightMeasure,
    check_record,
    encode_text,
    head_parts,
    no_head,
    run_limits,
    run_text,
    with_means,
)
from tx_core.engine.hub.parts import (
    Parts,
    apply_head,
    position_ids,
    projection_weight,
    read_early,
    require_head_on_first_stack,
    require_parts,
    with_changes,
)
from tx_core.engine.hub.recorder import Recorder
from tx_core.engine.tensors import attention_stack, batch_tensors, score_gradients, stack_layers, stack_tokens, word_scores
from tx_core.engine.tokenizer import Tokenizer
from tx_core.transformer.changed_vectors import VECTOR_PARTS, VectorChanges
from tx_core.transformer.interventions import Intervention, RunLimits, Vectors, check_batch, check_run
from tx_core.transformer.trace import Encoding, Trace, axes, check_parts, plain_encoding

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

    Args:
        rows: The texts of the batch.
        targets: The decoder input for each row, None to give no decoder input.
        info: The description of the model.
        padding_id: The id that fills shorter rows.
        device: The device of the tensors.
        interventions: Those of each row, for the padding that they add; empty for none.
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


def target_of(source: Encoding, info: ModelInfo, tokenizer: Tokenizer) -> Encoding | None:
    """Return the decoder input for a text, or None for a model without a decoder.

    It is the second sentence, shifted right behind the start token (teacher forcing). Without one, a model that fills blanks
    (BART) gets the first sentence again, which is how it fills them, and any other model (T5) gets its start token alone.
    """
    if info.decoder_start is None:
        return None
    if source.pair is not None:
        return shift_right(tokenizer.encode(source.pair), info.decoder_start, tokenizer)
    if info.fills_blanks:
        return shift_right(source, info.decoder_start, tokenizer)
    return plain_encoding([tokenizer.word(info.decoder_start)], [info.decoder_start], [True])


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


HYBRID = "Only some layers of this model have attention. Layers 1 to {count} here are its layers {numbers}."
NO_LAYER_VECTORS = "What its layers compute cannot be replaced: undo this change."
NO_HEAD_OUTPUTS = "The contributions of its heads cannot be computed."


@dataclass(frozen=True)
class HubEngine:
    """A model of the transformers library with its tokenizer; what `Engine` asks for is described there."""

    name: str
    title: str
    tokenizer: Tokenizer
    runner: DeviceRunner
    info: ModelInfo
    parts: Parts | None

    @property
    def device(self) -> str:
        return self.runner.device

    @property
    def bfloat16(self) -> bool:
        return self.runner.bfloat16

    encode, trace = encode_text, run_text

    def run(self, request: RunRequest) -> Trace:
        parts, source = check_parts(request.keep), self.encode(request.text, request.pair, request.written)
        target = target_of(source, self.info, self.tokenizer)
        changes = check_run(request.interventions, self._limits(source, target, request.vectors))
        given = with_means(self, [changes], request.vectors)
        sides, padding_id = axes(source, target), self.tokenizer.padding_id
        check_record(self.info, {kind: (len(sides[kind][0]), len(sides[kind][1])) for kind in self.info.layers}, parts)
        scored = "blank_logits" in parts and self.info.fills_blanks and (target is None or source.pair is None)
        blanks = list(source.blanks) if scored else []  # none if the decoder reads a second sentence

        def compute(model: nn.Module, device: str) -> Trace:
            recorder = Recorder(parts - {"hidden", "blank_logits"}, [changes], self.info.first_layer, given)
            model = self._changed(model, recorder.changes)
            targets = None if target is None else [target]
            inputs = model_inputs([source], targets, self.info, padding_id, device, [changes])
            body = model if blanks else model.base_model  # no head without blanks: its logits are large
            output = body(**inputs, recorder=recorder, output_hidden_states="hidden" in parts)
            states = output["encoder_hidden_states" if target else "hidden_states"] if "hidden" in parts else ()
            stacks = [
                replace(attention_stack(kind, *sides[kind], recorder.layers[kind]), scales=tuple(recorder.scales[kind]))
                for kind in self.info.layers
            ]
            hidden = stack_layers([state[:, : len(source)] for state in states]) if states else None
            logits = stack_layers([output.logits[:, blanks]])[0] if blanks else None
            return Trace(self.name, device, tuple(stacks), hidden, changes, blank_logits=logits)

        result, numbers = self.runner.run(compute), ", ".join(str(number + 1) for number in self.info.layer_numbers)
        hybrid = HYBRID.format(count=len(self.info.layer_numbers), numbers=numbers) if numbers else ""
        started = START_ONLY if target is not None and len(target) == 1 else ""
        return replace(result.value, notice=" ".join(filter(None, (result.notice, started, hybrid))))

    def blank_logits(
        self,
        rows: Sequence[Encoding],
        *,
        interventions: Sequence[Sequence[Intervention]] = (),
        vectors: Mapping[str, Vectors] = {},
    ) -> BlankLogits:
        if not (self.info.fills_blanks or self.info.predicts_next):
            raise ValueError(f"{self.name} has no head that scores the vocabulary")
        start = self.info.decoder_start
        targets = None if start is None else [shift_right(row, start, self.tokenizer) for row in rows]
        limits = [self._limits(row, target, vectors) for row, target in zip(rows, targets or [None] * len(rows), strict=True)]
        changes = check_batch(interventions, limits)
        given = with_means(self, changes, vectors)

        def compute(model: nn.Module, device: str) -> list[np.ndarray]:
            recorder = Recorder((), changes, self.info.first_layer, given)
            model = self._changed(model, recorder.changes)
            inputs = model_inputs(rows, targets, self.info, self.tokenizer.padding_id, device, changes)
            logits = model(**inputs, recorder=recorder).logits
            return [logits[number, list(row.blanks)].cpu().numpy() for number, row in enumerate(rows)]

        result = self.runner.run(compute)
        return BlankLogits(tuple(result.value), result.notice)

    def vectors(
        self,
        encoding: Encoding,
        *,
        more: Sequence[Encoding] = (),
        interventions: Sequence[Intervention] = (),
        vectors: Mapping[str, Vectors] = {},
    ) -> Vectors:
        self._located()
        changes = check_run(interventions, self._limits(encoding, None, vectors))
        given = with_means(self, [changes], vectors)

        def compute(model: nn.Module, device: str) -> Vectors:
            rows = [encoding, *more]
            runs = [changes] * len(rows)
            recorder = Recorder(("context", *VECTOR_PARTS), runs, self.info.first_layer, given)
            body = self._changed(model, recorder.changes).base_model
            body(**model_inputs(rows, None, self.info, self.tokenizer.padding_id, device, runs), recorder=recorder)
            found = recorder.changes.kept | {"context": [layer["context"] for layer in recorder.layers["self"]]}
            return Vectors(**{part: stack_tokens(layers, len(encoding)) for part, layers in found.items()})

        return self.runner.run(compute).value

    def _changed(self, model: nn.Module, changes: VectorChanges) -> nn.Module:
        """Return the model whose layers hand their vectors to `changes`, where these are more than what attention computes."""
        if not VECTOR_PARTS & {*changes.parts, *changes.keep}:
            return model
        return with_changes(model, self._located(), changes.change)

    def _located(self) -> Parts:
        """Return the parts of a model whose layers are located; raise ModelUnavailable for another."""
        return require_parts(self.parts if self.parts and self.parts.blocks else None, self.title, NO_LAYER_VECTORS)

    def over_weights(self, rows: Sequence[Encoding], measure: WeightMeasure, *, half: bool = False) -> Result:

        def compute(model: nn.Module, device: str) -> Result:
            recorder = Recorder(("weights",), first_layer=self.info.first_layer)
            body = model.base_model if self.info.decoder_start is None else model.get_encoder()
            given = model_inputs(rows, None, self.info, self.tokenizer.padding_id, device)
            body(**given, recorder=recorder)  # without the head: its logits are large
            return measure([layer["weights"] for layer in recorder.layers["self"]])

        return self.runner.in_precision(half).run(compute).value

    def output_projection(self, layer: int) -> Float[np.ndarray, "head head_dim hidden"]:
        parts = require_parts(self.parts, self.title, NO_HEAD_OUTPUTS)
        return self.runner.run(
            lambda model, _: head_parts(projection_weight(model, parts, layer).cpu().numpy(), self.info.num_heads)
        ).value

    def early_scores(
        self, states: Float[np.ndarray, "layer_and_embeddings hidden"]
    ) -> Float[np.ndarray, "layer_and_embeddings vocab"]:
        parts = require_head_on_first_stack(self.info, self.parts, self.title, NO_LOGIT_LENS)
        return self.runner.run(
            lambda model, device: read_early(model, parts, torch.tensor(states, device=device)).float().cpu().numpy()
        ).value

    def embed(self, ids: Sequence[int]) -> Float[np.ndarray, "token embedding"]:

        def compute(model: nn.Module, device: str) -> np.ndarray:
            return model.get_input_embeddings()(torch.tensor(ids, device=device)).cpu().numpy()

        return self.runner.run(compute).value

    def gradients(
        self,
        encoding: Encoding,
        inputs_embeds: Float[np.ndarray, "step token embedding"],
        position: int,
        word: int,
        against: int | None = None,
    ) -> ScoreGradients:
        parts = require_head_on_first_stack(self.info, self.parts, self.title, NO_GRADIENTS)
        if not self.info.fills_blanks:
            raise no_head(self.title)

        def compute(model: nn.Module, device: str) -> ScoreGradients:
            inputs = model_inputs([encoding] * len(inputs_embeds), None, self.info, self.tokenizer.padding_id, device)
            inputs |= position_ids(model, inputs.pop("input_ids"))

            def score(vectors: Float[Tensor, "step token embedding"]) -> Float[Tensor, "step"]:
                hidden = model.base_model(**inputs, inputs_embeds=vectors, recorder=Recorder())[0][:, position]
                return word_scores(apply_head(model, parts, hidden), word, against)

            return score_gradients(score, inputs_embeds, device)

        return self.runner.run(compute, gradients=True).value

    def _limits(self, source: Encoding, target: Encoding | None, vectors: Mapping[str, Vectors]) -> RunLimits:
        sides = axes(source, target)
        sizes = [tuple(map(len, sides[kind])) for kind, count in self.info.layers.items() for _ in range(count)]
        return run_limits(self.info, sizes, vectors)
