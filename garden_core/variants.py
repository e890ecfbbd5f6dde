"""Variants: subclasses of a complete game that change some of its rules."""

from __future__ import annotations

import inspect
import sys
from importlib.metadata import entry_points
from typing import Any

from garden_core.jit.kernels import Kernels
from garden_core.plugins import GAMES

_DECLARED = ("labels", "action_parts", "observation_parts", "observation_shape")
"""What declares actions and observations."""


def complete_variant(kind: Any, base: Any) -> None:
    """Check a class that has the actions and observations of a complete game, and complete its rules, title and summary.

    Rules that count points and are the same in the game stay so. Nothing is needed where all rules are the game's.

    Args:
        kind: the class, with all `rules`.
        base: the game, the nearest complete one among its base classes.

    Raises:
        TypeError: if the class has no name of its own, or that of an installed game, or no docstring, or changes `points` alone
            where the game has other rules that count points.
    """
    own, name = vars(kind), kind.__name__
    if kind.rules == base.rules:
        return
    taken = {point.name for point in entry_points(group=GAMES)} | {base.name}
    if "name" not in own or kind.name in taken:
        raise TypeError(
            f"{name} changes rules of {base.name}: give it a name of its own, as networks and files name their game; taken are "
            f"{', '.join(sorted(taken))}"
        )
    if not (doc := own.get("__doc__")):
        raise TypeError(
            f"{name} changes rules of {base.name}: say in its docstring what differs, as players read it"
        )
    differs = inspect.cleandoc(doc)
    kind.rules = _with_points(name, kind.rules, base.rules)
    kind.title = own.get("title", f"{base.title} ({kind.name})")
    if "summary" not in own:  # the game's can depend on its data
        about = f"A variant of {base.title}. {differs}"
        kind.summary = property(lambda game: f"{about}\n\n{super(kind, game).summary}")
    kind.what_differs = f"{differs}\n\n{base.what_differs}"


def check_attached(kind: Any, base: Any) -> None:
    """Check a class without rules of its own.

    Raises:
        TypeError: if rules seem to be meant for it: in the class itself, or in its module, if it has a name of its own; or if it has
            other fields, which need rules.
    """
    own, module = vars(kind), vars(sys.modules.get(kind.__module__, None) or object)
    if fields := {"state_fields", "params_fields"} & own.keys():
        raise TypeError(f"{kind.__name__} has its own {min(fields)}, but no rules for them: set `rules` too")
    here = [rule for rule in Kernels._fields if rule in own]
    if "name" in own and kind.name != base.name:
        here += [
            rule
            for rule in Kernels._fields
            if getattr(module.get(rule), "__module__", "") == kind.__module__
            and module[rule] is not getattr(base.rules, rule)
        ]
    if here := list(dict.fromkeys(here)):
        changed = ", ".join(f"{rule}={rule}" for rule in here)
        raise TypeError(
            f"{kind.__name__} does not use {', '.join(here)}: set rules = {base.__name__}.rules._replace({changed}), with functions of the module"
        )


def is_variant(kind: Any, base: Any) -> bool:
    """Return whether a class with the arguments of `complete_variant` has the game's actions and observations.

    Raises:
        TypeError: if it declares others, but keeps the function that writes the observations.
    """
    if not (others := [each for each in _DECLARED if each in vars(kind)]):
        return True
    if kind.rules.observe is base.rules.observe:
        raise TypeError(
            f"{kind.__name__} keeps `observe` of {base.name}, and with it the game's actions and observations: it cannot define "
            f"{', '.join(others)}; a game with others also has its own `observe`"
        )
    return False


def _with_points(name: str, rules: Kernels, base: Kernels) -> Kernels:
    if rules.points is base.points:
        return rules
    same = [rule for rule in ("public_points", "standings") if getattr(rules, rule) is getattr(base, rule)]
    if missing := [rule for rule in same if getattr(base, rule) is not base.points]:
        raise TypeError(
            f"{name} changes points, but not {' and '.join(missing)}, which count points too: change them as well"
        )
    return rules._replace(**dict.fromkeys(same, rules.points))
