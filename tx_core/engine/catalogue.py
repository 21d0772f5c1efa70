"""The catalogue of models, and loading an engine by its name or from a directory.

Hub models are downloaded on first use; the folders of the host's own directory (TX_MODELS_DIR) are opened where they are. The
models used last stay in memory, as far as TX_MAX_MODEL_MEGABYTES allows.
"""

import json
import re
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Condition, Lock, Thread

from cachetools import LRUCache, TTLCache, cached

from tx_core.engine.architectures import own_architecture
from tx_core.engine.checkpoint_files import INDEX, read_config, read_json, weights_bytes
from tx_core.engine.download import CATALOGUE, TOO_LARGE_FOR_MEMORY, cached_commit, fetch, is_cached, reaches_hub
from tx_core.engine.engine import Engine, with_special_tokens
from tx_core.engine.remote import client
from tx_core.engine.threads import one_core
from tx_core.errors import CheckpointProblem, ModelUnavailable
from tx_core.settings import host_settings

MODELS = CATALOGUE.parent
DEFAULT, WRITER = "embedded", "writer"
"""The embedded models: the one that fills blanks, and the one that writes."""
HUB_ID = re.compile(r"\w[\w.-]{0,95}(/\w[\w.-]{0,95})?")
LOCAL = "local:"
"""Prefix of the names of models in TX_MODELS_DIR. Hub ids have no colon."""
FOLDER = re.compile(r"\w[\w .+-]{0,95}")
MAX_LOCAL_MODELS = 100
MAX_SETTINGS_BYTES = 1_000_000
LISTING_SECONDS = 5.0
FAILURE_SECONDS = 30.0
NEEDS_DIRECTORY = "Set TX_MODELS_DIR to the directory that holds the folder {folder!r}."
NEEDS_ANY_MODEL = "Set TX_ANY_MODEL=1: this model of the hub is not in the catalogue."
REACH_SECONDS = 60.0
"""How long the result of the last connection test is used."""


@dataclass(frozen=True)
class ModelCard:
    """Description of a model, shown before it is chosen. Unknown numbers are None.

    Attributes:
        family: Architecture, by the transformers library's name; empty if unknown.
        megabytes: Size of the download.
        predicts_next: Of a model that is in no list, nobody knows before it is loaded.
        hub_id: Name on the Hugging Face hub, None for a model that is on this machine.
        revision: Commit on the hub, None for the newest.
        directory: Folder of the checkpoint in TX_MODELS_DIR, None for all other models.
        fine_tuned_from: Name of the model whose weights it began with; its heads have the same numbers. Empty for none.
    """

    name: str
    title: str
    family: str = ""
    num_layers: int | None = None
    num_heads: int | None = None
    megabytes: int | None = None
    licence: str = ""
    fills_blanks: bool = False
    note: str = ""
    hub_id: str | None = None
    revision: str | None = None
    directory: Path | None = None
    english_only: bool = False
    predicts_next: bool = False
    fine_tuned_from: str = ""

    @property
    def is_embedded(self) -> bool:
        """Whether it ships with the app."""
        return self.hub_id is None and self.directory is None


@cache
def catalogue() -> tuple[ModelCard, ...]:
    """Return the models of the catalogue, those that ship first, of them the embedded one."""
    return tuple(ModelCard(**entry) for entry in json.loads(CATALOGUE.read_text(encoding="utf-8")))


def offered() -> tuple[ModelCard, ...]:
    """Return the models that a visitor may choose from: the catalogue, then the host's own directory."""
    root = host_settings().models_dir
    return (*catalogue(), *(_local_models(root.resolve()) if root else ()))


def card(name: str) -> ModelCard:
    """Return the card of a model by its name or hub id. If the host allows any model, every hub id has a card.

    Raises ModelUnavailable if there is no model of this name.
    """
    for entry in offered():
        if name in (entry.name, entry.hub_id):
            return entry
    if host_settings().any_model and HUB_ID.fullmatch(name) and ".." not in name:
        return hub_card(name)
    raise ModelUnavailable(f"There is no model named {name[:100]!r} here: choose one from the list.")


def hub_card(name: str) -> ModelCard:
    """Return the card of a hub id that is in no list: what it is nobody knows before it is loaded."""
    licence = "see its page on the hub"
    return ModelCard(name=name, title=name, licence=licence, fills_blanks=True, predicts_next=True, hub_id=name)


def needed_to_load(name: str) -> str:
    """Return the setting that `load` needs to open this model in a new process, "" for none."""
    if name.startswith(LOCAL):
        return NEEDS_DIRECTORY.format(folder=name.removeprefix(LOCAL)[:100])
    if HUB_ID.fullmatch(name) and not any(name in (entry.name, entry.hub_id) for entry in catalogue()):
        return NEEDS_ANY_MODEL
    return ""


def reads_english_only(name: str) -> bool:
    """Return whether a model of the catalogue was trained on English alone; False for any other model."""
    return any(entry.english_only for entry in catalogue() if entry.name == name)


def revision(name: str) -> str:
    """Return an identifier of the version of a model's weights; "unknown" without one.

    It is the pinned or downloaded commit for a hub model, the beginning of the SHA-256 hash of the weights for an embedded
    model, and the modification time of the weights for one of the host's directory.
    """
    model = card(name)
    if model.directory:
        written = max((file.stat().st_mtime for file in model.directory.glob("*.safetensors")), default=0.0)
        return f"of {datetime.fromtimestamp(written, UTC):%Y-%m-%d %H:%M:%S} UTC"
    if model.hub_id is None:
        files = read_json(MODELS / model.name / "manifest.json")["files"]
        return f"sha256 {files['model.safetensors']['sha256'][:16]}"
    return model.revision or cached_commit(model.hub_id) or "unknown"


def load(model: str | Path, *, special_tokens: bool = True, weights: bool = False) -> Engine:
    """Return the engine of a model, loading it on first use; with TX_ENGINE=ray, a client of Ray.

    Args:
        model: Name of a model of the catalogue or of the hub, or the path of a checkpoint directory in the hub's layout, which is
            read at every call. A string that is both names the model.
        special_tokens: Whether the engine puts the model's special tokens around every text, as the model was trained.
        weights: Whether the caller needs the weights themselves; the model is then loaded into this process, also with Ray.

    Raises ModelUnavailable if there is no such model, or it cannot be downloaded or run; CheckpointProblem if its files are
    damaged.
    """
    directory = model if isinstance(model, Path) else _directory(model)
    if directory is None:
        return load_named(model, special_tokens=special_tokens, weights=weights)
    name = directory_name(directory)
    return with_special_tokens(load_directory(directory, name, name), special_tokens)


def load_named(name: str, *, special_tokens: bool = True, weights: bool = False) -> Engine:
    """Return the engine of a model by its name, which may come from a visitor: never a path. Else as `load`."""
    try:
        found = card(name)
    except ModelUnavailable as unknown:
        hint = "" if name.startswith(LOCAL) and host_settings().models_dir else needed_to_load(name)
        raise ModelUnavailable(f"{unknown} {hint}".strip()) from None
    if host_settings().engine == "ray" and not weights:
        return with_special_tokens(client.remote_engine(found.name), special_tokens)
    return with_special_tokens(_embedded() if found.name == DEFAULT else _load_once(found), special_tokens)


def _directory(name: str) -> Path | None:
    """Return the directory that a string is the path of, None for a name; raise ModelUnavailable for a path without a folder."""
    with suppress(ModelUnavailable):
        card(name)
        return None
    with suppress(RuntimeError, OSError):  # of a user who does not exist, or too long for a path
        directory = Path(name).expanduser()
        if name and directory.is_dir():
            return directory
    if not re.search(r"^[.~]|[/\\]", name):
        return None
    raise ModelUnavailable(f"There is no folder {name[:100]!r}, and no model of this name. {needed_to_load(name)}".strip())


def directory_name(directory: Path) -> str:
    """Return the name of a checkpoint directory, or of its parent if it is called `model`, as pre-training writes it."""
    resolved = directory.resolve()
    return resolved.parent.name if resolved.name == "model" else resolved.name


def is_on_this_machine(name: str) -> bool:
    """Return whether the files of a model are here, so that nothing is downloaded for it; raise as `card` does."""
    model = card(name)
    return model.hub_id is None or is_cached(model.hub_id, model.revision)


def load_directory(directory: Path, name: str, title: str) -> Engine:
    """Load a checkpoint directory in the hub's layout: safetensors only, never its code.

    A BERT runs in our own engine, and so does a causal language model of the kind that is trained here. Any other architecture
    runs through the transformers library, and so does a BERT that is a decoder, has another activation function than ours or is
    split into several files.

    Raises ModelUnavailable if its architecture cannot be run; CheckpointProblem if its files are missing or damaged.
    """
    # Imported here: torch and transformers take seconds to import, and a client of Ray needs neither.
    if own_architecture(read_config(directory)) and not (directory / INDEX).exists():
        from tx_core.engine.bert_engine import load_own_engine

        return load_own_engine(directory, name, title)
    # The package first: of a module in it, Python would not wait for a thread that is importing the package, and with it
    # transformers, which replaces its own module half-way.
    from tx_core.engine.hub import load as library

    return library.load_engine(directory, name, title)


@cached(LRUCache(1), condition=Condition())  # concurrent first calls wait for one to finish
def _embedded() -> Engine:
    import_module("tx_core.engine.bert_engine")  # before `one_core`, which has no effect until torch is imported
    with one_core():
        return load_directory(MODELS / DEFAULT, DEFAULT, card(DEFAULT).title)


_guard = Lock()
_engines: OrderedDict[str, Engine] = OrderedDict()
"""Least recently used first; `_make_space` bounds their bytes, which grow when a model is copied in another precision."""
_failures: TTLCache[str, CheckpointProblem | ModelUnavailable] = TTLCache(maxsize=64, ttl=FAILURE_SECONDS)
"""Raised again without another attempt: each would evict loaded models, read the files or ask the hub, and let others wait."""
_loading = Lock()
"""Models are loaded one after another, so that no two count on the same memory; downloads may overlap."""


def _loaded(name: str) -> Engine | None:
    """Return the engine if it is loaded, else None; raise the error of an attempt that failed just now."""
    with _guard:
        if name in _engines:
            _engines.move_to_end(name)
        elif problem := _failures.get(name):
            raise type(problem)(str(problem))
        return _engines.get(name)


def _load_once(model: ModelCard) -> Engine:
    """Return the engine of any other model. Simultaneous calls load it once, and nobody waits for it who wants a loaded one."""
    if engine := _loaded(model.name):
        return engine
    try:
        directory = MODELS / model.name if model.is_embedded else model.directory or fetch(model.hub_id, model.revision)
        with _loading:
            if engine := _loaded(model.name):
                return engine
            _make_space(model.title, weights_bytes(directory))
            engine = load_directory(directory, model.name, model.title)
            with _guard:
                _engines[model.name] = engine
            return engine
    except (CheckpointProblem, ModelUnavailable) as problem:
        with _guard:
            _failures[model.name] = type(problem)(str(problem))  # a copy: the traceback would keep the model in memory
        raise


def _make_space(title: str, nbytes: int) -> None:
    """Evict the least recently used models; raise ModelUnavailable if the host's limit for all does not hold this one."""
    most = host_settings().max_model_megabytes * 1_000_000
    if nbytes > most:
        raise ModelUnavailable(TOO_LARGE_FOR_MEMORY.format(title=title, megabytes=nbytes / 1e6, limit=most / 1e6))
    with _guard:
        while _engines and sum(engine.runner.nbytes for engine in _engines.values()) + nbytes > most:
            _engines.popitem(last=False)


@cached(TTLCache(maxsize=4, ttl=LISTING_SECONDS), lock=Lock())
def _local_models(root: Path) -> tuple[ModelCard, ...]:
    """List the checkpoints in the folders of a directory, by name.

    Folders without config.json are omitted, and those that are, or contain, a link out of the directory.
    """
    try:
        named = sorted(path for path in root.iterdir() if FOLDER.fullmatch(path.name) and (path / "config.json").is_file())
        within = [path for path in named if all(one.resolve().is_relative_to(root) for one in (path, *path.iterdir()))]
        return tuple(map(_local_card, within[:MAX_LOCAL_MODELS]))
    except OSError:  # the directory is missing or unreadable
        return ()


def _local_card(folder: Path) -> ModelCard:
    settings: dict[str, object] = {}
    with suppress(CheckpointProblem):  # opening it raises the error
        if (folder / "config.json").stat().st_size <= MAX_SETTINGS_BYTES:
            settings = read_json(folder / "config.json")
    return ModelCard(
        name=f"{LOCAL}{folder.name}",
        title=f"{folder.name} (local)",
        family=str(settings.get("model_type", "")),
        num_layers=_first_number(settings, "num_hidden_layers", "n_layer", "n_layers", "num_layers"),
        num_heads=_first_number(settings, "num_attention_heads", "n_head", "n_heads", "num_heads"),
        megabytes=round(sum(file.stat().st_size for file in folder.glob("*.safetensors")) / 1e6),
        fills_blanks="MaskedLM" in str(settings.get("architectures")),
        predicts_next=bool(re.search(r"CausalLM|LMHeadModel", str(settings.get("architectures")))),
        directory=folder,
    )


def _first_number(settings: dict[str, object], *names: str) -> int | None:
    return next((settings[name] for name in names if type(settings.get(name)) is int), None)


class HubReach:
    """Availability of the catalogue's models, checked in a thread, so that no page waits for the hub."""

    def __init__(self) -> None:
        self.missing: frozenset[str] = frozenset()
        self._checked: TTLCache[str, bool] = TTLCache(maxsize=1, ttl=REACH_SECONDS)
        self._guard = Lock()

    def out_of_reach(self) -> frozenset[str]:
        """Return the names of models that need a download while the hub is unreachable; none before the first check."""
        with self._guard:
            if "hub" not in self._checked:
                self._checked["hub"] = True
                Thread(target=self.check, name="hub-reach", daemon=True).start()
        return self.missing

    def check(self) -> None:
        """Look for each model in the local cache, and if any is absent, test the connection to the hub. With Ray, ask Ray."""
        if host_settings().engine == "ray":
            with suppress(ModelUnavailable):
                self.missing = frozenset(client.ask(DEFAULT, "missing"))
            return
        absent = [model for model in catalogue() if model.hub_id and not is_cached(model.hub_id, model.revision)]
        reached = not absent or reaches_hub(absent[0].hub_id)
        self.missing = frozenset() if reached else frozenset(model.name for model in absent)


hub_reach = HubReach()
