"""Importance: what every head and sublayer of a model adds to its answers, measured over many prompts.

    python -m tx_core.causal.importance prompts.jsonl --model embedded --ablation mean

A line of the file is a prompt: `{"text": "The keys to the cabinet [MASK] here.", "answer": "are", "other": "is"}`, or a minimal
pair as BLiMP has them: `{"sentence_good": …, "sentence_bad": …}`. Prompts that resemble each other share a `phrase`: intervals
draw them again together. A `group` tells means apart. A CSV file has the same names as columns. What was measured is kept beside
the results: the same command goes on after an interruption.
"""

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Float

from tx_core.analysis.probabilities import bootstrap_interval, log_probabilities
from tx_core.causal.cut_effects import read_prediction
from tx_core.causal.patch import answer_entries, source_vectors
from tx_core.corpus.sentence_file import csv_rows, decode
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine, mean_vectors
from tx_core.engine.progress import Progress
from tx_core.engine.threads import parallel_map, worker_count
from tx_core.errors import Busy, ExplorerError, TextProblem
from tx_core.fill_mask.blanks import NEW_BLANK
from tx_core.fill_mask.predictions import blank_logits_in_batches
from tx_core.transformer.interventions import Intervention, InterventionKind
from tx_core.transformer.trace import Encoding

if TYPE_CHECKING:
    import pandas

Ablation = Literal["off", "mean", "resample"]
"""What becomes of a component: nothing, its mean over the app's sentences, or what it computes for the next prompt."""
_KINDS: dict[Ablation, InterventionKind] = {"off": "off", "mean": "mean", "resample": "patch"}
NOT_A_PROMPT = "Line {line} of the file is no prompt: give “text” and “answer”, or “sentence_good” and “sentence_bad”."
NO_PROMPTS = "No prompt can be used ({reasons}): choose other prompts, or another model."
EXPLANATION = """
score   log-probability of the answer in nats; with another answer, how far it exceeds that one's
effect  mean fall of the score without the part, here: above 0, it helps the answer
low     to high: 95 % interval of the effect over {over} drawn again; of one part that was chosen beforehand: the
        first of a table are first partly by chance, so that theirs begin too high
turned  share of prompts in which the other answer becomes the likelier one, or ceases to be
"""
SCORE_DIGITS = 6
"""Decimals of a score, in nats."""
SAME_SCORE = 0.002
"""In nats: by less, two devices may differ on a score of one model."""
PROMPT_NAMES = ("text", "answer", "other", "sentence_good", "sentence_bad", "phrase", "group")
_WORDS = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")


class Prompt(NamedTuple):
    """A text with a blank, or for a writer a beginning; the answer, and the other answer, "" for none.

    phrase: what prompts share that resemble each other, and are no independent cases; group: the kind, whose mean effects are
    told apart; "" for none.
    """

    text: str
    answer: str
    other: str
    phrase: str = ""
    group: str = ""


@dataclass(frozen=True)
class Importance:
    """What each component adds to the score of each prompt.

    The score is the log-probability of the answer, in nats, or where there is another answer, how far it exceeds that one's.

    Attributes:
        components: What was ablated: a head, or all heads or the feed-forward sublayer of a layer.
        effects: The fall of the score with each component ablated: above 0 where it helps the answer.
        left_out: How many prompts were not used, by the reason.
        intervals: Both ends of the 95 % bootstrap interval of each mean effect, over phrases, or where prompts have none over
            prompts (Efron & Tibshirani 1993, section 13.3). Each is of a part that was chosen beforehand, not of the largest.
        by_group: The mean effects of the prompts of each group, where there are several.
        turned: The share of prompts in which the other answer becomes the likelier one, or ceases to be.
    """

    components: tuple[Intervention, ...]
    prompts: tuple[Prompt, ...]
    scores: Float[np.ndarray, "prompt"]
    effects: Float[np.ndarray, "prompt component"]
    left_out: dict[str, int]

    @cached_property
    def intervals(self) -> Float[np.ndarray, "end component"]:
        places = [numbers for _, numbers in self._places("phrase")]
        return bootstrap_interval(
            np.array([self.effects[numbers].sum(axis=0) for numbers in places]), np.array(list(map(len, places)))
        )

    @cached_property
    def by_group(self) -> dict[str, Float[np.ndarray, "component"]]:
        found = {group: self.effects[numbers].mean(axis=0) for group, numbers in self._places("group") if group}
        return found if len(found) > 1 else {}

    @cached_property
    def phrases(self) -> int:
        """How many phrases the prompts have; 0 where each stands for itself."""
        return len({prompt.phrase for prompt in self.prompts} - {""})

    def _places(self, name: str) -> list[tuple[str, list[int]]]:
        """Return the prompts by number that have the same phrase or group; one without is alone."""
        found: dict[object, list[int]] = {}
        for number, prompt in enumerate(self.prompts):
            found.setdefault(getattr(prompt, name) or number, []).append(number)
        return [(key if isinstance(key, str) else "", numbers) for key, numbers in found.items()]

    @cached_property
    def turned(self) -> Float[np.ndarray, "component"]:
        return (np.sign(self.scores[:, None] - self.effects) != np.sign(self.scores[:, None])).mean(axis=0)

    def rows(self) -> list[dict[str, int | float | str | None]]:
        """List the components, the most important first, layers and heads counted from 1. low, high: the interval's ends."""
        effects, (low, high) = self.effects.mean(axis=0), self.intervals
        return [
            {
                "layer": one.layer + 1,
                "part": one.part if one.head is None else "head",
                "head": None if one.head is None else one.head + 1,
                "effect": float(effects[number]),
                "low": float(low[number]),
                "high": float(high[number]),
                "turned": float(self.turned[number]),
            }
            for number in np.argsort(-effects, kind="stable").tolist()
            for one in [self.components[number]]
        ]

    def to_pandas(self) -> "pandas.DataFrame":
        """Return `rows` as a table."""
        import pandas  # here: it takes a tenth of a second, and no page needs it

        return pandas.DataFrame(self.rows()).astype({"head": "Int64"})


def component_name(one: Intervention) -> str:
    """Return what links call a component: 4-7, 4-mlp."""
    return f"{one.layer + 1}-{one.part if one.head is None else one.head + 1}"


def read_answer_prompts(file: Path | str) -> list[dict[str, str]]:
    """Read the lines of a JSONL, CSV or TSV file, blank ones left out; raise TextProblem for one that is no prompt."""
    return parse_answer_prompts(Path(file).read_bytes(), Path(file).name)


def parse_answer_prompts(data: bytes, name: str) -> list[dict[str, str]]:
    """Return what `read_answer_prompts` does, of the content of a file with this name."""
    text = decode(data)
    if Path(name).suffix.lower() not in (".csv", ".tsv"):
        lines = ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())
        return [_checked_prompt(_read_json(line), number) for number, line in lines]
    rows = ((number, row) for number, row in csv_rows(text) if any(row))
    _, columns = next(rows, (0, []))
    return [_checked_prompt(dict(zip(columns, row, strict=False)), number) for number, row in rows]


def _read_json(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _checked_prompt(row: object, line: int) -> dict[str, str]:
    given = {name: row[name] for name in PROMPT_NAMES if row.get(name)} if isinstance(row, dict) else {}
    if not ({"text", "answer"} <= given.keys() or {"sentence_good", "sentence_bad"} <= given.keys()):
        raise TextProblem(NOT_A_PROMPT.format(line=line))
    if not all(isinstance(value, str) for value in given.values()):
        raise TextProblem(NOT_A_PROMPT.format(line=line))
    return given


def prompt_of(row: dict[str, str], *, predicts_next: bool) -> Prompt:
    """Return the prompt of a line.

    The one word in which a pair differs is made blank, or for a writer follows the text.

    Raises TextProblem for a pair that differs in more than one word, or for a writer begins with it.
    """
    kind = row.get("phrase", ""), row.get("group", "")
    if "answer" in row:
        return Prompt(row["text"], row["answer"], row.get("other") or "", *kind)
    good, bad = row["sentence_good"], row["sentence_bad"]
    ours, theirs = list(_WORDS.finditer(good)), _WORDS.findall(bad)
    differing = [place for place, (one, other) in enumerate(zip(ours, theirs, strict=False)) if one.group() != other]
    if not differing or (not predicts_next and (len(differing) > 1 or len(ours) != len(theirs))):
        raise TextProblem("the sentences of a pair do not differ in one word")
    word, other = ours[differing[0]], theirs[differing[0]]
    before = good[: word.start()]
    if predicts_next and not before.strip():
        raise TextProblem("the sentences of a pair differ in their first word, before which there is nothing to read")
    if predicts_next:
        return Prompt(before.rstrip(), word.group(), other, *kind)
    return Prompt(f"{before}{NEW_BLANK}{good[word.end() :]}", word.group(), other, *kind)


class ReadPrompts(NamedTuple):
    """The prompts that a model can answer, as it reads them, and the entries of their answers.

    left_out: how many others there are, by the reason.
    """

    prompts: list[Prompt]
    rows: list[Encoding]
    entries: list[tuple[int, ...]]
    left_out: dict[str, int]


def read_prompts(engine: Engine, prompts: Sequence[Mapping[str, str]]) -> ReadPrompts:
    """Return the prompts that a model can answer, and count the others by reason."""
    read, left_out = ReadPrompts([], [], [], {}), Counter()
    for given in prompts:
        try:
            prompt = prompt_of(given, predicts_next=engine.info.predicts_next)
            row = read_prediction(engine, prompt.text)
            answers = answer_entries(engine, row, [prompt.answer, prompt.other] if prompt.other else [prompt.answer])
            if len(set(answers)) < len(answers):
                raise TextProblem("both answers are the same token")
        except TextProblem as problem:
            left_out[re.sub("“.*?”", "an answer", str(problem)).rstrip(".")] += 1
        else:
            for of_all, one in zip(read, (prompt, row, answers), strict=False):
                of_all.append(one)
    return read._replace(left_out=dict(left_out))


def describe_left_out(left_out: Mapping[str, int]) -> str:
    """Return how many prompts were left out, by reason, as in "33 (both answers are the same token)"."""
    return "; ".join(f"{count:,} ({reason})" for reason, count in left_out.items())


def importance(
    engine: Engine,
    prompts: Sequence[dict[str, str]],
    ablation: Ablation = "off",
    *,
    sentences: Sequence[str] = (),
    kept_in: Path | None = None,
) -> Importance:
    """Ablate every head and sublayer of a model, one at a time, in every prompt (Michel et al. 2019, section 3.2).

    Args:
        prompts: As `read_answer_prompts` returns them.
        ablation: "off": the component adds nothing. "mean": at every token, it adds its mean over all tokens of sentences.
            "resample": it adds what it computes for the next prompt (Chan et al. 2022).
        sentences: Of "mean"; by default those that ship with the app.
        kept_in: A file that keeps the scores measured so far; where it has some, these are not measured again.

    Raises TextProblem and ModelUnavailable as `predict` does; also where no prompt can be used, and where `kept_in` is of other
    prompts, of another ablation or of another model; ValueError for an ablation that is not there.
    """
    measuring = Measuring(engine, prompts, ablation, sentences=sentences, kept_in=kept_in)
    for _ in measuring.updates():
        pass
    return measuring.result()


class Measuring:
    """Prompts whose scores are measured, one per update; `result` has the importance over those measured so far.

    Arguments and errors are those of `importance`.
    """

    def __init__(
        self,
        engine: Engine,
        prompts: Sequence[dict[str, str]],
        ablation: Ablation = "off",
        *,
        sentences: Sequence[str] = (),
        kept_in: Path | None = None,
    ):
        if ablation not in _KINDS:
            raise ValueError(f"ablation must be one of {', '.join(_KINDS)}, got {ablation}")
        read = read_prompts(engine, prompts)
        self._prompts, self._rows, self._entries, self._left_out = read.prompts, read.rows, read.entries, read.left_out
        if not self._rows:
            raise TextProblem(NO_PROMPTS.format(reasons=describe_left_out(self._left_out) or "it is empty"))
        layers, heads, kind = range(engine.info.num_layers), range(engine.info.num_heads), _KINDS[ablation]
        self._components = (
            *(Intervention(kind, layer, head) for layer in layers for head in heads),
            *(Intervention(kind, layer, part=part) for layer in layers for part in ("attention", "mlp")),
        )
        self._engine, self._ablation, self._kept_in = engine, ablation, kept_in
        self._sentences = sentences if ablation == "mean" else ()
        self._scores = self._read_kept(kept_in) if kept_in else []
        self._result: Importance | None = None

    def _read_kept(self, file: Path) -> list[list[float]]:
        """Return the scores in a file, a line for each prompt behind a hash of what was measured; without one, begin it.

        That it was the same model is seen from the scores themselves, of which the first few are measured again.
        """
        read = [[*row.ids, *ids] for row, ids in zip(self._rows, self._entries, strict=True)]
        about = sha256(json.dumps([self._ablation, *self._sentences, read]).encode()).hexdigest()
        if not file.exists():
            file.write_text(about + "\n", encoding="utf-8")
        head, *lines = file.read_text(encoding="utf-8").split("\n")
        whole = lines[:-1]  # behind the last newline: nothing, or a line that was cut off
        scores = [json.loads(line) for line in whole] if head == about else []
        again = [self._score(number, self._engine.blank_logits([self._rows[number]])[0])[0] for number in range(len(scores[:3]))]
        if head != about or not np.allclose([kept[0] for kept in scores[:3]], again, rtol=0, atol=SAME_SCORE):
            raise TextProblem(f"{file.name} holds another measurement: delete it, or choose another place for the results.")
        if lines[-1]:
            file.write_text("\n".join([head, *whole, ""]), encoding="utf-8")
        return scores

    def _score(self, number: int, logits: Float[np.ndarray, "run vocab"]) -> Float[np.ndarray, "run"]:
        logs = log_probabilities(logits)[:, list(self._entries[number])]
        return logs[:, 0] - logs[:, 1] if logs.shape[1] > 1 else logs[:, 0]

    def updates(self) -> Generator[Progress, None, None]:
        """Measure the prompts that are not yet measured, yielding the progress; one for which the host is busy is retried."""
        engine, start = self._engine, time.monotonic()
        given = {"mean": mean_vectors(engine, self._sentences)} if self._sentences else {}
        changes = [(), *((one,) for one in self._components)]

        def score(number: int) -> list[float] | None:
            """Return the scores of a prompt, unchanged and without each component; None while the host is busy."""
            row, vectors = self._rows[number], given
            try:
                if self._ablation == "resample":
                    following = self._rows[(number + 1) % len(self._rows)]
                    vectors = {"patch": source_vectors(engine, row, following)}
                batches = blank_logits_in_batches(engine, [row] * len(changes), changes, vectors)
                scores = [self._score(number, np.concatenate(batch)) for batch in batches]
            except Busy:
                return None
            return np.concatenate(scores).round(SCORE_DIGITS).tolist()

        places = range(len(self._scores), len(self._rows))
        try:
            with closing(parallel_map(score, places, worker_count(engine.device))) as measured:
                for _, found in measured:
                    if found is not None:
                        self._scores.append(found)
                        if self._kept_in:
                            with self._kept_in.open("a", encoding="utf-8") as file:
                                file.write(json.dumps(found) + "\n")
                    yield Progress(len(self._scores), len(self._rows), time.monotonic() - start)
        finally:
            self._engine = None  # what is kept of it must not keep a large model in memory

    def result(self) -> Importance:
        """Return the importance over the prompts measured so far."""
        table = np.array(self._scores).reshape(-1, 1 + len(self._components))
        if self._result is None or len(self._result.scores) < len(table):
            prompts, effects = tuple(self._prompts[: len(table)]), table[:, :1] - table[:, 1:]
            self._result = Importance(self._components, prompts, table[:, 0], effects, self._left_out)
        return self._result


def main(argv: Sequence[str] | None = None) -> None:
    """Measure the prompts of a file, write the ranked table beside it and print its beginning."""
    options = argparse.ArgumentParser(prog="python -m tx_core.causal.importance", description=__doc__.split("\n")[0])
    options.add_argument(
        "file", type=Path, help="JSONL or CSV: text, answer and perhaps other; or sentence_good and sentence_bad"
    )
    options.add_argument("--model", default=catalogue.DEFAULT, help="a model of the list (default: %(default)s)")
    options.add_argument("--ablation", choices=get_args(Ablation), default="off", help="(default: %(default)s)")
    options.add_argument("--limit", type=int, help="read only the first prompts")
    options.add_argument("--out", type=Path, help="where the table goes (default: FILE.importance.csv)")
    given = options.parse_args(argv)
    out = given.out or given.file.with_suffix(".importance.csv")
    try:
        engine = catalogue.load(given.model)
        prompts = read_answer_prompts(given.file)[: given.limit]
        measuring = Measuring(engine, prompts, given.ablation, kept_in=out.with_suffix(".scores.jsonl"))
        for update in measuring.updates():
            print(f"\rPrompt {update.done:,} of {update.total:,}", end="", file=sys.stderr, flush=True)
    except (ExplorerError, OSError) as problem:
        options.exit(1, f"{problem}\n")
    found = measuring.result()
    table = found.to_pandas()
    table.to_csv(out, index=False)
    first = table.head(15).astype({"head": object}).fillna({"head": ""})
    print(f"\n{first.to_string(index=False, float_format='{:.3f}'.format)}")
    print(EXPLANATION.format(over=f"{found.phrases:,} phrases" if found.phrases else "prompts"))
    print(f"{len(found.scores):,} prompts, mean score {found.scores.mean():.3f}; the whole table: {out}")
    if found.left_out:
        print(f"left out: {describe_left_out(found.left_out)}")


if __name__ == "__main__":
    main()
