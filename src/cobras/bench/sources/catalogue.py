"""Which files the tasks are made of, what is recorded of their content, and where they are looked for."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from cobras.core.exceptions import InvalidDataError
from cobras.data.cache import cache_folder

REPOSITORY = "https://raw.githubusercontent.com/datasets/openml-datasets"
COMMIT = "33fdb1a80bb44d92180fba7af46ef0622d54e52b"


@dataclass(frozen=True, slots=True)
class RecordedTable:
    """What is recorded of a table of the UCI repository, to recognise a good copy.

    `step` is the unit in which the checksum compares numbers. Two tables need a coarse one, because their copies
    differ in the digits they print: six or eight for segmentation, two decimals or all for column_2C. No value of
    theirs lies so near to the middle between two multiples of the step that this could change its rounding.
    """

    openml: int  # number of the data set at OpenML
    n_features: int
    classes: dict[str, int]  # number of rows of each
    checksum: str
    n_missing: int = 0  # cells
    step: float = 1e-6

    @property
    def n_rows(self) -> int:
        """The number of rows, duplicates included."""
        return sum(self.classes.values())


@dataclass(frozen=True, slots=True)
class RecordedTexts:
    """What is recorded of a set of newsgroups."""

    classes: dict[str, int]
    checksum: str


@dataclass(frozen=True, slots=True)
class RecordedFile:
    """A CSV file of the GitHub repository datasets/openml-datasets, which took it from OpenML in 2018."""

    file: str  # its name there, without the suffix
    sha256: str  # of its bytes

    @property
    def address(self) -> str:
        """Where it is downloaded from; the commit is part of it, so it names the same bytes for ever."""
        return f"{REPOSITORY}/{COMMIT}/data/{self.file}/{self.file}.csv"


_recorded = tomllib.loads((files("cobras.bench.sources") / "recorded.toml").read_text(encoding="utf-8"))
TABLES = {name: RecordedTable(**values) for name, values in _recorded["tables"].items()}
UNSEEN = {name: RecordedFile(**values) for name, values in _recorded["unseen"].items()}
TEXTS = {name: RecordedTexts(**values) for name, values in _recorded["texts"].items()}
FACES = {f"faces-{column}": column for column in ("identity", "pose", "expression", "eyes")}
FACES_FILES = ("cmu_faces_efficientnet_lite0.npz", "cmu_faces_targets.csv")
VECTORS = {"clinc150": "clinc150_minilm.npz"}  # 4,500 requests in 150 intents, embedded by all-MiniLM-L6-v2
FACES_CHECKSUM = "24565a3cb0652f7e"  # of the features alone


def files_of(name: str) -> tuple[str, ...]:
    """The files a task is made of.

    Examples
    --------
    >>> files_of("iris"), files_of("newsgroups-sim")
    (('iris.csv',), ('newsgroups-sim.jsonl.gz',))
    """
    if name in FACES:
        return FACES_FILES
    if name in VECTORS:
        return (VECTORS[name],)
    return (f"{name}.jsonl.gz" if name in TEXTS else f"{name}.csv",)


def data_folder(folder: Path | None) -> Path | None:
    """The folder with data, given by argument or by `COBRAS_DATA`; it must exist."""
    given = str(folder) if folder is not None else os.environ.get("COBRAS_DATA", "")
    if not given:
        return None
    if not Path(given).is_dir():
        origin = "" if folder is not None else ", which COBRAS_DATA names"
        raise InvalidDataError(f"There is no folder {given}{origin}; give the folder with the data files.")
    return Path(given)


def find_files(name: str, folder: Path | None) -> tuple[list[Path], str]:
    """The files of a task and where they lie: in the given "folder", in the "cache", or "missing".

    Where a file is missing, the list holds those that are in the cache.
    """
    given, names = data_folder(folder), files_of(name)
    found: list[Path] = []
    for place, word in ((given, "folder"), (cache_folder(), "cache")):
        found = [place / file for file in names if (place / file).is_file()] if place is not None else []
        if len(found) == len(names):
            return found, word
    return found, "missing"
