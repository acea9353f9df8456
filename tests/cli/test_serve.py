"""`cobras serve` and `cobras demo` as commands: what they print, how they end, what they refuse."""

from __future__ import annotations

import re
import signal
import socket
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import polars as pl
import pytest

from cobras import Session, read_dataset
from cobras.cli.serve import read_keys
from cobras.core.exceptions import InvalidDataError
from tests.cli.conftest import LIMIT

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
        assert (
            self.process.stdout is not None
        )  # not communicate(): it would lose what readline() has read ahead
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
            env={**environment, "XDG_STATE_HOME": str(tmp_path / "state")},
        )
        started.append(Running(process))
        return started[-1]

    yield begin
    for server in started:
        server.clean_up()


def test_it_prints_address_and_file_and_ends_by_ctrl_c(start: Callable[..., Running], flowers: Path) -> None:
    server = start("serve", "flowers.csv", "--label", "species")
    assert server.base.startswith("http://127.0.0.1:")
    page = httpx.get(server.first, trust_env=False)
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    question = server.client.get("/api/question?wait=20").json()
    assert server.client.post("/api/tell", json={**question["pair"], "answer": "same"}).status_code == 200
    code, out, err = server.end(signal.SIGINT)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("Answers are saved in flowers.cobras.")
    assert lines[-1].startswith("Saved in flowers.cobras: 1 answer, ")
    assert "http" not in out


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
    cookies = httpx.get(server.first, trust_env=False).cookies
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
        question = httpx.get(f"{again.base}/api/question?wait=20", cookies=cookies, trust_env=False).json()
        assert question["progress"]["n_answers"] == twin.n_answers
        pair = twin.ask()
        assert question["pair"] == (None if pair is None else {"i": pair.i, "j": pair.j})
        server = again
    table = pl.read_csv(server.client.get("/api/export?format=csv").content)
    assert table["cluster"].to_list() == twin.labels_.tolist()


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
    server.client.get("/api/question?wait=20")
    done = cobras("serve", "flowers.csv", "--no-browser")
    assert done.returncode == 2
    assert "flowers.cobras is open in another program" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
    assert server.client.get("/api/question").status_code == 200


def test_other_hosts_than_this_machine_are_told_of(start: Callable[..., Running], flowers: Path) -> None:
    server = start("serve", "flowers.csv", "--host", "0.0.0.0")
    assert httpx.get(f"{server.base}/api/question", trust_env=False).status_code == 401
    assert server.client.get("/api/question").status_code == 200
    _, out, _ = server.end(signal.SIGINT)
    assert "whoever reaches this machine and knows the token" in out


def test_the_demo_is_the_page_on_digits(start: Callable[..., Running]) -> None:
    server = start("demo", "--session", "mine.cobras", "--seed", "0")
    settings = server.client.get("/api/settings").json()
    assert (settings["kind"], settings["n_items"]) == ("image", 1797)
    assert settings["session_file"] == "mine.cobras"
    question = server.client.get("/api/question?wait=30").json()
    assert server.client.get("/" + question["left"]["image"]).content.startswith(b"\x89PNG")


def test_the_map_process_does_not_outlive_a_killed_server(start: Callable[..., Running]) -> None:
    server = start("demo")
    pid = server.process.pid

    def children() -> list[int]:
        return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()] + [
            int(p)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for p in (task / "children").read_text().split()
        ]

    end = time.monotonic() + 20
    while not (found := children()) and time.monotonic() < end:
        time.sleep(0.05)
    assert found
    server.end(signal.SIGKILL)
    while any(Path(f"/proc/{child}").exists() for child in found) and time.monotonic() < end + 20:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{child}").exists() for child in found)


def test_keys_can_be_changed(tmp_path: Path) -> None:
    assert read_keys(None) == {}
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

    from cobras.cli.serve import open_browser

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
