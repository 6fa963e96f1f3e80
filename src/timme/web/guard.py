"""The guard before every request: Host, Origin and token; strict headers on every answer."""

from __future__ import annotations

import hmac
import secrets
from importlib import resources
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'"
)
FILE_POLICY = "default-src 'none'; sandbox; frame-ancestors 'none'"
# A report is one file with its scripts in it, which its own policy names by hash. Here it runs
# apart from the server, without its origin or cookies, and reaches nothing but itself.
REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline' blob:; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; connect-src data: blob:; "
    "worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

_HEADERS = {
    "Content-Security-Policy": PAGE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Keys:
    """What opens the server: a token, and tickets that serve once.

    Parameters
    ----------
    token : str
        What nobody can guess; it opens the server as long as that runs.
    """

    def __init__(self, token: str) -> None:
        self.token = token
        self._tickets: set[str] = set()

    def ticket(self) -> str:
        """Make a key that serves once: others can see the command line that opens a browser.

        Returns
        -------
        str
            What nobody can guess.
        """
        made = secrets.token_urlsafe(24)
        self._tickets.add(made)
        return made

    def fits(self, key: str) -> bool:
        """Tell whether a key is the token, in a time that does not depend on it.

        Parameters
        ----------
        key : str
            Anything.

        Returns
        -------
        bool
            Whether it is.
        """
        return hmac.compare_digest(key.encode(errors="replace"), self.token.encode())

    def admits(self, key: str) -> bool:
        """Tell whether a key is the token or a ticket, and take the ticket.

        Parameters
        ----------
        key : str
            Anything.

        Returns
        -------
        bool
            Whether it is.
        """
        if key in self._tickets:
            self._tickets.discard(key)
            return True
        return self.fits(key)


class Guard:
    """Lets nobody in but the user, from this computer's own addresses and the server's own page.

    Parameters
    ----------
    app : ASGIApp
        What is guarded.
    keys : Keys
        What opens it.
    port : int
        Port of the server.
    """

    def __init__(self, app: ASGIApp, *, keys: Keys, port: int) -> None:
        self._app = app
        self._keys = keys
        self._cookie = f"timme-{port}"  # browsers share cookies between ports
        ends = (f":{port}", "") if port == 80 else (f":{port}",)
        self._hosts = {
            f"{name}{end}" for name in ("127.0.0.1", "localhost", "[::1]") for end in ends
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or let the request through."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        answer = self._answer(scope)
        await (answer or self._app)(scope, receive, _strict(send))

    def _answer(self, scope: Scope) -> Response | None:
        """Return what stands in for the answer of the server, None for those who may pass."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return _problem(403, "this server answers to 127.0.0.1 and localhost only")
        if any(
            origin.lower() != f"http://{hosts[0].lower()}" for origin in headers.getlist("origin")
        ):
            return _problem(403, "requests from other pages are not taken")
        path = scope["path"]
        if scope["method"] == "GET" and path == "/":
            key = QueryParams(scope["query_string"]).get("token")
            if key is not None and self._keys.admits(key):
                return self._welcome()
        if path.startswith("/static/") or self._known(headers):
            return None
        if path.startswith("/api/"):
            answer = _problem(401, "a token is needed: Authorization: Bearer TOKEN")
            answer.headers["WWW-Authenticate"] = "Bearer"
            return answer
        page = resources.files(__package__).joinpath("static", "locked.html").read_text("utf-8")
        return HTMLResponse(page, status_code=401, headers={"WWW-Authenticate": "Bearer"})

    def _known(self, headers: Headers) -> bool:
        kind, _, key = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and self._keys.fits(key.strip()):
            return True
        cookies = cookie_parser(headers.get("cookie", ""))
        return self._keys.fits(cookies.get(self._cookie, ""))

    def _welcome(self) -> Response:
        """Exchange the token in the address for a cookie, and lead to an address without it."""
        answer = RedirectResponse("/", status_code=303)
        answer.set_cookie(self._cookie, self._keys.token, httponly=True, samesite="strict")
        return answer


def _problem(status: int, reason: str) -> Response:
    return JSONResponse({"detail": reason}, status_code=status)


def _strict(send: Send) -> Send:
    async def send_strictly(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_strictly
