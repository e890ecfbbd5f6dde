"""The pages of the API reference, made from the public names of each package whenever the site is built."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {
    "garden_core": ROOT / "garden_core",
    "garden_core.interfaces": ROOT / "garden_core" / "interfaces",
    "garden_core.jit": ROOT / "garden_core" / "jit",
    "garden_core.testing": ROOT / "garden_core" / "testing",
    "mars_env": ROOT / "mars_env",
    "cacti_env": ROOT / "cacti_env",
    "botanicus_env": ROOT / "botanicus_env",
    "garden_agents": ROOT / "agents" / "garden_agents",
    "garden_agents.games": ROOT / "agents" / "garden_agents" / "games",
    "garden_agents.networks": ROOT / "agents" / "garden_agents" / "networks",
    "garden_agents.text": ROOT / "agents" / "garden_agents" / "text",
}
"""The packages with public names."""
KERNELS = (
    "deal",
    "legal_actions",
    "apply_action",
    "observe",
    "points",
    "public_points",
    "standings",
    "resample",
)
"""The generic functions, which are public in the module `garden_core.kernels`."""
ALIASES = ("garden_core.Policy",)
"""Public names of types that are neither classes nor functions."""


def public_names() -> dict[str, list[str]]:
    """Return by package what its `__all__` lists."""
    names = {}
    for package, folder in FOLDERS.items():
        for statement in ast.parse((folder / "__init__.py").read_text("utf-8")).body:
            match statement:
                case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                    names[package] = ast.literal_eval(value)
    return names


def write(folder: Path) -> None:
    """Write a page for each package and a page for each public class into `folder`."""
    folder.mkdir(exist_ok=True)
    pages = {}
    for package, names in public_names().items():
        classes = [name for name in names if _is_class(f"{package}.{name}")]
        parts = [f"# `{package}`", _directive("automodule", package, "no-members")]
        parts += [_entry(package, name) for name in names if name not in classes]
        listed = "\n".join(f"{package}.{name}" for name in classes)
        if classes:
            parts.append(f"```{{toctree}}\n:caption: Classes of {package}\n{listed}\n```")
        pages[package] = "\n\n".join(parts)
        for name in classes:
            directive = _directive("autoclass", f"{package}.{name}", "members", "show-inheritance")
            pages[f"{package}.{name}"] = f"# `{name}`\n\n{directive}"
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text("utf-8") != f"{text}\n":  # Sphinx reads changed files again
            path.write_text(f"{text}\n", "utf-8")
    for path in folder.glob("*.md"):
        if path.stem not in pages:
            path.unlink()


def _is_class(name: str) -> bool:
    last = name.rpartition(".")[2]
    return last[0].isupper() and not last.isupper() and name not in ALIASES


def _entry(package: str, name: str) -> str:
    """Return the directive of a public name that is not a class."""
    path = f"{package}.{name}"
    if name == "kernels":
        functions = (_directive("autofunction", f"{path}.{each}") for each in KERNELS)
        return "\n\n".join(["## `garden_core.kernels`", *functions])
    if "_v" in name:
        text = "Return the PettingZoo environment, a {py:class}`GardenEnv <garden_core.interfaces.GardenEnv>`, whose arguments these are."
        return f"```{{py:function}} {name}.env(render_mode=None, *, illegal='raise', record=None, **options)\n\n{text}\n```"
    kind = "autodata" if name.isupper() or path in ALIASES else "autofunction"
    return _directive(kind, path)


def _directive(kind: str, name: str, *options: str) -> str:
    lines = [f".. {kind}:: {name}", *(f"   :{option}:" for option in options)]
    return "\n".join(["```{eval-rst}", *lines, "```"])
