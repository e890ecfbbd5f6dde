"""Pages of the API reference, generated from the modules when the site is built."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("garden_core", "mars_env", "cacti_env", "botanicus_env", "garden_agents")
FOLDERS = {"garden_agents": ROOT / "agents"}
"""Folder of a package that is not at the top of the project."""
LEFT_OUT = ("garden_core.batch.gpu_cache", "garden_core.batch.gpu_kernels")
"""Modules that only `garden_core.batch.gpu` uses: kernels, which Numba turns into objects without docstrings, and their cache."""
LONGEST = 80
"""Longest value of a constant that is shown, characters."""


def public_names() -> dict[str, list[str]]:
    """Return the public names by module, without packages, which only re-export names, and LEFT_OUT."""
    public = {}
    for package in PACKAGES:
        folder = FOLDERS.get(package, ROOT)
        for path in sorted((folder / package).rglob("*.py")):
            names = _defined(path)
            module = ".".join(path.relative_to(folder).with_suffix("").parts)
            if names and path.stem not in ("__init__", "__main__") and module not in LEFT_OUT:
                public[module] = names
    return public


def _defined(path: Path) -> list[str]:
    """Return the names that a file defines, without those that begin with an underscore."""
    names: list[str] = []
    for statement in ast.parse(path.read_text("utf-8")).body:
        match statement:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.append(name)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                names.append(name)
            case ast.Assign(targets=[ast.Tuple(elts=parts)]):
                names += [part.id for part in parts if isinstance(part, ast.Name)]
    return [name for name in names if not name.startswith("_")]


def write(folder: Path) -> None:
    """Write a page for each package into `folder`: every module with the docstrings of its public names."""
    modules = defaultdict(list)
    for module in public_names():
        modules[module.rpartition(".")[0]].append(module)
    folder.mkdir(exist_ok=True)
    for package, members in modules.items():
        parts = [f"# `{package}`", *(_section(module) for module in members)]
        text = "\n\n".join(parts) + "\n"
        path = folder / f"{package}.md"
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def _section(module: str) -> str:
    """Return a module's section of a page; constants without docstrings, which autodoc omits, are at its end."""
    lines = [f".. automodule:: {module}", "   :undoc-members:"]
    for name, value in _plain_constants(module).items():
        lines += [
            "",
            f".. py:data:: {name}",
            *([f"   :value: {value}"] if len(value) <= LONGEST else []),
        ]
    return "\n".join([f"## `{module}`\n", "```{eval-rst}", *lines, "```"])


def _plain_constants(module: str) -> dict[str, str]:
    """Return the public constants of a module that have no docstring, with the source text of their values."""
    path = (FOLDERS.get(module.partition(".")[0], ROOT) / module.replace(".", "/")).with_suffix(".py")
    names, body = _defined(path), ast.parse(path.read_text("utf-8")).body
    classes = {statement.name for statement in body if isinstance(statement, ast.ClassDef)}
    constants = {}
    for statement, following in zip(body, [*body[1:], None], strict=True):
        match statement:
            case ast.Assign(targets=targets, value=value):
                pass
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                targets = [target]
            case ast.ImportFrom(names=imported):
                constants |= {
                    each.name: "" for each in imported if each.name in names and each.name.isupper()
                }
                continue
            case _:
                continue
        described = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
        if described or (
            isinstance(value, ast.Name) and value.id in classes
        ):  # an alias of a documented class
            continue
        assigned = [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
        text = ast.unparse(value) if len(assigned) == 1 else ""
        constants |= {name: text for name in assigned if name in names}
    return constants
