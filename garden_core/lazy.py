"""Names of a package that are imported from its modules when they are first asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


def exports(package: str, modules: dict[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package.

    Args:
        package: name of the package.
        modules: the names to export, by the module of the package that defines them.
    """
    homes = {name: module for module, names in modules.items() for name in names}

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{package}.{homes[name]}"), name)

    return find
