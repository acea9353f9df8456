"""Closed to others: names, origins, tokens, cookies and sizes."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from starlette.responses import PlainTextResponse

from cobras.web.guard import LIMIT, Guard, is_loopback, user_secret
from tests.web.serving import Client, flowers, serving

READS = ["/api/question", "/api/labels", "/api/items", "/api/export?format=csv", "/api/openapi.json"]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("guard")
    with serving(flowers(folder), folder / "guard.cobras") as found:
        found.look("question", wait=60)
        yield found


def bare(client: Client, **headers: str) -> httpx.Client:
    """Somebody who knows the port, and what the headers say."""
    return httpx.Client(base_url=client.base_url, headers=headers, trust_env=False, timeout=300)


@pytest.mark.parametrize("path", ["/", *READS])
def test_without_the_token_nothing_is_read(client: Client, path: str) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": ""}, {"Cookie": "cobras=1; =;"}):
        with bare(client, **headers) as stranger:
            reply = stranger.get(path)
            assert reply.status_code == 401
            assert "flowers" not in reply.text
            assert "set-cookie" not in reply.headers


def test_without_the_token_nothing_is_answered(client: Client) -> None:
    before = client.look("question")
    with bare(client) as stranger:
        assert stranger.post("/api/tell", json={**before["pair"], "answer": "same"}).status_code == 401
        assert stranger.post("/api/undo", json={}).status_code == 401
    assert client.look("question") == before


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "[::2]",
        "",
        "127.0.0.2",
        "a b",
        "[",
        "x:y",
    ],
)
def test_another_name_is_refused_even_with_the_token(client: Client, host: str) -> None:
    for path in ("/", "/static/index.html", *READS):
        assert client.get(path, headers={"Host": host}).status_code in (400, 403)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "[::1]", "localhost:9000"])
def test_its_own_names_are_accepted_on_any_port(client: Client, host: str) -> None:
    assert client.get("/api/question", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1", "x"]
)
def test_a_page_of_another_origin_neither_reads_nor_answers(client: Client, origin: str) -> None:
    before = client.look("question")
    for headers in ({"Origin": origin}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
        assert client.get("/api/question", headers=headers).status_code == 403
        body = {**before["pair"], "answer": "same"}
        reply = client.post("/api/tell", json=body, headers=headers)
        assert reply.status_code == 403
        assert not [name for name in reply.headers if name.startswith("access-control")]
    assert client.options("/api/tell", headers={"Origin": origin}).status_code == 403
    assert client.look("question") == before


def test_its_own_page_may_call(client: Client) -> None:
    headers = {"Origin": str(client.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    assert client.get("/api/question", headers=headers).status_code == 200


def test_opening_the_address_sets_a_cookie_that_opens_the_rest(client: Client) -> None:
    with bare(client) as browser:
        opened = browser.get(client.server.address)
        assert opened.status_code == 200
        cookie = opened.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert client.server.token not in cookie
        assert browser.get("/api/question").status_code == 200
        assert browser.get("/").status_code == 200


def test_the_cookie_outlives_a_restart_but_not_another_session(tmp_path: Path) -> None:
    dataset = flowers(tmp_path)
    with serving(dataset, tmp_path / "a.cobras") as client:
        first, port = client.server.token, client.server.port
        cookies = httpx.get(client.server.address, trust_env=False, timeout=300).cookies
    # On the same port, as usual; another test may hold the usual one for a moment.
    with serving(dataset, tmp_path / "a.cobras", port=port) as client:
        assert client.server.token != first
        with bare(client) as browser:
            assert browser.get("/api/question").status_code == 401
            browser.cookies = cookies
            assert browser.get("/api/question").status_code == 200
            assert browser.get("/api/question", params={"token": first}).status_code == 200
    with serving(dataset, tmp_path / "b.cobras") as client, bare(client) as browser:
        browser.cookies = cookies
        assert browser.get("/api/question").status_code == 401


@pytest.mark.parametrize("foreign", ['prefs={"a":"1"}', "a[0]=1", "x=b c", "=", "é=ü", "x", "a=b=c,d"])
def test_cookies_of_other_programs_do_no_harm(client: Client, foreign: str) -> None:
    with bare(client) as browser:
        ours = browser.get(client.server.address).headers["set-cookie"].partition(";")[0]
    for cookies in (f"{foreign}; {ours}", f"{ours}; {foreign}", f"{foreign};{ours};{foreign}"):
        with bare(client, Cookie=cookies.encode()) as browser:  # type: ignore[arg-type]
            assert browser.get("/api/question").status_code == 200
            assert browser.get("/").status_code == 200


def test_the_cookie_is_good_for_a_day_or_while_its_server_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    now = time.time()

    def look(guard: Guard, path: str = "/", cookie: str = "", hours: float = 0) -> httpx.Response:
        async def call() -> httpx.Response:
            transport = httpx.ASGITransport(guard)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as browser:
                return await browser.get(path, headers={"Cookie": cookie})

        monkeypatch.setattr("cobras.web.guard.time.time", lambda: now + 3600 * hours)
        return asyncio.run(call())

    place = {"host": "127.0.0.1", "token": "secret", "session": tmp_path / "s.cobras"}
    page = PlainTextResponse("ok")
    first = Guard(page, port=1, **place)
    cookie = look(first, "/?token=secret").headers["set-cookie"].partition(";")[0]
    assert cookie.startswith("cobras-1-")
    assert [look(first, "/", cookie, hours).status_code for hours in (0, 100)] == [200, 200]
    assert look(first, "/", cookie[:-1]).status_code == 401
    look(first, hours=1)
    again, elsewhere = Guard(page, port=1, **place), Guard(page, port=2, **place)
    assert look(again, "/", cookie, 30).status_code == 401
    assert look(elsewhere, "/", cookie, 2).status_code == 401
    # A page that was open at the restart gets a cookie of the server that runs now.
    renewed = look(again, "/", cookie, 2).headers["set-cookie"].partition(";")[0]
    assert look(again, "/", renewed, 100).status_code == 200
    assert "set-cookie" not in look(again, "/", renewed, 3).headers


def test_the_secret_of_the_user_is_kept_and_private(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert user_secret() == user_secret()
    assert stat.S_IMODE((tmp_path / "cobras" / "secret").stat().st_mode) == 0o600
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "cobras" / "secret"))  # not a folder
    assert len(user_secret()) == 32
    assert user_secret() != user_secret()


def test_a_long_body_is_refused(client: Client) -> None:
    body = b'{"i": 0, "j": 1, "answer": "' + b"x" * LIMIT + b'"}'
    kind = {"Content-Type": "application/json"}
    assert client.post("/api/tell", content=body, headers=kind).status_code == 413
    assert client.post("/api/tell", content=iter([body[:1000]] * 100), headers=kind).status_code == 413


def test_a_body_that_never_ends_is_cut_off(client: Client) -> None:
    with socket.create_connection(("127.0.0.1", client.server.port), timeout=300) as line:
        head = (
            f"POST /api/tell HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {client.server.token}\r\n"
        )
        line.sendall(head.encode() + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        chunk = b"1000\r\n" + b" " * 0x1000 + b"\r\n"
        for _ in range(LIMIT // 0x1000 + 2):
            line.sendall(chunk)
        assert line.recv(100).startswith(b"HTTP/1.1 413")


def test_idle_connections_and_half_a_request_do_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cobras.web.guard.PATIENCE", 2.0)
    half = b"POST /api/tell HTTP/1.1\r\nHost: localhost\r\nContent-Le"
    with serving(flowers(tmp_path), tmp_path / "s.cobras") as client, contextlib.ExitStack() as stack:
        client.first_question()
        lines = [
            stack.enter_context(socket.create_connection(("127.0.0.1", client.server.port), timeout=60))
            for _ in range(300)
        ]
        lines[-1].sendall(half)
        with bare(client, **dict(client.headers)) as another:
            assert another.get("/api/question").status_code == 200
            with another.stream("GET", "/api/events") as events:
                for line in lines:
                    with contextlib.suppress(ConnectionResetError):
                        assert line.recv(1) == b""  # closed by the server
                coming = events.iter_lines()
                assert "event: hello" in coming
                client.answer([0] * 60, 1)
                assert any("event: question" in line for line in coming)  # the stream is still open


@pytest.mark.parametrize(
    "path", ["/", "/api/question", "/static/index.html", "/nowhere", "/api/item/9999999"]
)
def test_every_answer_is_closed_to_scripts_and_frames_of_others(client: Client, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "*" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "server" not in headers


@pytest.mark.parametrize(
    "path",
    [
        "/static/../guard.py",
        "/static/%2e%2e/guard.py",
        "/static/..%2fguard.py",
        "/static//etc/passwd",
        "/api/image/..%2f..%2fetc%2fpasswd",
        "/api/item/../../etc/passwd",
        "/api/image/-1",
        "/api/item/1e3",
        "/api/item/999999999999999999999",
        "/docs",
        "/redoc",
    ],
)
def test_no_path_of_the_file_system_is_reachable(client: Client, path: str) -> None:
    url = httpx.URL(client.base_url).copy_with(raw_path=path.encode())
    reply = client.send(client.build_request("GET", url))
    assert reply.status_code in (404, 422)
    assert "root:" not in reply.text


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("x", False),
    ],
)
def test_what_loopback_is(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_an_open_host_accepts_addresses_but_not_strange_names(tmp_path: Path) -> None:
    with serving(flowers(tmp_path), tmp_path / "open.cobras", host="0.0.0.0") as client:
        assert not client.server.is_private
        assert client.get("/api/question", headers={"Host": "192.0.2.7:80"}).status_code == 200
        assert client.get("/api/question", headers={"Host": socket.gethostname()}).status_code == 200
        assert client.get("/api/question", headers={"Host": "evil.example"}).status_code == 403
        with bare(client) as stranger:
            assert stranger.get("/api/question").status_code == 401
