"""The functions that a module exports: the rules of a game, and its agents.

Their arguments are scalars, records and arrays, all of which belong to the caller; `arrays` says which shapes and types they have.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numba
import numpy as np

from garden_agents.games import hints_of
from garden_agents.networks.heads import VALUE_TARGETS, fill_probabilities, fill_values
from garden_agents.networks.network_agent import NetworkAgent
from garden_agents.search.agent import CONSIDERED, DEPTH, EXPLORATION, GROUP, PLAYOUT_EXPLORATION, SCALE
from garden_agents.search.beliefs import REDRAWS, private_bytes
from garden_agents.search.halving import Roots, read_root
from garden_agents.search.redraws import (
    Past,
    Supposed,
    first_alike,
    log_likelihood,
    normalise,
    observe_row,
    redraw_for_movers,
    suppose,
)
from garden_agents.search.simulation import Rollouts, simulate
from garden_agents.search.stepping import Search, Weights, back_up_leaves, find_leaves
from garden_agents.search.tree import GREEDY as GREEDY_PRIOR
from garden_agents.search.tree import Leaves, Tree, node_type
from garden_agents.wasm.c_functions import part_of
from garden_agents.wasm.compiler import Entry
from garden_agents.wasm.forward import forward_of
from garden_core.batch.choices import GREEDY, Scratch, greedy_action
from garden_core.game import Game
from garden_core.jit import bounded, compiled, kernels, nth_legal, rng
from garden_core.jit.decorator import OPTIONS
from garden_core.jit.numba_private import compile_later
from garden_core.jit.rng import next_uint64

# --- the rules ---


def deal(state, params, seed):
    state.variant = 0  # the memory may have held something else
    kernels.deal(state, params, seed)


def legal_actions(state, params, mask):
    return kernels.legal_actions(state, params, mask)


def apply_action(state, params, action):
    kernels.apply_action(state, params, action)


def observe(state, params, player, observation):
    kernels.observe(state, params, player, observation)


def points(state, params, seat_points):
    kernels.points(state, params, seat_points)


def public_points(state, params, seat_points):
    kernels.public_points(state, params, seat_points)


def standings(state, params, seat_points):
    kernels.standings(state, params, seat_points)


def resample(state, params, player, seed):
    kernels.resample(state, params, player, seed)


def game_seed(seed, row, episode):
    return rng.game_seed(seed, row, episode)


def seed_rng(rng_state, seed):
    rng.seed_rng(rng_state, seed)


def random_action(mask, rng_state):
    n = np.int64(0)
    for action in range(mask.shape[0]):
        n += mask[action]
    return nth_legal(mask, bounded(rng_state, n))


def random_play(state, params, mask, rng_state, seed, steps):
    """Play uniformly random decisions, and deal the next game after an end; return the number of games that ended."""
    ended = np.int64(0)
    for _ in range(steps):
        n = kernels.legal_actions(state, params, mask)
        kernels.apply_action(state, params, nth_legal(mask, bounded(rng_state, n)))
        if state.terminated or state.truncated:
            ended += 1
            kernels.deal(state, params, rng.game_seed(seed, np.uint64(0), np.uint64(ended)))
    return ended


# --- groups of arrays ---


class Results(NamedTuple):
    """What a search finds; see `garden_agents.search.halving`."""

    visits: Any
    values: Any
    shares: Any
    scores: Any


class Net(NamedTuple):
    """The weights of a network, what its forward pass overwrites, and what it finds."""

    weights: Any
    work: Any
    narrow_work: Any
    logits: Any
    raw: Any
    chances: Any
    estimates: Any


GROUPS: dict[str, Any] = {
    "scratch": Scratch, "trees": Tree, "leaves": Leaves, "results": Results, "net": Net, "past": Past, "supposed": Supposed,
}  # fmt: skip
"""The arguments that are several arrays, by name; the array `nodes` of `trees` is called trees_nodes outside."""


# --- agents without a network ---


def greedy(state, params, scratch, rng_state):
    """Return the action of `GreedyPolicy`."""
    return greedy_action(state, params, next_uint64(rng_state), scratch, rng_state)


def search(
    root, root_params, mask, rows, trees, leaves, leaf_values, scratch, results, rng_states, simulations
):
    """Search from root[0] as `MCTSAgent` does without a network; return the best action."""
    if kernels.legal_actions(root[0], root_params[0], mask) == 1:
        return only_action(mask, results)
    _begin(trees, rows)
    roots = Roots(root, rows, part_of(mask, 0, (1, mask.shape[0])))
    found = Search(trees, leaves, roots, root_params, scratch, leaf_values, results.scores)
    rollouts = Rollouts(np.int64(GREEDY), np.int64(DEPTH))
    weights = Weights(PLAYOUT_EXPLORATION, np.int64(0), SCALE)
    simulate(found, weights, np.int64(GREEDY_PRIOR), rollouts, simulations, -1.0, rng_states)
    return _read(found, results)


@compiled
def _begin(trees, rows):
    """Begin a new search from root[0]."""
    rows[0] = 0
    trees.used[0, 0] = 0
    for action in range(trees.considered.shape[1]):
        trees.considered[0, action] = 0


@compiled
def _read(found, results):
    """Fill the results of a search; return the best action."""
    root, considered = found.roots.states[0], found.trees.considered[0]
    player, n = np.int64(root.current_player), found.params[0].num_players
    result = results.visits, results.values, results.shares
    nodes, mask = found.trees.nodes[0], found.roots.masks[0]
    return read_root(nodes, considered, player, n, mask, SCALE, found.scores, result)


@compiled
def only_action(mask, results):
    """Fill the results for the only legal action, which is not searched; return it."""
    chosen = np.int64(0)
    for action in range(mask.shape[0]):
        results.visits[action] = mask[action]
        results.shares[action] = mask[action]
        if mask[action]:
            chosen = action
    for p in range(results.values.shape[0]):
        results.values[p] = 0.0
    return chosen


# --- agents with a network ---


def with_network(agent: NetworkAgent, game: Game) -> tuple[list[Callable[..., Any]], dict[str, int]]:
    """Return the functions that need a network like the agent's, and the sizes of its arrays."""
    forward, work_size, narrow_work_size = forward_of(agent.network)
    target, private = VALUE_TARGETS.index(agent.value_target), private_bytes(game)

    def jit(function: Any) -> Any:
        return compile_later(function, OPTIONS, inline=False)

    @jit
    def evaluate_rows(observations, masks, params, net, count):
        """Fill the first `count` rows of chances and estimates, as `NetworkAgent.evaluate` does."""
        actions, values = masks.shape[1], net.estimates.shape[1]
        for i in range(count):
            forward(
                observations[i], params, net.weights, net.work, net.narrow_work, net.logits[0], net.raw[0]
            )
            fill_probabilities(
                net.logits, part_of(masks[i], 0, (1, actions)), part_of(net.chances[i], 0, (1, actions))
            )
            fill_values(net.raw, target, part_of(net.estimates[i], 0, (1, values)))

    @jit
    def evaluate(root, root_params, mask, observation, net):
        """Fill chances and estimates for the player to move in root[0]; return the most likely legal action."""
        observe_row(root[0], root_params, observation, mask)
        observations = part_of(observation, 0, (1, observation.shape[0]))
        evaluate_rows(observations, part_of(mask, 0, (1, mask.shape[0])), root_params, net, 1)
        best = np.int64(-1)
        for action in range(mask.shape[0]):
            if mask[action] and (best < 0 or net.logits[0, action] > net.logits[0, best]):
                best = action
        return best

    @jit
    def fill_likelihoods(leaves, hands, logs, past, supposed, player, params, net):
        """Fill the likelihoods of the redraws, given the others' past, as `garden_agents.search.beliefs` does."""
        n = past.actions.shape[0]
        for k in range(logs.shape[0]):
            first = first_alike(hands, k, private)
            if first == k:
                suppose(past, hands[k : k + 1], private, player, params, supposed)
                evaluate_rows(supposed.observations, supposed.masks, params, net, n)
                logs[k] = log_likelihood(past.actions, net.chances, supposed.masks)
            else:
                logs[k] = logs[first]
        normalise(logs, leaves.likelihoods[0])

    @jit
    def network_search(
        root, root_params, mask, rows, trees, leaves, leaf_values, scratch, results, net, past, supposed, hands, logs,
        rng_states, simulations,
    ):  # fmt: skip
        """Search from root[0] as `MCTSAgent` does with a network; return the best action."""
        if kernels.legal_actions(root[0], root_params[0], mask) == 1:
            return only_action(mask, results)
        _begin(trees, rows)
        roots = Roots(root, rows, part_of(mask, 0, (1, mask.shape[0])))
        found = Search(trees, leaves, roots, root_params, scratch, leaf_values, results.scores)
        if leaves.redraws.shape[1] > 0:
            redraw_for_movers(root, root_params, rows, rng_states, leaves.redraws)
            player = np.int64(root[0].current_player)
            fill_likelihoods(leaves, hands, logs, past, supposed, player, root_params, net)
        weights = Weights(EXPLORATION, np.int64(CONSIDERED), SCALE)
        done, count = np.int64(-1), np.int64(1)  # the first step only evaluates the root
        while done < simulations:
            find_leaves(found, weights, count, done / simulations, rng_states)
            evaluate_rows(leaves.observations, leaves.masks, root_params, net, count)
            back_up_leaves(found, count, (net.chances, net.estimates))
            done += count
            count = min(np.int64(GROUP), simulations - done)
        return _read(found, results)

    return [evaluate, network_search], {"work": work_size, "narrow_work": narrow_work_size}


# --- arguments ---


class Array(NamedTuple):
    """An array that a function reads or fills.

    Attributes:
        dtype: its type.
        shape: its shape, in which a name is a size that the caller chooses.
        same: name of the array whose memory it is; "" if it has its own.
    """

    dtype: np.dtype
    shape: tuple[int | str, ...]
    same: str = ""


SCALARS = {
    **dict.fromkeys(("seed", "row", "episode"), numba.uint64),
    **dict.fromkeys(("action", "player", "steps", "simulations"), numba.int64),
}


def arrays(game: Game, agent: NetworkAgent | None, sizes: Mapping[str, int]) -> dict[str, Array]:
    """Return the arrays that functions have as arguments, by name.

    Args:
        game: the game.
        agent: an agent with a network, if there are functions that need one.
        sizes: the sizes that `with_network` returns.
    """
    state, a, o, seats = game.state_dtype, game.num_actions, game.observation_size, game.max_players
    redraws = REDRAWS if hints_of(game).private_fields else 0
    i1, i2, i4, i8, u8, f4, f8 = map(np.dtype, ("i1", "i2", "i4", "i8", "u8", "f4", "f8"))
    found = {
        "root": Array(state, (1,)),
        "root_params": Array(game.params_dtype, (1,)),
        "mask": Array(i1, (a,)),
        "observation": Array(i1, (o,)),
        "seat_points": Array(i4, (seats,)),
        "rng_state": Array(u8, (4,)),
        "rng_states": Array(u8, (1, 4)),
        "scratch_states": Array(state, (3,)),
        "scratch_masks": Array(i1, (3, a)),
        "scratch_points": Array(i4, (seats,)),
        "scratch_action_values": Array(i8, (a,)),
        "trees_nodes": Array(node_type(game), (1, "nodes")),
        "trees_used": Array(i8, (1, 1)),
        "trees_path": Array(i8, (GROUP, "nodes")),
        "trees_considered": Array(i1, (1, a)),
        "rows": Array(i8, (1,)),
        "leaves_redraws": Array(state, (1, redraws)),
        "leaves_likelihoods": Array(f8, (1, redraws)),
        "leaves_lengths": Array(i8, (GROUP,)),
        "leaves_states": Array(state, (GROUP,)),
        "leaves_observations": Array(i1, (GROUP, o)),
        "leaves_masks": Array(i1, (GROUP, a)),
        "leaf_values": Array(f4, (seats,)),
        "results_visits": Array(i4, (a,)),
        "results_values": Array(f8, ("players",)),
        "results_shares": Array(f4, (a,)),
        "results_scores": Array(f8, (a,)),
    }
    if agent is not None:
        size, raw = state.itemsize, agent.network.num_values
        seen = raw // 2 if agent.value_target == "seats" else 1
        found |= {
            "net_weights": Array(f4, (len(agent.network.parameters),)),
            "net_work": Array(f4, (sizes["work"],)),
            "net_narrow_work": Array(i2, (sizes["narrow_work"],)),
            "net_logits": Array(f4, (1, a)),
            "net_raw": Array(f4, (1, raw)),
            "net_chances": Array(f4, ("evaluated", a)),
            "net_estimates": Array(f4, ("evaluated", seen)),
            "past_states": Array(state, ("past",)),
            "past_actions": Array(i8, ("past",)),
            "supposed_states": Array(state, ("past",)),
            "supposed_bytes": Array(i1, ("past", size), "supposed_states"),
            "supposed_observations": Array(i1, ("past", o)),
            "supposed_masks": Array(i1, ("past", a)),
            "hands": Array(i1, (redraws, size), "leaves_redraws"),
            "logs": Array(f8, (redraws,)),
        }
    return found


RULES = (
    deal, legal_actions, apply_action, observe, points, public_points, standings, resample, game_seed, seed_rng,
    random_action, random_play,
)  # fmt: skip
AGENTS = greedy, search


def arguments(function: Callable[..., Any]) -> list[str]:
    """Return the names of a function's arguments outside, where groups are several arrays."""
    names: list[str] = []
    for name in inspect.signature(getattr(function, "py_func", function)).parameters:
        names += [f"{name}_{part}" for part in GROUPS[name]._fields] if name in GROUPS else [name]
    return names


def entry(function: Callable[..., Any], game: Game, known: Mapping[str, Array]) -> Entry:
    """Return a function with the types of its arguments, which follow from their names."""

    def typed(name: str) -> Any:
        return numba.types.Array(numba.from_dtype(known[name].dtype), len(known[name].shape), "C")

    kinds: list[Any] = []
    for name in inspect.signature(getattr(function, "py_func", function)).parameters:
        if name in ("state", "params"):
            kinds.append(numba.from_dtype(game.state_dtype if name == "state" else game.params_dtype))
        elif name in SCALARS:
            kinds.append(SCALARS[name])
        elif name in GROUPS:
            parts = [typed(f"{name}_{part}") for part in GROUPS[name]._fields]
            kinds.append(numba.types.NamedTuple(parts, GROUPS[name]))
        else:
            kinds.append(typed(name))
    return Entry(function, kinds)
