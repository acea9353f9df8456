"""Session files under kills, full disks and damage."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cobras.core.exceptions import SessionFileError
from cobras.core.types import Event
from cobras.session.journal import Journal
from tests.session.journals import MEMORY, posix, written

KILLS = """
import os, random, signal, struct, sys, time
from cobras.session.journal import Journal
from cobras.core.types import Event
from tests.session.journals import MEMORY, posix, written

folder, kills = sys.argv[1], int(sys.argv[2])
draw = random.Random(0)
early = late = 0
for kill in range(kills):
    fresh = kill % 3 == 0
    if fresh:
        path, known = f"{folder}/{kill}.cobras", 0
    wait = draw.uniform(0, 0.006 if fresh and kill % 2 else 0.03)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            journal = Journal(path)
            n = len(journal.events())
            while True:
                journal.append(Event("answer", {"n": n, "text": "x" * (n * 37 % 6000)}))
                n += 1
                os.write(writer, struct.pack("<q", n))
        except BaseException as error:
            print(error, file=sys.stderr, flush=True)
        finally:
            os._exit(1)
    os.close(writer)
    time.sleep(wait)
    os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, status
    with open(reader, "rb") as pipe:
        acknowledged = [n for (n,) in struct.iter_unpack("<q", pipe.read())]
    known = acknowledged[-1] if acknowledged else known
    with Journal(path) as journal:
        found = [event.body["n"] for event in journal.events()]
    assert found == list(range(len(found))), found
    assert known <= len(found) <= known + 1, (known, len(found))
    known = len(found)
    early += fresh and not acknowledged
    late += bool(acknowledged)
print(early, late)
"""


@posix
def test_no_acknowledged_event_is_lost_by_a_kill(tmp_path: Path) -> None:
    kills = 500 if os.environ.get("COBRAS_SOAK") else 50
    done = subprocess.run(
        [sys.executable, "-c", KILLS, tmp_path, str(kills)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    early, late = map(int, done.stdout.split())
    assert early > 0, "no kill came before the first acknowledgement of a new file"
    assert late > 0, "no kill came after an acknowledgement"


FULL = """
import resource, sys
from cobras.core.exceptions import SessionFileError
from cobras.session.journal import Journal
from cobras.core.types import Event
from tests.session.journals import MEMORY, posix, written

limits = resource.getrlimit(resource.RLIMIT_FSIZE)
with Journal(sys.argv[1]) as journal:
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    n = 0
    try:
        while n < 1000:
            journal.append(Event("answer", {"n": n, "text": "x" * 1000}))
            n += 1
    except SessionFileError as error:
        print(error)
    try:
        journal.set_meta(small=1, large=b"x" * 200_000)
    except SessionFileError as error:
        print(error)
    assert journal.get_meta("small") is None
    assert [event.body["n"] for event in journal.events()] == list(range(n)), n
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    journal.append(Event("answer", {"n": n}))
with Journal(sys.argv[1]) as journal:
    assert [event.body["n"] for event in journal.events()] == list(range(n + 1)), n
"""


@posix
def test_a_full_disk_is_said_and_harms_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, tmp_path / "s.cobras"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("s.cobras could not be read or written") == 2


def test_damage_says_how_many_events_are_readable(tmp_path: Path) -> None:
    path = tmp_path / "s.cobras"
    made = written(path, 210)
    data = bytearray(path.read_bytes())
    at = data.index(b'"n": 200,')
    for change in (at + 5, slice(at // 4096 * 4096, at // 4096 * 4096 + 8)):  # a digit; the head of a page
        damaged = data.copy()
        damaged[change] = b"9"[0] if isinstance(change, int) else b"\xff" * 8
        path.write_bytes(damaged)
        with Journal(path) as journal:
            with pytest.raises(
                SessionFileError, match=r"is damaged after the first (\d+) events\."
            ) as caught:
                journal.events()
            readable = int(str(caught.value).split()[6])
            assert readable == 200 if isinstance(change, int) else 100 < readable <= 200
            assert journal.get_meta("seed") == 7
    path.write_bytes(data)
    with Journal(path) as journal:
        assert list(journal.events()) == made


def test_damaged_meta_is_said(tmp_path: Path) -> None:
    path = tmp_path / "s.cobras"
    with Journal(path) as journal:
        journal.set_meta(fingerprint="abcdef")
    path.write_bytes(path.read_bytes().replace(b'"abcdef"', b'"abcdeg"'))
    with Journal(path) as journal, pytest.raises(SessionFileError, match="its fingerprint cannot be read"):
        journal.get_meta("fingerprint")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[Event]]:
    path = tmp_path_factory.mktemp("sound") / "s.cobras"
    made = written(path, 120)
    return path.read_bytes(), made


@settings(max_examples=400, deadline=timedelta(seconds=10))
@given(data=st.data())
def test_damage_anywhere_gives_a_prefix_or_one_sentence(
    sound: tuple[bytes, list[Event]], data: st.DataObject
) -> None:
    content, made = sound
    places = st.integers(0, len(content) - 1) | st.integers(0, 99) | st.integers(3400, 4200)
    damaged = bytearray(content)
    for at, mask in data.draw(st.lists(st.tuples(places, st.integers(1, 255)), max_size=5)):
        damaged[at] ^= mask
    del damaged[data.draw(st.just(len(content)) | st.integers(0, len(content))) :]
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        path = Path(folder, "s.cobras")
        path.write_bytes(damaged)
        try:
            with Journal(path) as journal:
                found = list(journal.events())
                assert found == made[: len(found)]
                assert journal.get_meta("seed") in (7, None)
                assert journal.get_meta("model") in (b"\0" * 5000, None)
                assert len(found) == len(made) or damaged != content
                journal.append(Event("answer"))
        except SessionFileError:
            assert damaged != content
        Path(folder, "s.cobras").unlink()  # nothing holds it any more, on Windows either
