"""The pictures of the page: all parts as a wall, as ranked bars, and the prompts that lose most and least without one."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from math import exp
from pathlib import Path

import numpy as np

from pages.importance import texts
from pages.importance.inputs import OWN, ImportanceInputs, find_importance, sentence_of_left_out
from pages.ui.export.computation import call, engine_call, named
from pages.ui.export.part import Part
from pages.ui.export.records import DataTable, PartNumbers, files_of, table_of
from pages.ui.shell import controls
from pages.ui.shell.address import is_offered
from pages.ui.shell.frame import page_address
from pages.ui.shell.numbers import signed
from pages.ui.stage.charts import Drawing, listing_drawing, matrix_drawing, signed_drawing
from pages.ui.stage.pictures import Picture
from pages.ui.stage.tokens import note_special_tokens
from tx_core.causal.importance import Importance, Prompt, component_name, importance, read_answer_prompts
from tx_core.causal.prompt_sets import prompt_set
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine
from tx_core.transformer.interventions import Intervention, write_interventions

MOST_BARS = 10
EXTREMES = 3
"""Prompts at either end of the list."""
TALLEST_ROW = 52


@dataclass(frozen=True)
class RankingView:
    """The heads, or the sublayers of all layers, as they are shown. what: a key of `texts.WHATS`."""

    found: Importance
    asked: ImportanceInputs
    what: str

    @cached_property
    def places(self) -> dict[str, int]:
        """The number of each component that is shown, by its name in links, from the last layer down."""
        shown = [
            (number, one) for number, one in enumerate(self.found.components) if (one.head is None) == (self.what == "layer")
        ]
        return {component_name(one): number for number, one in sorted(shown, key=lambda pair: -pair[1].layer)}

    @cached_property
    def effects(self) -> np.ndarray:
        """The mean effect of every component."""
        return self.found.effects.mean(axis=0)

    @cached_property
    def ranked(self) -> list[str]:
        """The names, the most important first."""
        return sorted(self.places, key=lambda name: -self.effects[self.places[name]])

    def pictures(self) -> list[Picture]:
        """Return the wall, the ranking, and the prompts that lose most and least without the chosen part."""
        shown, first = {"what": [self.what]}, self.ranked[0]
        bars = self.ranked[:MOST_BARS] if self.what == "head" else self.ranked
        said = {name: {"sentence": self.describe(name)} for name in self.places}
        wall = Picture(
            self._wall(first),
            self.describe(first),
            shown,
            share=1.2,
            cell=texts.CELLS[self.what],
            details=[self._read(name) for name in self.places],
            chooses="head",
            choices=list(self.places),
            varies="head",
            variants=said,
        )
        read = [self._read(name, "") for name in bars]
        ranking = Picture(self._bars(bars), texts.BEST_BY_CHANCE, when=shown, details=read, chooses="head", choices=bars)
        listing, extremes = self._extremes()
        listing.chart.update(extremes[first])
        variants = {name: {"chart": chart} for name, chart in extremes.items()}
        link = self._to_patching(first)
        return [wall, ranking, Picture(listing, when=shown, row=1, varies="head", variants=variants, link=link)]

    def _wall(self, first: str) -> Drawing:
        """Draw all parts, upwards from the first layer."""
        layers = max(one.layer for one in self.found.components) + 1
        values = np.reshape([self.effects[number] for number in self.places.values()], (layers, -1))
        columns = [str(head + 1) for head in range(values.shape[1])] if self.what == "head" else list(texts.SUBLAYERS.values())
        rows = [str(layer) for layer in range(layers, 0, -1)]
        limit = float(np.abs(values).max())
        look = {"limit": limit, "root": True, "axes": texts.AXES[self.what], "numbered": True}
        drawing = matrix_drawing(texts.TITLES[self.what], "signed", values, rows, columns, **look)
        at = list(self.places).index(first)
        drawing.chart.update(chosen=[at // len(columns), at % len(columns)], tallestRow=TALLEST_ROW)
        return drawing

    def _bars(self, names: list[str]) -> Drawing:
        numbers = [self.places[name] for name in names]
        intervals = self.found.intervals[:, numbers].T.tolist()
        limit = max(np.abs(intervals).max(), np.abs(self.effects[numbers]).max())
        labels = [self.place_of(name) for name in names]
        title = texts.BARS[self.what].format(all=len(self.places))
        return signed_drawing(title, labels, self.effects[numbers].tolist(), limit=float(limit), intervals=intervals)

    def place_of(self, name: str) -> str:
        """Return what a part is called."""
        one = self.found.components[self.places[name]]
        if one.head is not None:
            return controls.head_name((one.layer, one.head))
        return texts.PLACES[one.part].format(layer=one.layer + 1)

    def describe(self, name: str) -> str:
        """Return in words what the answers lose without a part."""
        number, count = self.places[name], len(self.found.scores)
        effect, pairs = float(self.effects[number]), sum(bool(prompt.other) for prompt in self.found.prompts)
        moves, sign = (texts.LOSES, 1) if effect >= 0 else (texts.GAINS, -1)
        low, high = sorted(sign * self.found.intervals[:, number])
        factors = {count: texts.ODDS, 0: texts.LIKELY}.get(pairs)
        turned = round(float(self.found.turned[number]) * count)
        return texts.SAID.format(
            place=self.place_of(name),
            how=texts.IN_WORDS[self.asked.ablation],
            moves=moves,
            effect=signed(abs(effect)),
            count=count,
            over=over_what(self.found),
            low=signed(low),
            high=signed(high),
            groups=self._groups(number, sign),
            factor=factors[moves].format(times=f"{exp(abs(effect)):.3g}") if factors else "",
            turned=texts.TURNED.format(turned=turned, pairs=pairs) if pairs else "",
        )

    def _groups(self, number: int, sign: int) -> str:
        """Return what each group of prompts loses without a part, or gains; nothing where there are no groups."""
        found = {group: signed(sign * effects[number]) for group, effects in self.found.by_group.items()}
        groups = ", ".join(texts.GROUP.format(group=group, effect=effect) for group, effect in found.items())
        return texts.GROUPS[texts.LOSES if sign > 0 else texts.GAINS].format(groups=groups) if groups else ""

    def _read(self, name: str, begin: str = "{effect} · ") -> str:
        """Return what is read of a part beside its name."""
        number = self.places[name]
        low, high = map(signed, self.found.intervals[:, number])
        return begin.format(effect=signed(self.effects[number])) + texts.READ.format(low=low, high=high)

    def _extremes(self) -> tuple[Drawing, dict[str, dict[str, object]]]:
        """Return the listing of prompts, and of each part what it shows: those that lose most and least without it."""
        picked = {}
        for name, place in self.places.items():
            order = np.argsort(-self.found.effects[:, place], kind="stable").tolist()
            picked[name] = order if len(order) <= 2 * EXTREMES else order[:EXTREMES] + order[-EXTREMES:]
        numbers = sorted({number for order in picked.values() for number in order})
        listing = listing_drawing(head=texts.COLUMNS)
        listing.chart["entries"] = [self._entry(self.found.prompts[number]) for number in numbers]
        found = {}
        for name, order in picked.items():
            effects = self.found.effects[order, self.places[name]]
            picks = [[signed(effect), numbers.index(number)] for effect, number in zip(effects, order, strict=True)]
            named = self.place_of(name)
            title = texts.EXTREMES.format(place=named[0].lower() + named[1:])
            found[name] = {"title": title, "picks": picks, "adds": self._without(name)}
        return listing, found

    def _entry(self, prompt: Prompt) -> list[str]:
        """Return the row of a prompt behind the number, and the address at which its answer is predicted."""
        page = "next_word" if catalogue.card(self.asked.model).predicts_next else "fill_mask"
        address = page_address(page, self.asked.in_link(text=prompt.text)) if is_offered("links") else ""
        see = texts.SEE_MEAN if self.asked.ablation == "mean" else texts.SEE_OFF
        return [prompt.text, texts.NOT.format(**prompt._asdict()) if prompt.other else prompt.answer, see, address]

    def _without(self, name: str) -> str:
        """Return what an address adds for a run without a part."""
        one = self.found.components[self.places[name]]
        kind = "mean" if self.asked.ablation == "mean" else "off"
        changes = write_interventions([Intervention(kind, one.layer, one.head, part=one.part)])
        return f"&changes={changes}" + ("" if one.head is None else f"&heads={name}")

    def _to_patching(self, first: str) -> tuple[str, str] | None:
        """Return the link that puts the first head, of the prompt that loses most without it, into one of the other answer."""
        if self.what == "layer" or not is_offered("links"):
            return None
        one = self.found.prompts[int(self.found.effects[:, self.places[first]].argmax())]
        exchanged = [two for two in self.found.prompts if one.other and (two.answer, two.other) == (one.other, one.answer)]
        if not exchanged:
            return None
        words = one.text.split()
        partner = min(exchanged, key=lambda two: sum(mine != yours for mine, yours in zip_longest(words, two.text.split())))
        pair = {"text": one.text, "text_b": partner.text, "answer": one.answer, "answer_b": one.other}
        view = self.asked.in_link(**pair, what="head", head=first)
        return texts.TO_PATCHING.format(**one._asdict()), page_address("patching", view)


def over_what(found: Importance) -> str:
    """Return what the intervals draw again."""
    return texts.OVER_PHRASES.format(count=found.phrases) if found.phrases else texts.OVER_PROMPTS


def importance_part(inputs: ImportanceInputs, engine: Engine) -> Part:
    """Return the ranking of what is asked, or of the visitor's last run; what runs meanwhile, without either."""
    found, asked, run = find_importance(inputs, engine)
    note_special_tokens(engine, engine.tokenizer.special_tokens)
    return replace(ranking_part(found, asked), run=run) if found else Part(run=run)


def ranking_part(found: Importance, asked: ImportanceInputs) -> Part:
    """Return the pictures, all components, all prompts, and the code that measures them."""
    words = {"model": controls.model_title(asked.model), "file": asked.file, "how": texts.IN_WORDS[asked.ablation]}
    title = texts.EXPORT_TITLE.format(count=len(found.scores), **words)
    said = sentence_of_left_out(asked, found.left_out)
    about = asked.about(prompts=asked.file, ablation=asked.ablation, count=len(found.scores), left_out=said)
    file = call(read_answer_prompts, call(Path, asked.file)) if asked.name == OWN else call(prompt_set, asked.name)
    measured = named("found", call(importance, engine_call(asked), named("prompts", file), asked.ablation))
    return Part(
        [picture for what in texts.WHATS for picture in RankingView(found, asked, what).pictures()],
        PartNumbers(title, about, [measured.to_pandas()]),
        [texts.SHOWS],
        formulas=[texts.FORMULA],
        sources=[importance],
        table=lambda: _parts_table(found),
        notes=[said] if said else [],
        files={texts.ALL_PROMPTS: lambda: files_of(_prompts_table(found), by_line=True)},  # as this page takes them
    )


def _parts_table(found: Importance) -> DataTable:
    rounded = [
        {name: round(value, 6) if isinstance(value, float) else value for name, value in row.items()} for row in found.rows()
    ]
    return table_of(rounded, texts.TABLE_NOTE.format(over=over_what(found), chance=texts.BEST_BY_CHANCE))


def _prompts_table(found: Importance) -> DataTable:
    """List the prompts with their scores and the effect of each component."""
    names = [component_name(one) for one in found.components]
    return table_of(
        [
            {**prompt._asdict(), "score": float(score), **dict(zip(names, effects.round(6).tolist(), strict=True))}
            for prompt, score, effects in zip(found.prompts, found.scores, found.effects, strict=True)
        ]
    )
