"""Digests of agents, so that results of an agent are not used after it has changed.

The digest covers the weights of an agent's network and its code; of `module:attribute` the modules of its author's that
it imports, and the files that are opened to read while it is made. A policy with an attribute `digest`, a string, vouches
by that for all but its modules. What can change unseen: a program, and what libraries read without Python's `open`.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import os
import site
import sys
import sysconfig
from collections.abc import Iterator
from importlib.metadata import entry_points
from importlib.util import find_spec, resolve_name, source_from_cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from garden_agents.networks.network import Network
from garden_agents.programs import ProgramAgent
from garden_agents.registry import code_of, load_agent
from garden_core.batch.policies import Policy
from garden_core.checks import short
from garden_core.files.disk import is_file
from garden_core.game import Game
from garden_core.plugins import imported

UNSEEN = "?"
"""The first character of the digest of an agent that can change unseen."""
OPENING = frozenset(
    {
        "gymnasium",
        "joblib",
        "msgspec",
        "numba",
        "numpy",
        "pettingzoo",
        "sb3_contrib",
        "scipy",
        "sklearn",
        "stable_baselines3",
        "torch",
    }
)
"""Libraries that read files by Python's `open`, apart from ELSEWHERE."""
ELSEWHERE = frozenset(
    {
        "asyncio",
        "ctypes",
        "dbm",
        "http",
        "multiprocessing",
        "socket",
        "sqlite3",
        "subprocess",
        "torch.jit",
        "urllib",
    }
)
"""Modules that read files in other ways, or from elsewhere."""
SYSTEM = ("/proc/", "/sys/", "/dev/", "/etc/", "/run/")


class Identity(NamedTuple):
    """The identity of an agent.

    Attributes:
        digest: 16 hexadecimal digits, after UNSEEN if the agent can change and keep them.
        unseen: why it can, "" if it cannot.
    """

    digest: str
    unseen: str


def identity_of(name: str, game: Game, allow_other_options: bool = False) -> Identity:
    """Make an agent, as `load_agent` does with `check`, and return its identity.

    Raises:
        ValueError: as `load_agent`, and for an attribute `digest` that is no string.
        ImportError: if the agent imports what is missing.
    """
    code = code_of(name)
    module, opened = _import(code) if code else (None, {})
    with _opened() as files:
        policy = load_agent(name, game, allow_other_options=allow_other_options, check=True)
    opened[name] = files = opened.get(name, set()) | files
    network = getattr(policy, "network", None) or policy
    digest, unseen = hashlib.sha256(weights_digest(policy).encode()), ""
    for each in (policy.__module__, network.__module__):
        for file in _our_files(each):
            digest.update(file.read_bytes())
    if module is not None:
        vouched = getattr(policy, "digest", getattr(network, "digest", None))
        if not isinstance(vouched, str | None):
            raise ValueError(f"agent {name}: its digest must be a string, not {short(vouched)}")
        sources, unseen = _sources({module.__name__, policy.__module__, network.__module__})
        if vouched is not None:
            unseen = ""
            digest.update(vouched.encode())
        else:
            unseen = unseen or ("" if IMPORT in opened else "its module was imported before it was made here")
            sources |= _data(files | opened.get(IMPORT, set()))
        for content in sorted({_digest_of(path) for path in sources}):
            digest.update(content)
    if isinstance(policy, ProgramAgent):
        unseen = "it is a program"
        for word in policy.command:
            digest.update(_digest_of(word) if is_file(Path(word)) else word.encode())
    return Identity(UNSEEN * bool(unseen) + digest.hexdigest()[:16], unseen)


def weights_digest(policy: Policy) -> str:
    """Return a digest of the weights of a network that plays, or that guides a search; "" for an agent without one."""
    network = getattr(policy, "network", None)
    network = getattr(network, "network", network)
    if not isinstance(network, Network):
        return ""
    digest = hashlib.sha256()
    for name in sorted(network.weights):
        digest.update(name.encode() + network.weights[name].tobytes())
    return digest.hexdigest()[:16]


def _digest_of(path: str) -> bytes:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _our_files(module: str) -> list[Path]:
    """Return the file of a module of this project; of one of `garden_agents` all beside it, as agents are spread over them."""
    path = Path(getattr(sys.modules.get(module), "__file__", None) or "")
    top = module.partition(".")[0]
    if top == __name__.partition(".")[0]:
        return sorted(path.parent.glob("*.py"))
    return [path] if top in _packages() and is_file(path) else []


# --- files that are opened ---

IMPORT = ""
"""In place of an agent's name: opened while its module was imported."""
_made: WeakKeyDictionary[ModuleType, dict[str, set[str]]] = WeakKeyDictionary()
"""The files opened while agents of a module were made, by name: made again, they may hold what they have read."""
_noting: list[set[str]] = []


def _import(code: str) -> tuple[ModuleType, dict[str, set[str]]]:
    """Import the module of `module:attribute`; return it, and the files opened by name so far."""
    name = code.partition(":")[0]
    new = name not in sys.modules
    with _opened() as files:
        imported(code, "agent")
    opened = _made.setdefault(sys.modules[name], {})
    if new:
        opened[IMPORT] = files
    return sys.modules[name], opened


@contextlib.contextmanager
def _opened() -> Iterator[set[str]]:
    """Note in the set that it gives the files that are opened to read, until it is left."""
    _listen()
    files: set[str] = set()
    _noting.append(files)
    try:
        yield files
    finally:
        _noting.pop()


@functools.cache
def _listen() -> None:
    sys.addaudithook(_note)  # for ever; without a set in `_noting` it does nothing


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if not _noting or event != "open":
        return
    path, _, flags = arguments
    if isinstance(path, str | bytes | os.PathLike) and not flags & (os.O_WRONLY | os.O_CREAT | os.O_TRUNC):
        with contextlib.suppress(OSError):  # of a current folder that is gone
            _noting[-1].add(os.path.realpath(os.fsdecode(path)))


def _data(opened: set[str]) -> set[str]:
    """Return those of the files that are neither the system's, nor libraries or caches, nor this project's code."""
    found = set()
    for path in opened:
        if path.endswith(".pyc"):
            with contextlib.suppress(ValueError):
                path = source_from_cache(path)
        ours = path.endswith(".py") and path.startswith(_folders())
        if not (ours or path.endswith((".nbi", ".nbc")) or path.startswith((*SYSTEM, *_libraries()))):
            found.add(path)
    return {path for path in found if is_file(Path(path))}


@functools.cache
def _libraries() -> tuple[str, ...]:
    """The folders of Python's own library and of installed packages, each with a separator at its end."""
    paths = sysconfig.get_paths()
    named = [paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")]
    named += [*site.getsitepackages(), site.getusersitepackages()]
    return tuple({os.path.join(os.path.realpath(path), "") for path in named})


# --- code ---


@functools.cache
def _packages() -> frozenset[str]:
    """The names of this project's packages, and of those of installed games."""
    games = {
        point.value.partition(":")[0].partition(".")[0] for point in entry_points(group="garden_core.games")
    }
    return frozenset({"garden_core", "garden_agents"} | games)


@functools.cache
def _folders() -> tuple[str, ...]:
    files = filter(None, map(_file_of, _packages()))
    return tuple(os.path.join(os.path.dirname(path), "") for path in files)


def _sources(modules: set[str]) -> tuple[set[str], str]:
    """Return the files of modules and of all that they import, as far as they are the author's; and why more can change."""
    files, reasons, seen = set(), set(), set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        top = name.partition(".")[0]
        if any(f"{name}.".startswith(f"{each}.") for each in ELSEWHERE):
            reasons.add(f"it uses {name}")
        if top in sys.stdlib_module_names or top in _packages():
            continue
        path = _file_of(top) or _file_of(name)
        if path is not None and path.startswith(_libraries()):
            if top not in OPENING:
                reasons.add(f"it uses {top}")
            continue
        path = _file_of(name)
        if path is not None:
            files.add(path)
        if path is not None and path.endswith(".py"):
            waiting += _imports(path, name)
        elif path is not None or name in modules:
            reasons.add(f"{name} is no file of Python code")
    return files, min(reasons, default="")


def _file_of(name: str) -> str | None:
    """Return the file of a module, which may be imported yet; None if there is none."""
    path = getattr(sys.modules.get(name), "__file__", None)
    if path is None:
        try:
            spec = find_spec(name)
        except (ImportError, ValueError, AttributeError):  # no module, but an attribute of one
            spec = None
        path = spec.origin if spec is not None and spec.has_location else None
    return None if path is None else os.path.realpath(path)


def _imports(path: str, module: str) -> Iterator[str]:
    """Yield what a module imports, attributes of modules among it, with the packages that hold it."""
    package = module if os.path.basename(path) == "__init__.py" else module.rpartition(".")[0]
    try:
        parsed = ast.parse(Path(path).read_bytes())
    except SyntaxError:  # so it cannot be imported
        return
    for node in ast.walk(parsed):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = (
                resolve_name("." * node.level + (node.module or ""), package) if node.level else node.module
            )
            names = [f"{base}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names = [f"{node.value.id}.{node.attr}"] * (f"{node.value.id}.{node.attr}" in ELSEWHERE)
        for name in names:
            parts = name.split(".")
            yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))
