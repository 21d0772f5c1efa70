"""Load models of any family with the transformers library, with its attention replaced by our own `attend`.

Since version 5 the library looks up attention functions by name. `library_attention` is registered
once for all models, and receives a run's Recorder as a keyword of the model's call.
"""

import re
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import torch
import transformers
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from torch import Tensor, nn
from transformers.masking_utils import sdpa_mask

from tx_core.engine.checkpoint import NoInitialWeights
from tx_core.engine.checkpoint_files import INDEX, NO_SAFETENSORS, WEIGHTS, check_manifest, read_config
from tx_core.engine.device import DeviceRunner, best_device
from tx_core.engine.hub.hub_engine import HubEngine
from tx_core.engine.hub.recorder import library_attention
from tx_core.engine.hub.verify import ATTENTION_IMPLEMENTATION, UNFIT, cannot_show, predicts_next_token, verify_parity
from tx_core.engine.threads import compute_slot
from tx_core.engine.tokenizer import Tokenizer, read_backend, tokenizer_checked
from tx_core.errors import CheckpointProblem, ModelUnavailable
from tx_core.transformer.trace import Encoding, ReferenceRun

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()

_building = Lock()
"""While the library builds a model, it patches functions of torch.nn.init and of tying weights, for all threads. Of two threads
that build at once, the second would save the patched functions as originals and leave them in place for good."""
MAX_COMPUTED_NUMBERS = 50_000_000
"""The most parameters a model may have beyond those in its files, such as tables that the library computes."""


def _boolean_mask(*sizes: Any, **options: Any) -> Tensor | None:
    """Build the mask of a model as a boolean tensor, True = may attend."""
    return sdpa_mask(*sizes, **options | {"allow_is_causal_skip": False})


transformers.AttentionInterface.register(ATTENTION_IMPLEMENTATION, library_attention)
transformers.AttentionMaskInterface.register(ATTENTION_IMPLEMENTATION, _boolean_mask)


def load_engine(directory: Path, name: str, title: str) -> HubEngine:
    """Load a checkpoint directory in the Hugging Face layout: safetensors only, never remote code.

    Raises CheckpointProblem if its files are damaged, incomplete or unsafe; ModelUnavailable if the architecture cannot be run,
    or computes something else when it is run with `attend`.
    """
    config = _load_config(directory)
    check_manifest(directory)
    model, has_head = _load_model(directory, config)
    tokenizer = _load_tokenizer(directory, _num_embeddings(model))
    info, parts = verify_parity(model, tokenizer, has_head)
    return HubEngine(name, title, tokenizer, DeviceRunner(model, best_device()), info, parts)


def reference_run(directory: Path, encoding: Encoding, ours: nn.Module) -> ReferenceRun:
    """Run the library's own model with its own attention, as a reference for ours; CheckpointProblem if the checkpoint cannot be
    used.

    ours: the same checkpoint in our model; weights that are equal are held once.
    """
    model = _reference_model(directory, ours)
    ids, segments = torch.tensor([encoding.ids]), torch.tensor([encoding.segments])
    with compute_slot(), torch.inference_mode():
        run = model(input_ids=ids, token_type_ids=segments, output_attentions=True, output_hidden_states=True)
    hidden, weights = (torch.cat(parts).numpy() for parts in (run.hidden_states, run.attentions))
    return ReferenceRun(hidden, weights, run.logits[0].numpy())


@lru_cache(maxsize=1)
def _reference_model(directory: Path, ours: nn.Module) -> transformers.PreTrainedModel:
    config = _load_config(directory)
    check_manifest(directory)
    model, has_head = _load_model(directory, config)
    if not has_head:
        raise CheckpointProblem(f"{directory.name} has no masked-word head to compare: choose another checkpoint.")
    for weight in model.parameters():
        alike = (one for one in ours.parameters() if one.device == weight.device and torch.equal(one, weight))
        weight.data = next(alike, weight).data
    return model


def _load_config(directory: Path) -> transformers.PretrainedConfig:
    settings = read_config(directory)
    family = settings.get("model_type")
    if not isinstance(family, str) or family not in transformers.CONFIG_MAPPING:
        raise ModelUnavailable(
            f"{directory.name} has the architecture {str(family)[:60]!r}, which the transformers library does not know "
            "(code that comes with a model is never run here): choose another model."
        )
    if settings.get("position_embedding_type", "absolute") not in ("absolute", "rotary"):
        raise ModelUnavailable(
            f"{directory.name} has relative positions of a kind that the transformers library no longer computes: "
            "choose another model."
        )
    try:
        config = transformers.AutoConfig.from_pretrained(directory, local_files_only=True, trust_remote_code=False)
    except (*UNFIT, OSError, StrictDataclassError) as error:
        raise CheckpointProblem(f"config.json cannot be used: {error}") from error
    padding, entries = getattr(config, "pad_token_id", None), getattr(config, "vocab_size", None)
    if isinstance(padding, int) and isinstance(entries, int) and not -entries <= padding < entries:
        config.pad_token_id = None  # the padding token was added to the tokenizer, and the model has no vector for it
    return config


def _load_tokenizer(directory: Path, num_embeddings: int | None) -> Tokenizer:
    if (directory / "tokenizer.json").exists():
        read_backend(directory / "tokenizer.json")  # for its clear error if the file is damaged
    with tokenizer_checked("The checkpoint has no tokenizer.json that can be read."):
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            directory, local_files_only=True, trust_remote_code=False, use_fast=True
        )
        backend = tokenizer.backend_tokenizer
        backend.no_truncation()
        backend.no_padding()
    # GPT-2 names its end-of-text token as its unknown token, but never uses it as one.
    unknown = None if tokenizer.unk_token in {tokenizer.bos_token, tokenizer.eos_token} else tokenizer.unk_token
    return Tokenizer(
        backend, mask=tokenizer.mask_token, unknown=unknown, padding=tokenizer.pad_token, num_embeddings=num_embeddings
    )


def _num_embeddings(model: transformers.PreTrainedModel) -> int | None:
    """Return the number of word vectors, None where a model does not keep them in one table."""
    try:
        return getattr(model.get_input_embeddings(), "num_embeddings", None)
    except NotImplementedError:
        return None


def _load_model(directory: Path, config: transformers.PretrainedConfig) -> tuple[transformers.PreTrainedModel, bool]:
    """Load a model with its masked-word or next-word head, or its body alone if the checkpoint has no such head.

    Returns the model, and whether it has the head.
    """
    if not (directory / WEIGHTS).exists() and not (directory / INDEX).exists():
        raise CheckpointProblem(NO_SAFETENSORS.format(name=directory.name))
    if type(config) not in transformers.MODEL_MAPPING:
        raise cannot_show(config.model_type)
    model_class = _model_class(config)
    model, missing = _read_model(directory, config, model_class)
    # What the library computes anew instead of saving it, such as Marian's positions.
    computed = (*(model._keys_to_ignore_on_save or ()), *(model._keys_to_ignore_on_load_missing or ()), "pooler")
    missing = {name for name in missing if not any(re.search(one, f"{model.base_model_prefix}.{name}") for one in computed)}
    may_have_head = model_class is not transformers.AutoModel
    missing_head = {name for name in missing if may_have_head and not name.startswith(f"{model.base_model_prefix}.")}
    if missing_body := sorted(missing - missing_head):
        raise CheckpointProblem(f"The checkpoint lacks {', '.join(missing_body[:3])}: download it again.")
    has_head = may_have_head and not missing_head
    return (model if has_head else model.base_model).eval().requires_grad_(False), has_head


def _read_model(
    directory: Path, config: transformers.PretrainedConfig, model_class: type
) -> tuple[transformers.PreTrainedModel, set[str]]:
    """Read a model from a directory; return it, and the names of its tensors that the files lack."""
    try:
        with _building:
            _check_size(directory, config, model_class)
            model, report = model_class.from_pretrained(
                directory,
                config=config,
                dtype=torch.float32,
                attn_implementation="eager",
                use_safetensors=True,
                local_files_only=True,
                trust_remote_code=False,
                output_loading_info=True,
            )
    except ImportError as error:
        raise ModelUnavailable(
            f"Models of the kind {config.model_type!r} need a library that is not installed on this server."
        ) from error
    except (*UNFIT, OSError, SafetensorError) as error:
        raise CheckpointProblem(
            "The weights are truncated, damaged or do not fit config.json: download the model again."
        ) from error
    return model, set(report["missing_keys"])


def _check_size(directory: Path, config: transformers.PretrainedConfig, model_class: type) -> None:
    """Check that a model is not far larger than its files, before anything is allocated for it."""
    # The library's own no_init_weights acts on all threads: a model drawn meanwhile for another visitor would keep raw memory.
    with torch.device("meta"), NoInitialWeights():
        # With the checkpoint's own dtype, the library would set torch's default dtype for all threads meanwhile.
        empty = model_class.from_config(config, trust_remote_code=False, dtype=torch.float32)
    numbers = sum(tensor.numel() for tensor in (*empty.parameters(), *empty.buffers()))
    stored = sum(file.stat().st_size for file in directory.glob("*.safetensors"))
    if numbers > stored + MAX_COMPUTED_NUMBERS:  # a parameter takes at least a byte
        raise CheckpointProblem(
            f"config.json describes a model of {numbers:,} numbers, and the files have {stored:,} bytes: download it again."
        )


def _model_class(config: transformers.PretrainedConfig) -> type:
    """Return the class with a masked-word or next-word head, or the class without a head."""
    if predicts_next_token(config):
        return transformers.AutoModelForCausalLM
    fills_blanks = type(config) in transformers.MODEL_FOR_MASKED_LM_MAPPING
    return transformers.AutoModelForMaskedLM if fills_blanks else transformers.AutoModel
