"""Session files that cobras did not write, with sound checksums: one sentence each, or a session that works."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cobras import Answer, CobrasError, Event, Session
from cobras.session import journal as storage

X = [[0.0], [0.1], [0.2], [5.0], [5.1], [9.0], [9.1], [9.2]]
WRONG = [None, "x", -1, 1.5, 10**30, [], [[1]], {"a": 1}, True]
BODIES = {
    "answer": {"i": 0, "j": 1, "answer": 1},
    "constraint": {"i": 0, "j": 1, "answer": 1},
    "mark": {"super_instances": [[0, 1]], "pure": True, "complete": False},
    "name": {"representative": 0, "text": "a", "replaces": [1]},
    "revise": {"at": 0, "answer": 1},
    "undo": {"action": "answer"},
    "board": {"cards": [0, 1], "piles": [2], "groups": [[0, 2], [1]]},
    "move": {"rows": [0], "said": [[0, 1, 1], [0, 2, 0]], "names": [[0, 2]]},
    "merge": {"said": [[0, 1, 1]]},
    "split": {"row": 0, "super_instances": [[0, 1]]},
    "append": {"n_before": 8, "n_rows": 1, "quick_fingerprint": "a", "fingerprint": "b"},
}
EVENTS = [
    *(Event(kind, {**body, key: value}) for kind, body in BODIES.items() for key in body for value in WRONG),
    *(
        Event(kind, {k: v for k, v in body.items() if k != key})
        for kind, body in BODIES.items()
        for key in body
    ),
    Event("redo"),
    Event("undo", at=float("inf")),
    *(Event("answer", BODIES["answer"], at=at) for at in (float("inf"), -1e300, 1e300)),
    Event("revise", {"at": 7, "answer": 1}),
    Event("answer", {"i": 0, "j": 8, "answer": 1}),
    Event("answer", {"i": 3, "j": 3, "answer": 0}),
    Event("mark", {"super_instances": [[8, 1]], "pure": True, "complete": True}),
    Event("name", {"representative": 8, "text": "a"}),
    Event("board", {"cards": [0, 8], "piles": [], "groups": []}),
    Event("board", {"cards": [0, 1], "piles": [1], "groups": []}),
    Event("board", {"cards": [], "piles": [], "groups": []}),
    Event("move", {"rows": [8], "said": []}),
    Event("move", {"rows": [0], "said": [[0, 0, 0]]}),
    Event("move", {"rows": [0], "said": [[1, 2, -1]]}),
    Event("merge", {"said": []}),
    Event("split", {"row": 8, "super_instances": []}),
    Event("split", {"row": 0, "super_instances": [[7, 99]]}),
    Event("revise", {"at": 1, "answer": -1}),
]
FORGED = "a session file with forged content"
KEYS = ["parameters", "n_rows", "quick_fingerprint", "fingerprint", "train"]
OPTIONS = [
    "method",
    "random_state",
    "n_super_instances",
    "reuse",
    "representative",
    "n_init",
    "medoid",
    "other",
]


def make(path):
    with Session.open(path, X, "cobra", 0, n_super_instances=8) as session:
        session.tell(True, session.ask())
        session.tell(False, session.ask())


def look_at(path):
    """Do what a command does with a session file; the sentence with which it is refused, or None."""
    try:
        with Session.open(path, X) as session:
            session.verify()
            assert session.ask() is not None or session.progress.reason
            assert len(session.labels_) == 8
            assert len(session.partitions) == session.n_answers + 1
            assert set(session.names) | set(session.marks) | set(session.to_split) <= set(range(8))
            assert len(session.cluster_ids_) == session.partition.n_clusters
            if (board := session.board(2)) is not None:
                session.sort(board, [])
                session.undo()
            session.export_answers(path.with_suffix(".csv"))
            session.add_constraint(0, 7, Answer.DIFFERENT)
            session.undo()
            while session.can_undo:
                session.undo()
    except CobrasError as error:
        sentence = str(error)
    else:
        return None
    assert "\n" not in sentence
    assert sentence.endswith(".")
    return sentence


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "s.cobras"
    make(path)
    return path


def test_forged_events(path, report_tried):
    sound = path.read_bytes()
    refused = 0
    for event in EVENTS:
        path.write_bytes(sound)
        with storage.Journal(path) as journal:
            journal.append(event)
        refused += look_at(path) is not None
    assert refused >= 100
    report_tried(FORGED, len(EVENTS), refused=refused)


def test_an_undo_too_many(path, report_tried):
    with storage.Journal(path) as journal:
        for _ in range(3):
            journal.append(Event("undo"))
    assert "event 5 ('undo')" in look_at(path)
    report_tried(FORGED, 1, refused=1)


def test_forged_facts(path, report_tried):
    sound = path.read_bytes()
    with storage.Journal(path) as journal:
        parameters = journal.get_meta("parameters")
    forged = [
        *({key: value} for key in KEYS for value in [*WRONG, b"", b"\xff" * 50]),
        *({"parameters": {**parameters, key: value}} for key in OPTIONS for value in WRONG),
        *({"parameters": {k: v for k, v in parameters.items() if k != key}} for key in OPTIONS),
        {"parameters": {**parameters, "method": "os:abort"}},
        {"parameters": {**parameters, "random_state": 10**4000}},
        {"parameters": {**parameters, "n_init": 10**9}},
    ]
    refused = 0
    for values in forged:
        path.write_bytes(sound)
        with storage.Journal(path) as journal:
            journal.set_meta(**values)
        refused += look_at(path) is not None
    report_tried(FORGED, len(forged), refused=refused)


STATEMENTS = [
    "DROP TABLE event",
    "DROP TABLE seal",
    "DROP TABLE meta",
    "DELETE FROM event",
    "DELETE FROM meta",
    "DELETE FROM seal",
    "INSERT INTO seal SELECT * FROM seal",
    "UPDATE seal SET n_events = -1",
    "UPDATE seal SET n_events = 'x'",
    "UPDATE event SET seq = seq - 5",
    "UPDATE event SET seq = 9223372036854775807 WHERE seq = 2",
    "UPDATE event SET body = x'00ff'",
    "UPDATE event SET body = 7",
    "UPDATE event SET kind = x'ff'",
    "UPDATE event SET at = 'now'",
    "UPDATE event SET checksum = 'x'",
    "UPDATE meta SET value = 5",
    "UPDATE meta SET key = x'ff' WHERE key = 'train'",
    "UPDATE meta SET checksum = 1e300",
    "CREATE TABLE more (x)",
    "CREATE INDEX more ON event (at)",
    "CREATE TRIGGER more AFTER INSERT ON event BEGIN DELETE FROM event; END",
    "ALTER TABLE event ADD COLUMN more",
    "ALTER TABLE event RENAME COLUMN body TO soul",
    "PRAGMA user_version = 0",
    "PRAGMA user_version = 1",
    "PRAGMA user_version = -1",
    "PRAGMA user_version = 2147483647",
]
ENDLESS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT "
VIEWS = {
    "event": "n AS seq, 0.0 AS at, 'undo' AS kind, '{}' AS body, 0 AS checksum FROM c",
    "meta": "n AS key, n AS value, n AS checksum FROM c",
    "seal": "n AS n_events, n AS events, n AS meta, n AS checksum FROM c",
}


@pytest.mark.parametrize(
    "statements",
    [
        *([statement] for statement in STATEMENTS),
        *(
            [f"DROP TABLE {name}", f"CREATE VIEW {name} AS {ENDLESS}{columns}"]
            for name, columns in VIEWS.items()
        ),
        *(
            [f"ALTER TABLE {name} RENAME TO old", f"CREATE VIEW {name} AS SELECT * FROM old"]
            for name in VIEWS
        ),
    ],
    ids=" ".join,
)
def test_forged_tables(path, statements, report_tried):
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)
    before = path.read_bytes()
    assert look_at(path) is not None
    assert path.read_bytes() == before
    report_tried(FORGED, 1, refused=1)


@pytest.mark.parametrize("text", ["[" * 100_000, "1" * 5000, "{", "", "[1]", '"x"', "null", "NaN", "\0"])
def test_forged_json(path, text, report_tried):
    """What no JSON writer writes, with the checksums that it would have."""
    for table in ("event", "meta"):
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            if table == "event":
                ((seq, at, kind),) = db.execute("SELECT seq, at, kind FROM event WHERE seq = 2")
                checksum = storage._checksum(seq, at, kind, text)
                db.execute("UPDATE event SET body = ?, checksum = ? WHERE seq = 2", (text, checksum))
                events = [c for (c,) in db.execute("SELECT checksum FROM event ORDER BY seq")]
                ((meta,),) = db.execute("SELECT meta FROM seal")
                seal = (2, storage._checksum(*events), meta)
            else:
                checksum = storage._checksum("parameters", text)
                db.execute(
                    "UPDATE meta SET value = ?, checksum = ? WHERE key = 'parameters'", (text, checksum)
                )
                ((n, events),) = db.execute("SELECT n_events, events FROM seal")
                seal = (n, events, storage._meta_checksum(db))
            db.execute(
                "UPDATE seal SET n_events = ?, events = ?, meta = ?, checksum = ?",
                (*seal, storage._checksum(*seal)),
            )
        assert look_at(path) is not None
        Path(path).unlink()
        make(path)
    report_tried(FORGED, 2, refused=2)
