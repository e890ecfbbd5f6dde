"""Generic functions for the states of all games, dispatched on the record type of `state`.

In compiled code the dispatch is free: Numba resolves it while compiling. From Python a call takes about 2 µs; the loops of
`garden_core.jit.loops` over whole arrays are faster. `state` and `params` are records: a row of `game.new_states(n)`, and
`game.params[0]`.

Example:
    >>> import garden_core
    >>> import numpy as np
    >>> from garden_core import kernels
    >>> game = garden_core.make("cacti")
    >>> state, params = game.new_states(1)[0], game.params[0]
    >>> kernels.deal(state, params, np.uint64(7))
    >>> mask = np.empty(game.num_actions, np.int8)
    >>> kernels.legal_actions(state, params, mask) == mask.sum()
    np.True_
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core.cgutils import raw_memcpy
from numba.extending import intrinsic, overload

from garden_core.jit import rewards
from garden_core.jit.decorator import OPTIONS, compiled
from garden_core.jit.fingerprints import fingerprint
from garden_core.jit.numba_private import CACHE_KEY
from garden_core.jit.rng import seed_rng
from garden_core.jit.rows import JIT


class Kernels(NamedTuple):
    """A game's rules: functions decorated with `compiled`; see the generic functions of the same names.

    A game's `deal` seeds the generator and fills all of the game's fields; its `apply_action` does the transition only; its
    `legal_actions` is called only while the game is in progress. The core adds the count of decisions, the cap, rewards and
    the mask of a finished game. Arguments must have the names that the generic functions use.

    Four functions have defaults: `public_points` and `standings` are `points`; with perfect information, `resample` only
    redraws the generator, and `observe_hidden` fills nothing.
    """

    deal: Callable[..., Any]
    legal_actions: Callable[..., Any]
    apply_action: Callable[..., Any]
    observe: Callable[..., Any]
    points: Callable[..., Any]
    public_points: Callable[..., Any] | None = None
    standings: Callable[..., Any] | None = None
    resample: Callable[..., Any] | None = None
    observe_hidden: Callable[..., Any] | None = None


_UNKNOWN = "not the state of a registered game"
_kernels: dict[np.dtype, Kernels] = {}
_kernels_by_type: dict[numba.types.Type, Kernels] = {}


@compiled
def redraw_nothing(state, params, player, seed):
    """Redraw only the generator: the default of `resample`, for perfect information."""
    seed_rng(state.rng, seed)


@compiled
def hide_nothing(state, params, player, out):
    """Fill nothing: the default of `observe_hidden`."""


def completed(rules: Any, game: Any) -> Kernels:
    """Return a game's rules, from a module or another object with these attributes, with the defaults.

    Raises:
        TypeError: for a missing function, with the file's name, or one that is not compiled.
    """
    defaults = {name: getattr(rules, "points", None) for name in ("public_points", "standings")}
    defaults["observe_hidden"] = hide_nothing
    if game.information == "perfect":
        defaults["resample"] = redraw_nothing
    functions = [getattr(rules, name, None) or defaults.get(name) for name in Kernels._fields]
    if lacking := [name for name, function in zip(Kernels._fields, functions, strict=True) if not function]:
        place = getattr(rules, "__file__", None) or inspect.getfile(game)
        raise TypeError(f"{place}: the rules of {game.__name__} lack {', '.join(lacking)}")
    for name, function in zip(Kernels._fields, functions, strict=True):
        if JIT and not hasattr(function, "py_func"):
            raise TypeError(
                f"{name} of {game.__name__} is not compiled: decorate it with garden_core.compiled"
            )
    return Kernels._make(functions)


def register(dtype: np.dtype, kernels: Kernels) -> None:
    """Make `kernels` the rules of every record of type `dtype`.

    Raises:
        ValueError: if the type is registered already.
        TypeError: if a kernel's arguments do not have the names of the generic function's.
    """
    if dtype in _kernels:
        raise ValueError(f"the state type with field {(dtype.names or ('?',))[-1]!r} is registered already")
    for name, kernel in kernels._asdict().items():
        named, wanted = inspect.signature(kernel), inspect.signature(globals()[name])
        if list(named.parameters) != list(wanted.parameters):
            raise TypeError(f"{name}{named} must be {name}{wanted}, as Numba goes by the names")
    _kernels[dtype] = kernels
    _kernels_by_type[numba.from_dtype(dtype)] = kernels


def fingerprint_of(rules: Any) -> str:
    """Return a text that identifies all that is compiled for a game: its rules, the core's additions, the compiler's options."""
    kernels = [complete(getattr(rules, name)) for name, complete in ADDITIONS.items()]
    options = sorted(f"{name} {value}" for name, value in OPTIONS.items())
    return f"{CACHE_KEY} {fingerprint(*kernels, *rules)} {options}"  # also in Numba's keys of users' own compiled code


def _of(state: Any) -> Kernels:
    try:
        return _kernels[state.dtype]
    except (KeyError, AttributeError):
        raise TypeError(f"{type(state).__name__} is {_UNKNOWN}") from None


def _of_type(state: numba.types.Type) -> Kernels:
    try:
        return _kernels_by_type[state]
    except KeyError:
        raise numba.TypingError(f"{state} is {_UNKNOWN}") from None


# --- additions to the rules ---


@compiled
def is_dealt(state):
    """Return whether the state was ever dealt: new records are zeros, and no seeded generator is all zeros."""
    return (state.rng[0] | state.rng[1] | state.rng[2] | state.rng[3]) != 0


@compiled
def in_progress(state):
    """Return whether the state was dealt and its game is not over."""
    return is_dealt(state) and not (state.terminated or state.truncated)


@compiled
def _compute_rewards(state, params):
    """After a decision, end the game at the cap, and write each seat's reward to `state.rewards`."""
    if state.decisions >= params.max_decisions and not state.terminated:
        state.truncated = 1
    over = state.terminated or state.truncated
    n = params.num_players
    if params.reward == rewards.MARGIN:
        if over:  # hidden points are rewarded in the last step
            points(state, params, state.tally)
        else:
            public_points(state, params, state.tally)
        if params.cooperative:
            rewards.cooperative(state.paid, state.tally, n, params.reward_divisor, state.rewards)
        else:
            rewards.margin(state.paid, state.tally, n, params.reward_divisor, state.rewards)
        for p in range(n):
            state.paid[p] = state.tally[p]
    elif over:
        if params.cooperative:  # `paid` is still all zeros
            points(state, params, state.tally)
            rewards.cooperative(state.paid, state.tally, n, params.reward_divisor, state.rewards)
        else:
            standings(state, params, state.tally)
            rewards.outcome(state.tally, n, state.rewards)
    else:
        state.rewards[:] = 0


@compiled
def _reset_counters(state, params):
    """Reset decisions and rewards after a deal."""
    state.decisions = 0
    state.terminated = 0
    state.truncated = 0
    state.rewards[:] = 0
    state.tally[:] = 0
    state.paid[:] = 0
    if params.reward == rewards.MARGIN:
        public_points(state, params, state.paid)


def _make_deal(rules_deal):
    def deal(state, params, seed):
        rules_deal(state, params, seed)
        _reset_counters(state, params)

    return deal


def _make_legal_actions(rules_legal_actions):
    def legal_actions(state, params, mask):
        if not in_progress(state):
            mask[:] = 0
            return 0
        return rules_legal_actions(state, params, mask)

    return legal_actions


def _make_apply_action(rules_apply_action):
    def apply_action(state, params, action):
        if not is_dealt(state):
            return
        state.decisions += 1
        rules_apply_action(state, params, action)
        _compute_rewards(state, params)

    return apply_action


def _make_resample(rules_resample):
    def resample(state, params, player, seed):
        if is_dealt(state):
            rules_resample(state, params, player, seed)

    return resample


ADDITIONS = {
    "deal": _make_deal,
    "legal_actions": _make_legal_actions,
    "apply_action": _make_apply_action,
    "resample": _make_resample,
}
"""By the name of a rule: completes a game's rule by what all games have in common."""


# --- the generic functions ---
#
# In a record that was never dealt, which is all zeros, nothing is legal, as in a finished game, and apply_action and resample
# do nothing. The rules that only read are called with such records too.


def deal(state, params, seed):
    """Set up a new game in `state`, chance included; `seed` is a uint64."""
    if JIT:
        compiled_deal(state, params, np.uint64(seed))
    else:
        _make_deal(_of(state).deal)(state, params, seed)


def legal_actions(state, params, mask):
    """Fill `mask`, int8 (num_actions,), for the player to move; return how many are legal (0 when over)."""
    return _make_legal_actions(_of(state).legal_actions)(state, params, mask)


def apply_action(state, params, action):
    """Carry out a legal `action` of the player to move, up to the next decision.

    The action is not checked: compare it with the mask first. Writes `state.rewards`, and sets `terminated` or, at the cap on
    decisions, `truncated`.
    """
    if JIT:
        compiled_apply_action(state, params, action)
    else:
        _make_apply_action(_of(state).apply_action)(state, params, action)


def observe(state, params, player, out):
    """Fill `out`, int8 (observation size,), with what seat `player` sees, which can be any seat at any time."""
    _of(state).observe(state, params, player, out)


def observe_hidden(state, params, player, out):
    """Fill `out`, int8 (hidden size,), with what seat `player` cannot see, except for the generator."""
    _of(state).observe_hidden(state, params, player, out)


def points(state, params, out):
    """Fill `out`, int32 (max players,), with every seat's current score."""
    _of(state).points(state, params, out)


def public_points(state, params, out):
    """Fill `out`, int32 (max players,), with the part of every seat's score that everybody can see."""
    _of(state).public_points(state, params, out)


def standings(state, params, out):
    """Fill `out`, int32 (max players,), with standings: higher is better, equal is a tie after the rules' tie-breaks."""
    _of(state).standings(state, params, out)


def resample(state, params, player, seed):
    """Redraw, from the uint64 `seed`, all that seat `player` cannot see, and the generator."""
    _make_resample(_of(state).resample)(state, params, player, np.uint64(seed))


def copy_record(to, row, record):
    """Copy a record, such as a state, into a row of `to`, an array of the same type.

    `garden_core.batch.gpu.records` replaces it on a GPU.
    """
    to[row] = record


@intrinsic
def _copy(typing, to, record):
    """Copy a record over another, by one instruction; Numba's own has two for each byte."""

    def code(context, builder, signature, arguments):
        raw_memcpy(builder, *arguments, context.get_constant(numba.intp, record.size), 1)
        return context.get_dummy_value()

    return (numba.void(to, record), code) if to == record else None


@overload(copy_record, jit_options=OPTIONS)
def _(to, row, record):
    return lambda to, row, record: _copy(to[row], record)


def _dispatch_on_state(generic):
    """Compile each call of a generic function to a call of the rule for the record type of `state`."""

    @overload(generic, jit_options=OPTIONS, strict=False)
    def _(state, *_):
        rule, complete = getattr(_of_type(state), generic.__name__), ADDITIONS.get(generic.__name__)
        return complete(rule) if complete else rule.py_func


for _generic in Kernels._fields:
    _dispatch_on_state(globals()[_generic])


@compiled
def compiled_deal(state, params, seed):
    deal(state, params, seed)


@compiled
def compiled_apply_action(state, params, action):
    apply_action(state, params, action)
