"""Checkpoints that are damaged, incomplete or hostile: each entry of HOSTILE changes a good directory into one."""

import json
import struct
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import torch

from tests.support.checkpoints import change_config, change_tensors

WEIGHTS = "model.safetensors"


def config(**settings) -> Callable[[Path], None]:
    return lambda directory: change_config(directory, **settings)


def written(name: str, content: str | bytes) -> Callable[[Path], None]:
    return lambda directory: (directory / name).write_bytes(content.encode() if isinstance(content, str) else content)


def raw_config(key: str, value: str) -> Callable[[Path], None]:
    """Set a value that only its JSON can say."""

    def change(directory: Path) -> None:
        settings = json.loads((directory / "config.json").read_text("utf-8")) | {key: 0}
        (directory / "config.json").write_text(json.dumps(settings).replace(f'"{key}": 0', f'"{key}": {value}'), encoding="utf-8")

    return change


def tensors(change: Callable[[str, torch.Tensor], torch.Tensor]) -> Callable[[Path], None]:
    return lambda directory: change_tensors(directory, change)


def cut(share: float) -> Callable[[Path], None]:
    def change(directory: Path) -> None:
        content = (directory / WEIGHTS).read_bytes()
        (directory / WEIGHTS).write_bytes(content[: int(share * len(content))])

    return change


def without(*names: str) -> Callable[[Path], None]:
    return lambda directory: [(directory / name).unlink(missing_ok=True) for name in names] and None


def replaced(name: str, other: str, content: str | bytes) -> Callable[[Path], None]:
    def change(directory: Path) -> None:
        without(name)(directory)
        written(other, content)(directory)

    return change


def tokenizer(model: dict | None = None, **rules) -> Callable[[Path], None]:
    """Change a tokenizer's model, and what it does beside it: its normaliser, its pre-tokenizer, what it puts around a text."""

    def change(directory: Path) -> None:
        settings = json.loads((directory / "tokenizer.json").read_text("utf-8")) | rules
        settings["model"] |= model or {}
        (directory / "tokenizer.json").write_text(json.dumps(settings), encoding="utf-8")

    return change


def steps(kind: str, *listed: dict) -> dict:
    return {"type": "Sequence", kind: list(listed)}


DOUBLE = {"type": "Replace", "pattern": {"Regex": "[a-z]"}, "content": "aa"}
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
PREPEND = [{"type": "Metaspace", "replacement": mark, "prepend_scheme": "always", "split": False} for mark in "xy"]
EVERY_LETTER = {"type": "Split", "pattern": {"Regex": "."}, "behavior": "Isolated", "invert": False}
TWICE = {
    "type": "TemplateProcessing",
    "single": [{"Sequence": {"id": "A", "type_id": 0}}] * 2,
    "pair": [{"Sequence": {"id": name, "type_id": 0}} for name in "ABAB"],
    "special_tokens": {},
}
PUT = {"SpecialToken": {"id": "[CLS]", "type_id": 0}}
CROWD = TWICE | {
    "single": [PUT] * 100 + [TWICE["single"][0]],
    "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2] * 100, "tokens": [""] * 100}},
}
LONG_ENTRY = b64encode(struct.pack("<I", 1024) + bytes(1024) + b"a" * 7_000_000 + b"\0").decode()
ADDED = {"id": 5, "content": "a" * 150, "normalized": True, "special": False} | dict.fromkeys(
    ("single_word", "lstrip", "rstrip"), False
)
CATASTROPHE = {"Regex": r"(.*)*\1\d"}
HEADER = json.dumps({"x": {"dtype": "F32", "shape": [10**9, 10**9], "data_offsets": [0, 4 * 10**18]}}).encode()
INDEX = "model.safetensors.index.json"
TEXT, PAIR = "Time flies like an arrow, 日本", "fruit flies"
"""What to read with them, an unknown character included."""
HARMLESS = {
    "bert": {
        "weights in whole numbers",
        "labels that are none",
        "a type that is none",
        "a padding id that is none",
        "a padding id far out",
        "special tokens that are none",
    },
    "roberta": {"weights in whole numbers", "an infinite number", "a tokenizer without its unknown token"},
}
"""Those that do no harm, by family: they open, and read a text."""
HOSTILE: dict[str, Callable[[Path], None]] = {
    "weights cut in half": cut(0.5),
    "noise for weights": written(WEIGHTS, bytes(range(256)) * 40),
    "a header longer than the file": written(WEIGHTS, struct.pack("<Q", 2**60)),
    "a header of tensors that are not there": written(WEIGHTS, struct.pack("<Q", len(HEADER)) + HEADER),
    "a dimension cut off": tensors(lambda name, tensor: tensor[..., :-1]),
    "weights that are not numbers": tensors(lambda name, tensor: tensor * torch.nan),
    "weights that overflow": tensors(lambda name, tensor: torch.full_like(tensor, 3e38)),
    "weights in whole numbers": tensors(lambda name, tensor: tensor.to(torch.int8)),
    "a pickle in place of weights": replaced(WEIGHTS, "pytorch_model.bin", b"cos\nsystem\n(S'exit 1'\ntR."),
    "an index that leads out": replaced(WEIGHTS, INDEX, json.dumps({"weight_map": {"x": "../../etc/passwd"}})),
    "a manifest that leads out": written("manifest.json", json.dumps({"files": {"../config.json": {"bytes": 1}}})),
    "no settings": without("config.json"),
    "settings cut off": written("config.json", '{"model_type": "bert", '),
    "settings nested too deeply": written("config.json", '{"a": ' * 50_000),
    "a family that is no word": config(model_type=["bert"]),
    "a family with code": config(model_type="evil", auto_map={"AutoModel": "evil.Model"}),
    "a billion layers": config(num_hidden_layers=10**9),
    "no layers": config(num_hidden_layers=0),
    "no heads": config(num_attention_heads=0),
    "heads that do not divide": config(num_attention_heads=7),
    "a vocabulary of a trillion": config(vocab_size=10**12),
    "a hidden size beyond 64 bits": config(hidden_size=2**70),
    "two billion positions": config(max_position_embeddings=2**31 - 1),
    "sizes in words": config(hidden_size="large", vocab_size=None),
    "sizes in fractions": config(hidden_size=24.5, intermediate_size=1e300),
    "a size of five thousand digits": raw_config("hidden_size", "9" * 5000),
    "a number that is none": raw_config("layer_norm_eps", "NaN"),
    "an infinite number": raw_config("layer_norm_eps", "1e999"),
    "an activation that is none": config(hidden_act=["gelu"]),
    "labels that are none": config(id2label=5, num_labels=-1),
    "a type that is none": config(dtype="nonsense", torch_dtype={"a": 1}),
    "a padding id that is none": config(pad_token_id="x"),
    "a padding id far out": config(pad_token_id=10**9),
    "no tokenizer": without("tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json"),
    "a tokenizer of nonsense": written("tokenizer.json", '{"model": {"type": "WordPiece"}}'),
    "a tokenizer without words": tokenizer({"vocab": {}}),
    "a tokenizer without its unknown token": tokenizer({"unk_token": "[NOT THERE]"}),
    "a tokenizer's normaliser that panics": tokenizer(normalizer={"type": "Replace", "pattern": CATASTROPHE, "content": "b"}),
    "a tokenizer's splitter that panics": tokenizer(
        pre_tokenizer={"type": "Split", "pattern": CATASTROPHE, "behavior": "Isolated", "invert": False}
    ),
    "a tokenizer's template that panics": tokenizer(post_processor=steps("processors", TWICE, TWICE, TWICE)),
    "a tokenizer that puts ten thousand tokens before a text": tokenizer(post_processor=CROWD),
    "a tokenizer that doubles a text thirty times": tokenizer(normalizer=steps("normalizers", *[DOUBLE] * 30)),
    "a tokenizer that doubles a text without saying how": tokenizer(normalizer={"normalizers": [DOUBLE] * 30}),
    "a tokenizer that doubles its own tokens": tokenizer(normalizer=steps("normalizers", *[DOUBLE] * 20), added_tokens=[ADDED]),
    "a tokenizer that writes bytes of bytes": tokenizer(pre_tokenizer=steps("pretokenizers", *[BYTES] * 30)),
    "a tokenizer that begins every letter with another": tokenizer(
        pre_tokenizer=steps("pretokenizers", *[EVERY_LETTER, PREPEND[0], EVERY_LETTER, PREPEND[1]] * 15)
    ),
    "a tokenizer with a table of one long entry": tokenizer(
        normalizer={"type": "Precompiled", "precompiled_charsmap": LONG_ENTRY}
    ),
    "a tokenizer with an endless unknown token": tokenizer({"unk_token": "[UNK]" * 1_000_000}),
    "a tokenizer's settings in a list": written("tokenizer_config.json", "[1]"),
    "special tokens that are none": written("tokenizer_config.json", json.dumps({"mask_token": 5, "unk_token": {"content": 3}})),
}
