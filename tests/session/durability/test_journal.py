"""The journal on disk: real files, real processes, real kills."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cobras.core.exceptions import SessionFileError
from cobras.core.types import Answer, Event
from cobras.session import journal as storage
from cobras.session.journal import Journal, copy_of
from tests import started
from tests.session.durability.journals import MEMORY, posix, written

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(), v, max_size=3), max_leaves=6
)
events = st.builds(
    Event, st.text(), st.dictionaries(st.text(), values, max_size=4), st.floats(allow_nan=False)
)
metas = st.dictionaries(st.text(), values | st.binary(), max_size=3)

HOLDER = """
import sys, time
from cobras.session.journal import Journal
from cobras.core.types import Event
journal = Journal(sys.argv[1])
journal.set_meta(seed=7)
for n in range(20):
    journal.append(Event("answer", {"n": n}))
print("ready", flush=True)
time.sleep(600)
"""


def refusal(path: Path) -> str:
    """The sentence with which a journal refuses a file."""
    with pytest.raises(SessionFileError) as caught:
        Journal(path)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    assert path.name in sentence
    return sentence


def refusal_elsewhere(path: Path) -> str:
    """The same, from another process."""
    script = "import sys\nfrom cobras.session.journal import Journal\nJournal(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True)
    return done.stderr.strip().rpartition("\n")[2]


@contextmanager
def held(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the journal with 20 events; killed at the end."""
    command = [sys.executable, "-c", HOLDER, str(path)]
    with started(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process


def folder_bytes(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


# What is written is read back


@settings(max_examples=60, deadline=None)
@given(st.lists(events | metas | st.just("reopen"), max_size=12))
@example([Event("", {"zero": -0.0}, at=-0.0)])
def test_what_is_written_is_read_back(steps: list[Event | dict[str, object] | str]) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        journal = Journal(Path(folder, "s.cobras"))
        appended: list[Event] = []
        stored: dict[str, object] = {}
        try:
            assert journal.is_new
            for step in steps:
                if isinstance(step, Event):
                    journal.append(step)
                    appended.append(step)
                elif isinstance(step, dict):
                    journal.set_meta(**step)
                    stored |= step
                else:
                    journal.close()
                    journal = Journal(journal.path)
                assert journal.is_new == (not appended and not stored)
                assert journal.events() == tuple(appended)
                assert [event.at for event in journal.events()] == [event.at for event in appended]
                assert {key: journal.get_meta(key) for key in stored} == stored
        finally:
            journal.close()


def test_numpy_values_and_answers_are_written_as_plain_json(tmp_path: Path) -> None:
    with Journal(tmp_path / "s") as journal:
        body = {"i": np.int64(4), "x": np.float32(0.5), "rows": np.arange(3), "answer": Answer.UNSURE}
        journal.append(Event("answer", body | {"same": np.bool_(True)}))
        assert journal.events()[0].body == {"i": 4, "x": 0.5, "rows": [0, 1, 2], "answer": -1, "same": True}
        with pytest.raises(TypeError, match="JSON values, not Path"):
            journal.append(Event("answer", {"path": type("Path", (), {})()}))
        with pytest.raises(TypeError, match="JSON values, not object"):
            journal.set_meta(seed=1, other=object())
        assert len(journal.events()) == 1
        assert journal.get_meta("seed") is None


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    half = "\ud800"  # half a character: SQLite cannot store it as a kind or a key
    with Journal(tmp_path / "s") as journal:
        with pytest.raises(UnicodeEncodeError):
            journal.append(Event(half))
        with pytest.raises(UnicodeEncodeError):
            journal.set_meta(**{"first": 1, half: 2})
        assert journal.is_new
        journal.append(Event("answer", {"text": half}))
        journal.set_meta(first=half)
    with Journal(tmp_path / "s") as journal:
        assert journal.events() == (Event("answer", {"text": half}),)
        assert journal.get_meta("first") == half


def test_events_of_a_future_kind_survive(tmp_path: Path) -> None:
    future = Event("telepathy", {"thought": {"deep": [1, None]}})
    with Journal(tmp_path / "s") as journal:
        journal.append(future)
    with Journal(tmp_path / "s") as journal:
        assert journal.events() == (future,)


def test_opening_and_reading_changes_no_byte(tmp_path: Path) -> None:
    written(tmp_path / "s.cobras")
    before = folder_bytes(tmp_path)
    with Journal(tmp_path / "s.cobras") as journal:
        journal.events()
        journal.get_meta("seed")
    assert folder_bytes(tmp_path) == before


def test_closing_leaves_one_file_and_may_be_repeated(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "s.cobras")
    journal.append(Event("answer"))
    assert (tmp_path / "s.cobras-wal").exists()
    journal.close()
    journal.close()
    assert [file.name for file in tmp_path.iterdir()] == ["s.cobras"]
    for use in (journal.events, lambda: journal.append(Event("answer")), lambda: journal.is_new):
        with pytest.raises(SessionFileError, match=r"^s.cobras is closed\. Open it again\.$"):
            use()


def test_threads_share_a_journal(tmp_path: Path) -> None:
    with Journal(tmp_path / "s") as journal:

        def work(worker: int) -> None:
            for n in range(8):
                journal.append(Event("answer", {"worker": worker, "n": n}))
                journal.events()

        threads = [threading.Thread(target=work, args=(worker,)) for worker in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = [(event.body["worker"], event.body["n"]) for event in journal.events()]
    assert sorted(found) == [(worker, n) for worker in range(6) for n in range(8)]
    for worker in range(6):
        assert [n for by, n in found if by == worker] == list(range(8))


# One program at a time


def test_a_second_journal_in_the_same_program_is_refused(tmp_path: Path) -> None:
    path, link = tmp_path / "s.cobras", tmp_path / "link"
    with Journal(path) as journal:
        assert refusal(path) == "s.cobras is already open in this program. Close it there first."
        if os.name == "posix":
            link.symlink_to(path)
            assert "already open in this program" in refusal(link)
        # The refusal must not have dropped the lock: closing any descriptor of the file would.
        assert "s.cobras is open in another program" in refusal_elsewhere(path)
        journal.append(Event("answer"))
    Journal(path).close()


def test_a_journal_that_was_dropped_without_closing_can_be_opened_again(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom cobras.session.journal import Journal\nfrom cobras.core.types import Event\n"
        "Journal(sys.argv[1]).append(Event('answer'))\nprint(len(Journal(sys.argv[1]).events()))"
    )
    done = subprocess.run([sys.executable, "-c", script, tmp_path / "s"], capture_output=True, text=True)
    assert done.stdout == "1\n"


@posix
def test_another_process_is_refused_until_the_holder_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "s.cobras"
    with held(path) as holder:
        who = f" (process {holder.pid})" if sys.platform == "linux" else ""
        for _ in range(2):
            assert refusal(path) == f"s.cobras is open in another program{who}. Close it there first."
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        with Journal(path) as journal:
            assert [event.body["n"] for event in journal.events()] == list(range(20))
            assert journal.get_meta("seed") == 7


@posix
def test_the_file_of_a_killed_program_is_complete_without_its_log(tmp_path: Path) -> None:
    with held(tmp_path / "s.cobras") as holder:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    assert (tmp_path / "s.cobras-wal").exists()
    shutil.copy(tmp_path / "s.cobras", tmp_path / "moved.cobras")
    with Journal(tmp_path / "moved.cobras") as journal:
        assert len(journal.events()) == 20


# Files that are refused, and are left as they were


def foreign_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE t (x)")
        db.commit()


def newer(path: Path) -> None:
    written(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {len(storage.MIGRATIONS) + 1}")
        db.commit()


def cut(path: Path) -> None:
    written(path)
    os.truncate(path, 50)


def killed_foreign_database(path: Path) -> None:
    """Another program's database with everything in its log, as a kill leaves it."""
    script = (
        "import os, sqlite3, sys\ndb = sqlite3.connect(sys.argv[1])\ndb.execute('PRAGMA journal_mode = WAL')\n"
        "db.execute('CREATE TABLE t (x)')\ndb.commit()\nos._exit(0)"
    )
    subprocess.run([sys.executable, "-c", script, path], check=True)
    assert path.with_name(path.name + "-wal").stat().st_size > 0


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: path.write_text("a,b\n1,2\n"), "is not a session file of cobras"),
        (lambda path: path.write_text("x" * 5000), "is not a session file of cobras"),
        (lambda path: path.write_bytes(b"SQLite"), "is not a session file of cobras"),
        (foreign_database, "is not a session file of cobras"),
        (killed_foreign_database, "is not a session file of cobras"),
        (cut, "ends after 50 bytes"),
        (newer, "has format 3, but this version of cobras reads formats up to 2. Install a newer version"),
        (Path.mkdir, "is a folder or a device"),
        pytest.param(os.mkfifo if os.name == "posix" else None, "is a folder or a device", marks=posix),
    ],
)
def test_a_foreign_file_is_refused_and_not_touched(tmp_path: Path, make, sentence: str) -> None:
    path = tmp_path / "s.cobras"
    make(path)
    before = folder_bytes(tmp_path)
    assert f"s.cobras {sentence}" in refusal(path)
    assert folder_bytes(tmp_path) == before


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(SessionFileError, match=r"missing is not a folder\. Create it first"):
        Journal(tmp_path / "missing" / "s.cobras")


@pytest.mark.parametrize("name", [":memory:", "file:s?mode=memory", "100% #1?.cobras", "žluťoučký.cobras"])
def test_any_name_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    Journal(name).close()
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_an_empty_file_is_new_even_beside_a_stale_log(tmp_path: Path) -> None:
    written(tmp_path / "old.cobras")
    for side in ("-wal", "-journal"):
        shutil.copy(tmp_path / "old.cobras", tmp_path / f"s.cobras{side}")
    (tmp_path / "s.cobras").touch()
    with Journal(tmp_path / "s.cobras") as journal:
        assert journal.is_new
        journal.append(Event("answer"))
    with Journal(tmp_path / "s.cobras") as journal:
        assert len(journal.events()) == 1


@posix
@pytest.mark.parametrize("case", ["new file", "file in a closed folder", "closed file", "secret file"])
def test_what_may_not_be_written_is_said(case: str) -> None:
    script = """
import os, sys
from cobras.session.journal import Journal
if os.geteuid() == 0:
    os.setuid(65534)  # root may write everywhere
Journal(sys.argv[1])
"""
    folder = Path(tempfile.mkdtemp())  # not tmp_path, which only its owner may enter
    try:
        path = folder / "s.cobras"
        if case != "new file":
            written(path)
            path.chmod({"closed file": 0o444, "secret file": 0o000}.get(case, 0o666))
        before = folder_bytes(folder) if os.geteuid() == 0 or case != "secret file" else {}
        folder.chmod(0o777 if case in ("closed file", "secret file") else 0o555)
        done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True)
        expected = (
            "may not be read and written" if path.exists() and "folder" not in case else "cannot be written"
        )
        assert f"SessionFileError: s.cobras {expected}." in done.stderr
        if before or case == "new file":
            assert folder_bytes(folder) == before
    finally:
        folder.chmod(stat.S_IRWXU)
        shutil.rmtree(folder)


# Formats


def test_migrations_keep_the_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = written(tmp_path / "s.cobras")
    before = folder_bytes(tmp_path)
    more = ("CREATE TABLE note (text)", "INSERT INTO note VALUES ('kept')")
    monkeypatch.setattr(storage, "MIGRATIONS", (*storage.MIGRATIONS, more, ("CREATE TABLE meta (x)",)))
    assert "is damaged" in refusal(tmp_path / "s.cobras")  # the last migration fails: none is applied
    assert folder_bytes(tmp_path) == before
    monkeypatch.setattr(storage, "MIGRATIONS", storage.MIGRATIONS[:3])
    for _ in range(2):
        with Journal(tmp_path / "s.cobras") as journal:
            assert list(journal.events()) == made
    with closing(sqlite3.connect(tmp_path / "s.cobras")) as db:
        assert db.execute("SELECT text FROM note").fetchall() == [("kept",)]
        assert db.execute("PRAGMA user_version").fetchone() == (3,)
    monkeypatch.undo()
    assert "has format 3" in refusal(tmp_path / "s.cobras")


def test_the_mark_of_a_file_is_part_of_a_transaction(tmp_path: Path) -> None:
    """What creation relies on: SQLite rolls application_id and user_version back with the tables."""
    with closing(sqlite3.connect(tmp_path / "s", isolation_level=None)) as db:
        db.execute("BEGIN")
        db.execute("CREATE TABLE t (x)")
        db.execute("PRAGMA application_id = 5")
        db.execute("PRAGMA user_version = 6")
        db.execute("ROLLBACK")
        assert db.execute("PRAGMA application_id").fetchone() == (0,)
        assert db.execute("PRAGMA user_version").fetchone() == (0,)
    assert (tmp_path / "s").stat().st_size == 0


WRITER = """
import sys
from cobras.core.types import Event
from cobras.session.journal import Journal
with Journal(sys.argv[1]) as journal:
    print("open", flush=True)
    for k in range(int(sys.argv[2])):
        journal.append(Event("answer", {"i": k, "j": k + 1, "answer": 1}))
        print(k, flush=True)
    input()
"""


def test_a_copy_holds_all_that_was_written_by_another_program(tmp_path: Path) -> None:
    path = tmp_path / "s.cobras"
    command = [sys.executable, "-c", WRITER, str(path), "60"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with started(command, **pipes) as writer:
        assert writer.stdout.readline() == "open\n"
        for n in range(60):
            assert writer.stdout.readline() == f"{n}\n"
            if n % 12 and n != 59:
                continue
            with copy_of(path) as copy, Journal(copy) as journal:
                rows = [event.body["i"] for event in journal.events()]
            assert rows == list(range(len(rows)))
            assert len(rows) > n
            assert not copy.exists()
        writer.communicate("\n", timeout=60)
    with Journal(path) as journal:
        assert len(journal.events()) == 60
        with pytest.raises(SessionFileError, match="already open in this program"), copy_of(path):
            pass
