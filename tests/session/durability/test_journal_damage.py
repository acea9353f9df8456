"""Session files under kills, full disks and damage."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cobras.core.exceptions import SessionFileError
from cobras.core.types import Event
from cobras.session.journal import Journal
from tests.session.durability.journals import MEMORY, posix, written

KILLS = """
import os, random, signal, struct, sys, time
from cobras.session.journal import Journal
from cobras.core.types import Event
from tests.session.durability.journals import MEMORY, posix, written

folder, kills = sys.argv[1], int(sys.argv[2])
draw = random.Random(0)
early = late = total = 0
for kill in range(kills):
    fresh = kill % 3 == 0
    if fresh:
        path, known = f"{folder}/{kill}.cobras", 0
    # Of new files, every second one is killed while it is created, some at once; the others after something was
    # acknowledged, however long that takes on a busy machine.
    is_early = fresh and kill % 2
    wait = draw.choice((0, 0.006)) * draw.random() if is_early else draw.uniform(0, 0.03)
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
    first = b"" if is_early else os.read(reader, 8)
    time.sleep(wait)
    os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, status
    with open(reader, "rb") as pipe:
        acknowledged = [n for (n,) in struct.iter_unpack("<q", first + pipe.read())]
    known = acknowledged[-1] if acknowledged else known
    with Journal(path) as journal:
        found = [event.body["n"] for event in journal.events()]
    assert found == list(range(len(found))), found
    assert known <= len(found) <= known + 1, (known, len(found))
    known = len(found)
    early += fresh and not acknowledged
    late += bool(acknowledged)
    total += len(acknowledged)
print(early, late, total)
"""


@posix
def test_no_acknowledged_event_is_lost_by_a_kill(tmp_path: Path, report_tried: Callable[..., None]) -> None:
    kills = 500 if os.environ.get("COBRAS_SOAK") else 50
    done = subprocess.run(
        [sys.executable, "-c", KILLS, tmp_path, str(kills)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    early, late, total = map(int, done.stdout.split())
    assert early > 0, "no kill came before the first acknowledgement of a new file"
    assert late > 0, "no kill came after an acknowledgement"
    report_tried("a kill of a journal, also while it is created", kills, acknowledged_events=total)


FULL = """
import resource, sys
from cobras.core.exceptions import SessionFileError
from cobras.session.journal import Journal
from cobras.core.types import Event
from tests.session.durability.journals import MEMORY, posix, written

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
        with pytest.raises(SessionFileError, match=r"is damaged after the first (\d+) events\.") as caught:
            Journal(path)
        readable = int(str(caught.value).split()[6])
        assert readable == 200 if isinstance(change, int) else 100 < readable <= 200
    path.write_bytes(data)
    with Journal(path) as journal:
        assert list(journal.events()) == made


def test_damaged_meta_is_said(tmp_path: Path) -> None:
    path = tmp_path / "s.cobras"
    with Journal(path) as journal:
        journal.set_meta(fingerprint="abcdef")
    path.write_bytes(path.read_bytes().replace(b'"abcdef"', b'"abcdeg"'))
    with pytest.raises(SessionFileError, match="its fingerprint cannot be read"):
        Journal(path)


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


@pytest.mark.parametrize("part", range(4))
def test_one_bit_anywhere_gives_the_same_data_or_one_sentence(
    part: int, report_tried: Callable[..., None]
) -> None:
    """In particular no row vanishes, and a session does not become a new one."""
    made = [Event("answer", {"i": n, "j": n + 1, "answer": n % 2}, at=1e9 + n / 7) for n in range(60)]
    metas = {"parameters": {"method": "cobras", "random_state": 7}, "train": b"\xff" * 19, "note:data": None}
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        path = Path(folder, "s.cobras")
        with Journal(path) as journal:
            journal.set_meta(**metas)
            for event in made:
                journal.append(event)
        content = path.read_bytes()
        n_bits = 8 * len(content)
        # A prime step reaches all bits of a byte; most of a header matters, and comes first.
        bits = range(n_bits) if os.environ.get("COBRAS_SOAK") else [*range(800), *range(800, n_bits, 127)]
        n_said, bits = 0, bits[part::4]
        for bit in bits:
            damaged = bytearray(content)
            damaged[bit // 8] ^= 1 << bit % 8
            path.write_bytes(damaged)
            try:
                with Journal(path) as journal:
                    found = journal.events()
                    assert [(e, e.at) for e in found] == [(e, e.at) for e in made], bit
                    assert not journal.is_new, bit
                    assert {key: journal.get_meta(key) for key in metas} == metas, bit
            except SessionFileError:
                n_said += 1
            for side in ("-wal", "-journal", "-shm"):
                Path(f"{path}{side}").unlink(missing_ok=True)
    assert n_said > 100
    report_tried(
        "a flipped bit in a journal of 60 events", len(bits), refused=n_said, the_same=len(bits) - n_said
    )


# The file goes while the session goes on


def test_every_bit_of_the_index_of_keys(tmp_path: Path) -> None:
    """The index holds the keys a second time, and there a flipped bit may make bytes of a text."""
    path = tmp_path / "s.cobras"
    with Journal(path) as journal:
        journal.set_meta(parameters={"method": "cobras"}, train=b"\xff" * 19)
    content = path.read_bytes()
    # Both places where the key stands: in the table and in the index.
    places = [m.start() for m in re.finditer(b"parameters", content) if m.start() > 4096]
    assert len(places) == 2
    for place in places:
        for bit in range(8 * (place - 12), 8 * (place + 12)):
            damaged = bytearray(content)
            damaged[bit // 8] ^= 1 << bit % 8
            path.write_bytes(damaged)
            with contextlib.suppress(SessionFileError), Journal(path) as journal:
                assert journal.get_meta("parameters") == {"method": "cobras"}


@posix
@pytest.mark.parametrize("how", ["deleted", "moved", "replaced", "emptied", "cut", "overwritten"])
def test_a_file_that_is_gone_is_noticed_before_anything_is_called_saved(how: str, tmp_path: Path) -> None:
    path, other = tmp_path / "s.cobras", tmp_path / "other.cobras"
    written(path, 5)
    shutil.copy(path, other)
    with Journal(path) as journal:
        journal.append(Event("answer", {"n": 5}))
        match how:
            case "deleted":
                path.unlink()
            case "moved":
                path.rename(tmp_path / "elsewhere.cobras")
            case "replaced":
                other.replace(path)
            case "emptied":
                os.truncate(path, 0)
            case "cut":
                os.truncate(path, 4096)
            case "overwritten":
                # As by cp. Another process, because closing a descriptor here would drop the lock.
                subprocess.run(["cp", other, path], check=True)
        for _ in range(2):
            with pytest.raises(SessionFileError, match=r"^s.cobras was .*, so this change is not saved\. "):
                journal.append(Event("answer", {"n": 6}))


@posix
def test_other_uses_of_the_file_are_no_reason_to_stop(tmp_path: Path) -> None:
    path = tmp_path / "s.cobras"
    written(path, 5)
    with Journal(path) as journal:
        for n in range(5, 9):
            subprocess.run(["cp", path, tmp_path / "copy"], check=True)
            path.chmod(0o600)
            (tmp_path / f"link{n}").hardlink_to(path)
            journal.append(Event("answer", {"n": n}))
        assert len(journal.events()) == 9
