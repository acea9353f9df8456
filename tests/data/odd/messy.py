"""Twenty files as people have them, each with what it holds: all must be read right without an option.

    python -m tests.data.odd.messy

prints what was read of each, as the table in docs/guides/data.md.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

import numpy as np
from PIL import Image

from cobras.data import Dataset, read_dataset

N = 40
RNG = np.random.default_rng(7)
AMOUNTS = RNG.uniform(200, 90_000, N).round(2)
AMOUNTS[0] = 1_234.5
SHARES = RNG.uniform(0, 100, N).round(1)
COUNTS = RNG.integers(0, 400, N)
DAYS = [date(2021, 1, 1) + timedelta(int(days)) for days in RNG.integers(0, 900, N)]
WORDS = RNG.choice(["north", "south", "west"], N)

Value = float | date | None


@dataclass(frozen=True)
class Messy:
    """A file, what is wrong with it, and what it holds.

    `columns` says for each column how it is to be used and of what type it is, `values` what its features mean.
    """

    mess: str
    make: Callable[[Path], Path]
    columns: Mapping[str, str]
    values: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    kind: str = "table"
    n: int = N


def lines(
    name: str, header: Sequence[str], *columns: Sequence[object], **options: str
) -> Callable[[Path], Path]:
    """A delimited file of some columns; `before` and `after` are put around them."""
    delimiter = options.get("delimiter", ",")

    def cell(value: object) -> str:
        text = "" if value is None else str(value)
        return f'"{text}"' if delimiter in text or "\n" in text else text

    def make(folder: Path) -> Path:
        rows = [delimiter.join(map(cell, row)) for row in (header, *zip(*columns, strict=True))]
        text = options.get("before", "") + "\n".join(rows) + "\n" + options.get("after", "")
        (folder / name).write_bytes(text.encode(options.get("encoding", "utf-8")))
        return folder / name

    return make


def english(x: float) -> str:
    return f"{x:,.2f}"


def german(x: float) -> str:
    return english(x).translate(str.maketrans(",.", ".,"))


def some(values: Sequence[object], gaps: Mapping[int, object]) -> list[object]:
    return [gaps.get(i, value) for i, value in enumerate(values)]


def without(values: Sequence[float], gaps: Sequence[int]) -> list[Value]:
    return [None if i in gaps else float(value) for i, value in enumerate(values)]


def report(folder: Path) -> Path:
    """A workbook with a cover, a title above the table and a word among the numbers."""
    import xlsxwriter

    with xlsxwriter.Workbook(folder / "report.xlsx") as book:
        book.add_worksheet("Read me").write_column(0, 0, ["Quarterly report", "", "for internal use only"])
        sheet = book.add_worksheet("Figures")
        sheet.write(1, 0, "Sales by shop")
        sheet.write_row(2, 0, ["as of", "2024-03-31"])
        sheet.write_row(4, 0, ["shop", "region", "sales", "returns"])
        for i in range(N):
            row = [f"S-{100 + 7 * i}", str(WORDS[i]), AMOUNTS[i], "n/a" if i == 3 else int(COUNTS[i])]
            sheet.write_row(5 + i, 0, row)
    return folder / "report.xlsx"


def pictures(folder: Path) -> Path:
    """A table with the bare names of images, which lie in a folder beside it."""
    (folder / "img").mkdir()
    for i in range(N):
        colour = tuple(int(c) for c in RNG.integers(0, 255, 3))
        Image.new("RGB", (32, 24), colour).save(folder / "img" / f"item{i:03}.png")
    make = lines("catalogue.csv", ["picture", "price"], [f"item{i:03}.png" for i in range(N)], COUNTS)
    return make(folder)


def embeddings(folder: Path) -> Path:
    np.save(folder / "embeddings.npy", UNIT)
    return folder / "embeddings.npy"


def feed(folder: Path) -> Path:
    rows = [
        {"sku": f"A{i}X{COUNTS[i]}", "price": f"{AMOUNTS[i]:.2f}", "stock": int(COUNTS[i])} for i in range(N)
    ]
    rows[5]["price"] = None  # type: ignore[assignment]
    (folder / "feed.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder / "feed.jsonl"


def written(day: date, way: int) -> str:
    formats = ("%Y-%m-%d", "%d/%m/%Y", "%b %d, %Y", "%d.%m.%y")
    return day.strftime(formats[way % len(formats)])


UNIT = RNG.normal(size=(N, 16)).astype(np.float32)
UNIT /= np.linalg.norm(UNIT, axis=1, keepdims=True)
HEIGHTS = RNG.integers(150, 200, N)
YES = RNG.integers(0, 2, N).astype(bool)
SUBJECTS = ("the printer in room", "the invoice of order", "the screen of laptop", "the password of account")
BODIES = [
    f"Hello, since yesterday {SUBJECTS[i % 4]} {100 + 3 * i} does not work any more, please have a look at it."
    for i in range(N)
]
TICKETS = [48_211 + 13 * i for i in range(N)]
PRIORITIES = RNG.choice(["low", "high"], N)
TITLES = "Sales by shop\nexported 2024-03-31, all figures in euro\n\n"
INCOME = some([round(x) for x in AMOUNTS], {2: "unknown", 9: "n/a", 17: "-", 30: "none", 33: "?"})
RATES = some([f"{x} %" for x in SHARES], {4: "n/a"})
SALES = [english(x) for x in AMOUNTS]
ORDERED = some([written(day, i) for i, day in enumerate(DAYS)], {6: "tbd"})
SENSORS = [f"SN-{(i * 7919) % 10_007:05}" for i in range(N)]
EUROS = [f"{german(x)} €" for x in AMOUNTS]
VENTES = [german(x).replace(".", "\u202f") for x in AMOUNTS]
NUMBERS = {"sales": [float(x) for x in AMOUNTS]}

MESSY: dict[str, Messy] = {
    "shops.csv": Messy(
        "1,234.50",
        lines("shops.csv", ["sales", "staff"], SALES, COUNTS),
        {"sales": "used number", "staff": "used number"},
        NUMBERS,
    ),
    "umsatz.csv": Messy(
        "1.234,50 €, semicolons, Latin-1",
        lines("umsatz.csv", ["Umsatz", "Größe"], EUROS, COUNTS, delimiter=";", encoding="cp1252"),
        {"Umsatz": "used number", "Größe": "used number"},
        {"Umsatz": NUMBERS["sales"]},
    ),
    "ventes.csv": Messy(
        "1 234,50 with narrow blanks",
        lines("ventes.csv", ["ventes", "région"], VENTES, WORDS, delimiter=";"),
        {"ventes": "used number", "région": "used category"},
        {"ventes": NUMBERS["sales"]},
    ),
    "ledger.csv": Messy(
        "$1,234.50, and ($99.00) for less than zero",
        lines(
            "ledger.csv",
            ["balance", "branch"],
            [f"(${english(x)})" if i % 5 == 0 else f"${english(x)}" for i, x in enumerate(AMOUNTS)],
            WORDS,
        ),
        {"balance": "used number", "branch": "used category"},
        {"balance": [-x if i % 5 == 0 else x for i, x in enumerate(NUMBERS["sales"])]},
    ),
    "francs.csv": Messy(
        "CHF 1'234.50",
        lines(
            "francs.csv", ["sum", "age"], [f"CHF {english(x).replace(',', chr(39))}" for x in AMOUNTS], COUNTS
        ),
        {"sum": "used number", "age": "used number"},
        {"sum": NUMBERS["sales"]},
    ),
    "survey.csv": Messy(
        "unknown, n/a, -, none and ? among numbers",
        lines("survey.csv", ["income", "region"], INCOME, WORDS),
        {"income": "used number", "region": "used category"},
        {"income": without([round(x) for x in AMOUNTS], [2, 9, 17, 30, 33])},
    ),
    "rates.csv": Messy(
        "percent, one cell not available",
        lines("rates.csv", ["rate", "count"], RATES, COUNTS),
        {"rate": "used number", "count": "used number"},
        {"rate": without(SHARES.tolist(), [4])},
    ),
    "bodies.csv": Messy(
        "180 cm beside 1.75 m, and kg",
        lines(
            "bodies.csv",
            ["height", "weight"],
            [f"{x} cm" if i % 3 else f"{x / 100:.2f} m" for i, x in enumerate(HEIGHTS)],
            [f"{x}kg" for x in COUNTS],
        ),
        {"height": "used number", "weight": "used number"},
        {"height": HEIGHTS.tolist(), "weight": COUNTS.tolist()},
    ),
    "notes.csv": Messy(
        "one remark in a column of numbers",
        lines("notes.csv", ["amount", "count"], some(AMOUNTS.tolist(), {11: "see invoice"}), COUNTS),
        {"amount": "used number", "count": "used number"},
        {"amount": without(AMOUNTS.tolist(), [11])},
    ),
    "orders.csv": Messy(
        "dates in four formats, one tbd",
        lines("orders.csv", ["ordered", "pieces"], ORDERED, COUNTS),
        {"ordered": "used date", "pieces": "used number"},
        {"ordered": [None if i == 6 else day for i, day in enumerate(DAYS)]},
    ),
    "members.csv": Messy(
        "yes, Yes, Y, no, N and unknown",
        lines(
            "members.csv",
            ["active", "age"],
            some(
                [("yes", "Yes", "Y")[i % 3] if yes else ("no", "N")[i % 2] for i, yes in enumerate(YES)],
                {8: "unknown"},
            ),
            COUNTS,
        ),
        {"active": "used yes/no", "age": "used number"},
    ),
    "cities.csv": Messy(
        "Berlin, berlin and ' BERLIN'",
        lines(
            "cities.csv",
            ["city", "rent"],
            [
                (str.title, str.lower, str.upper)[i % 3](("paris", "berlin")[int(yes)]) + " " * (i % 2)
                for i, yes in enumerate(YES)
            ],
            AMOUNTS,
        ),
        {"city": "used category", "rent": "used number"},
    ),
    "tickets.csv": Messy(
        "ticket numbers, and a column of texts called body",
        lines("tickets.csv", ["ticket", "priority", "body"], TICKETS, PRIORITIES, BODIES),
        {"ticket": "name number", "priority": "ignored category", "body": "used text"},
        kind="text",
    ),
    "sensors.csv": Messy(
        "codes of sensors that are all different",
        lines("sensors.csv", ["sensor", "site", "volt"], SENSORS, WORDS, SHARES),
        {"sensor": "name text", "site": "used category", "volt": "used number"},
    ),
    "zips.csv": Messy(
        "codes that begin with 0 and are no numbers",
        lines("zips.csv", ["zip", "rent"], [("01067", "04109", "10115")[i % 3] for i in range(N)], AMOUNTS),
        {"zip": "used category", "rent": "used number"},
    ),
    "titles.csv": Messy(
        "three lines above the header, empty rows below",
        lines(
            "titles.csv",
            ["shop", "region", "sales"],
            [f"S{i}" for i in range(N)],
            WORDS,
            SALES,
            before=TITLES,
            after=",,\n,,\n",
        ),
        {"shop": "name text", "region": "used category", "sales": "used number"},
        NUMBERS,
    ),
    "report.xlsx": Messy(
        "a cover sheet, two lines above the header, n/a",
        report,
        {"shop": "name text", "region": "used category", "sales": "used number", "returns": "used number"},
        {**NUMBERS, "returns": without(COUNTS.tolist(), [3])},
    ),
    "catalogue.csv": Messy(
        "bare names of images in the folder img",
        pictures,
        {"picture": "used image", "price": "ignored number"},
        kind="image",
    ),
    "embeddings.npy": Messy(
        "rows of length 1, not to be scaled",
        embeddings,
        {f"column_{k}": "used number" for k in range(1, 17)},
    ),
    "feed.jsonl": Messy(
        "numbers as strings, one null",
        feed,
        {"sku": "name text", "price": "used number", "stock": "used number"},
        {"price": without(AMOUNTS.tolist(), [5])},
    ),
}


def faults(dataset: Dataset, messy: Messy) -> list[str]:
    """What of a data set is not as it should be, a sentence each."""
    found = []
    if (dataset.kind, len(dataset)) != (messy.kind, messy.n):
        found.append(f"{len(dataset)} items of kind {dataset.kind}")
    columns = {column.name: f"{column.use} {column.type}" for column in dataset.column_info}
    found += [
        f"{name}: {columns.get(name)}" for name, use in messy.columns.items() if columns.get(name) != use
    ]
    found += [
        f"{name}: {use}, which is too many" for name, use in columns.items() if name not in messy.columns
    ]
    for name, values in messy.values.items():
        if name not in dataset.columns:
            found.append(f"{name} is no feature")
            continue
        if not np.allclose(dataset.X[:, dataset.columns.index(name)], scaled(values)):
            found.append(f"{name} has other values")
    return found


def scaled(values: Sequence[Value]) -> np.ndarray:
    """The feature that values should become: gaps filled with the median, then scaled to [0, 1]."""
    numbers = [value.toordinal() if isinstance(value, date) else value for value in values]
    x = np.array([np.nan if value is None else value for value in numbers], float)
    x = np.where(np.isnan(x), np.nanmedian(x), x)
    return (x - x.min()) / (x.max() - x.min())


def main() -> None:
    """Print a line for each file: what is wrong with it, what was read, and whether that is right."""
    print("| file | what is in it | read as | right |\n|---|---|---|---|")
    n_right = 0
    for name, messy in MESSY.items():
        with tempfile.TemporaryDirectory() as folder:
            dataset = read_dataset(messy.make(Path(folder)))
            wrong = faults(dataset, messy)
            n_right += not wrong
            columns = [f"{c.name}: {c.use} {c.type}" for c in dataset.column_info]
            shown = "; ".join(columns if len(columns) < 6 else [f"{len(columns)} columns, as they are"])
            print(f"| `{name}` | {messy.mess} | {shown} | {'; '.join(wrong) or 'yes'} |")
    print(f"\n{n_right} of {len(MESSY)} files are read right.")


if __name__ == "__main__":
    main()
