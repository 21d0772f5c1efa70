"""The stage of Fill the blank: what it is told of a prediction beside the run, and what it asks to compute."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pages.fill_mask import texts
from pages.fill_mask.head_scan import describe_scan, invitation, take_scan
from pages.fill_mask.inputs import FIELDS, ONLY_LIST, BlankInputs, take_word
from pages.fill_mask.predictions import (
    checked_label,
    contrasts,
    filled_stepwise,
    note,
    notes_on_checked,
    product_of_pieces,
    strongest_words,
)
from pages.fill_mask.run import BlankRun, LookedAt
from pages.ui.shell import controls
from pages.ui.shell.address import is_offered, set_values, value_of
from pages.ui.shell.level import is_hidden
from pages.ui.shell.numbers import percent, points, signed, whole_percent
from pages.ui.stage import texts as stage_texts
from pages.ui.stage.attention import NO_RUN, about_run, class_guesses, empty_stage, take_changes
from pages.ui.stage.browser_texts import ALMOST_NONE
from pages.ui.stage.changes import Changes, describe_change
from pages.ui.stage.charts import bars_drawing, moved_drawing
from pages.ui.stage.mount import Reported, mount
from pages.ui.stage.packing import pack_runs, shown_layers
from pages.ui.stage.routes import offered_routes
from pages.ui.stage.texts import CLASS_GUESSED
from pages.ui.stage.tokens import take_end
from pages.ui.stage.view_options import head_in_sentence
from tx_core.analysis.packing import join
from tx_core.fill_mask.steps import MAX_ORDERED_BLANKS, StepwiseFilling
from tx_core.fill_mask.word_scores import MAX_SCORED_WORDS, WordScore
from tx_core.transformer.trace import Trace

MAX_UNLISTED = 8
"""Words that a class guessed and that are not among the most likely: so many are named."""
LABELS = texts.PICTURE | {
    "scan": texts.SCAN_PICTURE,
    "steps": texts.STEPS,
    "followHelp": texts.CHECK_WORDS_HELP.format(maximum=MAX_SCORED_WORDS),
    "words": stage_texts.WORD_BUTTONS,
}


def blank_stage(page: str, run: BlankRun) -> None:
    """Draw what the model puts into a blank, and where the blank looks; of a list alone no weights are sent."""
    looked = run.looked
    if looked is None:
        return empty_blank_stage(run.inputs)
    beside = {"labels": LABELS, "sentences": _sentences(run.inputs), "prediction": _prediction(page, run, looked)}
    beside["scan"] = describe_scan(looked.scan_asked, looked.changed)

    def pack(header: Mapping[str, object]) -> bytes:
        header = {**header, "hidden": [*header["hidden"], *(name for name in ("named", ONLY_LIST) if not is_offered(name))]}
        if run.alone:
            return join(header | NO_RUN | beside, [])
        plain, heads = looked.plain if looked.changed else None, value_of(page, "heads")
        shown = shown_layers(looked.trace, value_of(page, "stack"), heads)
        about = about_run(page, run.name, looked.trace, plain) | beside
        about |= {"automatic": looked.automatic and list(map(list, heads)), "routes": offered_routes(run.name, looked.number)}
        return pack_runs(header | about, run.name, looked.trace, plain, shown)

    # Heads chosen by a scan need no place in a link, whose recipient's scan chooses the same.
    mount(page, FIELDS.with_default("heads", looked.scanned), pack, partial(take_wishes, page))


def empty_blank_stage(inputs: BlankInputs) -> None:
    """Draw a stage that shows the words of the sentences only."""
    beside = {"labels": LABELS, "prediction": None, "scan": None, "sentences": _sentences(inputs)}
    empty_stage(inputs.page, FIELDS, partial(take_wishes, inputs.page), lambda _: beside)


def _sentences(inputs: BlankInputs) -> list[dict[str, object]]:
    return [{"name": name, **sentence.described()} for name, sentence in inputs.asked.items()]


def take_wishes(page: str, reported: Reported) -> None:
    """Apply what a reader asked for: another blank, the model's, the end of the sentence, words to follow, a scan, or changes."""
    named, blank, word = (reported.get(name) for name in ("named", "blank", "word"))
    if isinstance(word, Mapping) and word.get("name") in ("text", "second") and isinstance(word.get("number"), int):
        take_word(page, word["name"], word["number"], word.get("text"))
    if isinstance(named, str):
        set_values(page, {"named": named})
    if isinstance(blank, int) and blank > 0:
        set_values(page, {"blank": blank})
    if reported.get(ONLY_LIST) is False:
        set_values(page, {ONLY_LIST: False})
    take_end(page, reported)
    take_scan(page, reported)
    take_changes(page, reported)


def _prediction(page: str, run: BlankRun, looked: LookedAt) -> dict[str, object]:
    """Return the bars of the blank, with and without the reader's changes, and what is said of them."""
    blank, scores = looked.answer.filling.blanks[looked.number], looked.answer.scores
    likely = _likely_words(looked, run)
    followed_scores = scores[looked.number] if scores else ()
    followed = _followed_words(followed_scores, looked.scores)
    guessed = _mark_guesses(page, run, looked, likely)
    rest = _rest(run, likely, blank.rest, looked.answer.filling.encoding.tokens, changed=bool(looked.shift))
    if looked.shift:
        rest = f"{texts.MOVED.format(variation=whole_percent(looked.shift.variation))} {rest}"
    return {
        "blank": [looked.text, looked.place],
        "blanks": run.blank_names,
        "number": value_of(page, "blank"),
        "limit": run.inputs.chosen.limit,
        "likely": likely,
        "followed": followed,
        "named": value_of(page, "named"),
        "contrasts": [] if is_hidden("details") else contrasts(followed_scores, looked.scores),
        "notes": notes_on_checked(followed_scores),
        "rest": rest,
        "guessed": guessed,
        "headline": _headline(looked),
        "figure": _figure(run, looked, likely, followed),
        "steps": _steps(run, looked),
        "invited": {"head": list(map(int, looked.scan.most_important)), "said": invitation(looked.scan)} if looked.scan else None,
    }


def _steps(run: BlankRun, looked: LookedAt) -> dict[str, object] | None:
    """Return the blanks of the sentence filled one after another, order by order; None of one blank, and with changes."""
    if len(looked.answer.filling.blanks) < 2 or looked.changed:
        return None
    fillings, named = filled_stepwise(run.engine, looked.text)

    def beside(one: StepwiseFilling) -> dict[str, object]:
        labels = [f"##{step.word}" if step.joins else step.word for step in one.steps]
        steps = [
            [step.number + 1, label, step.probability, percent(step.probability)]
            for step, label in zip(one.steps, labels, strict=True)
        ]
        sums = {"sum": signed(one.log_probability), "pseudo": signed(one.pseudo_log_likelihood)}
        return {"steps": steps, "sentence": one.sentence, **sums}

    def written(order: Sequence[int]) -> list[int]:
        return [number + 1 for number in order]

    return {
        "blanks": len(fillings[0].steps),
        "orders": {"-".join(map(str, written(one.order))): beside(one) for one in fillings},
        "named": {name: written(order) for name, order in named.items()},
        "isEvery": len(fillings[0].steps) <= MAX_ORDERED_BLANKS,
        "best": beside(max(fillings, key=lambda one: one.pseudo_log_likelihood)),
    }


def _figure(
    run: BlankRun, looked: LookedAt, likely: Sequence[Mapping[str, Any]], followed: Sequence[Mapping[str, Any]]
) -> dict[str, object]:
    """Return the bars as charts of a figure, with its title and notes."""
    chosen, changed = run.inputs.chosen, bool(looked.shift)
    title = texts.EXPORT_CHANGE_TITLE if changed else texts.EXPORT_LISTS_TITLE[False]
    charts = []
    for name, bars in ((texts.TOP_WORDS, likely), (texts.CHECKED_WORDS, followed)):
        labels, before, after = ([bar[column] for bar in bars] for column in ("label", "before", "after"))
        if changed and bars:
            charts.append(moved_drawing(name, labels, before, after, limit=chosen.limit).chart)
        elif bars:
            charts.append(bars_drawing(name, labels, after, limit=chosen.limit).chart)
    model = controls.model_title(run.engine.name)
    return {"title": title.format(number=looked.number + 1, model=model), "charts": charts, "notes": run.notes}


def _bar(label: str, before: float, after: float, detail: str, *, moved: bool) -> dict[str, object]:
    was, now = shares_in_change(before, after) if moved else (percent(before), percent(after))
    said = {"saidBefore": was, "saidAfter": now, "delta": points(after - before)}
    return {"label": label, "before": before, "after": after, "moved": moved, "note": detail, "guess": None} | said


def shares_in_change(before: float, after: float) -> tuple[str, str]:
    """Write two shares to be compared at a glance: as `percent`, but as "almost 0" a tiny one beside one of 1 % or more."""
    if min(before, after) >= 0.0001 or max(before, after) < 0.01:
        return percent(before), percent(after)
    return (ALMOST_NONE, percent(after)) if before < after else (percent(before), ALMOST_NONE)


def _likely_words(looked: LookedAt, run: BlankRun) -> list[dict[str, object]]:
    if looked.shift is None:
        entries = looked.answer.filling.blanks[looked.number].predictions
        return [_bar(one.label, one.probability, one.probability, one.sentence, moved=False) for one in entries]
    bars = []
    for one in strongest_words(looked.shift, run.inputs.chosen):
        detail = texts.WORD_DETAIL.format(sentence=one.prediction.sentence, rank=note(one))
        bars.append(_bar(one.prediction.label, one.before, one.after, detail, moved=True))
    return bars


def _followed_words(before: Sequence[WordScore], after: Sequence[WordScore] | None) -> list[dict[str, object]]:
    pairs = [
        (one, now) for one, now in zip(before, after or before, strict=True) if None not in (one.probability, now.probability)
    ]
    return [
        _bar(checked_label(one), one.probability, now.probability, product_of_pieces(now), moved=after is not None)
        for one, now in pairs
    ]


def _mark_guesses(page: str, run: BlankRun, looked: LookedAt, likely: list[dict[str, object]]) -> str:
    """Write what a class guessed to the bars; name the guesses that stand at none."""
    guesses = class_guesses(page)
    typed = next(one.typed for one in run.inputs.asked.values() if one.text == looked.text)
    if not guesses or not guesses.is_about_blank(typed, looked.number, looked.changed):
        return ""
    drawn, others = guesses.on_list([str(bar["label"]) for bar in likely])
    for bar, guess in zip(likely, drawn, strict=True):
        bar["guess"] = guess and (guess[0], CLASS_GUESSED.format(said=guess[1]))
    if not others:
        return ""
    template = texts.GUESSED_BESIDES_CUT if len(others) > MAX_UNLISTED else texts.GUESSED_BESIDES
    return template.format(words=", ".join(others[:MAX_UNLISTED]), count=len(others) - MAX_UNLISTED)


def _rest(run: BlankRun, likely: Sequence[Mapping[str, object]], rest: float, tokens: Sequence[str], *, changed: bool) -> str:
    """Return how much probability all words have that are not listed, and what a piece is where there is one."""
    share, labels = percent(rest), [str(bar["label"]) for bar in likely]
    if changed:
        left = [percent(max(0.0, 1 - sum(float(bar[side]) for bar in likely))) for side in ("before", "after")]
        share = texts.FROM_TO.format(before=left[0], after=left[1])
    said = texts.REST.format(count=run.engine.tokenizer.vocab_size - len(labels), share=share)
    if any(label.startswith("##") for label in labels):
        return f"{said} {texts.CONTINUES_WORD}"
    piece = next((token for token in tokens if token.startswith("##")), None)
    return f"{said} {texts.PIECES.format(piece=piece)}" if piece else said


def _headline(looked: LookedAt) -> str:
    """Return what the blank is filled with, and what it was filled with before the changes."""
    if looked.shift is None:
        top = looked.answer.filling.blanks[looked.number].predictions[0]
        return texts.TOP_WORD.format(word=top.label, share=percent(top.probability))
    now = min(looked.shift.moved, key=lambda moved: moved.rank_after)
    was = min(looked.shift.moved, key=lambda moved: moved.rank_before)
    said = {"changed": _changes_in_words(looked.changed, looked.trace), "word": now.prediction.label}
    said |= {"share": percent(now.after), "before_word": was.prediction.label, "before": percent(was.before)}
    return (texts.STILL if now is was else texts.NOW).format(**said)


def _changes_in_words(changed: Changes, trace: Trace) -> str:
    if len(changed) > 1:
        return texts.WITH_CHANGES.format(count=len(changed))
    (change,) = changed
    if change.kind == "off" and change.head is not None and len(trace.stacks) == 1:
        return texts.WITHOUT.format(place=head_in_sentence((change.layer, change.head)))
    return describe_change(change, trace.stacks)
