"""The tokens of a text: written as they stand, listed in a table, counted where unknown, and chosen by the reader; its words,
which a click makes blanks, and another brings back.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import streamlit as st

from pages.ui.shell.address import is_offered, page_view, value_of, widget_binding, widget_key
from pages.ui.shell.controls import offer_multilingual_model
from pages.ui.shell.fields import flag_field
from pages.ui.shell.numbers import plural
from pages.ui.stage import texts
from tx_core.engine.catalogue import DEFAULT, reads_english_only
from tx_core.engine.engine import Engine
from tx_core.engine.tokenizer import MAX_TEXT_CHARACTERS
from tx_core.errors import TextProblem
from tx_core.fill_mask import blanks
from tx_core.fill_mask.blanks import read_sentence
from tx_core.fill_mask.predictions import predict
from tx_core.transformer.trace import Encoding

MAX_WORD_BUTTONS = 150
SPECIAL_FIELD = flag_field("nospecial")
"""Whether a page reads its text without special tokens."""
OPEN_END_FIELD = flag_field("noend")
"""Whether a sentence without an end is read as it is; else a full stop is added."""
MAX_SPLIT_SHARE, MIN_SPLIT_WORDS = 0.5, 2
"""More of the words without a capital cut into pieces, and at least so many: the vocabulary was not made for the language.

Of 30 short sentences in five other languages this finds 18; of 4,331 English ones it takes 74 for foreign, most of them of
unusual words. Over 1.8 pieces a word found 14 and took 105 (tests/pages/ui/stage/test_tokens.py)."""


def escape_markdown(text: str) -> str:
    """Escape a text so that Streamlit's Markdown shows it unchanged.

    Signs that never act in Markdown stay bare: a screen reader is given the label of a widget with its backslashes.
    """
    return re.sub(r"([!#$&(-+\-./:<=>@\[-`{-~])", r"\\\1", text)


def numbered_tokens(tokens: Sequence[str]) -> list[str]:
    """Return a unique label for every token, as in "3 flies"."""
    return [f"{number} {token}" for number, token in enumerate(tokens, 1)]


def token_rows(encoding: Encoding) -> list[dict[str, object]]:
    """List the tokens, one row each."""
    return [
        {
            "position": position + 1,
            "token": encoding.tokens[position],
            "id": encoding.ids[position],
            "sentence": texts.SEGMENTS[min(encoding.segments[position], 1)],
            "word": "" if (word := encoding.words[position]) is None else encoding.word_texts[word],
            "remark": _remark(encoding, position),
        }
        for position in range(len(encoding))
    ]


def _remark(encoding: Encoding, position: int) -> str:
    if position in encoding.unknown:
        return texts.REMARK_UNKNOWN
    if position in encoding.blanks:
        return texts.REMARK_BLANK
    return texts.REMARK_SPECIAL if encoding.special[position] else ""


def warn_of_unknown(encodings: Sequence[Encoding], model: str = DEFAULT, key: str = "") -> None:
    """Warn how many pieces are not in the model's vocabulary, and where it reads English only, but not this text.

    key: of the page's choice of models, "" for none: it can be switched to a multilingual one.
    """
    unknown = sum(len(encoding.unknown) for encoding in encodings)
    if unknown:
        st.warning(plural(unknown, texts.UNKNOWN).format(count=unknown) + texts.UNKNOWN_READ, icon=":material/help:")
    if reads_english_only(model) and any(map(is_foreign, encodings)):
        st.info(texts.ENGLISH_ONLY, icon=":material/translate:")
        if key:
            offer_multilingual_model(key)


def is_foreign(encoding: Encoding) -> bool:
    """Return whether a vocabulary hardly covers a text: an unknown letter, or more than MAX_SPLIT_SHARE of its words split.

    Names, which are often cut in English, too, have a capital and are left out; signs of punctuation and emoji are no words.
    """
    pieces = Counter(word for word in encoding.words if word is not None)
    begins = {word: encoding.word_texts[word][:1] for word in pieces}
    written = [count for word, count in pieces.items() if begins[word].isalpha() and not begins[word].isupper()]
    cut = sum(count > 1 for count in written)
    unknown = any(begins.get(encoding.words[place], "").isalpha() for place in encoding.unknown)
    return unknown or (cut >= MIN_SPLIT_WORDS and cut > MAX_SPLIT_SHARE * len(written))


def note_how_read(engine: Engine, *sentences: str, pair: str = "", key: str = "") -> None:
    """Show what a reader should know of how texts are read: omitted special tokens, and pieces that the vocabulary lacks."""
    note_special_tokens(engine, engine.tokenizer.special_tokens, pair)
    with suppress(TextProblem):  # the page itself explains a sentence that cannot be read
        warn_of_unknown([engine.encode(sentence, pair or None) for sentence in sentences], engine.name, key)


def ask_special_tokens(page: str, on_change: Callable[[], None] | None = None) -> bool:
    """Draw the switch that leaves special tokens out; return whether they are added. on_change: see `widget_binding`."""
    name = widget_key(page, SPECIAL_FIELD.name)
    if not is_offered(name):
        return not st.session_state[name]
    return not st.toggle(texts.WITHOUT_SPECIAL, help=texts.WITHOUT_SPECIAL_HELP, **widget_binding(name, on_change))


def reading_in_link(special_tokens: bool) -> dict[str, str]:
    """Return the link parameter that leaves special tokens out; empty where they are added."""
    return {} if special_tokens else {SPECIAL_FIELD.name: SPECIAL_FIELD.write(True)}


def note_special_tokens(engine: Engine, added: bool, pair: str = "", *, whose: str = "") -> None:
    """Warn which special tokens are omitted, and what separates a pair then.

    whose: names the model where a page shows two.
    """
    if added:
        return
    names = engine.tokenizer.added_tokens
    notes = [texts.READ_WITHOUT.format(tokens=escape_markdown(" and ".join(dict.fromkeys(names)))) if names else texts.ADDS_NONE]
    if names and pair.strip() and engine.info.decoder_start is None:
        notes.append(texts.NO_SEPARATOR[engine.info.num_segments > 1])
    st.caption(" ".join([":material/info:", *([f"**{escape_markdown(whose)}:**"] if whose else []), *notes]))


@dataclass(frozen=True)
class TypedSentence:
    """A sentence of the session: as it stands in its box, and as a model that fills blanks reads it.

    words: each with whether it is a blank, in reading order. A blank is named by the word that it replaced, "" where none is
    known. Texts of more than MAX_WORD_BUTTONS words are edited in their box only: none is listed. is_chosen: whether the blank
    was chosen for the reader. end: "added" for a full stop that was added, "left out" for one that the reader took away. note:
    what a reader should know, for `st.info`.
    """

    typed: str
    text: str
    words: list[tuple[str, bool]]
    is_chosen: bool = False
    end: str = ""
    note: str = ""

    def described(self) -> dict[str, object]:
        """Return what a stage is told of it."""
        return {"typed": self.typed, "text": self.text, "words": self.words, "isChosen": self.is_chosen, "end": self.end}


def typed_sentence(page: str, name: str) -> TypedSentence:
    """Return the sentence of a page's field, with a word blanked where it has no blank; of signs alone, the sentence before."""
    key, closes = widget_key(page, name), not value_of(page, OPEN_END_FIELD.name)
    typed = value_of(page, name)
    try:
        read = read_sentence(typed, closes=closes)
    except TextProblem as problem:
        kept = st.session_state.get(f"{key}_read", page_view(page).fields.first_values[name])
        note = texts.KEPT_SENTENCE.format(problem=problem, text=escape_markdown(kept))
        return TypedSentence(typed, read_sentence(kept, closes=closes).text, [], note=note)
    is_left = not closes and read_sentence(typed).closed
    end = "added" if read.closed else "left out" if is_left else ""
    text = blanks.mark_blanks(typed)
    names = iter(_original_words(key, text))
    parts = blanks.text_parts(text) if len(text) <= MAX_TEXT_CHARACTERS else ()  # else the page says by how much it is too long
    words = [(next(names) if part.blank else part.text, part.blank or at == read.chosen) for at, part in enumerate(parts)]
    is_long = len(words) > MAX_WORD_BUTTONS
    note = texts.TOO_MANY_WORDS.format(maximum=MAX_WORD_BUTTONS) if is_long else ""
    if words and not is_long:
        st.session_state[f"{key}_read"] = typed
    return TypedSentence(typed, read.text, [] if is_long else words, read.chosen is not None, end, note)


def click_word(text_key: str, clicked: int, fill_in: Callable[[str, int], str]) -> None:
    """Make a blank of a word of the session's text, or a word of a blank.

    A blank becomes the word that it replaced; where none is known, `fill_in(text, number)` gives the sentence instead.
    """
    typed = st.session_state[text_key]
    if len(typed) > MAX_TEXT_CHARACTERS:
        return
    text = blanks.mark_blanks(typed)
    parts = blanks.text_parts(text)
    if not 0 <= clicked < len(parts):
        return
    part, originals = parts[clicked], _original_words(text_key, text)
    number = sum(before.blank for before in parts[:clicked])
    if not part.blank:
        edited = blanks.replace_part(text, part, blanks.NEW_BLANK)
        originals = (*originals[:number], part.text, *originals[number:])
    else:
        edited = blanks.replace_part(text, part, originals[number]) if originals[number] else fill_in(text, number)
        originals = blanks.carry_words(text, originals, edited)  # where it could not be filled, the blank is still there
    st.session_state[text_key] = edited
    _remember_originals(text_key, edited, originals)


def take_end(page: str, reported: Mapping[str, object]) -> None:
    """Add a full stop to a sentence without an end, or take it away, as a reader asked."""
    if isinstance(reported.get("end"), bool):
        st.session_state[widget_key(page, OPEN_END_FIELD.name)] = not reported["end"]


def fill_blank(engine: Engine, text: str, number: int, *, closes: bool) -> tuple[str, str]:
    """Return a text with one blank filled with the model's first guess, and the guess. Raises ExplorerError."""
    best = predict(engine, read_sentence(text, closes=closes).text, top_k=1).blanks[number].predictions[0]
    return blanks.fill_blanks(text, engine.tokenizer, {number: best.id}), best.label


def _original_words(text_key: str, text: str) -> tuple[str, ...]:
    """Return the word that each blank replaced, "" where unknown, and remember them with the text."""
    linked = st.session_state.get(f"{text_key}_behind", "")
    before, known = st.session_state.get(f"{text_key}_behind_in", ("", ()))
    if linked != _in_address(known):  # a link brought other words
        words, count = tuple(linked.split(",")), sum(part.blank for part in blanks.text_parts(text))
        before, known = text, words if len(words) == count else ("",) * count
    originals = blanks.carry_words(before, known, text)
    _remember_originals(text_key, text, originals)
    return originals


def _remember_originals(text_key: str, text: str, originals: tuple[str, ...]) -> None:
    """Keep the words that blanks replaced: as a link holds them, and with the text that they belong to."""
    st.session_state[f"{text_key}_behind"] = _in_address(originals)
    st.session_state[f"{text_key}_behind_in"] = (text, originals)


def _in_address(originals: tuple[str, ...]) -> str:
    """Write the words for an address, with commas, which no word contains; nothing where there are none."""
    return ",".join(originals) if any(originals) else ""
