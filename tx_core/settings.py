"""The settings of a host: every `TX_*` environment variable, read once, typed and validated when the server starts.

Begin with `Settings`: its fields are the variables. `host_settings()` returns the one instance, `settings_table()` the
table in HOSTING.md. Imports pydantic, never torch.
"""

import logging
import os
import tempfile
import tomllib
from contextlib import suppress
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import DirectoryPath, Field, FilePath, StringConstraints, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, SettingsConfigDict

from tx_core.errors import SettingsProblem
from tx_core.host_memory import host_megabytes

ASSETS = next(path for path in (Path(__file__).parent / "assets", Path(__file__).parents[1] / "assets") if path.is_dir())
"""The folder of data files: inside tx_core if pip installed it, beside it otherwise."""
PREFIX = "TX_"
BOUNDS = {"ge": "from", "le": "to"}
"""pydantic's names of a number's bounds, and the words for them."""
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
"""The number of cores that this process may use."""
MEMORY = host_megabytes()
"""Megabytes that this process may use. Default memory limits scale with it, so that 1 GB suffices for a few visitors."""
Count = Annotated[int, Field(ge=1)]
DatabaseUrl = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^(postgresql(\+psycopg)?://\S+)?$")]
RayAddresses = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^https?://[^\s@]+( +https?://[^\s@]+)*$")]
FRAME_ANCESTOR = r"('self'|https?://(\*\.)?[a-z0-9](-?[a-z0-9.])*(:\d{1,5}|:\*)?)"
FrameAncestors = Annotated[
    str, StringConstraints(strip_whitespace=True, to_lower=True, pattern=rf"^(?i:{FRAME_ANCESTOR}( +{FRAME_ANCESTOR})*)$")
]
Device = Annotated[str, StringConstraints(strip_whitespace=True, to_lower=True, pattern=r"^(?i:cpu|mps|cuda(:\d+)?)?$")]


def _field(value: Any, description: str, /, **shown: str) -> Any:
    """Declare a setting. shown: text for the table in place of a computed default or of the allowed values."""
    return Field(value, description=description, json_schema_extra=shown)


def _share_of_memory(most: int, share: int, description: str) -> Any:
    """Declare a limit in megabytes whose default is 1/`share` of the memory."""
    return _field(int(min(most, MEMORY / share)), description, default=f"1/{share} of the memory, at most {most:,}")


class Settings(BaseSettings):
    """The settings of a server. The field `x` is the environment variable `TX_X`; an empty one counts as not set."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, frozen=True)

    device: Device = _field(
        "",
        "Where to compute. On MPS (Apple's GPU), one computation at a time.",
        default="CUDA if a card computes, else the CPU",
        allowed="cpu, mps, cuda or cuda:N",
    )
    engine: Literal["process", "ray"] = _field(
        "process", "Where models run: in the app's process or in Ray.", default="process", allowed="process or ray"
    )
    ray_address: RayAddresses = _field(
        "http://127.0.0.1:8000",
        "Where Ray Serve answers; several are tried in turn.",
        default="http://127.0.0.1:8000",
        allowed="addresses like http://host:8000, separated by spaces",
    )
    frame_ancestors: FrameAncestors = _field(
        "'self' https://huggingface.co" if os.environ.get("SPACE_ID") else "'self'",
        "Sites that may show this app in a frame.",
        default="'self'; in a Space also https://huggingface.co",
        allowed="'self' and addresses like https://moodle.example.org, separated by spaces",
    )
    any_model: bool = _field(False, "Visitors may name any model of the hub.")
    models_dir: DirectoryPath | None = _field(
        None,
        "Every visitor may open the checkpoints in its folders, each in the hub's layout.",
        default="none",
        allowed="an existing directory",
    )
    max_model_megabytes: Count = _share_of_memory(2000, 4, "Memory for models beside the embedded one; a larger one is refused.")
    max_download_megabytes: Count = _field(20_000, "Disk space for models from the hub; one that does not fit is not downloaded.")
    max_visitors: Count = _field(500, "Pages open in browsers at once; later visitors wait.")
    max_runs_a_second: Annotated[float, Field(ge=0.1, le=1000)] = _field(
        5.0, "Runs of one page after 20 at once; faster ones are skipped but for the newest."
    )
    cache_megabytes: Annotated[int, Field(ge=0)] = _share_of_memory(
        512, 16, "Memory for shared results; a larger result is computed at every click."
    )
    compute_slots: Count = _field(max(2, CORES), "Computations at once for pages.", default="number of cores, at least 2")
    background_slots: Count = _field(min(2, CORES), "Batches of long work at once.", default="number of cores, at most 2")
    slot_timeout_seconds: Annotated[float, Field(ge=0, le=3600)] = _field(20.0, "How long a page waits for a compute slot.")
    trainings: Count = _field(
        int(max(1, min(max(2, CORES), MEMORY / 2000))),
        "Trainings at once; later ones wait.",
        default="number of cores, at least 2; at most one per 2 GB of memory",
    )
    max_background_runs: Count = _field(
        int(min(50, max(4, MEMORY / 100))),
        "Trainings kept (running, waiting, done), and as many scans; one address has at most four fifths.",
        default="one per 100 MB of memory, 4 to 50",
    )
    max_model_tokens: Annotated[int, Field(ge=8)] = _field(1024, "Longest text in tokens; 1,024 take 600 MB in BERT base.")
    max_record_megabytes: Count = _share_of_memory(
        1000,
        16,
        "What one run may keep; computing it takes twice that. A longer text is refused.",
    )

    metrics_token: Annotated[str, StringConstraints(pattern=r"^([\x21-\x7e]{16,200})?$")] = _field(
        "",
        "Token for /api/metrics (`Authorization: Bearer …`); without it there are no metrics.",
        default="none",
        allowed="16 to 200 visible ASCII characters",
    )
    database_url: DatabaseUrl = _field(
        "",
        "Where several servers keep rooms; without it, in a file.",
        default="none",
        allowed="an address like postgresql://user:password@host/database",
    )
    rooms_file: str = _field(
        "",
        "That file (SQLite).",
        default="attention-explorer/rooms.sqlite in $XDG_STATE_HOME or ~/.local/state; a new temporary folder at each "
        "start where neither can be written",
        allowed="a path that can be written",
    )
    max_rooms: Count = _field(100, "Rooms of classes at once.")
    max_students: Count = _field(250, "Students in a room.")
    lti_file: FilePath | None = _field(
        None,
        "Learning platforms that may launch lessons and rooms (LTI 1.3).",
        default="none",
        allowed="a TOML file as in HOSTING.md",
    )
    room_hours: Annotated[float, Field(ge=0.1, le=168)] = _field(24.0, "Hours until a room and its answers are deleted.")


@lru_cache(maxsize=1)
def host_settings() -> Settings:
    """Read the environment, once in a process.

    Raises SettingsProblem, whose one line names every wrong variable, its value and what is allowed.
    """
    try:
        found = Settings()
    except ValidationError as problem:
        wrong = {str(error["loc"][0]): repr(error["input"]) for error in problem.errors()}
        wrong |= dict.fromkeys(wrong.keys() & {"database_url", "metrics_token"}, "…")  # which may hold a password
        lines = [f"{variable(name)}={value} is not allowed: use {allowed(name)}, or unset it." for name, value in wrong.items()]
        raise SettingsProblem(" ".join(lines)) from None
    known = set(map(variable, Settings.model_fields))
    for name in sorted(os.environ):
        if name.upper().startswith(PREFIX) and name.upper() not in known:
            logging.getLogger(__name__).warning("%s is not a setting of this app, and has no effect.", name)
    return found


def variable(name: str) -> str:
    """Return the environment variable of a field."""
    return f"{PREFIX}{name.upper()}"


@cache
def app_version() -> str:
    """Return the version of this app."""
    if ASSETS.parent == Path(__file__).parent:
        return version("attention-explorer")
    project = ASSETS.parent / "pyproject.toml"
    return tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]


def allowed(name: str) -> str:
    """Describe the allowed values of a field."""
    field = Settings.model_fields[name]
    if "allowed" in _shown(field):
        return _shown(field)["allowed"]
    if field.annotation is bool:
        return "0 or 1"
    number = "a whole number" if field.annotation is int else "a number"
    bounds = {word: getattr(rule, name) for rule in field.metadata for name, word in BOUNDS.items() if hasattr(rule, name)}
    return " ".join([number, *(f"{word} {bound:,g}" for word, bound in bounds.items())])


def settings_table() -> str:
    """Return the settings as a Markdown table."""
    rows = [
        f"| `{variable(name)}` | {_default(field)} | {allowed(name)} | {field.description} |"
        for name, field in Settings.model_fields.items()
    ]
    return "\n".join(["| variable | default | allowed | meaning |", "|---|---|---|---|", *rows])


def _default(field: FieldInfo) -> str:
    if "default" in _shown(field):
        return _shown(field)["default"]
    return f"{field.default:g}" if isinstance(field.default, float) else f"{int(field.default):,}"


def _shown(field: FieldInfo) -> dict[str, str]:
    return field.json_schema_extra or {}


def state_folder() -> Path:
    """Return the folder for persistent data: in the user's state directory, or a new temporary one if it cannot be there."""
    folder = Path(os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state"), "attention-explorer")
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder if folder.is_dir() and os.access(folder, os.W_OK) else Path(tempfile.mkdtemp(prefix="attention-explorer-"))
