"""Good files of every format, and kinds of damage: each file with each damage is one of some four hundred."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.data.odd.test_fuzz import GOOD as FILES
from tests.data.odd.test_fuzz import content

GOOD = {**FILES, "t.xlsx": content("write_excel")}
HUGE = struct.pack("<I", 2**31 - 1)


def middle(data: bytes) -> int:
    """The place of half of the file."""
    return len(data) // 2


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut at the end": lambda data: data[:-1],
    "cut in the middle": lambda data: data[: middle(data)],
    "only its beginning": lambda data: data[:16],
    "without its beginning": lambda data: data[16:],
    "empty": lambda data: b"",
    "twice": lambda data: 2 * data,
    "junk behind": lambda data: data + b"\xff\0junk" * 100,
    "junk in front": lambda data: b"\xff\0junk" + data,
    "zeros in the middle": lambda data: data[: middle(data)] + bytes(64) + data[middle(data) + 64 :],
    "ones in the middle": lambda data: data[: middle(data)] + b"\xff" * 64 + data[middle(data) + 64 :],
    "ones at the end": lambda data: data[:-32] + b"\xff" * 32,
    "a huge number at the beginning": lambda data: data[:8] + HUGE + data[12:],
    "a huge number in the middle": lambda data: data[: middle(data)] + HUGE + data[middle(data) + 4 :],
    "a huge number at the end": lambda data: data[:-12] + HUGE + data[-8:],
    "a hole in the middle": lambda data: data[: middle(data) - 20] + data[middle(data) + 20 :],
    "a flipped bit in every 97th byte": lambda data: bytes(b ^ (k % 97 == 50) for k, b in enumerate(data)),
    "backwards": lambda data: data[::-1],
    "all upper case": lambda data: data.upper(),
}
SUFFIXES = {"t.parquet", "t.xlsx", "t.csv", "t.npy"}  # whose content also comes under the other names


def damaged_files() -> Iterator[tuple[str, str, bytes]]:
    """What is wrong with each file, its name and its content."""
    for name, data in GOOD.items():
        for damage, change in DAMAGES.items():
            yield f"{name}: {damage}", name, change(data)
    for name in sorted(SUFFIXES):
        for other in sorted(SUFFIXES - {name}):
            yield f"{name} called {other}", other, GOOD[name]


def write_folder(folder: Path, name: str, data: bytes) -> Path:
    """Write a file, images and texts beside good ones, and return what is to be read."""
    folder.mkdir(parents=True)
    (folder / name).write_bytes(data)
    if not name.startswith("x."):
        return folder / name
    for k in range(3):
        good = f"good{k}.txt" if name == "x.txt" else f"good{k}.png"
        (folder / good).write_bytes(GOOD["x.txt" if name == "x.txt" else "x.png"])
    return folder
