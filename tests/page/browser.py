"""A headless Chromium, spoken to over its own pipe: no driver, no port, no download."""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.patience import LONGEST

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")

_FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
    *("--disable-dev-shm-usage", "--mute-audio", "--hide-scrollbars", "--remote-debugging-pipe"),
]

Message = dict[str, Any]


def chromium() -> str | None:
    """Return where Chromium is, if it is installed."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Page:
    """One page of a browser, with the requests it made and the errors it met."""

    def __init__(self, to: int, answers: int) -> None:
        self._to, self._from = to, answers
        self._numbers = itertools.count(1)
        self._buffer = b""
        self._session: str | None = None
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.shown: object = None  # what the page in view is known to show, as it was opened

    def attach(self) -> None:
        """Open an empty page and listen to it."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, *, limit: float = LONGEST, **parameters: Any) -> Message:
        """Ask the browser for something, and wait for its answer."""
        number = next(self._numbers)
        message: Message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + limit
        while True:
            answer = self._next(deadline)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return dict(answer["result"])
            self._note(answer)

    def _next(self, deadline: float) -> Message:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._from], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser does not answer")
            data = os.read(self._from, 1 << 20)
            if not data:
                raise RuntimeError("the browser has ended")
            self._buffer += data
        text, self._buffer = self._buffer.split(b"\0", 1)
        return dict(json.loads(text))

    def _note(self, event: Message) -> None:
        what, given = event.get("method"), event.get("params", {})
        if what == "Network.requestWillBeSent":
            self.requests.append(given["request"]["url"])
        elif what == "Runtime.exceptionThrown":
            details = given["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif what == "Log.entryAdded" and given["entry"]["level"] == "error":
            self.errors.append(given["entry"]["text"])

    # ---- what a reader does ---------------------------------------------------------------------

    def open(self, url: str, *, ready: str = "window.timme?.page !== undefined") -> None:
        """Load a page and wait until it is ready."""
        self.shown = None
        self.call("Page.navigate", url=url)
        self.wait(ready)
        self.settle()

    def evaluate(self, expression: str, *, limit: float = LONGEST) -> Any:
        """Return the value of an expression, or of what it promises."""
        answer = self.call(
            "Runtime.evaluate",
            limit=limit,
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def wait(self, expression: str, *, limit: float = LONGEST) -> None:
        """Wait until an expression is true."""
        deadline = time.monotonic() + limit
        while not self.evaluate(f"Boolean({expression})"):
            if time.monotonic() > deadline:
                raise TimeoutError(f"never true: {expression}; errors: {self.errors}")
            time.sleep(0.05)

    def settle(self) -> None:
        """Wait for two frames, so that everything that was asked for is drawn."""
        frame = "requestAnimationFrame"
        self.evaluate(f"new Promise(done => {frame}(() => {frame}(done)))")

    def resize(self, width: int, height: int, *, phone: bool = False, sharp: float = 1) -> None:
        """Set the size of the window."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=sharp,
            mobile=phone,
        )

    def prefer(self, theme: str) -> None:
        """Set the theme that the system prefers: light or dark."""
        feature = {"name": "prefers-color-scheme", "value": theme}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """Move, press or release the mouse."""
        self.call("Input.dispatchMouseEvent", type=f"mouse{kind}", x=x, y=y, **more)

    def hover(self, x: float, y: float) -> None:
        self.mouse("Moved", x, y)
        self.settle()

    def click(self, x: float, y: float) -> None:
        self.drag((x, y), (x, y))

    def drag(self, start: tuple[float, float], stop: tuple[float, float], steps: int = 5) -> None:
        """Press at one place, move to another and release."""
        held: Message = {"button": "left", "buttons": 1, "clickCount": 1}
        self.mouse("Moved", *start)
        self.mouse("Pressed", *start, **held)
        if start != stop:
            for k in range(1, steps + 1):
                x, y = (a + (b - a) * k / steps for a, b in zip(start, stop, strict=True))
                self.mouse("Moved", x, y, button="left", buttons=1)
        self.mouse("Released", *stop, **{**held, "buttons": 0})
        self.settle()

    def press(self, key: str, text: str = "") -> None:
        """Press a key and release it."""
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def box(self, selector: str) -> tuple[float, float, float, float]:
        """Return left, top, width and height of an element."""
        x, y, width, height = self.evaluate(
            f"(({{x, y, width, height}}) => [x, y, width, height])"
            f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"
        )
        return x, y, width, height

    def screenshot(self, *, whole: bool = False) -> bytes:
        """Return what is seen, or the whole page, as PNG."""
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        return base64.b64decode(answer["data"])


@contextmanager
def browsing(program: str) -> Iterator[Page]:
    """Start a browser with a profile of its own, and end it afterwards."""
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    profile = tempfile.mkdtemp(prefix="timme-browser-")

    def wire() -> None:  # the browser reads commands from 3 and answers on 4
        first, second = os.dup(to_read), os.dup(from_write)
        os.dup2(first, 3)
        os.dup2(second, 4)

    process = subprocess.Popen(
        [program, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
        preexec_fn=wire,  # noqa: PLW1509 (nothing else runs in this process)
        close_fds=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_read)
    os.close(from_write)
    page = Page(to_write, from_read)
    try:
        page.attach()
        yield page
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(to_write)
        os.close(from_read)
        shutil.rmtree(Path(profile), ignore_errors=True)
