"""Bound how much longer the rules of an untrusted tokenizer.json can make a text.

One rule that doubles a text is harmless; thirty of them make a text 10⁹ times as long. The tokenizers library applies them all
before the result can be measured, also to added tokens while it reads the file. Hence the growth is computed from the rules
alone: the product of the most characters that each of them makes of one.
"""

import json
from base64 import b64decode
from collections.abc import Mapping
from math import prod
from typing import Any

import tokenizers

from tx_core.errors import CheckpointProblem

MAX_READ_CHARACTERS = 10_000_000
"""Limit of a text after its rules: 3 GB of memory at worst. By this measure, ALBERT's rules multiply a text by 3,888, and can
still read more characters than fit into its 512 tokens."""
MAX_MARK_CHARACTERS = 200
"""Length of the affixes and of the unknown token of a model, which can occur once per piece."""
MAX_SPECIAL_TOKENS = 1000
"""Special tokens around a text; known models put a handful there."""
GROWTH = {"NFC": 3, "NFD": 4, "NFKC": 18, "NFKD": 18, "Lowercase": 2, "BertNormalizer": 12, "ByteLevel": 4, "Metaspace": 2}
"""The most characters that fixed rules make of one; other rules, except those in `_growth`, keep or shorten a text."""
MARKS = ("unk_token", "continuing_subword_prefix", "end_of_word_suffix")
RULES = ("normalizer", "pre_tokenizer", "post_processor")
WITHOUT_WORDS = {"added_tokens": [], "model": {"type": "BPE", "vocab": {}, "merges": []}}
GROWS_TOO_MUCH = "The tokenizer of this checkpoint makes texts so long that no memory would do: choose another checkpoint."


def check_tokenizer(settings: Mapping[str, Any]) -> None:
    """Check the length of added tokens and affixes of a tokenizer.json before the tokenizers library parses all of it.

    Raises CheckpointProblem where either is too long; the tokenizers library raises a bare Exception for invalid rules.
    """
    growth = text_growth(tokenizers.Tokenizer.from_str(json.dumps({**settings, **WITHOUT_WORDS})))
    added = [str(token.get("content")) for token in settings.get("added_tokens") or ()]
    marks = [str(settings["model"].get(name)) for name in MARKS]
    if growth * max(map(len, ["", *added])) > MAX_READ_CHARACTERS or max(map(len, marks)) > MAX_MARK_CHARACTERS:
        raise CheckpointProblem(GROWS_TOO_MUCH)


def text_growth(backend: tokenizers.Tokenizer) -> int:
    """Return the largest factor by which a tokenizer lengthens a text, before and after the split into pieces.

    Raises CheckpointProblem where it puts too many special tokens around any text.
    """
    rules = {name: json.loads(rule.__getstate__()) for name in RULES if (rule := getattr(backend, name)) is not None}
    if _special_tokens(rules.get("post_processor", {})) > MAX_SPECIAL_TOKENS:
        raise CheckpointProblem(GROWS_TOO_MUCH)
    return prod(map(_growth, rules.values()))


def _special_tokens(rule: Mapping[str, Any], before: int = 0) -> int:
    """Return the most special tokens that are around a text after a rule, which the next one may repeat."""
    match rule:
        case {"type": "Sequence", "processors": parts}:
            for part in parts:
                before = _special_tokens(part, before)
        case {"type": "TemplateProcessing", "special_tokens": special}:
            sizes = {name: len(token["ids"]) for name, token in special.items()}
            templates = (rule["single"], rule["pair"])
            return max(
                sum(before if "Sequence" in one else sizes[one["SpecialToken"]["id"]] for one in each) for each in templates
            )
    return before


def _growth(rule: Mapping[str, Any]) -> int:
    """Return the most characters that a rule, as serialized by the tokenizers library, makes of one."""
    match rule:
        case {"type": "Sequence", **parts}:
            return prod(_growth(part) for listed in parts.values() for part in listed)
        case {"type": "Replace", "pattern": {"String": str(replaced)}, "content": written} if replaced:
            return max(1, -(-len(written) // len(replaced)))
        case {"type": "Replace", "content": written} | {"type": "Prepend", "prepend": written}:
            return 1 + 2 * len(written)  # a regular expression may match the empty string on both sides of every character
        case {"type": "Precompiled", "precompiled_charsmap": encoded}:  # a trie, its size before it, then the texts
            table = b64decode(encoded)
            texts = table[4 + int.from_bytes(table[:4], "little") :].split(b"\0")
            return max(1, *(len(text.decode("utf-8", "replace")) for text in texts))
        case {"type": "TemplateProcessing"}:
            return max(_copies(rule, rule[name]) for name in ("single", "pair"))
    return GROWTH.get(rule["type"], 1)


def _copies(template: Mapping[str, Any], pieces: list[Mapping[str, Any]]) -> int:
    """Return how often a template repeats a text; special tokens count as one copy per thousand characters."""
    texts = [piece["Sequence"]["id"] for piece in pieces if "Sequence" in piece]
    special = [template["special_tokens"][piece["SpecialToken"]["id"]]["tokens"] for piece in pieces if "SpecialToken" in piece]
    return max(1, texts.count("A"), texts.count("B"), sum(len(token) for tokens in special for token in tokens) // 1000)
