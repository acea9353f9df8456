"""What to run: an experiment and the methods that take part, read from a TOML file."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from cobras.core.exceptions import InvalidDataError
from cobras.core.types import BoolArray
from cobras.estimators.active import ActiveClusterer
from cobras.session.oracles import LEVELS

PROTOCOL = {"tasks", "methods", "repetitions", "folds", "queries", "minutes", "seed"}
LIMITS = {"use", "repetitions", "first_folds", "seconds", "person", "boards"}


@dataclass(frozen=True, slots=True)
class Contestant:
    """A method that takes part: what it is, its parameters, and how much of the experiment it runs.

    `use` names an estimator ("package.Class") or a session method ("package:function"). A parameter with the value
    "classes" becomes the true number of clusters, and a table with `use` another estimator.

    `person` and `boards` count in experiments by `minutes`: how well a person answers, see `HumanOracle`, and how
    many cards are sorted at once; 0 for pairs.
    """

    name: str
    use: str
    parameters: dict[str, Any] = field(default_factory=dict)
    repetitions: int | None = None
    first_folds: int | None = None
    seconds: float | None = None
    person: str | None = None
    boards: int = 0

    def make_estimator(self, n_classes: int, max_queries: int, seed: int) -> Any:
        """Make the estimator of one run."""
        values = {name: _parameter(value, n_classes) for name, value in self.parameters.items()}
        given = {"max_queries": max_queries, "random_state": seed}
        if ":" in self.use:
            return SessionMethod(self.use, max_queries, random_state=seed, options=values)
        found = find_estimator(self.use)
        # An estimator that asks nothing, KMeans say, has no max_queries.
        allowed = signature(found).parameters
        try:
            return found(**values, **{name: value for name, value in given.items() if name in allowed})
        except TypeError as error:
            raise InvalidDataError(f"Method {self.name} cannot be made: {error}.") from None


@dataclass(frozen=True, slots=True)
class Experiment:
    """Tasks, contestants and the protocol that is the same for all of them.

    With `minutes`, a person answers, and results are by seconds of their time in place of queries; `queries` is
    then the number of these.
    """

    name: str
    tasks: tuple[Any, ...]
    contestants: tuple[Contestant, ...]
    repetitions: int = 10
    folds: int = 10
    queries: int = 250
    seed: int = 0
    minutes: int | None = None
    home: Path = field(default_factory=Path, compare=False)

    def train_mask(self, n: int, repetition: int, fold: int) -> BoolArray:
        """Which of n instances may be asked about: all but one fold."""
        # The folds of a repetition are parts of one shuffled order, so each instance is in one test fold.
        shuffled = np.random.default_rng([self.seed, repetition]).permutation(n)
        train = np.ones(n, dtype=bool)
        train[shuffled[fold :: self.folds]] = False
        return train

    def run_seed(self, repetition: int, fold: int) -> int:
        """The seed of a run: the same for all methods, another one for each repetition and fold."""
        # Not their sum: a seed sequence keeps the seeds of neighbouring folds independent.
        return int(np.random.SeedSequence([self.seed, repetition, fold]).generate_state(1)[0])


@dataclass(eq=False, repr=False)
class SessionMethod(ActiveClusterer):
    """A session method, by name, as an estimator."""

    method: str
    max_queries: int | None = None
    _: KW_ONLY
    random_state: Any = None
    options: Mapping[str, Any] | None = None

    @property
    def _method(self) -> str:  # type: ignore[override]
        return self.method

    def _options(self) -> dict[str, Any]:
        return dict(self.options or {})


def read_experiment(path: Path) -> Experiment:
    """Read an experiment and make each of its methods once, so that a typing error is found at once."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidDataError(f"There is no file {path}.") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidDataError(f"{path.name} cannot be read as TOML: {error}.") from None
    if unknown := sorted(values.keys() - PROTOCOL):
        raise InvalidDataError(
            f"{path.name} sets {', '.join(unknown)}, but an experiment has only {', '.join(sorted(PROTOCOL))}."
        )
    add_to_path(path.parent)
    methods = values.get("methods")
    if not isinstance(methods, dict) or not methods:
        raise InvalidDataError(f"{path.name} names no method. Add a table such as [methods.COBRAS].")
    contestants = tuple(_contestant(name, table) for name, table in methods.items())
    numbers = {
        key: _at_least(key, values[key], least)
        for key, least in {"repetitions": 1, "folds": 2, "queries": 1, "minutes": 1, "seed": 0}.items()
        if key in values
    }
    if "minutes" in numbers:
        if "queries" in numbers:
            raise InvalidDataError(
                f"{path.name} sets queries and minutes; an experiment goes by one of them."
            )
        numbers["queries"] = 60 * numbers["minutes"]
    for contestant in contestants:
        if (contestant.person is None) != ("minutes" not in numbers):
            raise InvalidDataError(
                f"{contestant.name}: each method names a person where an experiment sets minutes, and only there."
            )
    return Experiment(path.stem, _tasks(path, values.get("tasks")), contestants, **numbers, home=path.parent)


def add_to_path(folder: Path) -> None:
    """Let modules of the user that lie beside the TOML file be imported."""
    if str(folder.resolve()) not in sys.path:
        sys.path.append(str(folder.resolve()))


def find_estimator(use: str) -> type[Any]:
    """An estimator by its dotted name."""
    module, _, name = use.rpartition(".")
    try:
        found: type[Any] = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        raise InvalidDataError(
            f"There is no estimator {use!r}. Write 'package.Class', or 'package:function' for a session method; "
            "the folder of the TOML file is searched too."
        ) from None
    return found


def _tasks(path: Path, given: Any) -> tuple[Any, ...]:
    from cobras.bench.tasks import GROUPS

    if isinstance(given, str) and given in GROUPS:
        return GROUPS[given]
    if not isinstance(given, list) or not given:
        raise InvalidDataError(
            f'{path.name} names no task. Write tasks = "paper", tasks = "unseen", or a list of names.'
        )
    # The path of a table of the user is relative to the TOML file.
    return tuple(
        {**task, "path": str(path.parent / task["path"])}
        if isinstance(task, dict) and "path" in task
        else task
        for task in given
    )


def _contestant(name: str, table: Any) -> Contestant:
    if not isinstance(table, dict) or not isinstance(table.get("use"), str):
        raise InvalidDataError(f'Method {name} needs a line such as use = "cobras.COBRAS".')
    # The name becomes that of a file.
    if "/" in name or name.startswith("."):
        raise InvalidDataError(f"A method cannot be called {name!r}; leave out slashes and a leading dot.")
    limits = {key: table[key] for key in ("repetitions", "first_folds") if key in table}
    numbers = {key: _at_least(f"{key} of {name}", value, 1) for key, value in limits.items()}
    seconds = table.get("seconds")
    if seconds is not None and (
        isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or seconds <= 0
    ):
        raise InvalidDataError(f"seconds of {name} must be a positive number, not {seconds!r}.")
    person, boards = table.get("person"), _at_least(f"boards of {name}", table.get("boards", 0), 0)
    if person is not None and (person not in LEVELS or ":" not in table["use"]):
        raise InvalidDataError(
            f"The person of {name} is one of {', '.join(LEVELS)}, and answers a session method: "
            'use = "package:function".'
        )
    parameters = {key: value for key, value in table.items() if key not in LIMITS}
    contestant = Contestant(
        name, table["use"], parameters, seconds=seconds, person=person, boards=boards, **numbers
    )
    estimator = contestant.make_estimator(n_classes=2, max_queries=1, seed=0)
    if ":" in contestant.use:
        from cobras.methods.registry import all_options, find_method

        all_options(find_method(contestant.use), contestant.parameters)
    elif not hasattr(estimator, "fit"):
        raise InvalidDataError(f"Method {name} uses {contestant.use}, which has no fit.")
    return contestant


def _parameter(value: Any, n_classes: int) -> Any:
    if value == "classes":
        return n_classes
    if isinstance(value, dict) and "use" in value:
        others = {name: _parameter(inner, n_classes) for name, inner in value.items() if name != "use"}
        return find_estimator(value["use"])(**others)
    return value


def _at_least(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidDataError(f"{name} must be a whole number from {least} on, not {value!r}.")
    return value
