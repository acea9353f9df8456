"""Every listener gets an event for every change and for every better map; a slow start blocks nobody."""

from __future__ import annotations

import base64
import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from cobras import Session
from cobras.web import map as web_map
from cobras.web.server import WebServer
from tests.web.serving import Client, flowers, running, serving


class Listener(threading.Thread):
    """Collects events until the stream ends."""

    def __init__(self, client: Client) -> None:
        super().__init__(daemon=True)
        self.client, self.events = client, []
        self.start()

    def run(self) -> None:
        url, headers = f"{self.client.base_url}/api/events", self.client.headers
        with httpx.stream("GET", url, headers=headers, timeout=120, trust_env=False) as stream:
            event = ""
            for line in stream.iter_lines():
                if line.startswith("event: "):
                    event = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    self.events.append((event, json.loads(line.removeprefix("data: "))))

    def wait(self, condition: Callable[[list[tuple[str, Any]]], bool]) -> None:
        end = time.monotonic() + 300
        while not condition(self.events):
            assert time.monotonic() < end, self.events
            time.sleep(0.01)


def test_every_listener_gets_every_change(tmp_path: Path, file: Path) -> None:
    dataset = flowers(tmp_path)
    with serving(dataset, file) as client:
        first = client.look("question", wait=60)
        listeners = [Listener(client) for _ in range(3)]
        for listener in listeners:
            listener.wait(lambda events: bool(events))
            assert listener.events[0][0] == "hello"
            assert listener.events[0][1]["run"] == first["run"]
        question = client.answer(dataset.labels, 10)
        for listener in listeners:
            listener.wait(lambda events: sum(event == "saved" for event, _ in events) == 10)
            versions = [data["versions"]["session"] for event, data in listener.events if event == "question"]
            assert versions[-1] == question["versions"]["session"]
            assert versions == sorted(set(versions))
            moved = [data["version"] for event, data in listener.events if event == "labels"]
            assert moved[-1] == question["versions"]["labels"]
    for listener in listeners:  # the server's end ends the streams
        listener.join(300)
        assert not listener.is_alive()


def test_the_map_is_computed_when_asked_for_gets_better_and_is_the_same_after_a_restart(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = flowers(tmp_path)
    with serving(dataset, file, refine=True) as client:
        listener = Listener(client)
        client.first_question()
        assert not any(event == "map" for event, _ in listener.events)
        assert client.look("map")["pending"]
        listener.wait(lambda events: any(e == "map" and not data["pending"] for e, data in events))
        shown = client.look("map")
        layouts = [data["layout"] for event, data in listener.events if event == "map"]
    assert shown["layout"] == layouts[-1] == "tsne"
    assert shown["version"] == [data["version"] for event, data in listener.events if event == "map"][-1]
    points = np.frombuffer(base64.b64decode(shown["data"]), "<f4").reshape(-1, 2)
    assert points.shape == (len(dataset), 2)
    assert points.min() >= 0
    assert points.max() <= 1
    monkeypatch.setattr(
        web_map, "COMMAND", (sys.executable, "-c", "raise SystemExit('It is known already.')")
    )
    with serving(dataset, file, refine=True) as client:
        while (again := client.look("map"))["pending"]:
            time.sleep(0.05)
    assert (again["layout"], again["data"], again["problem"]) == ("tsne", shown["data"], "")


def test_a_long_first_question_blocks_nobody(tmp_path: Path, file: Path) -> None:
    dataset = flowers(tmp_path)
    gate = threading.Event()

    def begin() -> Session:
        gate.wait(300)
        return Session.open(file, dataset.X, random_state=0, method="cobras")

    server = WebServer(dataset, begin, file, "flowers", refine=False)
    with running(server) as client:
        question = client.look("question")
        assert question["state"] == "computing"
        assert question["computing"]["seconds"] > 0
        assert client.look("labels")["n_clusters"] == 1
        assert client.look("items")["total"] == len(dataset)
        for look in ("clusters", "history", "progress", "settings", "item/0", "map"):
            client.look(look)
        for kind in ("csv", "parquet", "answers", "constraints", "html"):
            assert client.get(f"/api/export?format={kind}").status_code == 200
        listener = Listener(client)
        listener.wait(lambda events: any(event == "computing" for event, _ in events))
        gate.set()
        assert client.look("question", wait=60)["state"] == "asking"
        listener.wait(lambda events: any(e == "question" and d["state"] == "asking" for e, d in events))
