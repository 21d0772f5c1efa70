"""What a hostile visitor may send: values in an address, texts, uploads, and requests to the routes of the server."""

import gzip
import io
import os
import pickle
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

MARK = "canary"
"""Stands in every hostile text, so that it is found wherever it is repeated."""

NUMBERS = (
    *("", "0", "-1", "-0", "+1", "1.5", "1e3", "1e309", "-1e309", "1e-400", "NaN", "nan", "inf", "-Infinity", "0x10"),
    *("0b1", "1_0", "9999", "65536", "2147483648", "-2147483649", "4294967296", "9223372036854775808", "9" * 40),
    *("9" * 5000, "-" * 300, "１２", "٣", "²", "½", "Ⅻ", " 1", "1 ", "1\n", "1,2", "1;2", "1.2.3", "--1", "1-", "01"),
    *("1e", ".", "true", "True", "None", "null", "undefined", "[]", "[1]", "{}", '{"a":1}', "[[[[[[[[", "()"),
    *("0,0,0,0,0,0,0,0,0",),
)
CHARACTERS = (
    *("\0", "a\0b", "\x07", "\x1b[31m", "\x7f", "\x9b31m", "\r\n", "\t", "\u200b", "\u200d", "\u202e" + "abc"),
    *("\u2066", "\ufeff", "\u2028", "\u2029", "\ufffe", "\U000e0001", "\U0010ffff", "a" + "\u0301" * 500, "👩‍👩‍👧‍👦"),
    *("🏴‍☠️", "ﷺ" * 50, "שלום", "日本語", "ไทย", "Z̡̫̫̖̠̐a̢͓̐l̛̖͑g͍͓o", "ß", "İ", "ı", "ﬃ", "\u00a0", "\u3000", "\u115f"),
    *("\u2800", "%00", "%ff", "%", "%zz", "+", "&", "=", "#", "?"),
)
PATHS = (
    *("../../etc/passwd", "..\\..\\windows\\win.ini", "/etc/passwd", "/proc/self/environ", "file:///etc/passwd"),
    *("C:\\", "~", ".", "..", "./embedded", "embedded/", "embedded/../embedded", "//server/share", "\\\\server\\share"),
    *("....//....//etc/passwd", "http://127.0.0.1:9/", "https://example.invalid/x", "hf://datasets/x", "s3://x/y"),
    *("data:text/html,x", "javascript:alert(1)", "gpt2/../../x", "owner/name@main", "owner//name", "-rf", "--help"),
    *("a/b/c/d", "con", "nul.txt", "x" * 300, ".git/config"),
)
CODE = (
    *("{0.__class__}", "{}", "{text}", "{0!r:>99999999}", "%s%s%n", "%(text)s", "${jndi:ldap://x}", "{{7*7}}"),
    *("<%= 7 %>", "#{7*7}", "'; DROP TABLE x;--", "' OR 1=1--", '"', "'", "\\", "`id`", "$(id)", "| cat /etc/passwd"),
    *("; sleep 9", "&& id", "*", "(?R)", "__import__('os').system('id')", "eval(1)", "lambda: 1", "__class__"),
    *("constructor", "__proto__", "toString", "self", "import os", "(a+)+$" + "a" * 40, "=1+1", "=HYPERLINK(1)"),
    *("@SUM(1)", "!!python/object:os.system", "\\x41", "\\u0041", "${IFS}"),
)
OF_OUR_OWN = (
    *("off~9999", "off~0", "off~0-0", "off~99-99", "off~-1", "off~1-1" + "_off~1-1" * 300, "even~", "even~1-1~"),
    *("hide~", "hide~9999", "hide~1" + "_hide~1" * 500, "cut~1-2~99999", "cut~1-2", "cut~~~", "cut~1-1-1"),
    *("temperature~nan", "temperature~1e309", "off", "temperature~0", "temperature~-1", "temperature~1" + "0" * 400),
    *("sparse~0", "sparse~99999", "nothing~1", "off~1_", "_off~1", "~", "1-2_3-4" * 200, "1-1_1-1", "99-99", "0-0"),
    *("1-", "-1", "1-2-3-4", "4294967296-1", "1-1" + "_1-1" * 900, "mean-1", "mean-99", "scores-99999-99999"),
    *("scores-0-0", "matches-1-1", "result-9-9", "none", "None", "3-", "3-iIA", "33-" + "A" * 180, "99-AAAA"),
    *("10_0_0_1_0_0~0", "1e309_0~0_0", "nan_nan~nan_nan", "~" * 400, "0_" * 900, "embedded", "bert", "gpt2"),
    *("t5-small", "all", "own"),
)
TEXTS = (
    f"<script>alert('{MARK}')</script>",
    f"<img src=x onerror=alert('{MARK}')>",
    f"</title><svg onload=alert('{MARK}')>",
    f"[{MARK}](javascript:alert(1))",
    f"![{MARK}](https://example.invalid/x.png)",
    f"[{MARK}](https://example.invalid/)",
    f"<https://example.invalid/{MARK}>",
    f"$\\href{{javascript:alert(1)}}{{{MARK}}}$ $${MARK}$$",
    f":red[{MARK}] :material/home: :blue-background[{MARK}] :streamlit:",
    f"# {MARK}\n\n- {MARK}\n\n| {MARK} | b |\n|---|---|\n| c | d |",
    f"**{MARK}** `{MARK}` ~~{MARK}~~ _{MARK}_ ```{MARK}```",
    f"&lt;b&gt;{MARK}&lt;/b&gt; &#60;script&#62; &amp;",
    f"{MARK} [MASK] [CLS] [SEP] [PAD] [UNK] <mask> <s> </s> <pad> ___",
    f"{MARK} \0 \x1b[31m \u202e \u200b \ufeff \u2028",
    f"{MARK} {{text}} {{0.__class__}} %s ${{x}}",
    f"{MARK} " + "[MASK] " * 600,
    f"{MARK} " + "a" * 19_000,
    f"{MARK} " + "word " * 6_000,
    f"{MARK} " + "é" * 12_000,
    f"{MARK} " + "𝔘" * 4_000,
    f"{MARK} " + "\u0301" * 3_000,
    " " * 5_000,
    "",
    "\u200b",
    f"{MARK} שלום 日本語 ไทย 👩‍👩‍👧‍👦 ﷺ",
    f"={MARK}+1; @{MARK}; -{MARK}",
)
VALUES = tuple(dict.fromkeys((*NUMBERS, *CHARACTERS, *PATHS, *CODE, *OF_OUR_OWN)))
UNDECODABLE = ("%FF", "%ED%A0%80", "%C0%80", "%F4%90%80%80", "%80abc", "%u0041", "%%%")
"""As they stand in an address: no text in UTF-8."""


class Bomb:
    """Makes a folder if anybody unpickles it."""

    def __init__(self, folder: Path):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


def uploads(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Return files by their names; where one of them is run as code, the folder is made."""
    pickled = pickle.dumps(Bomb(folder))
    yield "pickle.csv", pickled
    yield "objects.npz", _npz(np.array([Bomb(folder)], dtype=object))
    yield "zeros.csv", gzip.compress(bytes(5_000_000))
    yield "zeros.txt", _zip(bytes(9_000_000))
    yield "empty.csv", b""
    yield "empty.txt", b""
    yield "bytes.txt", bytes(range(256)) * 100
    yield "half.txt", "ab".encode("utf-16")[:-1]
    yield "mark.csv", b"\xff\xfe\x00"
    yield "line.txt", MARK.encode() + b"x" * 900_000
    yield "line.csv", b"text,label\n" + b'"' + b"x" * 900_000
    yield "quotes.csv", b"text,label\n" + b'"a",b\n' * 10 + b'"' * 99_999
    yield "columns.csv", b"," * 100_000 + b"\n"
    yield "formula.csv", b"text,label\n" + f"=cmd|' /C {MARK}'!A0,<script>{MARK}</script>\n".encode() * 30
    yield "lines.txt", b"\n" * 400_000
    yield "nul.txt", b"a\0b\n" * 1_000
    yield "../../name.txt", b"A bird sings.\n" * 30
    yield f"<img src=x onerror={MARK}>.txt", f"**{MARK}** [a](javascript:alert(1))\n".encode() * 30
    yield f"[{MARK}](javascript:alert(1)).csv", f"text,label\n{MARK},a\nb,c\n".encode() * 30


def _npz(array: np.ndarray) -> bytes:
    written = io.BytesIO()
    np.savez(written, array, allow_pickle=True)
    return written.getvalue()


def _zip(data: bytes) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", data)
    return written.getvalue()
