"""IMDB's film reviews (Maas et al. 2011) in Parquet files of the Hugging Face hub, or of its cache on this machine."""

import random
from pathlib import Path

import huggingface_hub
from huggingface_hub.errors import HTTPError

from tx_core.engine.download import space_for_downloads
from tx_core.errors import ModelUnavailable
from tx_core.training.classifier_data import LabelledTexts

IMDB, IMDB_REVISION = "stanfordnlp/imdb", "e6281661ce1c48d982bc483cf8a173c1bbeb5d31"
IMDB_FILES = {"train": "plain_text/train-00000-of-00001.parquet", "test": "plain_text/test-00000-of-00001.parquet"}
DOWNLOAD_BYTES = 45_000_000
"""Size of both files together, rounded up."""
LABELS = ("negative", "positive")
HUB_SILENT = "IMDB cannot be fetched now: the hub does not answer. Choose other texts."
UNUSABLE_IMDB = (
    "The file {file} of IMDB on this server is damaged. Choose other texts. Whoever runs the server deletes it from the cache of "
    "the hub; it is then fetched anew."
)


def imdb(train: int, test: int) -> LabelledTexts:
    """Load `train` reviews of the part to train on and `test` of the other one, drawn at random and always the same.

    Raises ModelUnavailable if they are not in the cache and cannot be fetched, or a file cannot be used.
    """
    (train_texts, train_labels), (test_texts, test_labels) = _read("train", train), _read("test", test)
    return LabelledTexts("IMDB, from the Hugging Face hub", LABELS, train_texts, train_labels, test_texts, test_labels, "imdb")


def _read(part: str, count: int) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Draw reviews of one part, with their labels; the file has them ordered by label."""
    cached = huggingface_hub.try_to_load_from_cache(IMDB, IMDB_FILES[part], revision=IMDB_REVISION, repo_type="dataset")
    texts, labels = _columns(Path(cached) if isinstance(cached, str) else _fetch(part), IMDB_FILES[part])
    drawn = random.Random(0).sample(range(len(texts)), min(count, len(texts)))
    return tuple(texts[place] for place in drawn), tuple(labels[place] for place in drawn)


def _fetch(part: str) -> Path:
    """Download the file of a part into the hub's cache; raise ModelUnavailable where it cannot be had."""
    hub, space = huggingface_hub.HfApi(), space_for_downloads()
    if space < DOWNLOAD_BYTES:
        raise ModelUnavailable(
            f"IMDB is a download of {DOWNLOAD_BYTES / 1e6:.0f} MB, and this server has space for {space / 1e6:.0f} MB. Choose "
            "other texts."
        )
    try:
        # Without a connection this request fails at once; hf_hub_download alone retries for 24 s.
        hub.dataset_info(IMDB, revision=IMDB_REVISION, timeout=10)
        return Path(hub.hf_hub_download(IMDB, IMDB_FILES[part], revision=IMDB_REVISION, repo_type="dataset"))
    except (HTTPError, OSError, ValueError) as unreachable:
        raise ModelUnavailable(HUB_SILENT) from unreachable


def _columns(file: Path, name: str) -> tuple[list[str], list[int]]:
    """Read texts and labels; raise ModelUnavailable for a file that is damaged."""
    # Imported here: only IMDB needs pyarrow, which takes 70 MB.
    import pyarrow
    from pyarrow import parquet

    schema = pyarrow.schema([("text", pyarrow.string()), ("label", pyarrow.int64())])
    try:
        with parquet.ParquetFile(file) as table:
            columns = table.read(schema.names).cast(schema).to_pydict()
        if columns["text"] and None not in columns["text"] and set(columns["label"]) <= {0, 1}:
            return columns["text"], columns["label"]
    except (OSError, ValueError, pyarrow.ArrowException) as broken:
        raise ModelUnavailable(UNUSABLE_IMDB.format(file=name)) from broken
    raise ModelUnavailable(UNUSABLE_IMDB.format(file=name))
