"""The server as a user starts it: a process, an address, a browser's view of it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx2

import timme
from tests.patience import LONGEST
from tests.web.conftest import until

SOURCE = Path(timme.__file__).parents[1]
START = [sys.executable, "-m", "timme", "serve", "--port", "0", "--no-browser"]


class Served:
    """`timme serve` in a process of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [*START, "--data", str(folder), *options],
            env={**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.said: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.address = str(until(self._address))
        self.base, self.token = self.address.split("/?token=")
        self.client = httpx2.Client(
            base_url=self.base,
            headers={"Authorization": f"Bearer {self.token}"},
            timeout=LONGEST,
            trust_env=False,
        )

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """End the server, and return its exit code."""
        self.client.close()
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(timeout=LONGEST)
        self._reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code

    def state(self, name: str) -> str:
        return str(self.client.get(f"/api/jobs/{name}").json()["state"])

    def _read(self) -> None:
        assert self.process.stdout is not None
        self.said.extend(self.process.stdout)

    def _address(self) -> str | None:
        assert self.process.poll() is None, self.said
        found = re.search(r"http://\S+\?token=\S+", "".join(self.said))
        return found and found[0]
