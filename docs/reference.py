"""The pages of the API reference, made from the modules whenever the site is built."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

__all__ = ["public_names", "write"]

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("garden_core", "mars_env", "cacti_env", "botanicus_env", "garden_agents")
FOLDERS = {"garden_agents": ROOT / "agents"}
"""Where a package lies if not at the top."""
LONGEST = 80
"""Characters of the longest value of a constant that is shown."""


def public_names() -> dict[str, list[str]]:
    """Return, for each module with an `__all__`, the names in it; packages, which only pass names on, are left out."""
    found = {}
    for package in PACKAGES:
        folder = FOLDERS.get(package, ROOT)
        for path in sorted((folder / package).rglob("*.py")):
            names = _exported(path)
            if names and path.stem != "__init__":
                found[".".join(path.relative_to(folder).with_suffix("").parts)] = names
    return found


def _exported(path: Path) -> list[str]:
    """Return the names in a file's `__all__`."""
    for statement in ast.parse(path.read_text("utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            return list(ast.literal_eval(statement.value))
    return []


def write(folder: Path) -> None:
    """Write a page for each package into `folder`: every module with its public names, from their docstrings."""
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
    """Return a module's part of a page; constants without a docstring, which autodoc leaves out, stand at its end."""
    lines = [f".. automodule:: {module}", "   :undoc-members:"]
    for name, value in _plain_constants(module).items():
        lines += [
            "",
            f".. py:data:: {module}.{name}",
            *([f"   :value: {value}"] if len(value) <= LONGEST else []),
        ]
    return "\n".join([f"## `{module}`\n", "```{eval-rst}", *lines, "```"])


def _plain_constants(module: str) -> dict[str, str]:
    """Return the public constants of a module that have no docstring, with their values as they are written."""
    path = (FOLDERS.get(module.partition(".")[0], ROOT) / module.replace(".", "/")).with_suffix(".py")
    names, body = _exported(path), ast.parse(path.read_text("utf-8")).body
    found = {}
    for statement, following in zip(body, [*body[1:], None], strict=True):
        described = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
        if (
            isinstance(statement, ast.Assign | ast.AnnAssign)
            and statement.value is not None
            and not described
        ):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            each = [
                part
                for target in targets
                for part in (target.elts if isinstance(target, ast.Tuple) else [target])
            ]
            value = ast.unparse(statement.value) if len(each) == 1 else ""
            found |= {part.id: value for part in each if isinstance(part, ast.Name) and part.id in names}
    return found
