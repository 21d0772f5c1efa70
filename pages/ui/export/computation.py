"""What a page computes as a record: it can be run, and written as the Python that computes the same.

    engine = load_call("embedded")
    answers = call(logit_lens, engine, engine.trace("time flies", keep=("hidden",)), 3)
    evaluate(answers.rank)  # the numbers; evaluate(answers.rank, engine=…) with an engine that is there already
    python([answers.rank])  # the code that prints them

An attribute, an item, a call, a sum or a difference of such a record is such a record, so that what is written is what runs.
"""

import builtins
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np

import tx_core
from pages.ui.shell import cache
from pages.ui.stage.inputs import PageInputs
from tx_core import load
from tx_core.corpus.sentence_file import Sentences, embedded_sentences, read_sentences
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine
from tx_core.transformer.interventions import Intervention, canonical
from tx_core.transformer.trace import Encoding


@dataclass(frozen=True, eq=False)
class Computation:
    """A call that is not yet made.

    function: what is called, or the computation of it; None for the item of a loop, which the code only names. arguments,
    keywords: plain values, or other computations, also within lists and tuples. variable: its name in the code; "" where the
    call is written where its result is used. comment: stands behind the line of this variable.

    Where a result has an attribute of one of these names, ask for it by `call(getattr, …)`.
    """

    function: "Callable[..., object] | Computation | None"
    arguments: tuple = ()
    keywords: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    variable: str = ""
    comment: str = ""

    def __getattr__(self, name: str) -> "Computation":
        if name.startswith("_"):
            raise AttributeError(name)
        return Computation(getattr, (self, name))

    def __call__(self, *arguments: object, **keywords: object) -> "Computation":
        return Computation(self, arguments, keywords)

    def __getitem__(self, place: object) -> "Computation":
        return Computation(operator.getitem, (self, place))

    def __add__(self, other: object) -> "Computation":
        return Computation(operator.add, (self, other))

    def __sub__(self, other: object) -> "Computation":
        return Computation(operator.sub, (self, other))

    def __invert__(self) -> "Computation":
        return Computation(operator.invert, (self,))

    __iter__ = None


def call(function: Callable[..., object], *arguments: object, **keywords: object) -> Computation:
    """Return the computation of a function's result."""
    return Computation(function, arguments, keywords)


def named(name: str, value: object, comment: str = "") -> Computation:
    """Return a computation, or a plain value, that the code keeps in a variable."""
    if isinstance(value, Computation):
        return Computation(value.function, value.arguments, value.keywords, name, comment)
    return Computation(_itself, (value,), variable=name, comment=comment)


def each(items: Iterable[object] | Computation, make: Callable[[object], object]) -> Computation:
    """Return the computation of a list of what `make` makes of each item; the code calls an item as `make` does."""
    return Computation(each, (items, make))


def load_call(model: str, special_tokens: bool = True, name: str = "engine") -> Computation:
    """Return the computation of an engine, which may read texts without special tokens."""
    return named(name, call(load, catalogue.card(model).name, **({} if special_tokens else {"special_tokens": False})))


def engine_call(inputs: PageInputs) -> Computation:
    """Return the computation of the engine that the inputs of a page name."""
    return load_call(inputs.model, not inputs.bare)


def sentences_call(sentences: Sentences, comment: str = "") -> Computation:
    """Return the computation of many sentences: the built-in ones, or those of the reader's own file."""
    if sentences is embedded_sentences():
        return named("sentences", call(embedded_sentences), comment)
    file = call(open, sentences.source, "rb")
    return named("sentences", call(read_sentences, file, sentences.source, sentences.column), comment or "your file")


def sentences_of(encoding: Encoding) -> tuple[str, ...]:
    """Return the sentences of a run as the arguments of `Engine.trace`."""
    return (encoding.text, encoding.pair) if encoding.pair else (encoding.text,)


def written_argument(encoding: Encoding) -> dict[str, object]:
    """Return the tokens that a model wrote behind a text as an argument; nothing for none."""
    return {"written": list(encoding.written)} if encoding.written else {}


def changes_argument(changes: Sequence[Intervention], name: str = "changes") -> dict[str, object]:
    """Return interventions as an argument, sorted, so that equal interventions give equal code; nothing for none."""
    return {"interventions": named(name, list(canonical(changes)))} if changes else {}


def after(first: Computation, value: Computation) -> Computation:
    """Return a computation that is made after another one, which changes what it is made of: a model after its training."""
    return Computation(after, (first, value))


def evaluate(value: object, **known: object) -> object:
    """Make the calls of a computation, or of those in a list or a tuple, each once; return the result.

    known: results that are there already, by the names of their variables.
    """
    return _evaluated(value, known, {})


def computed(value: Computation, engine: Engine, **known: object) -> Any:
    """Return the result of a computation with an engine that is loaded, cached under its code. known: as of `evaluate`."""
    key = ("computed", cache.engine_key(engine), python([value]))
    return cache.get_or_compute(key, lambda: evaluate(value, engine=engine, **known))


def _evaluated(value: object, known: Mapping[str, object], made: dict[Computation, object]) -> object:
    if isinstance(value, list | tuple):
        made_parts = [_evaluated(one, known, made) for one in value]
        return made_parts if isinstance(value, list) else tuple(made_parts)
    if not isinstance(value, Computation):
        return value
    if value.variable in known:
        return known[value.variable]
    if value not in made:
        arguments = _evaluated(value.arguments, known, made)
        if value.function is each:
            items, make = arguments
            made[value] = [_evaluated(make(named("", item)), known, made) for item in items]
        elif value.function is after:
            made[value] = arguments[1]
        else:
            keywords = {name: _evaluated(one, known, made) for name, one in value.keywords.items()}
            made[value] = _evaluated(value.function, known, made)(*arguments, **keywords)
    return made[value]


def python(shown: Sequence[Computation]) -> str:
    """Return the code that computes and prints some numbers: imports, a line for each variable, and a line that prints."""
    code = _Code()
    lists = [one.function in (each, operator.add) for one in shown]
    printed = [f"*{code.expression(one)}" if is_list else code.expression(one) for one, is_list in zip(shown, lists, strict=True)]
    last = ", ".join([*printed, *(["sep='\\n'"] if len(shown) > 1 or any(lists) else [])])
    return "\n".join([*code.import_lines, "", *code.lines, "", f"print({last})", ""])


def _itself(value: object) -> object:
    return value


OPERATORS = {operator.add: "+", operator.sub: "-"}


class _Code:
    """Code while it is written."""

    def __init__(self):
        self.lines: list[str] = []
        self.imports: dict[str, set[str]] = {}

    @property
    def import_lines(self) -> list[str]:
        """Return the imports in order, those of other packages first."""
        lines = {name: f"from {name} import {', '.join(sorted(self.imports[name]))}" for name in sorted(self.imports)}
        lines |= {"numpy": "import numpy as np"} if "numpy" in lines else {}
        own = [line for name, line in lines.items() if name.startswith("tx_core")]
        others = [line for line in lines.values() if line not in own]
        return [*others, *([""] if others and own else []), *own]

    def expression(self, value: object) -> str:
        """Write a value, after the lines of the variables that it needs."""
        if isinstance(value, Computation):
            return self._variable(value) if value.variable else self._made(value)
        if isinstance(value, list | tuple):
            inside = ", ".join(map(self.expression, value))
            if isinstance(value, list):
                return f"[{inside}]"
            return f"({inside}{',' if len(value) == 1 else ''})"
        if callable(value):
            return self._imported(value)
        self._import_types(value)
        return repr(value.item() if isinstance(value, np.generic) else value)

    def _variable(self, value: Computation) -> str:
        if value.function is not None:
            line = f"{value.variable} = {self._made(value)}{value.comment and f'  # {value.comment}'}"
            if line not in self.lines:
                self.lines.append(line)
        return value.variable

    def _made(self, value: Computation) -> str:
        function, arguments = value.function, value.arguments
        if function is _itself:
            return self.expression(*arguments)
        if function is after:
            return [self.expression(one) for one in arguments][1]
        if function is operator.invert:
            return f"~{self._operand(arguments[0])}"
        if function in OPERATORS:
            return f"{self.expression(arguments[0])} {OPERATORS[function]} {self._operand(arguments[1])}"
        if function is getattr and isinstance(arguments[0], ModuleType):
            return self._imported_name(arguments[0].__name__, arguments[1])
        if function is getattr:
            return f"{self._operand(arguments[0])}.{arguments[1]}"
        if function is operator.getitem:
            return f"{self._operand(arguments[0])}[{self._place(arguments[1])}]"
        if function is each:
            items, make = arguments
            item = make.__code__.co_varnames[0]
            return f"[{self.expression(make(Computation(None, variable=item)))} for {item} in {self.expression(items)}]"
        called, given = self.expression(function), list(map(self.expression, arguments))
        given += [f"{name}={self.expression(one)}" for name, one in value.keywords.items()]
        return f"{called}({', '.join(given)})"

    def _operand(self, value: object) -> str:
        written = self.expression(value)
        composed = isinstance(value, Computation) and not value.variable and value.function in (*OPERATORS, operator.invert)
        return f"({written})" if composed else written

    def _place(self, place: object) -> str:
        if isinstance(place, slice):
            return ":".join("" if end is None else self.expression(end) for end in (place.start, place.stop))
        return ", ".join(map(self._place, place)) if isinstance(place, tuple) and place else self.expression(place)

    def _imported(self, function: Callable[..., object]) -> str:
        name = function.__qualname__
        if getattr(builtins, name, None) is function:  # `open` is of another module: "io", or "_io" in later Pythons
            return name
        return self._imported_name(function.__module__, name)

    def _imported_name(self, module: str, name: str) -> str:
        self.imports.setdefault("tx_core" if tx_core.HOMES.get(name) == module else module, set()).add(name)
        return f"np.{name}" if module == "numpy" else name

    def _import_types(self, value: object) -> None:
        """Import the classes that the `repr` of a record names."""
        if is_dataclass(value):
            self._imported(type(value))
            for part in fields(value):
                self._import_types(getattr(value, part.name))
        elif isinstance(value, list | tuple):
            for part in value:
                self._import_types(part)
