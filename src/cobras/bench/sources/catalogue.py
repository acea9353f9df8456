"""Which files the tasks are made of, what is recorded of their content, and where they are looked for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from cobras.core.exceptions import InvalidDataError
from cobras.data.cache import cache_folder


@dataclass(frozen=True, slots=True)
class Table:
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
class Texts:
    """What is recorded of a set of newsgroups."""

    classes: dict[str, int]
    checksum: str


TABLES = {
    "iris": Table(
        61, 4, {"Iris-setosa": 50, "Iris-versicolor": 50, "Iris-virginica": 50}, "c37ef2dafac7a231"
    ),
    "wine": Table(187, 13, {"1": 59, "2": 71, "3": 48}, "b0dfdb18254e042a"),
    "dermatology": Table(
        *(35, 34),
        {
            **{"chronic_dermatitis": 52, "lichen_planus": 72, "pityriasis_rosea": 49},
            **{"pityriasis_rubra_pilaris": 20, "psoriasis": 112, "seboreic_dermatitis": 61},
        },
        "8e2b98ac5a66b42d",
        n_missing=8,
    ),
    "hepatitis": Table(55, 19, {"die": 32, "live": 123}, "ee1a7d25c5facb09", n_missing=167),
    "glass": Table(
        *(41, 9),
        {
            **{"building_windows_float": 70, "building_windows_non_float": 76, "containers": 13},
            **{"headlamps": 29, "tableware": 9, "vehicle_windows_float": 17},
        },
        "a3a9fd8afe2a1c83",
    ),
    "ionosphere": Table(59, 34, {"bad": 126, "good": 225}, "3a504d3440cf9ae5"),
    "optdigits389": Table(28, 64, {"3": 572, "8": 554, "9": 562}, "c1d35a3dc466c352"),
    "ecoli": Table(
        *(39, 7),
        {"cp": 143, "im": 77, "imL": 2, "imS": 2, "imU": 35, "om": 20, "omL": 5, "pp": 52},
        "960f83e8089f67a0",
    ),
    "breast-cancer-wisconsin": Table(
        15, 9, {"benign": 458, "malignant": 241}, "6587398e0ff03bce", n_missing=16
    ),
    "segmentation": Table(
        *(36, 19),
        dict.fromkeys(("brickface", "cement", "foliage", "grass", "path", "sky", "window"), 330),
        "c3ad5bcfb66974e7",
        step=0.25,
    ),
    "column_2C": Table(1524, 6, {"abnormal": 210, "normal": 100}, "ea46f29f78e24ab4", step=6.328),
    "parkinsons": Table(1488, 22, {"healthy": 48, "parkinsons": 147}, "f6c10cdb7d327722"),
    "spambase": Table(44, 57, {"ham": 2788, "spam": 1813}, "ae7ee6be369034ce"),
    "sonar": Table(40, 60, {"mine": 111, "rock": 97}, "9b9dba62ddf8afc7"),
    "yeast": Table(
        *(181, 8),
        {
            **{"CYT": 463, "ERL": 5, "EXC": 35, "ME1": 44, "ME2": 51},
            **{"ME3": 163, "MIT": 244, "NUC": 429, "POX": 20, "VAC": 30},
        },
        "7fa45878e9b968a7",
    ),
}
FACES = {f"faces-{column}": column for column in ("identity", "pose", "expression", "eyes")}
FACES_FILES = ("cmu_faces_efficientnet_lite0.npz", "cmu_faces_targets.csv")
FACES_CHECKSUM = "24565a3cb0652f7e"  # of the features
TEXTS = {
    "newsgroups-sim": Texts(
        {"comp.graphics": 973, "comp.os.ms-windows.misc": 985, "comp.windows.x": 988}, "845b8eeab36e1c20"
    ),
    "newsgroups-diff": Texts(
        {"alt.atheism": 799, "rec.sport.baseball": 994, "sci.space": 987}, "ba643798753cc696"
    ),
}


def files_of(name: str) -> tuple[str, ...]:
    """The files a task is made of.

    Examples
    --------
    >>> files_of("iris"), files_of("newsgroups-sim")
    (('iris.csv',), ('newsgroups-sim.jsonl.gz',))
    """
    if name in FACES:
        return FACES_FILES
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
    given, files = data_folder(folder), files_of(name)
    found: list[Path] = []
    for place, word in ((given, "folder"), (cache_folder(), "cache")):
        found = [place / file for file in files if (place / file).is_file()] if place is not None else []
        if len(found) == len(files):
            return found, word
    return found, "missing"
