"""The layers of modules and what each may import, names in strings included."""

import ast
import contextlib
import importlib
import re
import subprocess
import sys

import pytest
from processes import ROOT, python

import garden_core

PACKAGES = {
    "garden_agents": ROOT / "agents" / "garden_agents",
    **{path.name: path for path in (ROOT / "garden_core", ROOT / "benchmarks", *ROOT.glob("*_env"))},
}
GAMES = tuple(name for name in PACKAGES if name.endswith("_env"))
ABOVE_GAMES = ("garden_agents", "benchmarks", "tests", "examples")

FLOORS = {
    "garden_core": (
        "checks errors forks plugins files render jit options positions presentation variants game chance registry "
        "batch recorded interfaces warm_up testing"
    ),
    "garden_agents": (
        "command_help errors progress untrusted games networks search programs random_moves text registry identity plots "
        "matches evaluation wasm play report training commands"
    ),
}
"""Each package from the ground up; a module imports from lower floors, or from its own room if it names one."""
BESIDE = {"garden_core": set(), "garden_agents": {"__main__"}}


def modules(package):
    """Files by module name."""
    folder = PACKAGES[package]
    files = {}
    for path in folder.rglob("*.py"):
        parts = path.relative_to(folder).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        files[".".join((package, *parts))] = path
    return files


EVERY = {name: path for package in PACKAGES for name, path in modules(package).items()}


def imported(path):
    """Names of the modules that a file imports, for type checkers too, or names in a string."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: import by full names"
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            names |= {node.value.partition(":")[0]} & EVERY.keys() - PACKAGES.keys()
    return names


def needs(name):
    """The project's modules that a module needs, without the packages above those that it names."""
    needed = imported(EVERY[name]) & EVERY.keys()
    return {
        other for other in needed - {name} if not any(deeper.startswith(f"{other}.") for deeper in needed)
    }


def package(name):
    return name.partition(".")[0]


@pytest.mark.parametrize("name", sorted(EVERY))
def test_packages_are_imported_from_above(name):
    allowed = {
        "garden_core": set(),
        "garden_agents": {"garden_core"},
        "benchmarks": {"garden_core", "garden_agents", "examples", *GAMES},
    }.get(package(name), {"garden_core"})
    if name.startswith("garden_agents.games."):
        allowed = allowed | set(GAMES)
    found = {package(other) for other in imported(EVERY[name])} & {*PACKAGES, *ABOVE_GAMES}
    assert found - {package(name)} <= allowed


def floor(name):
    """The number of a module's floor, and the room that it is in."""
    floors = FLOORS[package(name)].split()
    inner = name.partition(".")[2]
    rooms = [room for room in floors if inner == room or inner.startswith(f"{room}.")]
    assert rooms, f"{name} has no place in FLOORS"
    room = max(rooms, key=len)
    return floors.index(room), room


@pytest.mark.parametrize("name", sorted(n for p in FLOORS for n in modules(p)))
def test_imports_run_downwards(name):
    inner = name.partition(".")[2]
    if not inner or inner in BESIDE[package(name)]:
        return
    here, room = floor(name)
    for other in needs(name):
        inner_other = other.partition(".")[2]
        if package(other) != package(name) or not inner_other or inner_other in BESIDE[package(name)]:
            continue
        there, other_room = floor(other)
        inside = room == other_room and (room != inner or other.startswith(f"{name}."))
        assert there < here or inside, f"{name} imports {other}"


def test_all_interfaces_are_imported_without_a_library():
    code = "import sys; sys.modules['pyspiel'] = None; from garden_core.interfaces import *; print(env, 'BotPolicy' in dir())"
    assert python("-c", code).stdout.endswith(" False\n")


def test_interfaces_do_not_import_one_another():
    shared = {"garden_core.interfaces.common", "garden_core.interfaces.registration"}
    clients = {name for name in modules("garden_core") if name.startswith("garden_core.interfaces.")} - shared
    assert clients
    for name in clients:
        assert not needs(name) & clients


def test_no_module_imports_itself_by_way_of_others():
    waiting = {name: needs(name) for name in EVERY}
    while waiting:
        ready = [name for name, needed in waiting.items() if not needed & waiting.keys()]
        assert ready, f"these import each other: {sorted(waiting)}"
        for name in ready:
            del waiting[name]


@pytest.mark.parametrize("name", sorted({**modules("garden_core"), **modules("garden_agents")}))
def test_core_and_agents_name_no_game(name):
    """Docstrings may, in examples, and so may hints for the games."""
    if name.startswith("garden_agents.games."):
        return
    tree = ast.parse(EVERY[name].read_text("utf-8"))
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    words = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            words |= set(re.findall(r"[a-z]+", node.value.lower()))
    assert not {word.lower() for word in words} & set(garden_core.list_games())


# --- importing is light ---

HEAVY = (
    "torch stable_baselines3 matplotlib pygame PIL resvg_py "
    "http.server socketserver flask fastapi uvicorn aiohttp tornado starlette"
)
"""Libraries that take long to import, and servers."""


@pytest.mark.parametrize(
    "what",
    ["garden_core", *GAMES, "garden_agents", "garden_core.testing, garden_core.interfaces.gymnasium_env"],
)
def test_import_is_light_and_quiet(what):
    code = f"import {what}, sys; print(*sys.modules)"
    loaded = set(
        subprocess.check_output([sys.executable, "-W", "error", "-c", code], encoding="utf-8").split()
    )
    assert not (loaded | {package(name) for name in loaded}) & {*HEAVY.split()}
    if what == "garden_core":
        assert "garden_core.jit.kernels" in loaded
        assert not {package(name) for name in loaded} & {*GAMES, *ABOVE_GAMES, "gymnasium", "pettingzoo"}


# --- public names ---


def test_only_packages_say_what_is_public_and_have_it():
    total = 0
    for name, path in EVERY.items():
        tree = ast.parse(path.read_text("utf-8"))
        assigned = [ast.unparse(node.targets[0]) for node in tree.body if isinstance(node, ast.Assign)]
        if "__all__" not in assigned or package(name) == "benchmarks":
            continue
        assert path.name == "__init__.py", name
        module = importlib.import_module(name)
        total += len(module.__all__)
        assert len(set(module.__all__)) == len(module.__all__)
        for each in module.__all__:
            with contextlib.suppress(ImportError):  # another library is not installed
                getattr(module, each)
    assert total > 50


@pytest.mark.parametrize("name", sorted(EVERY))
def test_no_module_imports_a_private_name_of_another(name):
    for node in ast.walk(ast.parse(EVERY[name].read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and package(node.module or "") in PACKAGES:
            assert not [alias.name for alias in node.names if alias.name.startswith("_")]


TYPED_ONCE = {
    "garden-replay-1": "garden_core.files.formats",
    "garden-dataset-1": "garden_core.recorded.dataset",
    "garden_core.games": "garden_core.plugins",
    "one for all seats": "garden_agents.matches.pairs",
    "config.toml": "garden_agents.report.run_files",
    "metrics.csv": "garden_agents.report.run_files",
    "evaluations.csv": "garden_agents.report.run_files",
    "exploit.json": "garden_agents.report.run_files",
    "terminated or truncated or running": "garden_core.files.formats",
}
"""Constants on which files agree that were written at different times or in different places, and the module that has them."""


@pytest.mark.parametrize(("constant", "owner"), TYPED_ONCE.items())
def test_a_constant_is_typed_once(constant, owner):
    """Docstrings and tests can repeat it."""
    parts = set(constant.split(" or "))
    found = {}
    for path in [*EVERY.values(), *(ROOT / "docs").rglob("*.py")]:
        tree = ast.parse(path.read_text("utf-8"))
        said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        texts = {
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said
        }
        if parts <= texts:
            found[path] = True
    assert [*found] == [EVERY[owner]]
