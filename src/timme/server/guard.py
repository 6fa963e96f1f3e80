"""The guard before every request: Host, Origin, token and size; strict headers on every answer."""

from __future__ import annotations

import hmac
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import cookie_parser
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response

from timme import memory

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'"
)
FILE_POLICY = "default-src 'none'; sandbox; frame-ancestors 'none'"
# A report names its scripts by hash in its own policy. Here it runs without the origin and the
# cookies of the server, so that it reaches nothing but itself.
REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline' blob:; "
    "style-src 'unsafe-inline'; img-src data: blob:; connect-src data: blob:; worker-src blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
_HEADERS = {
    "Content-Security-Policy": PAGE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_LOCKED = Path(__file__).with_name("pages") / "locked.html"
_BESIDES_FILES = 5_000_000  # bytes of a form
_WITHOUT_FILES = 200_000  # bytes of any other request


class Keys:
    """What opens the server: a token, and tickets that serve once."""

    def __init__(self, token: str) -> None:
        self.token = token
        self._tickets: set[str] = set()

    def ticket(self) -> str:
        """Make a key that serves once: others can see the command line that opens a browser."""
        made = secrets.token_urlsafe(24)
        self._tickets.add(made)
        return made

    def fits(self, key: str) -> bool:
        """Return whether a key is the token, in a time that does not depend on it."""
        return hmac.compare_digest(key.encode(errors="replace"), self.token.encode())

    def admits(self, key: str) -> bool:
        """Return whether a key is the token or a ticket, and take the ticket."""
        if key in self._tickets:
            self._tickets.discard(key)
            return True
        return self.fits(key)


class Guard:
    """Admits the user alone, from this computer's own addresses and the server's own pages."""

    def __init__(self, app: ASGIApp, *, keys: Keys, port: int, upload: int) -> None:
        self._app, self._keys, self._upload = app, keys, upload
        self._cookie = f"timme-{port}"  # browsers share cookies between ports
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or let the request through."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        has_files = (scope["method"], scope["path"]) == ("POST", "/api/jobs")
        limit = self._upload + _BESIDES_FILES if has_files else _WITHOUT_FILES
        body = _Body(receive, limit)
        refused = self._refuse(scope)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if refused is None and message["status"] >= 400:
                    await body.drain()
            await send(message)

        await (refused or self._app)(scope, body.receive, answer)

    def _refuse(self, scope: Scope) -> Response | None:
        """Return the answer to those who may not pass, None for those who may."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return problem(403, "this server answers to 127.0.0.1 and localhost only")
        origin = f"http://{hosts[0].lower()}"
        if any(given.lower() != origin for given in headers.getlist("origin")):
            return problem(403, "requests from other pages are not taken")
        path = scope["path"]
        if scope["method"] == "GET" and path == "/":
            key = QueryParams(scope["query_string"]).get("token")
            if key is not None and self._keys.admits(key):
                # The token becomes a cookie, and leaves the address of the page.
                welcome = RedirectResponse("/", status_code=303)
                token = self._keys.token
                welcome.set_cookie(self._cookie, token, httponly=True, samesite="strict")
                return welcome
        if path.startswith("/static/") or self._knows(headers):
            return None
        answer: Response = FileResponse(_LOCKED, 401)
        if path.startswith("/api/"):
            answer = problem(401, "a token is needed: Authorization: Bearer TOKEN")
        answer.headers["WWW-Authenticate"] = "Bearer"
        return answer

    def _knows(self, headers: Headers) -> bool:
        kind, _, key = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and self._keys.fits(key.strip()):
            return True
        return self._keys.fits(cookie_parser(headers.get("cookie", "")).get(self._cookie, ""))


class _Body:
    """The body of a request, counted while it comes."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive, self._limit, self._size, self._complete = receive, limit, 0, False

    async def receive(self) -> Message:
        """Return the next part, or refuse a body that is too large."""
        message = await self._receive()
        self._size += len(message.get("body", b""))
        self._complete = not message.get("more_body", False)
        if self._size > self._limit:
            raise too_large(self._limit)
        return message

    async def drain(self) -> None:
        """Read on without keeping anything: browsers that still send see a reset, no answer."""
        most, self._limit = self._size + 2 * self._limit, 2**63
        while not self._complete and self._size < most:
            await self.receive()


def too_large(limit: int) -> HTTPException:
    """Return the refusal of a request, or of files that are too large when they are unpacked."""
    return HTTPException(
        413,
        f"more than {memory.shown(limit)} are sent, or unpacked: give fewer frames, or start the "
        "server with a higher limit (timme serve --limit upload=4GB)",
    )


def problem(status: int, reason: str) -> Response:
    """Return a refusal."""
    return JSONResponse({"detail": reason}, status_code=status)
