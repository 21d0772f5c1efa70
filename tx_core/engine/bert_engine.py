"""Our own models as an engine: a BERT, or a causal language model, which runs in the same blocks and predicts what comes next."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
from tx_core.engine.device import DeviceRunner, best_device
from tx_core.engine.engine import ModelInfo, ScoreGradients, head_missing, no_head
from tx_core.engine.local_engine import Batch, Computed, LocalEngine
from tx_core.engine.tensors import batch_tensors
from tx_core.engine.tokenizer import load_tokenizer
from tx_core.errors import CheckpointProblem, ModelUnavailable
from tx_core.settings import host_settings
from tx_core.transformer.bert import Bert
from tx_core.transformer.causal_lm import CausalLM
from tx_core.transformer.interventions import Intervention, unmasked_padding
from tx_core.transformer.relevance import AttnLRP
from tx_core.transformer.trace import Encoding

Model = TypeVar("Model", Bert, CausalLM)
MAX_LABEL_NAME = 40


@dataclass(frozen=True)
class OwnEngine(LocalEngine, Generic[Model]):
    """A model of ours. labels: those that its label head gives."""

    labels: tuple[str, ...] = ()

    @property
    def model(self) -> Model:
        return self.runner.model

    @cached_property
    def info(self) -> ModelInfo:
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

    def forward(self, model: Any, device: str, batch: Batch) -> Computed:
        texts, runs = with_common_run(batch)
        places = sorted({place for own in batch.blanks for place in own})
        tensors = batch_tensors(texts, self.tokenizer.padding_id, device, runs[: len(texts)])
        run = model(*tensors, keep=batch.keep, interventions=runs, places=places, vectors=batch.vectors)
        layers = {"self": run.layers}
        if not places:
            return Computed(layers, run.hidden)
        output = run.output[-len(batch.rows) :]  # without the common run
        rows, columns = zip(*((row, places.index(place)) for row, own in enumerate(batch.blanks) for place in own), strict=True)
        logits = model.predict(output[rows, columns])
        return Computed(layers, run.hidden, logits.split([len(own) for own in batch.blanks]))

    def read_target(self, source: Encoding) -> None:
        return None

    def read_vectors(
        self, model: Any, device: str, encoding: Encoding, steps: int
    ) -> Callable[[Float[Tensor, "step token embedding"]], Float[Tensor, "step token hidden"]]:
        ids, segments, _ = batch_tensors([encoding] * steps, self.tokenizer.padding_id, device)
        return lambda vectors: model(ids, segments, inputs_embeds=vectors).output

    def require_head(self, limitation: str) -> None:
        if self.model.head is None:
            raise head_missing(self.title, limitation)

    def predict(self, model: Any, hidden: Float[Tensor, "row hidden"]) -> Float[Tensor, "row vocab"]:
        return model.predict(hidden)

    def predict_early(self, model: Any, states: Float[Tensor, "depth hidden"]) -> Float[Tensor, "depth vocab"]:
        return model.predict_early(states)

    def projection(self, model: Any, layer: int) -> Float[Tensor, "hidden joined"]:
        return model.encoder.blocks[layer].attention.output.weight

    def words(self, model: Any) -> nn.Embedding:
        return model.words

    def relevance(self, encoding: Encoding, position: int, word: int, against: int | None = None) -> Float[np.ndarray, "token"]:
        """Return the relevance of each token for a logit at a position (`AttnLRP`), or for the difference of two."""
        if not self.info.fills_blanks:
            raise no_head(self.title)
        vectors = self.embed(encoding.ids)

        def score(model: Bert, hidden: Float[Tensor, "step token hidden"]) -> Float[Tensor, "step"]:
            logits = model.predict(hidden[:, position]).float()
            return logits[:, word] if against is None else logits[:, word] - logits[:, against]

        return (self.differentiate(encoding, vectors[None], score, AttnLRP).gradients[0] * vectors).sum(axis=-1)

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

        return self.differentiate(encoding, inputs_embeds, score)

    def _check_label_head(self) -> None:
        if self.model.label_head is None:
            raise ModelUnavailable(f"{self.title} has no label head: choose a model that was fine-tuned to label texts.")


def with_common_run(batch: Batch) -> tuple[Sequence[Encoding], Sequence[Sequence[Intervention]]]:
    """Return the texts and the interventions of the runs that a batch needs.

    Several runs of one text go on from the first, at the layer where they differ from it (`Bert.forward`): the text stands there
    once, and a run of the changes that all of them make comes first, unless the first is one.
    """
    rows, changes = batch.rows, batch.changes
    is_one_text = len(changes) > 1 and len(set(rows)) == len(set(map(unmasked_padding, changes))) == 1
    if batch.keep or not is_one_text:
        return rows, changes
    common = tuple(one for one in changes[0] if all(one in run for run in changes))
    return rows[:1], changes if changes[0] == common else (common, *changes)


BertEngine = OwnEngine[Bert]
"""One whose model is a BERT."""


@torch.inference_mode(False)  # weights that are made in inference mode can have no gradients
def load_own_engine(directory: Path, name: str, title: str) -> OwnEngine:
    """Load a checkpoint directory of a model of ours, on the best device.

    Raises CheckpointProblem if its files are missing or damaged.
    """
    settings = read_config(directory)
    model = load_causal_lm(directory) if own_architecture(settings) is CAUSAL else load_bert(directory)
    tokenizer = load_tokenizer(directory, model.config.vocab_size)
    _transpose_in_memory(model.encoder)
    probe = model(torch.arange(min(4, model.config.max_positions, model.config.vocab_size))[None]).output
    if not probe.isfinite().all():
        raise CheckpointProblem(NOT_FINITE_WEIGHTS.format(name="the output of the model"))
    names = settings.get("id2label") if isinstance(settings.get("id2label"), dict) else {}
    count = len(model.label_head.label.bias) if model.label_head else 0
    labels = tuple(str(names.get(str(number), f"LABEL_{number}"))[:MAX_LABEL_NAME] for number in range(count))
    return OwnEngine(name, title, tokenizer, DeviceRunner(model, best_device()), labels)


def _transpose_in_memory(module: nn.Module) -> None:
    """Store the weight of every linear layer input by input; its shape stays.

    That is the order in which a CPU multiplies a few rows by it. In PyTorch's own order, output by output, it rearranges the
    weight at every call, which takes a fifth of the time of a short text.
    """
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            layer.weight.data = layer.weight.data.T.contiguous().T
