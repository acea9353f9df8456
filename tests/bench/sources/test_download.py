"""Downloading the files of the benchmark from a server of our own."""

import hashlib
import io
import json
import tarfile
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import numpy as np
import pytest

from cobras import InvalidDataError
from cobras.bench.sources import catalogue as sources
from cobras.bench.sources import download as sources_download
from cobras.bench.sources.catalogue import TABLES, TEXTS, UNSEEN
from cobras.bench.sources.download import download
from cobras.bench.sources.prepare import read_table, read_texts, table_checksum, texts_checksum, write_table
from cobras.bench.tasks import describe_tasks, load_task
from cobras.data.tables.files import DataNotFoundError
from tests.bench.made_files import REAL, arff_file, random_table, random_texts

pytestmark = pytest.mark.usefixtures("places")


class Library(BaseHTTPRequestHandler):
    """What is served: addresses to content."""

    shelves: dict[str, bytes]

    def do_GET(self):
        content = self.shelves.get(self.path)
        self.send_response(404 if content is None else 200)
        self.end_headers()
        self.wfile.write(content or b"")

    def log_message(self, *args):
        pass


@pytest.fixture
def server(monkeypatch):
    """A server that scikit-learn takes for OpenML and for the home of the newsgroups archive."""
    handler = type("Shelves", (Library,), {"shelves": {}})
    web = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=web.serve_forever, args=[0.01])
    thread.start()
    address = f"http://127.0.0.1:{web.server_port}"

    def redirected(request):
        parts = urlsplit(request.full_url)
        return urlopen(Request(f"{address}{parts.path}", headers=dict(request.header_items())))

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", redirected)
    monkeypatch.setattr("sklearn.datasets._openml.time", SimpleNamespace(sleep=lambda seconds: None))
    yield SimpleNamespace(shelves=handler.shelves, address=address)
    web.shutdown()
    thread.join()
    web.server_close()


def serve_table(server, name, X, target):
    number = TABLES[name].openml
    arff, names, types = arff_file(name, X, target)
    description = {
        **{"id": str(number), "name": name, "version": "1", "format": "ARFF", "status": "active"},
        **{
            "description": "",
            "file_id": "7",
            "url": f"https://www.openml.org/data/v1/download/7/{name}.arff",
        },
        "md5_checksum": hashlib.md5(arff.encode()).hexdigest(),
    }
    columns = [
        {
            **{
                "index": str(k),
                "name": column,
                "data_type": kind,
                "is_target": str(column == "Class").lower(),
            },
            **{"is_ignore": "false", "is_row_identifier": "false", "number_of_missing_values": "0"},
        }
        for k, (column, kind) in enumerate(zip(names, types, strict=True))
    ]
    qualities = [{"name": "NumberOfInstances", "value": str(float(len(X)))}]
    for path, content in {
        f"/api/v1/json/data/{number}": {"data_set_description": description},
        f"/api/v1/json/data/features/{number}": {"data_features": {"feature": columns}},
        f"/api/v1/json/data/qualities/{number}": {"data_qualities": {"quality": qualities}},
    }.items():
        server.shelves[path] = json.dumps(content).encode()
    server.shelves[f"/data/v1/download/7/{name}.arff"] = arff.encode()


def recorded_table(name, monkeypatch):
    """The real table; or a made one, of which the checksum is put on record."""
    if REAL is not None:
        return read_table(REAL / f"{name}.csv")
    _, X, target = random_table(name)
    recorded = replace(TABLES[name], checksum=table_checksum(X, target, TABLES[name].step))
    monkeypatch.setitem(sources.TABLES, name, recorded)
    return X, target


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_downloaded_once_and_is_the_same_task(name, server, monkeypatch, tmp_path, places):
    X, target = recorded_table(name, monkeypatch)
    served_X, served = X, target
    if name == "optdigits389":  # OpenML has all ten digits
        served_X, served = np.vstack((X, X[:50])), np.append(target, np.repeat(["0", "7"], 25))
    order = np.random.default_rng(0).permutation(len(served))
    serve_table(server, name, served_X[order], served[order])
    (before,) = describe_tasks(names=[name])
    assert (before.where, before.n_rows, before.n_missing) == ("download", len(X), int(np.isnan(X).sum()))
    task = load_task(name)
    server.shelves.clear()
    again = load_task(name)
    write_table(tmp_path / f"{name}.csv", [f"a{k}" for k in range(X.shape[1])], X, target)
    elsewhere = load_task(name, tmp_path)
    for other in (again, elsewhere):
        np.testing.assert_array_equal(other.X, task.X)
        np.testing.assert_array_equal(other.y, task.y)
        assert other.classes == task.classes == tuple(sorted(TABLES[name].classes))
    (after,) = describe_tasks(names=[name])
    assert (after.where, after.as_recorded) == ("cache", True)
    assert [path.name for path in places.iterdir()] == [f"{name}.csv"]


def six_digits(X):
    return np.vectorize(lambda x: float(f"{x:.6g}"))(X)


def more_than_two_decimals(X):
    return X + np.random.default_rng(0).uniform(-0.00499, 0.00499, X.shape)


@pytest.mark.skipif(REAL is None, reason="needs the recorded copies")
@pytest.mark.parametrize(
    ("name", "copied"), [("segmentation", six_digits), ("column_2C", more_than_two_decimals)]
)
def test_a_copy_with_other_digits_is_known_too_and_gives_the_same_task(name, copied, server):
    X, target = read_table(REAL / f"{name}.csv")
    assert not np.array_equal(copied(X), X)
    serve_table(server, name, copied(X), target)
    task, recorded = load_task(name), load_task(name, REAL)
    np.testing.assert_allclose(task.X, recorded.X, atol=1e-5)
    np.testing.assert_array_equal(task.y, recorded.y)


@pytest.mark.parametrize("change", ["value", "class", "gap", "row", "column"])
def test_another_table_is_refused_and_not_kept(change, server, monkeypatch, places):
    X, target = recorded_table("hepatitis", monkeypatch)
    X, target = X.copy(), target.copy()
    if change == "value":
        X[np.flatnonzero(~np.isnan(X[:, 0]))[0], 0] += 1
    elif change == "class":
        live, die = (np.flatnonzero(target == group)[0] for group in ("live", "die"))
        target[[live, die]] = target[[die, live]]
    elif change == "gap":
        X[np.flatnonzero(~np.isnan(X[:, 0]))[0], 0] = np.nan
    elif change == "row":
        X, target = X[1:], target[1:]
    serve_table(server, "hepatitis", X, target)
    if change == "column":
        path = "/api/v1/json/data/features/55"
        served = json.loads(server.shelves[path])
        served["data_features"]["feature"][3]["is_ignore"] = "true"
        server.shelves[path] = json.dumps(served).encode()
    with pytest.raises(
        InvalidDataError, match="OpenML's copy of hepatitis, data set 55, is not the recorded one: its"
    ):
        load_task("hepatitis")
    assert not [file for file in places.rglob("*") if file.is_file()]


def test_a_damaged_download_is_refused(server, monkeypatch, places):
    serve_table(server, "wine", *recorded_table("wine", monkeypatch))
    (path,) = [path for path in server.shelves if path.endswith(".arff")]
    server.shelves[path] = server.shelves[path].replace(b"1", b"2", 1)
    with pytest.raises(DataNotFoundError, match=r"wine\.csv is missing, .*md5 checksum"):
        load_task("wine")
    assert not [file for file in places.rglob("*") if file.is_file()]


def test_without_a_network_one_sentence_says_what_is_missing_and_where_to_put_it(server, tmp_path, places):
    with pytest.raises(DataNotFoundError) as caught:
        load_task("wine", tmp_path)
    message = str(caught.value)
    for word in ("wine.csv is missing", "OpenML, data set 187", "Not Found", f"into {tmp_path} or {places}."):
        assert word in message
    assert "\n" not in message


def test_a_download_that_cannot_be_kept_is_one_sentence(server, monkeypatch, tmp_path):
    serve_table(server, "wine", *recorded_table("wine", monkeypatch))
    (tmp_path / "cache").write_text("in the way")
    with pytest.raises(InvalidDataError, match=r"cannot be kept in .*set XDG_CACHE_HOME"):
        load_task("wine")


UNSEEN_TABLE = b"a,b,Class\n1,2,x\n3,,y\n5,6,x\n5,6,x\n"


@pytest.fixture
def github(server, monkeypatch):
    """The server in place of GitHub, with a table of which the checksum is put on record as that of vehicle."""
    monkeypatch.setattr(sources, "REPOSITORY", server.address)
    digest = hashlib.sha256(UNSEEN_TABLE).hexdigest()
    monkeypatch.setitem(UNSEEN, "vehicle", replace(UNSEEN["vehicle"], sha256=digest))
    server.shelves[f"/{sources.COMMIT}/data/vehicle/vehicle.csv"] = UNSEEN_TABLE
    return server


def test_an_unseen_table_is_downloaded_once_as_it_is(github, places):
    assert describe_tasks(names=["vehicle"])[0].where == "download"
    task = load_task("vehicle")
    github.shelves.clear()
    np.testing.assert_array_equal(load_task("vehicle").X, task.X)
    assert (task.X.shape, task.classes) == ((3, 2), ("x", "y"))
    assert (places / "vehicle.csv").read_bytes() == UNSEEN_TABLE
    (record,) = describe_tasks(names=["vehicle"])
    assert (record.where, record.as_recorded, record.n_missing, record.n_duplicates) == ("cache", True, 1, 1)
    (places / "vehicle.csv").write_bytes(UNSEEN_TABLE + b"7,8,y\n")
    assert not describe_tasks(names=["vehicle"])[0].as_recorded


def test_an_unseen_table_with_other_bytes_is_refused_and_not_kept(github, places):
    for path in github.shelves:
        github.shelves[path] += b"\n"
    with pytest.raises(InvalidDataError, match=r"vehicle\.csv is not the recorded one: its SHA-256 is"):
        load_task("vehicle")
    assert not [file for file in places.rglob("*") if file.is_file()]


def test_an_unseen_table_that_is_not_served_is_one_sentence(github):
    github.shelves.clear()
    with pytest.raises(
        DataNotFoundError, match=r"vehicle\.csv is missing, .*/vehicle\.csv failed .*Not Found"
    ):
        load_task("vehicle")


def test_addresses_of_unseen_tables_name_a_commit():
    assert len(sources.COMMIT) == 40
    for recorded in UNSEEN.values():
        assert f"/{sources.COMMIT}/" in recorded.address
        assert len(recorded.sha256) == 64


def archive(documents):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as tar:
        for document in documents:
            content = document["text"].encode("latin-1")
            entry = tarfile.TarInfo(f"20news-bydate-{document['split']}/{document['id']}")
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def test_the_newsgroups_come_together_from_one_archive(server, monkeypatch, places):
    for name, recorded in TEXTS.items():
        if REAL is None:
            monkeypatch.setitem(TEXTS, name, replace(recorded, checksum=texts_checksum(random_texts(name))))
    documents = {
        name: random_texts(name) if REAL is None else read_texts(REAL / f"{name}.jsonl.gz") for name in TEXTS
    }
    content = archive([*documents["newsgroups-sim"], *documents["newsgroups-diff"]])
    server.shelves["/archive"] = content
    from sklearn.datasets import _twenty_newsgroups as home

    checksum = hashlib.sha256(content).hexdigest()
    monkeypatch.setattr(
        home, "ARCHIVE", home.RemoteFileMetadata("a.tar.gz", f"{server.address}/archive", checksum)
    )
    download("newsgroups-diff", None)
    server.shelves.clear()
    for name in TEXTS:
        assert read_texts(places / f"{name}.jsonl.gz") == sorted(documents[name], key=lambda d: d["id"])
        assert describe_tasks(names=[name])[0].as_recorded


def test_other_documents_are_refused(server, monkeypatch, places):
    documents = [document for name in TEXTS for document in random_texts(name)]
    content = archive(documents)
    server.shelves["/archive"] = content
    from sklearn.datasets import _twenty_newsgroups as home

    checksum = hashlib.sha256(content).hexdigest()
    monkeypatch.setattr(
        home, "ARCHIVE", home.RemoteFileMetadata("a.tar.gz", f"{server.address}/archive", checksum)
    )
    with pytest.raises(InvalidDataError, match="not the recorded ones"):
        load_task("newsgroups-sim")
    assert not [file for file in places.rglob("*") if file.is_file()]


def test_a_silent_server_is_given_up(monkeypatch, places):
    import socket

    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        monkeypatch.setattr("sklearn.datasets._openml.urlopen", lambda request: urlopen(address))
        monkeypatch.setattr("sklearn.datasets._openml.time", SimpleNamespace(sleep=lambda seconds: None))
        monkeypatch.setattr(sources_download, "TIMEOUT", 0.05)
        with pytest.raises(DataNotFoundError, match="timed out"):
            load_task("wine")
    assert socket.getdefaulttimeout() is None
