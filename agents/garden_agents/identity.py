"""Digests of agents, to detect when an agent has changed since its results were computed.

A digest covers an agent's code and the weights of its network. For `module:attribute` it covers the author's modules that
are imported, and the files opened for reading while the agent is made; an attribute `digest` of the policy, a string,
replaces these files. Changes of programs, and of files that libraries read without Python's `open`, go unseen.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import itertools
import json
import os
import site
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from importlib.util import find_spec, resolve_name, source_from_cache
from os.path import isfile
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from garden_agents.networks.network import Network
from garden_agents.networks.network_agent import NetworkAgent
from garden_agents.programs import ProgramAgent
from garden_agents.registry import code_of, load_agent
from garden_agents.text.agent import TextAgent
from garden_core.batch.policies import Policy
from garden_core.checks import short
from garden_core.game import Game
from garden_core.plugins import imported
from garden_core.registry import GAMES

UNSEEN = "?"
"""First character of the digest of an agent that can change unseen."""
OPENING = (
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
)
"""Libraries that read files with Python's `open`, except for the modules in ELSEWHERE."""
ELSEWHERE = (
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
)
"""Modules that read files in other ways, or data from elsewhere."""
SYSTEM = ("/proc/", "/sys/", "/dev/", "/etc/", "/run/")


class Identity(NamedTuple):
    """The identity of an agent.

    Attributes:
        digest: 16 hexadecimal digits, after UNSEEN if the agent can change without changing them.
        unseen: the reason, "" if it cannot.
    """

    digest: str
    unseen: str


def identity_of(
    name: str,
    game: Game,
    allow_other_options: bool = False,
    arguments: Mapping[str, Any] = MappingProxyType({}),
) -> Identity:
    """Make an agent, as `load_agent` does with `check`, and return its identity.

    Raises:
        ValueError: as `load_agent`, and for an attribute `digest` that is not a string.
        ImportError: if a module that the agent imports is missing.
    """
    code = code_of(name)
    module, opened = import_recorded(code) if code else (None, {})
    with _opened_files() as files:
        policy = load_agent(name, game, 0, allow_other_options, check=True, arguments=arguments)
    opened[name] = files = opened.get(name, set()) | files
    network = getattr(policy, "network", None)
    network = policy if network is None else network
    modules = policy.__module__, network.__module__
    target = network.value_target if isinstance(network, NetworkAgent) else ""  # search depends on it
    digest, unseen = hashlib.sha256(repr((weights_digest(policy), target)).encode()), ""
    for file in itertools.chain(*map(_our_files, modules)):
        digest.update(_digest_of(os.fspath(file)))
    own_digest = getattr(policy, "digest", getattr(network, "digest", None))
    if own_digest is not None:
        if not isinstance(own_digest, str):
            raise ValueError(f"agent {name}: its digest must be a string, not {short(own_digest)}")
        digest.update(hashlib.sha256(own_digest.encode()).digest())
    if module is not None:
        sources, unseen = _sources({module.__name__, *modules})
        if own_digest is not None:
            unseen = ""
        else:
            unseen = unseen or ("" if IMPORT in opened else "its module was imported before it was made here")
            sources |= _data(files | opened.get(IMPORT, set()))
        for content in sorted({_digest_of(path) for path in sources}):
            digest.update(content)
    if isinstance(policy, TextAgent):
        digest.update(json.dumps(policy.settings, sort_keys=True).encode())
        unseen = unseen or "it is a language model" * (module is None)
    if isinstance(policy, ProgramAgent):
        unseen = "it is a program"
        for word in policy.command:  # digests have one length, so that no two commands give the same bytes
            digest.update(_digest_of(word) if isfile(word) else hashlib.sha256(word.encode()).digest())
    return Identity(UNSEEN * bool(unseen) + digest.hexdigest()[:16], unseen)


def weights_digest(policy: Policy) -> str:
    """Return a digest of the weights of an agent's network, or of the one that guides its search; "" without a network."""
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
    """Return the file of a module of this project; for one of `garden_agents`, all files of its folder."""
    path = Path(getattr(sys.modules.get(module), "__file__", None) or "")
    top = module.partition(".")[0]
    if top == __name__.partition(".")[0]:
        return sorted(path.parent.glob("*.py"))
    return [path] if top in _packages() and isfile(path) else []


# --- files that are opened ---

IMPORT = ""
"""Key, instead of an agent's name, of the files opened while its module was imported."""
_made: WeakKeyDictionary[ModuleType, dict[str, set[str]]] = WeakKeyDictionary()
"""Files opened while the agents of a module were made, by name; an agent made again may have cached their content."""
_recording: list[set[str]] = []
_appended: set[str] = set()
"""Files to which agents append, such as transcripts: what they hold are results."""


def import_recorded(code: str) -> tuple[ModuleType, dict[str, set[str]]]:
    """Import the module of `module:attribute`; return it, and the files opened so far by agent.

    The first import in a process must be this one, as an agent's identity depends on the files that it opens.
    """
    name = code.partition(":")[0]
    new = name not in sys.modules
    with _opened_files() as files:
        imported(code, "agent")
    module = sys.modules[name]
    opened = _made.setdefault(module, {})
    if new:
        opened[IMPORT] = files
    return module, opened


@contextlib.contextmanager
def _opened_files() -> Iterator[set[str]]:
    """Record the files opened for reading inside the context, in the set that it returns."""
    _listen()
    files: set[str] = set()
    _recording.append(files)
    try:
        yield files
    finally:
        _recording.pop()


@functools.cache
def _listen() -> None:
    sys.addaudithook(_record)  # cannot be removed


def _record(event: str, arguments: tuple[Any, ...]) -> None:
    if not _recording or event != "open":
        return
    path, _, flags = arguments
    if isinstance(path, str | bytes | os.PathLike):
        with contextlib.suppress(OSError):  # the current folder was deleted
            if flags & os.O_APPEND:
                _appended.add(os.path.realpath(os.fsdecode(path)))
            elif not flags & (os.O_WRONLY | os.O_CREAT | os.O_TRUNC):
                _recording[-1].add(os.path.realpath(os.fsdecode(path)))


def _data(opened: set[str]) -> set[str]:
    """Return the files that are neither the system's, nor libraries or caches, nor this project's code, nor appended to."""
    files = set()
    for path in opened - _appended:
        if path.endswith(".pyc"):
            with contextlib.suppress(ValueError):
                path = source_from_cache(path)
        ours = path.endswith(".py") and path.startswith(_folders())
        ignored = path.endswith((".nbi", ".nbc")) or path.startswith((*SYSTEM, *_libraries()))
        if not ours and not ignored and isfile(path):
            files.add(path)
    return files


@functools.cache
def _libraries() -> tuple[str, ...]:
    """Return the folders of Python's standard library and of installed packages, with separators at their ends."""
    paths = sysconfig.get_paths()
    named = [paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")]
    named += [*site.getsitepackages(), site.getusersitepackages()]
    return tuple({os.path.join(os.path.realpath(path), "") for path in named})


# --- code ---


@functools.cache
def _packages() -> frozenset[str]:
    """Return the names of this project's packages and of the packages of installed games."""
    games = (point.module.partition(".")[0] for point in entry_points(group=GAMES))
    return frozenset({"garden_core", "garden_agents", *games})


@functools.cache
def _folders() -> tuple[str, ...]:
    files = filter(None, map(_file_of, _packages()))
    return tuple(os.path.join(os.path.dirname(path), "") for path in files)


def _sources(modules: set[str]) -> tuple[set[str], str]:
    """Return the author's files among the modules and their imports, and a reason why others can change unseen."""
    files, reasons, seen = set(), set(), set()
    pending = list(modules)
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        top = name.partition(".")[0]
        if any(f"{name}.".startswith(f"{each}.") for each in ELSEWHERE):
            reasons.add(f"it uses {name}")
        if top in sys.stdlib_module_names or top in _packages():
            continue
        if (_file_of(top) or _file_of(name)).startswith(_libraries()):
            if top not in OPENING:
                reasons.add(f"it uses {top}")
            continue
        path = _file_of(name)
        if path:
            files.add(path)
        if path.endswith(".py"):
            pending += _imports(path, name)
        elif path or name in modules:
            reasons.add(f"{name} is no file of Python code")
    return files, min(reasons, default="")


def _file_of(name: str) -> str:
    """Return the file of a module, imported or not; "" if there is none."""
    path = getattr(sys.modules.get(name), "__file__", None)
    if path is None:
        with contextlib.suppress(ImportError, ValueError, AttributeError):  # an attribute of a module
            spec = find_spec(name)
            path = spec.origin if spec is not None and spec.has_location else None
    return os.path.realpath(path) if path else ""


def _imports(path: str, module: str) -> Iterator[str]:
    """Yield the names of the modules, and of attributes of modules, that a module imports, with their packages."""
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
            base = resolve_name("." * node.level + (node.module or ""), package)
            names = [f"{base}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name = f"{node.value.id}.{node.attr}"
            names = [name] if name in ELSEWHERE else []
        for name in names:
            yield from itertools.accumulate(name.split("."), "{}.{}".format)
