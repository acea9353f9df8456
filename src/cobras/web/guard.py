"""Who may call: the server's own page and those who know its token, under its own name, with small bodies, in time.

A name that an attacker's DNS points at this machine is refused by the Host header; a page of another origin by its
Origin header or by what the browser says about where a request comes from. The token is another one at every start.
Opening the address sets a cookie that proves that the same user opened this session before, and the page then takes
the token out of the address. The cookie is good for as long as the server runs that set it, and for a day: it is
signed with a secret in the user's own folder, so that a page that is open survives a restart of the server.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import os
import secrets
import socket
import sys
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import h11
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

LIMIT = 64 * 1024  # bytes of a body
N_CONNECTIONS = 200  # open at the same time; a browser needs six, and one for each tab
PATIENCE = 20.0  # seconds in which a request must have come
DAY = 86_400  # seconds
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
# A body that was not read would be taken for the next request.
CLOSE = {"Connection": "close"}
NO_TOKEN = (
    "<!doctype html><meta charset=utf-8><title>cobras</title>"
    "<p>Open the address that cobras printed: it holds the token."
)


class Guard:
    """Refuses requests before they reach the application.

    Parameters
    ----------
    app : ASGI application
    host : str
        The address that the server is bound to.
    port : int
        Its port. Browsers send cookies to all ports of a host, so the name of ours holds it.
    token : str
        What callers must know.
    session : Path
        The session file, which the cookie is about.
    """

    def __init__(self, app: ASGIApp, *, host: str, port: int, token: str, session: Path) -> None:
        self.app, self.token, self._names = app, token, own_names(host)
        self._any_address = host in ("0.0.0.0", "::", "")
        self._cookie = f"cobras-{port}-{hashlib.sha256(os.fsencode(session.absolute())).hexdigest()[:12]}"
        self._key = hmac.digest(user_secret(), self._cookie.encode(), "sha256")
        self._began = int(time.time())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or say why not."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        send = self._with_headers(scope, headers, send)
        refusal = self._refusal(scope, headers)
        if refusal is None:
            await self.app(scope, _limit_body(receive), send)
        else:
            await refusal(scope, receive, send)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        host, path = headers.get("host", ""), scope["path"]
        if not self._is_own(host):
            return _refuse(403, "This name is not one of the server's own.")
        if headers.get("origin", f"http://{host}") != f"http://{host}":
            return _refuse(403, "Pages of other origins may not call.")
        # Browsers send no Origin with a GET of an image or a script, but say where it comes from.
        if path.startswith("/api") and headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return _refuse(403, "Pages of other origins may not call.")
        # The modules of the page hold no data, and the browser sends no token with them.
        if not path.startswith("/static/") and not self._is_known(scope, headers):
            if path == "/":
                return HTMLResponse(NO_TOKEN, 401, CLOSE)
            return _refuse(401, "The token is missing or wrong; it is in the address that cobras printed.")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:20]) > LIMIT:
            return _refuse(413, f"The body has {length[:20]} bytes; at most {LIMIT} are allowed.")
        return None

    def _is_own(self, host: str) -> bool:
        """Whether a Host header names this server; any port will do, as behind a tunnel."""
        try:
            name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
            if name in self._names:
                return True
            return self._any_address and bool(ipaddress.ip_address(name))
        except ValueError:
            return False

    def _is_known(self, scope: Scope, headers: Headers) -> bool:
        given = [self._token_in_query(scope), headers.get("authorization", "").removeprefix("Bearer ")]
        return any(_equal(token, self.token) for token in given) or self._cookie_time(headers) is not None

    def _cookie_time(self, headers: Headers) -> int | None:
        """When our cookie was set, in seconds; None if there is none that is good."""
        # Only our own one is read: those of other programs on this machine come along in any form.
        for part in headers.get("cookie", "").split(";"):
            name, _, value = part.strip().partition("=")
            at = value.partition(".")[0]
            if name == self._cookie and at.isdecimal() and _equal(value, self._cookie_value(at)):
                return int(at) if int(at) >= self._began or time.time() - int(at) < DAY else None
        return None

    def _cookie_value(self, at: str) -> str:
        return f"{at}.{hmac.new(self._key, at.encode(), 'sha256').hexdigest()}"

    def _token_in_query(self, scope: Scope) -> str:
        query: dict[str, list[str]] = parse_qs(scope["query_string"].decode("latin-1"))
        return query.get("token", [""])[-1]

    def _with_headers(self, scope: Scope, headers: Headers, send: Send) -> Send:
        set_at = self._cookie_time(headers)
        # Also where an earlier run of the server set it: it is then good for as long as this one runs.
        opens = scope["path"] == "/" if set_at is None else set_at < self._began
        began = time.perf_counter()

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = MutableHeaders(scope=message)
                sent.update(HEADERS)
                sent.setdefault("Cache-Control", "no-store")
                sent["Server-Timing"] = f"total;dur={1000 * (time.perf_counter() - began):.1f}"
                if opens and message["status"] == 200:
                    cookie = self._cookie_value(str(int(time.time())))
                    sent.append("Set-Cookie", f"{self._cookie}={cookie}; Path=/; HttpOnly; SameSite=Strict")
            await send(message)

        return send_with_headers


def _refuse(status: int, sentence: str) -> Response:
    return JSONResponse({"message": sentence}, status, CLOSE)


def _limit_body(receive: Receive) -> Receive:
    """Refuse a body that grows beyond the limit without having said how long it is."""
    n_bytes = 0

    async def receive_part() -> Message:
        nonlocal n_bytes
        message = await receive()
        n_bytes += len(message.get("body", b""))
        if n_bytes > LIMIT:
            raise HTTPException(413, f"The body is too long; at most {LIMIT} bytes are allowed.")
        return message

    return receive_part


def _equal(given: str, secret: str) -> bool:
    # In constant time: how long it takes does not tell how much of a guess is right.
    return hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode())


def is_loopback(host: str) -> bool:
    """Whether only programs on this machine reach an address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def own_names(host: str) -> set[str]:
    """The names under which callers may address the server."""
    names = {"localhost", "127.0.0.1", "::1", host.lower()}
    return names if is_loopback(host) else names | {socket.gethostname().lower()}


def user_secret() -> bytes:
    """Return a secret that only this user can read, made at first use; one for this run if it cannot be stored."""
    home = os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else os.environ.get("XDG_STATE_HOME")
    file = Path(home or Path.home() / ".local" / "state") / "cobras" / "secret"
    fresh = secrets.token_bytes(32)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            # Exclusive: of two servers that start at once, one makes the secret and the other reads it.
            new = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(new, "wb") as stream:
                stream.write(fresh)
            return fresh
        except FileExistsError:
            stored = file.read_bytes()
            # Shorter while the other one is still writing.
            return stored if len(stored) == len(fresh) else fresh
    except (OSError, RuntimeError):
        return fresh


class Connection(H11Protocol):
    """A connection that is closed when no whole request comes in time; of too many, one without any request."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to count the seconds, and make room where there are too many connections."""
        super().connection_made(transport)
        self._seen: object = None
        self._timer = self.loop.call_later(PATIENCE, self._close_if_idle)
        if len(self.connections) > N_CONNECTIONS:
            others = (c for c in self.connections if isinstance(c, Connection) and c is not self)
            next((c for c in others if c.cycle is None), self).transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting."""
        self._timer.cancel()
        super().connection_lost(exc)

    def _close_if_idle(self) -> None:
        # An answer may take as long as it likes, as the stream of events does; the request before it may not.
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY) and self.cycle is self._seen:
            self.transport.close()
            return
        self._seen = self.cycle
        self._timer = self.loop.call_later(PATIENCE, self._close_if_idle)
