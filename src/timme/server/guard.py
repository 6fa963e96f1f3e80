"""The guard before every request: Host, Origin, token and size; strict headers on every answer."""

from __future__ import annotations

import contextlib
import hmac
from collections.abc import Mapping
from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

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
_BESIDES_FILES = 5_000_000  # bytes of a form
_WITHOUT_FILES = 200_000  # bytes of any other request


class Guard:
    """Admits the user alone, from this computer's own addresses and the server's own pages.

    A ticket is a key that serves once: others can see the command line that opens a browser.
    """

    def __init__(
        self, app: ASGIApp, *, token: str, tickets: set[str], port: int, upload: int
    ) -> None:
        self._app, self._token, self._tickets, self._upload = app, token, tickets, upload
        self._cookie = f"timme-{port}"  # browsers share cookies between ports
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or let the request through."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        refused = self._refuse(request) or await self._refuse_body(request)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await (refused or self._app)(scope, receive, answer)

    def _refuse(self, request: Request) -> Response | None:
        """Return the answer to those who may not pass, None for those who may."""
        headers, path = request.headers, request.url.path
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return problem(403, "this server answers to 127.0.0.1 and localhost only")
        origin = f"http://{hosts[0].lower()}"
        if any(given.lower() != origin for given in headers.getlist("origin")):
            return problem(403, "requests from other pages are refused")
        key = request.query_params.get("token", "")
        if path == "/" and (key in self._tickets or self._fits(key)):
            # The token becomes a cookie, and leaves the address of the page.
            self._tickets.discard(key)
            welcome = RedirectResponse("/", status_code=303)
            welcome.set_cookie(self._cookie, self._token, httponly=True, samesite="strict")
            return welcome
        kind, _, key = headers.get("authorization", "").partition(" ")
        bearer = key.strip() if kind.lower() == "bearer" else ""
        if self._fits(bearer) or self._fits(request.cookies.get(self._cookie, "")):
            return None
        reason = "open the address that timme serve printed, or send Authorization: Bearer TOKEN"
        return problem(401, f"a token is needed: {reason}", {"WWW-Authenticate": "Bearer"})

    def _fits(self, key: str) -> bool:
        """Return whether a key is the token, in a time that does not depend on it."""
        return hmac.compare_digest(key.encode(errors="replace"), self._token.encode())

    async def _refuse_body(self, request: Request) -> Response | None:
        """Return the answer to a body that is too large; it is never longer than it declares."""
        if "transfer-encoding" in request.headers:
            return problem(411, "requests are taken with their length only: send Content-Length")
        has_files = (request.method, request.url.path) == ("POST", "/api/jobs")
        limit = self._upload + _BESIDES_FILES if has_files else _WITHOUT_FILES
        size = int(request.headers.get("content-length", "0"))
        if size <= limit:
            return None
        if size <= 3 * limit:  # a browser that still sends would see a reset, and no answer
            with contextlib.suppress(ClientDisconnect):
                async for _ in request.stream():
                    pass
        return problem(413, too_large(limit))


def too_large(limit: int) -> str:
    """Return why a request is refused, or files that are too large when they are unpacked."""
    return (
        f"more than {memory.shown(limit)} are sent, or unpacked: give fewer frames, or start the "
        "server with a higher limit (timme serve --limit upload=4GB)"
    )


def problem(status: int, reason: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return a refusal."""
    return JSONResponse({"detail": reason}, status, headers)
