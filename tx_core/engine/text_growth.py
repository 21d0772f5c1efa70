"""Bound how much longer the rules of a tokenizer.json make a text, whoever wrote them.

A rule that doubles a text is harmless, and a list of thirty such rules asks for more memory than there is. The tokenizers library
applies them all before anything can be counted, also to added tokens while it reads the file. Hence the growth is computed from
the rules alone: the product of what each of them makes of one character at most.
"""

import json
from base64 import b64decode
from collections.abc import Mapping
from math import prod
from typing import Any

import tokenizers

from tx_core.errors import CheckpointProblem

MAX_READ_CHARACTERS = 10_000_000
"""Of a text as the rules may make it, which take 3 GB at worst. ALBERT's rules, which by this measure multiply a text by 3,888,
still read more characters than fit into its 512 tokens."""
MAX_MARK_CHARACTERS = 200
"""Of what a model writes for or around a piece: it stands there once for every piece."""
GROWTH = {"NFC": 3, "NFD": 4, "NFKC": 18, "NFKD": 18, "Lowercase": 2, "BertNormalizer": 12, "ByteLevel": 4, "Metaspace": 2}
"""What one character becomes at most, by rules of fixed tables; all others but those below keep or shorten a text."""
MARKS = ("unk_token", "continuing_subword_prefix", "end_of_word_suffix")
RULES = ("normalizer", "pre_tokenizer", "post_processor")
WITHOUT_WORDS = {"added_tokens": [], "model": {"type": "BPE", "vocab": {}, "merges": []}}
GROWS_TOO_MUCH = "The tokenizer of this checkpoint makes texts so long that no memory would do: choose another checkpoint."


def check_tokenizer(settings: Mapping[str, Any]) -> None:
    """Check what a tokenizer.json may make of its own added tokens, and what stands at its pieces, before it is read as a whole.

    Raises CheckpointProblem where either is too long; the tokenizers library raises a bare Exception where the rules are none.
    """
    growth = text_growth(tokenizers.Tokenizer.from_str(json.dumps({**settings, **WITHOUT_WORDS})))
    added = [str(token.get("content")) for token in settings.get("added_tokens") or ()]
    marks = [str(settings["model"].get(name)) for name in MARKS]
    if growth * max(map(len, ["", *added])) > MAX_READ_CHARACTERS or max(map(len, marks)) > MAX_MARK_CHARACTERS:
        raise CheckpointProblem(GROWS_TOO_MUCH)


def text_growth(backend: tokenizers.Tokenizer) -> int:
    """Return how many times as long a tokenizer makes a text at most, before it is cut into pieces and after."""
    rules = [rule for name in RULES if (rule := getattr(backend, name)) is not None]
    return prod(_growth(json.loads(rule.__getstate__())) for rule in rules)


def _growth(rule: Mapping[str, Any]) -> int:
    """Return what a rule makes of one character at most. It is written as the tokenizers library writes it."""
    match rule:
        case {"type": "Sequence", **parts}:
            return prod(_growth(part) for listed in parts.values() for part in listed)
        case {"type": "Replace", "pattern": {"String": str(replaced)}, "content": written} if replaced:
            return max(1, -(-len(written) // len(replaced)))
        case {"type": "Replace", "content": written} | {"type": "Prepend", "prepend": written}:
            return 1 + 2 * len(written)  # an expression may match before each character and after it
        case {"type": "Precompiled", "precompiled_charsmap": table}:
            return _longest_entry(b64decode(table))
        case {"type": "TemplateProcessing"}:
            return max(_copies(rule, rule[name]) for name in ("single", "pair"))
    return GROWTH.get(rule["type"], 1)


def _longest_entry(table: bytes) -> int:
    """Return the longest text of a SentencePiece table: a trie, its size before it, then the texts, each ended by a zero."""
    texts = table[4 + int.from_bytes(table[:4], "little") :]
    return max(1, *(len(text.decode("utf-8", "replace")) for text in texts.split(b"\0")))


def _copies(template: Mapping[str, Any], pieces: list[Mapping[str, Any]]) -> int:
    """Return how often a template repeats a text, its special tokens counted from a thousand characters on."""
    texts = [piece["Sequence"]["id"] for piece in pieces if "Sequence" in piece]
    special = [template["special_tokens"][piece["SpecialToken"]["id"]]["tokens"] for piece in pieces if "SpecialToken" in piece]
    return max(1, texts.count("A"), texts.count("B"), sum(len(token) for tokens in special for token in tokens) // 1000)
