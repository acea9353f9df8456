"""A real server on a real port, in a thread, and a client that knows its token."""

from __future__ import annotations

import base64
import contextlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import polars as pl

from cobras import Session
from cobras.data import Dataset, read_dataset
from cobras.web.server import WebServer

ANSWERS = {1: "same", 0: "different", -1: "unsure"}


def flowers(folder: Path, n: int = 60, n_kinds: int = 3) -> Dataset:
    """Groups of rows, with a name, a colour and a label."""
    rng = np.random.default_rng(0)
    kind = np.arange(n) % n_kinds
    X = rng.normal(size=(n, 2)) + 6 * np.array([np.cos(kind * 2), np.sin(kind * 2)]).T
    path = folder / "flowers.csv"
    pl.DataFrame(
        {
            "id": [f"f{k:03}" for k in range(n)],
            "length": X[:, 0].round(3),
            "width": X[:, 1].round(3),
            "colour": [("red", "blue")[k % 2] for k in range(n)],
            "species": [f"secret-{k}" for k in kind],
        }
    ).write_csv(path)
    return read_dataset(path, label="species")


@contextlib.contextmanager
def serving(dataset: Dataset, file: Path, **options: Any) -> Iterator[Client]:
    """A client of a server that runs meanwhile. Options go to the server; `session` holds those of the session."""
    session = {"method": "cobras", "random_state": 0, **options.pop("session", {})}
    server = WebServer(
        dataset,
        lambda: Session.open(file, dataset.X, **session),
        file,
        "flowers",
        **{"refine": False, **options},
    )
    with running(server) as client:
        yield client


@contextlib.contextmanager
def running(server: WebServer) -> Iterator[Client]:
    """A client of this server, which runs in a thread meanwhile."""
    ready = threading.Event()
    thread = threading.Thread(target=server.run, args=(ready.set,))
    thread.start()
    try:
        assert ready.wait(300)
        with Client(server) as client:
            yield client
    finally:
        server.stop()
        thread.join(300)
    assert not thread.is_alive()


class Client(httpx.Client):
    """Calls the server with its token."""

    def __init__(self, server: WebServer) -> None:
        self.server = server
        headers = {"Authorization": f"Bearer {server.token}"}
        super().__init__(
            base_url=f"http://127.0.0.1:{server.port}", headers=headers, timeout=300, trust_env=False
        )

    def look(self, what: str, **query: Any) -> Any:
        """What a GET end point gives."""
        answer = super().get(f"/api/{what}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def attempt(self, what: str, **body: Any) -> httpx.Response:
        """What a POST end point answers."""
        return super().post(f"/api/{what}", json=body)

    def change(self, what: str, **body: Any) -> Any:
        """The same where it must succeed."""
        answer = self.attempt(what, **body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def first_question(self) -> Any:
        """The question once the session is open; kernels that are not compiled yet may take a minute."""
        end = time.monotonic() + 300
        while (question := self.look("question", wait=60))["state"] == "computing":
            assert time.monotonic() < end, question
        return question

    def answer(self, labels: Any, n: int) -> Any:
        """Answer so many questions truthfully; the question after them."""
        question = self.first_question()
        for _ in range(n):
            if question["state"] != "asking":
                break
            pair = question["pair"]
            same = labels[pair["i"]] == labels[pair["j"]]
            question = self.change("tell", **pair, answer="same" if same else "different")
        return question

    def labels(self, **query: Any) -> Any:
        """The labels as an array."""
        return decode_labels(self.look("labels", **query))


def decode_labels(labels: dict[str, Any]) -> Any:
    """Return the labels of a reply as an array."""
    dtype = np.dtype(labels["dtype"]).newbyteorder("<")
    return np.frombuffer(base64.b64decode(labels["data"]), dtype).astype(np.int32)
