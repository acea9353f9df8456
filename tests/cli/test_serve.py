"""`cobras serve` and `cobras demo` as commands: what they print, how they end, what they refuse."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import polars as pl
import pytest

from cobras import Session, read_dataset
from cobras.cli.serve import ACTIONS, read_keys
from cobras.core.exceptions import InvalidDataError
from cobras.web.context import KEYS
from tests.cli.conftest import LIMIT
from tests.session.durability.journals import MEMORY

Runner = Callable[..., "subprocess.CompletedProcess[str]"]


class Running:
    """A server in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        self.first = process.stdout.readline().rstrip("\n")
        found = re.fullmatch(r"(http://[^/]+)/\?token=([\w-]{20,})", self.first)
        assert found, (self.first, process.stderr.read() if process.stderr else "")
        self.base, self.token = found.groups()
        headers = {"Authorization": f"Bearer {self.token}"}
        self.client = httpx.Client(base_url=self.base, headers=headers, trust_env=False, timeout=LIMIT)

    def end(self, number: int) -> tuple[int, str, str]:
        """Send a signal; the exit code and what was printed since."""
        self.client.close()
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> tuple[int, str, str]:
        """The exit code and what was printed since the address, once it has ended."""
        code = self.process.wait(timeout=LIMIT)
        # Not communicate(): it would lose what readline() has read ahead.
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        return code, self.process.stdout.read(), self.process.stderr.read()

    def clean_up(self) -> None:
        """Leave nothing behind, however the test ended."""
        self.client.close()
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def start(
    tmp_path: Path, command: list[str], environment: dict[str, str]
) -> Iterator[Callable[..., Running]]:
    """Start servers that do not outlive the test."""
    started: list[Running] = []

    def begin(*arguments: str | Path) -> Running:
        process = subprocess.Popen(
            [*command, *map(str, arguments), "--no-browser"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            # A map that an earlier server left in the user's cache would not be computed again.
            env={
                **environment,
                "XDG_STATE_HOME": str(tmp_path / "state"),
                "XDG_CACHE_HOME": str(tmp_path / "cache"),
            },
        )
        started.append(Running(process))
        return started[-1]

    yield begin
    for server in started:
        server.clean_up()


def test_it_prints_address_and_file_and_ends_by_ctrl_c(start: Callable[..., Running], flowers: Path) -> None:
    server = start("serve", "flowers.csv", "--label", "species")
    assert server.base.startswith("http://127.0.0.1:")
    page = httpx.get(server.first, trust_env=False, timeout=LIMIT)
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    question = server.client.get("/api/question?wait=60").json()
    assert server.client.post("/api/tell", json={**question["pair"], "answer": "same"}).status_code == 200
    code, out, err = server.end(signal.SIGINT)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("Answers are saved in flowers.cobras.")
    assert lines[-1].startswith("Saved in flowers.cobras: 1 answer, ")
    assert "http" not in out


def test_it_does_not_say_that_a_deleted_file_was_saved(start: Callable[..., Running], flowers: Path) -> None:
    server = start("serve", "flowers.csv", "--label", "species")
    assert server.client.get("/api/question?wait=60").status_code == 200
    flowers.with_suffix(".cobras").unlink()
    code, out, err = server.end(signal.SIGINT)
    assert (code, "Saved in" in out) == (2, False)
    assert err.startswith("error: flowers.cobras was deleted or moved while it was open.")


@pytest.mark.parametrize("what", ["replaced", "changed by another program"])
def test_it_does_not_say_that_it_saved_into_another_file(
    start: Callable[..., Running], flowers: Path, what: str
) -> None:
    server = start("serve", "flowers.csv", "--label", "species")
    question = server.client.get("/api/question?wait=60").json()
    # What is written while a file is opened is there before an answer is saved.
    assert server.client.post("/api/tell", json={**question["pair"], "answer": "same"}).status_code == 200
    question = server.client.get("/api/question?wait=60").json()
    file = flowers.with_suffix(".cobras")
    if what == "replaced":
        shutil.copy(file, "other.cobras")
        Path("other.cobras").replace(file)
    else:
        os.truncate(file, 0)
    refused = server.client.post("/api/tell", json={**question["pair"], "answer": "same"})
    assert (refused.status_code, f"was {what} while" in refused.text) == (409, True)
    code, out, err = server.end(signal.SIGINT)
    assert (code, "Saved in" in out) == (2, False)
    assert err.startswith(
        f"error: flowers.cobras was {what} while it was open, so what was done after that is not"
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_ends_cleanly_with_an_open_page(start: Callable[..., Running], flowers: Path, number: int) -> None:
    server = start("serve", "flowers.csv")
    with server.client.stream("GET", "/api/events") as stream:
        assert next(stream.iter_lines())
        server.process.send_signal(number)
        code, _, err = server.ended()
    assert (code, err) == (0, "")


def test_a_kill_loses_no_answer_and_the_page_finds_the_server_again(
    start: Callable[..., Running], flowers: Path
) -> None:
    dataset = read_dataset(flowers, label="species")
    twin = Session(dataset.X, "adder", random_state=3)
    server = start("serve", "flowers.csv", "--label", "species", "--seed", "3")
    cookies = httpx.get(server.first, trust_env=False, timeout=LIMIT).cookies
    for round_ in range(3):
        for _ in range(5):
            pair = twin.ask()
            if pair is None:
                break
            same = bool(dataset.labels[pair.i] == dataset.labels[pair.j])
            twin.tell(same, pair)
            body = {"i": pair.i, "j": pair.j, "answer": same}
            assert server.client.post("/api/tell", json=body).status_code == 200
        server.end(signal.SIGKILL)
        again = start("serve", "flowers.csv") if round_ else start("serve", "flowers.cobras")
        assert again.base == server.base  # so that an open page can go on
        assert again.token != server.token
        wait = f"{again.base}/api/question?wait=60"
        question = httpx.get(wait, cookies=cookies, trust_env=False, timeout=LIMIT).json()
        assert question["progress"]["n_answers"] == twin.n_answers
        pair = twin.ask()
        assert question["pair"] == (None if pair is None else {"i": pair.i, "j": pair.j})
        server = again
    table = pl.read_csv(server.client.get("/api/export?format=csv").content)
    assert table["cluster"].to_list() == twin.labels_.tolist()


def test_export_and_predict_while_the_server_runs(
    start: Callable[..., Running], cobras: Runner, flowers: Path
) -> None:
    """Everything that the page called saved is exported, with the numbers and names of the page."""
    server = start("serve", "flowers.csv", "--label", "species", "--seed", "0")
    question = server.client.get("/api/question?wait=60").json()
    for n in range(1, 4):
        question = server.client.post("/api/tell", json={**question["pair"], "answer": "different"}).json()
        name = {"cluster": n % question["progress"]["n_clusters"], "text": f"name {n}"}
        assert server.client.post("/api/name", json=name).status_code == 200
        if n == 2:  # numbers and ids differ from now on
            assert server.client.post("/api/merge", json={"a": 0, "b": 1}).status_code == 200
            question = server.client.get("/api/question").json()
        if n == 1:
            continue
        done = cobras("export", "flowers.cobras", "--out", f"out-{n}.csv", "--answers", "answers.csv")
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        page = server.client.get("/api/export?format=csv").content
        assert flowers.with_name(f"out-{n}.csv").read_bytes() == page
        assert "cluster_id,cluster_name" in page.decode().splitlines()[0]
    done = cobras("predict", "flowers.cobras", "flowers.csv", "--out", "predicted.csv")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert pl.read_csv(flowers.with_name("predicted.csv")).height == pl.read_csv(flowers).height
    # The server goes on, and nothing else may open the file.
    assert server.client.post("/api/undo", json={}).status_code == 200
    assert "open in another program" in cobras("ask", "flowers.csv").stderr


@contextmanager
def taken_port() -> Iterator[int]:
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        line.listen()
        yield line.getsockname()[1]


def test_a_port_in_use_is_one_sentence(cobras: Runner, flowers: Path) -> None:
    with taken_port() as port:
        done = cobras("serve", "flowers.csv", "--no-browser", "--port", str(port))
    assert done.returncode == 2
    assert done.stderr == f"error: Port {port} is in use. Leave --port out, or choose another.\n"
    assert done.stdout == ""
    assert not (flowers.parent / "flowers.cobras").exists()


def test_a_session_that_is_open_elsewhere_is_one_sentence(
    start: Callable[..., Running], cobras: Runner, flowers: Path
) -> None:
    server = start("serve", "flowers.csv")
    server.client.get("/api/question?wait=60")
    done = cobras("serve", "flowers.csv", "--no-browser")
    assert done.returncode == 2
    assert "flowers.cobras is open in another program" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
    assert server.client.get("/api/question").status_code == 200


def test_other_hosts_than_this_machine_are_told_of(start: Callable[..., Running], flowers: Path) -> None:
    server = start("serve", "flowers.csv", "--host", "0.0.0.0")
    assert httpx.get(f"{server.base}/api/question", trust_env=False, timeout=LIMIT).status_code == 401
    assert server.client.get("/api/question").status_code == 200
    _, out, _ = server.end(signal.SIGINT)
    assert "whoever reaches this machine and knows the token" in out


def test_the_demo_is_the_page_on_digits(start: Callable[..., Running]) -> None:
    server = start("demo", "--session", "mine.cobras", "--seed", "0")
    settings = server.client.get("/api/settings").json()
    assert (settings["kind"], settings["n_items"]) == ("image", 1797)
    assert settings["session_file"] == "mine.cobras"
    question = server.client.get("/api/question?wait=60").json()
    assert server.client.get("/" + question["left"]["image"]).content.startswith(b"\x89PNG")


def test_the_map_process_does_not_outlive_a_killed_server(start: Callable[..., Running]) -> None:
    server = start("demo")
    pid = server.process.pid
    server.client.get("/api/map").raise_for_status()

    def children() -> list[int]:
        return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()] + [
            int(p)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for p in (task / "children").read_text().split()
        ]

    end = time.monotonic() + LIMIT
    while not (found := children()) and time.monotonic() < end:
        time.sleep(0.05)
    assert found
    server.end(signal.SIGKILL)
    while any(Path(f"/proc/{child}").exists() for child in found) and time.monotonic() < end + LIMIT:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{child}").exists() for child in found)


def test_keys_can_be_changed(tmp_path: Path) -> None:
    assert read_keys(None) == {}
    assert set(ACTIONS) == set(KEYS)  # every key of the page can be another
    assert read_keys('{"same": ["j"]}') == {"same": ["j"]}
    (tmp_path / "keys.json").write_text('{"undo": ["q", "Delete"]}')
    assert read_keys(str(tmp_path / "keys.json")) == {"undo": ["q", "Delete"]}


@pytest.mark.parametrize("keys", ["{", "[]", '{"jump": ["j"]}', '{"same": "j"}', '{"same": [1]}', "1"])
def test_other_keys_are_refused(keys: str) -> None:
    with pytest.raises(InvalidDataError, match="--keys"):
        read_keys(keys)


def test_the_browser_is_opened_without_the_token_and_not_inside_a_terminal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import webbrowser

    from cobras.web.serve import open_browser

    opened: list[str] = []
    done = threading.Event()
    monkeypatch.setattr(webbrowser, "open", lambda address: (opened.append(address), done.set()))
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    file = tmp_path / "page.html"
    open_browser("http://x/?token=secret", file)
    assert not file.exists()
    monkeypatch.setenv("DISPLAY", ":0")
    open_browser("http://y/?token=secret", file)
    assert done.wait(LIMIT)
    assert opened == [file.as_uri()]  # all users see the arguments of a process
    assert "url=http://y/?token=secret" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_importing_the_shell_brings_in_nothing_of_the_web(command: list[str]) -> None:
    code = "import sys, cobras.cli; print(*sorted({'fastapi', 'uvicorn', 'numpy', 'openTSNE'} & set(sys.modules)))"
    done = subprocess.run([command[0], "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


N_STEPS = {"cobras": 20_000, "adder": 2_000} if os.environ.get("COBRAS_SOAK") else {"cobras": 300}


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the kernel says no sizes")
@pytest.mark.parametrize("method", N_STEPS)
def test_answers_and_undos_take_no_more_memory(
    start: Callable[..., Running], flowers: Path, method: str, report_tried: Callable[..., None]
) -> None:
    """While the server thinks ahead, whenever nothing comes for a moment."""
    n_steps = N_STEPS[method]
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        file = Path(folder, "s.cobras")
        server = start("serve", "flowers.csv", "--label", "species", "--method", method, "--session", file)
        species = pl.read_csv(flowers)["species"]
        chance, before = random.Random(0), 0.0
        question = server.client.get("/api/question?wait=60").json()
        for step in range(-200, n_steps):
            if step == 0:
                before = megabytes(server.process.pid)
            pair, n_answers = question["pair"], question["progress"]["n_answers"]
            if pair is None or n_answers > chance.random() * 40:
                question = server.client.post("/api/undo", json={}).json()
            else:
                same = species[pair["i"]] == species[pair["j"]]
                answer = "unsure" if chance.random() < 0.1 else "same" if same else "different"
                question = server.client.post("/api/tell", json={**pair, "answer": answer}).json()
            if step % 10 == 0:
                time.sleep(0.06)
        growth = megabytes(server.process.pid) - before
    assert growth < 24
    report_tried(f"an answer or undo on a server, {method}", n_steps, MB_more_memory=growth)


def megabytes(process: int) -> float:
    """The memory that a process has now."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * 4096 / 1e6
