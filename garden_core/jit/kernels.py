"""The generic functions on a state, dispatched on the type of its record: what any code may call for any game.

Inside compiled code a call costs nothing: Numba resolves it while compiling, by the record type of `state`.
From Python it costs about 2 µs; whole arrays and the loops of `garden_core.jit.loops` are the fast way.
`state` and `params` are records: a row of `game.new_states(n)`, and `game.params[0]`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.extending import overload

from garden_core.jit import rewards
from garden_core.jit.decorator import OPTIONS, compiled
from garden_core.jit.fingerprints import fingerprint
from garden_core.jit.rng import seed_rng
from garden_core.jit.rows import JIT


class Kernels(NamedTuple):
    """What a game supplies, each a function decorated with `compiled`; see the functions of the same names.

    A game's `deal` seeds the generator and fills every field of its own; its `apply_action` is the rules'
    transition alone, and its `legal_actions` is called in games in progress alone. Counting decisions, the cap, the
    rewards and the mask of a finished game are added here, once for all games.
    The arguments have the names that the generic functions give them. Three have defaults: `public_points` and `standings`
    are `points`, and `resample` draws a new generator alone, which fits games of perfect information.
    """

    deal: Callable[..., Any]
    legal_actions: Callable[..., Any]
    apply_action: Callable[..., Any]
    observe: Callable[..., Any]
    points: Callable[..., Any]
    public_points: Callable[..., Any] | None = None
    standings: Callable[..., Any] | None = None
    resample: Callable[..., Any] | None = None


_UNKNOWN = "not the state of a registered game"
_kernels: dict[np.dtype, Kernels] = {}
_kernels_by_type: dict[numba.types.Type, Kernels] = {}


@compiled
def redraw_nothing(state, params, player, seed):
    """Draw a new generator: the default of `resample`, where every seat sees everything but the future."""
    seed_rng(state.rng, seed)


def completed(rules: Any, game: Any) -> Kernels:
    """Return a game's rules, a module or anything else that holds them, with the defaults.

    Raises:
        TypeError: for a function that is missing, or not compiled; it names the file.
    """
    found = {name: getattr(rules, name, None) for name in Kernels._fields}
    found["public_points"] = found["public_points"] or found["points"]
    found["standings"] = found["standings"] or found["points"]
    if game.information == "perfect":
        found["resample"] = found["resample"] or redraw_nothing
    place = getattr(rules, "__file__", None) or inspect.getfile(game)
    if lacking := [name for name, function in found.items() if function is None]:
        raise TypeError(f"{place}: the rules of {game.__name__} lack {', '.join(lacking)}")
    return Kernels._make(found.values())


def register(dtype: np.dtype, kernels: Kernels) -> None:
    """Make `kernels` the rules of every record of type `dtype`.

    Raises:
        ValueError: if the type is taken.
        TypeError: if a kernel's arguments are named otherwise than the generic function's.
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
    """Hex digest of all that is compiled for a game: its rules, what the core adds to them, the compiler's options."""
    kernels = [complete(getattr(rules, name)) for name, complete in _ADDITIONS.items()]
    options = sorted(f"{name} {value}" for name, value in OPTIONS.items())
    return fingerprint(*kernels, *rules) + repr(options)


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


# --- what the core adds to the rules ---


@compiled
def is_dealt(state):
    """Whether the state was ever dealt: records begin as zeros, and no seeded generator is all zeros."""
    return (state.rng[0] | state.rng[1] | state.rng[2] | state.rng[3]) != 0


@compiled
def in_progress(state):
    """Whether the state was dealt and its game is not over."""
    return is_dealt(state) and not (state.terminated or state.truncated)


@compiled
def _compute_rewards(state, params):
    """After a decision: end the game at the cap, then pay every seat for this decision (`state.rewards`)."""
    if state.decisions >= params.max_decisions and not state.terminated:
        state.truncated = 1
    over = state.terminated or state.truncated
    n = params.num_players
    if params.reward == rewards.MARGIN:
        if over:  # what only the player could see is paid with the last step
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
    """After a deal: nothing decided, nothing paid."""
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


_ADDITIONS = {
    "deal": _make_deal,
    "legal_actions": _make_legal_actions,
    "apply_action": _make_apply_action,
    "resample": _make_resample,
}
"""By the name of a rule: completes a game's rule by what all games have in common."""


# --- the generic functions ---
#
# The rules need not understand a record that was never dealt, which is all zeros: nothing is legal in it, as in a
# finished game, and apply_action and resample leave it as it is. Observations and counts only read, which zeros must allow.


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
    """Carry out a legal `action` of the player to move, up to the next decision, and pay every seat.

    The action is trusted: check it against the mask before. Overwrites `state.rewards`, and sets
    `terminated` or, at the cap on decisions, `truncated`.
    """
    if JIT:
        compiled_apply_action(state, params, action)
    else:
        _make_apply_action(_of(state).apply_action)(state, params, action)


def observe(state, params, player, out):
    """Fill `out`, int8 (observation size,), with what seat `player` sees; any seat at any time."""
    _of(state).observe(state, params, player, out)


def points(state, params, out):
    """Fill `out`, int32 (max players,), with every seat's score as things stand."""
    _of(state).points(state, params, out)


def public_points(state, params, out):
    """Fill `out`, int32 (max players,), with the part of every seat's score that everybody can see."""
    _of(state).public_points(state, params, out)


def standings(state, params, out):
    """Fill `out`, int32 (max players,): higher is better, equal is a tie, the rules' tie-breaks included."""
    _of(state).standings(state, params, out)


def resample(state, params, player, seed):
    """Redraw, from the uint64 `seed`, all that seat `player` cannot see, and the generator."""
    _make_resample(_of(state).resample)(state, params, player, np.uint64(seed))


def copy_record(to, row, record):
    """Copy a record into a row of `to`, an array of its type: a state, and with it its game.

    A GPU has its own way (`garden_core.batch.gpu_records`).
    """
    to[row] = record


@overload(copy_record, jit_options=OPTIONS)
def _(to, row, record):
    return copy_record


def _dispatch_on_state(generic):
    """Compile each call of a generic function to a call of the rule for the record type of `state`."""

    @overload(generic, jit_options=OPTIONS, strict=False)
    def _(state, *_):
        rule, complete = getattr(_of_type(state), generic.__name__), _ADDITIONS.get(generic.__name__)
        return complete(rule) if complete else rule.py_func


for _generic in (deal, legal_actions, apply_action, observe, points, public_points, standings, resample):
    _dispatch_on_state(_generic)


@compiled
def compiled_deal(state, params, seed):
    deal(state, params, seed)


@compiled
def compiled_apply_action(state, params, action):
    apply_action(state, params, action)
