"""What a user can choose of the server."""

from __future__ import annotations

from dataclasses import dataclass

from timme._html import Described
from timme.settings.schema import choose, settle


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServeSettings(Described):
    """What a user can choose of the server: where it is, and what its jobs may take."""

    port: int = choose(
        "Port on 127.0.0.1; 0 for any free one",
        default=8377,
        group="server",
        least=0,
        most=65535,
    )
    data: str | None = choose(
        "Folder of the results, on Linux ~/.local/share/timme/serve",
        group="server",
        usual="in your folder for data",
        metavar="FOLDER",
    )
    no_browser: bool = choose("Print the address only", default=False, group="server")
    max_upload: str = choose("All files of a job, unpacked", default="2GB", group="server")
    max_time: str = choose("Time that a job may run", default="12h", group="server")
    memory: str = choose("Memory that a job may take", default="4GB", group="server")
    jobs: int = choose("Jobs that run at once", default=1, group="server", least=1)
    queue: int = choose("Jobs that may wait", default=8, group="server", least=1)

    def __post_init__(self) -> None:
        """Understand texts, and refuse what means nothing."""
        settle(self)
