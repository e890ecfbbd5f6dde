"""All results of a chance event: `outcomes(game, state, action)`.

The rules run as plain Python, once for each combination of results of their draws.
"""

from __future__ import annotations

import inspect
import math
import types
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from garden_core.game import Game
from garden_core.jit import kernels, rng
from garden_core.jit.rows import with_attributes

MAX_DRAWS = 100_000
"""The most combinations of draws that are enumerated."""


def outcomes(game: Game, state: Any, action: int | None) -> list[tuple[float, Any]]:
    """Return all results of the deal, or of an action that involves chance, with their probabilities.

    Results with equal snapshots are one result. They contain the generator of `state`, or that of seed 0 after the deal.

    Args:
        game: the game.
        state: the state record before the action; it is not changed.
        action: a legal action; None for the deal.

    Returns:
        pairs of a probability and a state record, in a fixed order.

    Raises:
        ValueError: if there are more than `MAX_DRAWS` combinations of draws, or draws other than `bounded` and `shuffle`.

    Example:
        >>> import garden_core
        >>> from garden_core.chance import outcomes
        >>> game = garden_core.make("cacti")
        >>> outcomes(game, game.new_states(1)[0], None)
        Traceback (most recent call last):
        ValueError: a chance event has more than 100000 combinations of draws
    """
    draws, params = _Draws(), with_attributes(game.params)[0]
    name, argument = ("deal", np.uint64(0)) if action is None else ("apply_action", np.int64(action))
    plain = _Plain(game, {rng.bounded: draws.bounded, rng.shuffle: draws.shuffle, rng.next_uint64: _refuse})
    rule = plain(kernels.ADDITIONS[name](getattr(game.rules, name)))
    found: dict[str, list[Any]] = {}
    for _ in draws:
        after = game.new_states(1)
        after[0] = state
        with np.errstate(over="ignore"):
            rule(with_attributes(after)[0], params, argument)
        result = found.setdefault(repr(game.snapshot(after[0])), [Fraction(), after[0]])
        result[0] += Fraction(1, draws.combinations)
    return [(float(probability), after) for probability, after in found.values()]


class _Draws:
    """Draws whose results go through all combinations; iterate over it, and draw anew in each step.

    Attributes:
        results: the results of all draws of this combination, as far as they are known.
        used: how many of them were drawn.
        combinations: product of the numbers of results, so the combination has probability 1 / combinations.
    """

    def __iter__(self) -> Iterator[None]:
        self.results: list[int] = []
        while True:
            self.used, self.combinations = 0, 1
            yield
            while self.results and self.results[-1] == 0:
                self.results.pop()
            if not self.results:
                return
            self.results[-1] -= 1

    def bounded(self, rng_state: Any, n: int) -> np.int64:
        """As `rng.bounded`."""
        self.combinations *= int(n)
        if self.combinations > MAX_DRAWS:
            raise ValueError(f"a chance event has more than {MAX_DRAWS} combinations of draws")
        if self.used == len(self.results):
            self.results.append(int(n) - 1)
        self.used += 1
        return np.int64(self.results[self.used - 1])

    def shuffle(self, rng_state: Any, items: np.ndarray, n: int) -> None:
        """As `rng.shuffle`; orders that differ only by equal items are one result."""
        left = Counter(sorted(items[:n].tolist()))
        orders = math.factorial(int(n)) // math.prod(map(math.factorial, left.values()))
        number = int(self.bounded(rng_state, orders))
        for i in range(n):
            for item, count in left.items():
                begin_with_it = orders * count // (n - i)
                if number < begin_with_it:
                    items[i], orders = item, begin_with_it
                    break
                number -= begin_with_it
            left[items[i]] -= 1


def _refuse(rng_state: Any) -> None:
    raise ValueError("only draws by bounded and shuffle can be enumerated")


class _Plain:
    """Makes compiled functions plain Python, with all that they call.

    Args:
        game: the game whose rules stand for the generic functions.
        replaced: other functions in place of some.
    """

    def __init__(self, game: Game, replaced: dict[Any, Callable[..., Any]]) -> None:
        rules = {getattr(kernels, name): rule for name, rule in game.rules._asdict().items()}
        self.rules = {inspect.unwrap(generic): inspect.unwrap(rule) for generic, rule in rules.items()}
        self.made = {inspect.unwrap(old): new for old, new in replaced.items()}

    def __call__(self, value: Any, names: tuple[str, ...] = ()) -> Any:
        """Return the plain form of a function, or of the `names` in a module; other values as they are."""
        if isinstance(value, types.ModuleType) and not value.__name__.startswith(("numpy", "numba")):
            return types.SimpleNamespace(
                **{name: self(getattr(value, name), names) for name in names if hasattr(value, name)}
            )
        function = inspect.unwrap(value) if callable(value) else value
        if not isinstance(function, types.FunctionType):
            return value
        function = self.rules.get(function, function)
        if function not in self.made:
            code, known = function.__code__, dict(function.__globals__)
            cells = tuple(types.CellType(self(cell.cell_contents)) for cell in function.__closure__ or ())
            self.made[function] = types.FunctionType(code, known, None, function.__defaults__, cells)
            used = _names(code)
            known |= {name: self(known[name], used) for name in used if name in known}
        return self.made[function]


def _names(code: types.CodeType) -> tuple[str, ...]:
    """Return the names of globals and attributes that a function uses."""
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return sum(map(_names, inner), code.co_names)
