"""Our own models as an engine: a BERT, or a causal language model, which runs in the same blocks and predicts what comes next."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from tx_core.engine.architectures import CAUSAL, CAUSAL_FAMILY, own_architecture
from tx_core.engine.checkpoint import NOT_FINITE_WEIGHTS, load_bert, load_causal_lm
from tx_core.engine.checkpoint_files import read_config
from tx_core.engine.device import DeviceRunner, best_device, sole_use
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
    head_missing,
    head_parts,
    no_head,
    run_limits,
    run_text,
    with_means,
)
from tx_core.engine.tensors import attention_stack, batch_tensors, score_gradients, stack_layers, stack_tokens, word_scores
from tx_core.engine.tokenizer import Tokenizer, load_tokenizer
from tx_core.errors import CheckpointProblem, ModelUnavailable
from tx_core.settings import host_settings
from tx_core.transformer.bert import Bert
from tx_core.transformer.causal_lm import CausalLM
from tx_core.transformer.interventions import (
    Intervention,
    RunLimits,
    Vectors,
    check_batch,
    check_run,
    unmasked_padding,
)
from tx_core.transformer.relevance import AttnLRP
from tx_core.transformer.trace import Encoding, Trace, check_parts

Model = TypeVar("Model", Bert, CausalLM)
Score = Callable[[Bert, Float[Tensor, "step token hidden"]], Float[Tensor, "step"]]
NO_LABEL_HEAD = "{title} has no label head: choose a model that was fine-tuned to label texts."
MAX_LABEL_NAME = 40


@dataclass(frozen=True)
class OwnEngine(Generic[Model]):
    """A model of ours with its tokenizer; what `Engine` asks for is described there. labels: those that its label head gives."""

    name: str
    title: str
    tokenizer: Tokenizer
    model: Model
    runner: DeviceRunner
    labels: tuple[str, ...] = ()

    @property
    def device(self) -> str:
        return self.runner.device

    @property
    def bfloat16(self) -> bool:
        return self.runner.bfloat16

    @cached_property
    def info(self) -> ModelInfo:
        """What the model is."""
        config, is_bert = self.model.config, isinstance(self.model, Bert)
        return ModelInfo(
            family="bert" if is_bert else CAUSAL_FAMILY,
            layers={"self": config.num_layers},
            num_heads=config.num_heads,
            hidden_size=config.hidden_size,
            max_tokens=min(config.max_positions, host_settings().max_model_tokens),
            has_head=self.model.head is not None,
            fills_blanks=is_bert and self.model.head is not None and self.tokenizer.mask_id is not None,
            predicts_next=not is_bert,
            num_segments=config.num_segments if is_bert else 0,
            can_omit_positions=is_bert,
            labels=self.labels,
            is_own=True,
        )

    encode, trace = encode_text, run_text

    def run(self, request: RunRequest) -> Trace:
        parts, encoding = check_parts(request.keep), self.encode(request.text, request.pair, request.written)
        changes = check_run(request.interventions, self._limits(encoding, request.vectors))
        given = with_means(self, [changes], request.vectors)
        check_record(self.info, {"self": (len(encoding), len(encoding))}, parts)
        blanks = list(encoding.blanks) if "blank_logits" in parts and self.info.fills_blanks else []

        def compute(model: nn.Module, device: str) -> Trace:
            tensors = batch_tensors([encoding], self.tokenizer.padding_id, device, [changes])
            run = model(*tensors, keep=parts, interventions=[changes], places=blanks, vectors=given)
            states = [state[:, : len(encoding)] for state in run.hidden]
            stacks = (attention_stack("self", encoding, encoding, run.layers),)
            logits = stack_layers([model.predict(run.output)])[0] if blanks else None
            hidden = stack_layers(states) if states else None
            return Trace(self.name, device, stacks, hidden, changes, blank_logits=logits)

        result = self.runner.run(compute)
        return replace(result.value, notice=result.notice)

    def blank_logits(
        self,
        rows: Sequence[Encoding],
        *,
        interventions: Sequence[Sequence[Intervention]] = (),
        vectors: Mapping[str, Vectors] = {},
    ) -> BlankLogits:
        changes = check_batch(interventions, [self._limits(row, vectors) for row in rows])
        given = with_means(self, changes, vectors)
        texts, runs = (rows[:1], _with_common(changes)) if _one_text(rows, changes) else (rows, changes)
        places = sorted({place for row in rows for place in row.blanks})
        blanks = [(number, places.index(place)) for number, row in enumerate(rows) for place in row.blanks]

        def compute(model: nn.Module, device: str) -> list[np.ndarray]:
            tensors = batch_tensors(texts, self.tokenizer.padding_id, device, runs[: len(texts)])
            output = model(*tensors, interventions=runs, places=places, vectors=given).output[-len(rows) :]
            logits = model.predict(output[[number for number, _ in blanks], [place for _, place in blanks]]).cpu().numpy()
            return np.split(logits, np.cumsum([len(row.blanks) for row in rows])[:-1])

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
        changes = check_run(interventions, self._limits(encoding, vectors))
        given = with_means(self, [changes], vectors)

        def compute(model: nn.Module, device: str) -> Vectors:
            rows = [encoding, *more]
            tensors = batch_tensors(rows, self.tokenizer.padding_id, device, [changes] * len(rows))
            names = [field.name for field in fields(Vectors)]
            layers = model(*tensors, keep=names, interventions=[changes] * len(rows), vectors=given).layers
            return Vectors(*(stack_tokens([layer[name] for layer in layers], len(encoding)) for name in names))

        return self.runner.run(compute).value

    def over_weights(self, rows: Sequence[Encoding], measure: WeightMeasure, *, half: bool = False) -> Result:

        def compute(model: nn.Module, device: str) -> Result:
            run = model(*batch_tensors(rows, self.tokenizer.padding_id, device), keep=("weights",), places=())
            return measure([layer["weights"] for layer in run.layers])

        return self.runner.in_precision(half).run(compute).value

    def output_projection(self, layer: int) -> Float[np.ndarray, "head head_dim hidden"]:
        with sole_use(self.device):
            weight = self.model.encoder.blocks[layer].attention.output.weight.detach().cpu()
        return head_parts(weight.numpy(), self.info.num_heads)

    def early_scores(
        self, states: Float[np.ndarray, "layer_and_embeddings hidden"]
    ) -> Float[np.ndarray, "layer_and_embeddings vocab"]:
        if self.model.head is None:
            raise head_missing(self.title, NO_LOGIT_LENS)

        def compute(model: nn.Module, device: str) -> np.ndarray:
            return model.predict_early(torch.tensor(states, device=device)).float().cpu().numpy()

        return self.runner.run(compute).value

    def embed(self, ids: Sequence[int]) -> Float[np.ndarray, "token embedding"]:

        def compute(model: nn.Module, device: str) -> np.ndarray:
            return model.words(torch.tensor(ids, device=device)).cpu().numpy()

        return self.runner.run(compute).value

    def gradients(
        self,
        encoding: Encoding,
        inputs_embeds: Float[np.ndarray, "step token embedding"],
        position: int,
        word: int,
        against: int | None = None,
    ) -> ScoreGradients:
        if self.model.head is None:
            raise head_missing(self.title, NO_GRADIENTS)
        if not self.info.fills_blanks:
            raise no_head(self.title)

        def score(model: Bert, hidden: Float[Tensor, "step token hidden"]) -> Float[Tensor, "step"]:
            return word_scores(model.predict(hidden[:, position]), word, against)

        return self._differentiate(encoding, inputs_embeds, score)

    def relevance(self, encoding: Encoding, position: int, word: int, against: int | None = None) -> Float[np.ndarray, "token"]:
        """Return the relevance of each token for a logit at a position (`AttnLRP`), or for the difference of two."""
        if not self.info.fills_blanks:
            raise no_head(self.title)
        vectors = self.embed(encoding.ids)

        def score(model: Bert, hidden: Float[Tensor, "step token hidden"]) -> Float[Tensor, "step"]:
            logits = model.predict(hidden[:, position]).float()
            return logits[:, word] if against is None else logits[:, word] - logits[:, against]

        return (self._differentiate(encoding, vectors[None], score, AttnLRP).gradients[0] * vectors).sum(axis=-1)

    def _differentiate(
        self,
        encoding: Encoding,
        inputs_embeds: Float[np.ndarray, "step token embedding"],
        score: Score,
        rules: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> ScoreGradients:
        """Differentiate a score of the last hidden states with respect to the word vectors of a text. rules: of gradients."""

        def compute(model: nn.Module, device: str) -> ScoreGradients:
            ids, segments, _ = batch_tensors([encoding] * len(inputs_embeds), self.tokenizer.padding_id, device)

            def of_vectors(vectors: Float[Tensor, "step token embedding"]) -> Float[Tensor, "step"]:
                return score(model, model(ids, segments, inputs_embeds=vectors).output)

            with rules():
                return score_gradients(of_vectors, inputs_embeds, device)

        return self.runner.run(compute, gradients=True).value

    def label_logits(self, hidden: Float[np.ndarray, "token hidden"]) -> Float[np.ndarray, "label"]:
        """Score the labels of a text from its last hidden states; raise ModelUnavailable without a label head."""
        self._check_label_head()

        def compute(model: nn.Module, device: str) -> np.ndarray:
            return model.label_head(torch.tensor(hidden, device=device)[None])[0].float().cpu().numpy()

        return self.runner.run(compute).value

    def label_gradients(
        self, encoding: Encoding, label: int, inputs_embeds: Float[np.ndarray, "step token embedding"]
    ) -> ScoreGradients:
        """Differentiate a label's logit, less the mean of all, with respect to the word vectors of a text; as `gradients`."""
        self._check_label_head()

        def score(model: Bert, hidden: Float[Tensor, "step token hidden"]) -> Float[Tensor, "step"]:
            logits = model.label_head(hidden).float()
            return logits[:, label] - logits.mean(dim=-1)

        return self._differentiate(encoding, inputs_embeds, score)

    def _check_label_head(self) -> None:
        if self.model.label_head is None:
            raise ModelUnavailable(NO_LABEL_HEAD.format(title=self.title))

    def _limits(self, encoding: Encoding, vectors: Mapping[str, Vectors]) -> RunLimits:
        return run_limits(self.info, [(len(encoding), len(encoding))] * self.info.num_layers, vectors)


def _one_text(rows: Sequence[Encoding], changes: Sequence[Sequence[Intervention]]) -> bool:
    """Return whether the rows of a batch are several runs of one text."""
    return len(changes) > 1 and all(row == rows[0] for row in rows) and len(set(map(unmasked_padding, changes))) == 1


def _with_common(runs: Sequence[tuple[Intervention, ...]]) -> Sequence[tuple[Intervention, ...]]:
    """Return the runs of a text, before them one of what all of them change, from which the others can go on."""
    common = tuple(one for one in runs[0] if all(one in run for run in runs))
    return runs if runs[0] == common else (common, *runs)


BertEngine = OwnEngine[Bert]
"""One whose model is a BERT."""


def load_own_engine(directory: Path, name: str, title: str) -> OwnEngine:
    """Load a checkpoint directory of a model of ours, on the best device.

    Raises:
        CheckpointProblem: If its files are missing or damaged.
    """
    settings = read_config(directory)
    model = load_causal_lm(directory) if own_architecture(settings) is CAUSAL else load_bert(directory)
    tokenizer = load_tokenizer(directory, model.config.vocab_size)
    _transpose_in_memory(model.encoder)
    probe = model(torch.arange(min(4, model.config.max_positions, model.config.vocab_size))[None]).output
    if not probe.isfinite().all():
        raise CheckpointProblem(NOT_FINITE_WEIGHTS.format(name="the output of the model"))
    labels = label_names(settings, len(model.label_head.label.bias)) if model.label_head else ()
    return OwnEngine(name, title, tokenizer, model, DeviceRunner(model, best_device()), labels)


def label_names(settings: Mapping[str, Any], count: int) -> tuple[str, ...]:
    """Return the names of a checkpoint's labels, from its config.json; numbers where it names none."""
    names = settings.get("id2label")
    found = names if isinstance(names, dict) else {}
    return tuple(str(found.get(str(number), f"LABEL_{number}"))[:MAX_LABEL_NAME] for number in range(count))


def _transpose_in_memory(module: nn.Module) -> None:
    """Store the weight of every linear layer input by input; its shape stays.

    That is the order in which a CPU multiplies a few rows by it. In PyTorch's own order, output by output, it rearranges the
    weight at every call, which takes a fifth of the time of a short text.
    """
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            layer.weight.data = layer.weight.data.T.contiguous().T
