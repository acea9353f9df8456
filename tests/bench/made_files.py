"""Copies of the benchmark's files: real ones where `COBRAS_DATA` names them, else made ones of the same format."""

import os
from pathlib import Path

import numpy as np

from cobras.bench.sources.catalogue import FACES, FACES_FILES, TABLES, TEXTS
from cobras.bench.sources.prepare import write_table, write_texts

REAL = Path(os.environ["COBRAS_DATA"]) if os.environ.get("COBRAS_DATA") else None

HEPATITIS = [
    *("AGE", "SEX", "STEROID", "ANTIVIRALS", "FATIGUE", "MALAISE", "ANOREXIA", "LIVER_BIG", "LIVER_FIRM"),
    *("SPLEEN_PALPABLE", "SPIDERS", "ASCITES", "VARICES", "BILIRUBIN", "ALK_PHOSPHATE", "SGOT", "ALBUMIN"),
    *("PROTIME", "HISTOLOGY"),
]
# The codes 1 and 2 in the words of OpenML's file, where the usual answer is declared first; the rest are numbers.
NUMBERS = {"AGE", "BILIRUBIN", "ALK_PHOSPHATE", "SGOT", "ALBUMIN", "PROTIME"}
ONE_IS_NO = {"STEROID", "LIVER_BIG", "HISTOLOGY"}
IN_WORDS = {
    column: {"1": "no", "2": "yes"} if column in ONE_IS_NO else {"1": "yes", "2": "no"}
    for column in HEPATITIS
    if column not in NUMBERS
} | {"SEX": {"1": "female", "2": "male"}}


def random_table(name):
    """Random rows with the recorded shape, class sizes and missing cells; five rows come twice."""
    recorded = TABLES[name]
    rng = np.random.default_rng(recorded.openml)
    target = np.repeat(list(recorded.classes), list(recorded.classes.values()))
    X = np.round(rng.normal(size=(recorded.n_rows, recorded.n_features)), 2) + 0.0
    if name == "hepatitis":
        words = [k for k, column in enumerate(HEPATITIS) if column in IN_WORDS]
        X[:, words] = rng.integers(1, 3, size=(len(X), len(words)))
    if name == "dermatology":
        X[:, :33] = rng.integers(0, 4, size=(len(X), 33))
    common = np.flatnonzero(target == max(recorded.classes, key=recorded.classes.get))
    X[common[5:10]] = X[common[:5]]
    others = np.delete(np.arange(len(X)), common[:10])
    cells = rng.choice(len(others) * X.shape[1], size=recorded.n_missing, replace=False)
    X[others[cells // X.shape[1]], cells % X.shape[1]] = np.nan
    order = rng.permutation(len(X))
    return [f"feature_{k}" for k in range(X.shape[1])], X[order], target[order]


def random_texts(name, n=30):
    """Documents of words that their group prefers."""
    rng = np.random.default_rng(len(name))
    documents = []
    for group in TEXTS[name].classes:
        for k in range(n):
            words = [
                f"{topic}{w}"
                for topic in (group.replace(".", ""), "common")
                for w in rng.integers(12, size=9)
            ]
            text = f"From: somebody\nSubject: {words[0]}\n\n{' '.join(words)} écrit\n"
            split = "train" if k % 3 else "test"
            documents.append({"id": f"{group}/{1000 + k}", "split": split, "target": group, "text": text})
    return documents


def make_folder(folder):
    """Put every file of the paper's tasks into a folder."""
    for name in TABLES:
        write_table(folder / f"{name}.csv", *random_table(name))
    for name in TEXTS:
        write_texts(folder / f"{name}.jsonl.gz", random_texts(name))
    make_faces(folder)


def make_faces(folder):
    rng = np.random.default_rng(0)
    names = [f"face{k}" for k in range(60)]
    with (folder / FACES_FILES[0]).open("wb") as file:
        np.savez(file, features=rng.normal(size=(60, 32)).astype(np.float32), names=np.array(names))
    columns = {column: rng.choice(["p", "q", "r"], size=60) for column in FACES.values()}
    lines = [",".join(row) for row in zip(names, *columns.values(), strict=True)]
    (folder / FACES_FILES[1]).write_text("\n".join([",".join(["image", *columns]), *lines, ""]))


def arff_file(name, X, target):
    """A table in the words of OpenML: its file, and the types of its columns, the last of which is the class."""
    classes = TABLES[name].classes
    # OpenML has other names for classes: those of different sizes are known by their sizes.
    if len(set(classes.values())) == len(classes) and name != "optdigits389":
        renamed = {group: f"'class {len(classes) - k}'" for k, group in enumerate(classes)}
        target = np.array([renamed[group] for group in target.tolist()])
    columns = [["?" if np.isnan(x) else f"{x:.15g}" for x in column] for column in X.T]
    names = HEPATITIS if name == "hepatitis" else [f"V{k + 1}" for k in range(len(columns))]
    kinds = ["REAL"] * len(columns)
    for k, column in enumerate(names):
        if column in IN_WORDS:
            columns[k] = [IN_WORDS[column].get(cell, "?") for cell in columns[k]]
            kinds[k] = "{ male, female}" if column == "SEX" else "{ no, yes}"
        elif name == "dermatology" and k < 33:
            kinds[k] = "{3,1,2,0}"
    extra = ", 'never seen'" if name == "glass" else ""
    kinds.append("{" + ", ".join(dict.fromkeys(target.tolist())) + extra + "}")
    header = [f"@attribute {column} {kind}" for column, kind in zip([*names, "Class"], kinds, strict=True)]
    rows = [",".join(row) for row in zip(*columns, target.tolist(), strict=True)]
    types = ["nominal" if kind.startswith("{") else "numeric" for kind in kinds]
    return "\n".join([f"@relation {name}", *header, "@data", *rows, ""]), [*names, "Class"], types
