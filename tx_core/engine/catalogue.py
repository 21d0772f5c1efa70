"""The catalogue of models, and the way from a name in it to an engine that runs.

The embedded model is always there. Hub models are fetched when chosen; a few stay in memory.
"""

import json
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock

from cachetools import LRUCache, TTLCache

from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.checkpoint import load_bert, read_json
from tx_core.engine.device import best_device
from tx_core.engine.device_runner import DeviceRunner
from tx_core.engine.download import CATALOGUE, fetch
from tx_core.engine.engine import Engine
from tx_core.engine.tokenizer import load_tokenizer
from tx_core.errors import CheckpointProblem, ModelUnavailable
from tx_core.settings import host_settings

MODELS = CATALOGUE.parent
DEFAULT = "embedded"
FAILURE_SECONDS = 30.0
HUB_ID = re.compile(r"[\w.-]{1,96}(/[\w.-]{1,96})?")


@dataclass(frozen=True)
class ModelCard:
    """What a reader should know of a model before choosing it.

    hub_id: None for a model that ships with the app. revision: the hub's commit, or None for its newest.
    megabytes: what is fetched. family: the architecture, as transformers calls it.
    """

    name: str
    title: str
    family: str
    num_layers: int | None
    num_heads: int | None
    megabytes: int | None
    licence: str
    fills_blanks: bool
    note: str
    hub_id: str | None = None
    revision: str | None = None


@cache
def catalogue() -> tuple[ModelCard, ...]:
    """List the models on offer, the embedded one first."""
    return tuple(ModelCard(**entry) for entry in json.loads(CATALOGUE.read_text(encoding="utf-8")))


def card(name: str) -> ModelCard:
    """Find a model by its name, or by its hub id where any is allowed.

    Raises ModelUnavailable for a name that is not on offer.
    """
    for known in catalogue():
        if name in (known.name, known.hub_id):
            return known
    if host_settings().any_model and HUB_ID.fullmatch(name) and ".." not in name:
        return ModelCard(
            name=name,
            title=name,
            family="",
            num_layers=None,
            num_heads=None,
            megabytes=None,
            licence="see its page on the hub",
            fills_blanks=True,
            note="",
            hub_id=name,
        )
    raise ModelUnavailable(f"There is no model named {name[:100]!r} here: choose one from the list.")


def load(name: str) -> Engine:
    """Give the engine of a model, loading it first where needed.

    Raises ModelUnavailable when it cannot be had, CheckpointProblem when its files are damaged.
    """
    chosen = card(name)
    return _embedded() if chosen.hub_id is None else _from_hub(chosen)


def load_bert_engine(directory: Path, name: str, title: str) -> BertEngine:
    """Load a BERT checkpoint directory into our own engine."""
    model = load_bert(directory)
    return BertEngine(name, title, load_tokenizer(directory), model, DeviceRunner(model, best_device()))


@lru_cache(maxsize=1)
def _load_embedded() -> BertEngine:
    return load_bert_engine(MODELS / DEFAULT, DEFAULT, card(DEFAULT).title)


def _embedded() -> BertEngine:
    with _guard:  # lru_cache alone would let two first visitors load it twice
        return _load_embedded()


_guard = Lock()
_engines: LRUCache[str, Engine] = LRUCache(maxsize=host_settings().models_in_memory)
_loading: dict[str, Lock] = {}
_failed: TTLCache[str, CheckpointProblem | ModelUnavailable] = TTLCache(maxsize=64, ttl=FAILURE_SECONDS)


def _from_hub(chosen: ModelCard) -> Engine:
    """Load a hub model once, however many ask for it at the same time, without holding up other models.

    A failure is everyone's answer for FAILURE_SECONDS: else each of those who wait would repeat the attempt in turn.
    """
    with _guard:
        if (known := _known(chosen.name)) is not None:
            return known
        turn = _loading.setdefault(chosen.name, Lock())
    with turn:
        with _guard:
            if (known := _known(chosen.name)) is not None:
                return known
        try:
            engine = _load_from_hub(chosen)
            with _guard:
                _engines[chosen.name] = engine
            return engine
        except (CheckpointProblem, ModelUnavailable) as problem:
            with _guard:
                _failed[chosen.name] = type(problem)(str(problem))  # without the frames, which hold the model's parts
            raise
        finally:
            with _guard:
                _loading.pop(chosen.name, None)


def _known(name: str) -> Engine | None:
    """Give a loaded engine, None where nobody knows yet; raise again what lately kept it from loading."""
    if name in _engines:
        return _engines[name]
    problem = _failed.get(name)
    if problem is not None:
        raise type(problem)(str(problem))
    return None


def _load_from_hub(chosen: ModelCard) -> Engine:
    directory = fetch(chosen.hub_id, chosen.revision)
    if (chosen.family or read_json(directory / "config.json").get("model_type")) == "bert":
        return load_bert_engine(directory, chosen.name, chosen.title)
    from tx_core.engine.hub import load as hub  # transformers is imported only when a model of another family is chosen

    return hub.load_engine(directory, chosen.name, chosen.title)
