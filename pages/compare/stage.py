"""The stage of Compare: A takes the place of a run before its changes, B that of the run after them."""

from collections.abc import Mapping, Sequence

from pages.compare import texts
from pages.compare.inputs import FIELDS, PAGE, VARIES, changes_in_full, heads_of, take_wish
from pages.compare.runs import RunPair, SideRun
from pages.compare.words import FollowedWord, first_word, word_chart
from pages.ui.shell import controls
from pages.ui.shell.address import is_offered
from pages.ui.stage import attention
from pages.ui.stage.mount import mount, origin
from pages.ui.stage.packing import pack_sides
from pages.ui.stage.sources import file_stem, shortened
from tx_core.analysis import views
from tx_core.analysis.comparison import PositionPair, align, describe_word_similarity, pair_rows

MAX_TITLE_CHARACTERS = 48
DIGITS = 4
"""Of the similarities that are drawn."""


def comparison_stage(pair: RunPair, followed: Sequence[FollowedWord]) -> None:
    """Draw A, B and what differs, as states of one map, and the words that both share through the layers."""
    runs = {"before": pair.one, "run": pair.other}
    sizes = {key: run.trace.attention.weights.shape[1] for key, run in runs.items()}

    def pack(header: Mapping[str, object]) -> bytes:
        heads = _with_heads(header, sizes["before"], sizes["run"])
        told = {**header, **_about(pair), **heads, "followed": _words(followed, pair.models)}
        shown = {key: {layer for layer, _ in run.heads} for key, run in runs.items()}
        return pack_sides(told, {key: (run.name, run.trace) for key, run in runs.items()}, shown)

    mount(PAGE, FIELDS, pack, take_wish)


def empty_stage() -> None:
    """Draw a stage that shows nothing: it still writes the address."""
    told = {"labels": texts.PICTURE, "vary": "text"}
    attention.empty_stage(PAGE, FIELDS, take_wish, lambda header: _with_heads(header, 1, 1) | told)


def _with_heads(header: Mapping[str, object], heads: int, heads_b: int) -> dict[str, object]:
    """Return the view and its defaults with heads as the browser holds them: all that a map is the mean of."""

    def expand(view: Mapping[str, object]) -> dict[str, object]:
        kept = {name: value for name, value in view.items() if name not in ("head", "head_b")}
        named = {"head": ("heads", heads), "head_b": ("heads_b", heads_b)}
        return kept | {key: heads_of(view[name], count) for name, (key, count) in named.items() if name in view}

    address, choices = header["address"], {"heads": "head", "heads_b": "head_b", "sides": "vary"}
    hidden = [name for name, field in choices.items() if not is_offered(field)]
    return {
        "view": expand(header["view"]),
        "address": address | {name: expand(address[name]) for name in ("defaults", "first")},
        "hidden": [*(name for name in header["hidden"] if name != "heads"), "changes", *hidden],
    }


def _about(pair: RunPair) -> dict[str, object]:
    """Return what the stage is told beside the weights."""
    names = [run.name for run in pair.runs]
    return {
        "model": pair.models,
        "models": [run.model for run in pair.runs],
        "text": " / ".join(dict.fromkeys(name.text for name in names)),
        "pair": names[0].pair,
        "bare": names[0].bare,
        "asked": [[name.model, name.text, name.pair, name.bare] for name in names],
        "origin": origin(*dict.fromkeys(name.model for name in names)),
        "stem": file_stem("comparison", pair.one.name.model),
        "notes": list(pair.sentences),
        **attention.NO_CHANGES,
        "padding": [attention.drawn_padding(run.name.changes, views.view(run.trace.attention)) for run in pair.runs],
        "kinds": {run.trace.attention.kind: "" for run in pair.runs},
        "vary": pair.vary,
        "titles": [_title(run, pair.vary) for run in pair.runs],
        "same": texts.SAME_MODEL if pair.vary == "model" else texts.SAME_SIDES,
        "rows": {f"{int(words)}{int(hide)}": _rows(pair, words, hide) for words in (False, True) for hide in (False, True)},
        "nothing": texts.NO_COMMON_SPACE.get(pair.vary, texts.NO_COMMON_WORD),
        "labels": texts.PICTURE,
    }


def _title(run: SideRun, vary: str) -> str:
    """Name what differs in a side; the browser adds the head."""
    name = run.name
    parts = {
        "text": " / ".join(shortened(text, MAX_TITLE_CHARACTERS) for text in (name.text, name.pair) if text),
        "seed": texts.RANDOM_SIDE.format(seed=name.seed) if name.seed else texts.TRAINED_SIDE,
        "changes": texts.CHANGED_SIDE.format(changes=changes_in_full(name.changes)) if name.changes else texts.UNCHANGED_SIDE,
        "model": controls.model_title(name.model),
    }
    return ", ".join(parts[part] for part in VARIES.get(vary, VARIES["model"]) if part in parts)


def _rows(pair: RunPair, words: bool, hide: bool) -> list[PositionPair]:
    """List the rows of both sides in one order, each with its places in A and in B, None where it has no partner there."""
    spelled = [run.labels(words, hide).spelled for run in pair.runs]
    return list(pair_rows(align(*spelled), *map(len, spelled)))


def _words(followed: Sequence[FollowedWord], models: str) -> list[dict[str, object]]:
    """Return of each word that both sides have how similar its vectors are through the layers."""
    return [
        {
            "places": one.places,
            "name": one.name,
            "isFirst": one is first_word(followed),
            "chart": word_chart(one, DIGITS),
            "title": texts.WORD_TITLE.format(word=one.name, models=models),
            "said": describe_word_similarity(one.similarity, one.word),
        }
        for one in followed
    ]
