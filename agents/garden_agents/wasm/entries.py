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
from garden_agents.networks.heads import fill_probabilities
from garden_agents.networks.network_agent import NetworkAgent
from garden_agents.search.agent import CONSIDERED, DEPTH, EXPLORATION, GROUP, PLAYOUT_EXPLORATION, SCALE
from garden_agents.search.backup import back_up_rows
from garden_agents.search.beliefs import DOUBT, IMPOSSIBLE, REDRAWS
from garden_agents.search.halving import Roots, halve_rows, read_root
from garden_agents.search.redraws import redraw_for_movers
from garden_agents.search.selection import Selection, descend_rows
from garden_agents.search.simulation import Rollouts, simulate
from garden_agents.search.tree import GREEDY as GREEDY_PRIOR
from garden_agents.search.tree import Leaves, Tree, node_type
from garden_agents.wasm.c_functions import part_of
from garden_agents.wasm.compiler import Entry
from garden_agents.wasm.forward import forward_of
from garden_agents.wasm.maths import exp, log
from garden_core.batch.choices import GREEDY, Scratch, greedy_action
from garden_core.game import Game
from garden_core.jit import bounded, compiled, kernels, nth_legal, rng
from garden_core.jit.decorator import OPTIONS
from garden_core.jit.numba_private import compile_later
from garden_core.jit.rng import next_uint64

# --- the rules ---


def deal(state, params, seed):
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


class Past(NamedTuple):
    """The decisions so far: the states before them, also as bytes, and the actions."""

    states: Any
    bytes: Any
    actions: Any


class Hands(NamedTuple):
    """The redraws of hidden cards as bytes, and logarithms of their probabilities."""

    bytes: Any
    logs: Any


GROUPS: dict[str, Any] = {
    "scratch": Scratch, "trees": Tree, "leaves": Leaves, "results": Results, "net": Net, "past": Past, "hands": Hands,
}  # fmt: skip
"""The arguments that are several arrays, by name; the array `nodes` of `trees` is called trees_nodes outside."""


# --- agents without a network ---


def greedy(state, params, scratch, rng_state):
    """Return the action of `GreedyPolicy`."""
    return greedy_action(state, params, next_uint64(rng_state), scratch, rng_state)


def search(
    root, root_params, mask, trees, leaf_states, leaf_values, scratch, results, rng_states, simulations
):
    """Search from root[0] as `MCTSAgent` does without a network; return the best action."""
    legal = kernels.legal_actions(root[0], root_params[0], mask)
    if legal == 1:
        return only_action(mask, results)
    _start(trees)
    player, n = np.int64(root[0].current_player), root_params[0].num_players
    how = (
        Selection(player, np.int64(GREEDY_PRIOR), PLAYOUT_EXPLORATION),
        Rollouts(np.int64(GREEDY), np.int64(DEPTH)),
    )
    tree = Tree(trees.nodes[0], trees.used[0], trees.path[0], trees.considered[0])
    simulate(tree, scratch, (leaf_states, leaf_values), root, root_params, how, simulations, rng_states[0])
    result = results.visits, results.values, results.shares
    return read_root(tree.nodes, tree.considered, player, n, mask, SCALE, results.scores, result)


@compiled
def _start(trees):
    trees.used[0, 0] = 0
    for action in range(trees.considered.shape[1]):
        trees.considered[0, action] = 0


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
    by_seat, is_score = agent.value_target == "seats", agent.value_target == "score"
    private, seats = hints_of(game).private_fields, game.max_players
    of_state: Any = game.state_dtype.fields
    fields = [of_state[name] for name in private]
    if any(kind.base != np.int8 for kind, *_ in fields):
        raise ValueError(f"{game.name} has private fields that are not int8")
    offsets = np.array([offset for _, offset, *_ in fields], np.int64)

    def jit(function: Any) -> Any:
        return compile_later(function, OPTIONS, inline=False)

    @jit
    def evaluate_position(observation, mask, params, net, row):
        """Fill probabilities of the legal actions and values, as `NetworkAgent.evaluate` does, in row `row` of the network's."""
        raw, estimates = net.raw, net.estimates[row]
        forward(observation, params, net.weights, net.work, net.narrow_work, net.logits[0], raw)
        masks = part_of(mask, 0, (1, mask.shape[0]))
        fill_probabilities(net.logits, masks, part_of(net.chances[row], 0, (1, mask.shape[0])))
        if not by_seat:
            value = raw[0]
            if is_score:
                value = value / (np.float32(1) + abs(value))
            estimates[0] = min(max(value, np.float32(-1)), np.float32(1))
            return
        n = raw.shape[0] // 2
        highest, total = raw[0], np.float32(0)
        for p in range(n):
            highest = max(highest, raw[p])
        for p in range(n):
            estimates[p] = np.exp(raw[p] - highest)
            total += estimates[p]
        for p in range(n):
            estimates[p] = (n * (estimates[p] / total) - np.float32(1)) / np.float32(n - 1)

    @jit
    def evaluate(root, root_params, mask, observation, net):
        """Fill chances and estimates for the player to move in root[0]; return the most likely legal action."""
        kernels.legal_actions(root[0], root_params[0], mask)
        kernels.observe(root[0], root_params[0], np.int64(root[0].current_player), observation)
        evaluate_position(observation, mask, root_params, net, 0)
        best = np.int64(-1)
        for action in range(mask.shape[0]):
            if mask[action] and (best < 0 or net.logits[0, action] > net.logits[0, best]):
                best = action
        return best

    @jit
    def fill_likelihoods(root_params, player, past, leaves, leaf_bytes, hands, net):
        """Fill the probabilities of the redraws, given the others' past actions, as `garden_agents.search.beliefs` does."""
        logs, likelihoods = hands.logs, leaves.likelihoods
        number = likelihoods.shape[1]
        others, different = np.int64(0), np.int64(0)
        for k in range(past.states.shape[0]):
            others += past.states[k].current_player != player
        for r in range(number):
            first = _first_alike(hands.bytes, r, offsets, seats)
            if first < r:
                logs[r] = logs[first]
                continue
            different += 1
            logs[r] = 0.0
            for k in range(past.states.shape[0]):
                mover = np.int64(past.states[k].current_player)
                if mover == player:
                    continue
                kernels.copy_record(leaves.states, 0, past.states[k])
                for f in range(offsets.shape[0]):
                    for p in range(seats):
                        card = hands.bytes[r, offsets[f] + p]
                        if card >= 0 and p != player:  # -1: revealed since
                            leaf_bytes[0, offsets[f] + p] = card
                mask, state = leaves.masks[0], leaves.states[0]
                legal = kernels.legal_actions(state, root_params[0], mask)
                kernels.observe(state, root_params[0], mover, leaves.observations[0])
                evaluate_position(leaves.observations[0], mask, root_params, net, 0)
                action = past.actions[k]
                likely = np.float32(1 - DOUBT) * net.chances[0, action] + DOUBT / legal
                logs[r] += log(likely if mask[action] else IMPOSSIBLE)
        highest, total = logs[0], 0.0
        for r in range(number):
            highest = max(highest, logs[r])
        for r in range(number):
            likelihoods[0, r] = 1.0 if others == 0 or different == 1 else exp(logs[r] - highest)
            total += likelihoods[0, r]
        for r in range(number):
            likelihoods[0, r] /= total

    @jit
    def network_search(
        root, root_params, mask, trees, leaves, leaf_bytes, leaf_values, scratch, results, rows, net, past, hands,
        rng_states, simulations,
    ):  # fmt: skip
        """Search from root[0] as `MCTSAgent` does with a network; return the best action."""
        legal = kernels.legal_actions(root[0], root_params[0], mask)
        if legal == 1:
            return only_action(mask, results)
        _start(trees)
        player, n = np.int64(root[0].current_player), root_params[0].num_players
        rows[0] = 0
        if leaves.redraws.shape[1] > 0:
            redraw_for_movers(root, root_params, rows, rng_states, leaves.redraws)
            fill_likelihoods(root_params, player, past, leaves, leaf_bytes, hands, net)
        roots = Roots(root, rows, part_of(mask, 0, (1, mask.shape[0])))
        done, count = np.int64(-1), np.int64(1)  # the first pass only evaluates the root
        while True:
            lengths, states = leaves.lengths[:count], leaves.states[:count]
            observations, masks = leaves.observations[:count], leaves.masks[:count]
            reached = Leaves(leaves.redraws, leaves.likelihoods, lengths, states, observations, masks)
            descend_rows(trees, scratch, reached, root, root_params, rows, EXPLORATION, rng_states)
            for i in range(count):
                evaluate_position(observations[i], masks[i], root_params, net, i)
            found = net.chances, net.estimates
            back_up_rows(trees, reached, count, root_params, found, leaf_values, scratch.points)
            done = done + count if done >= 0 else np.int64(0)
            if done >= simulations:
                break
            halve_rows(trees, roots, np.int64(CONSIDERED), done / simulations, SCALE, results.scores)
            count = min(np.int64(GROUP), simulations - done)
        result = results.visits, results.values, results.shares
        return read_root(trees.nodes[0], trees.considered[0], player, n, mask, SCALE, results.scores, result)

    return [evaluate, network_search], {"work": work_size, "narrow_work": narrow_work_size}


@compiled
def _first_alike(redraw_bytes, r, offsets, seats):
    """Return the first redraw with the same private fields as redraw r."""
    for first in range(r):
        alike = True
        for f in range(offsets.shape[0]):
            for p in range(seats):
                alike = alike and redraw_bytes[first, offsets[f] + p] == redraw_bytes[r, offsets[f] + p]
        if alike:
            return first
    return r


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
        "leaf_states": Array(state, (GROUP,)),
        "leaf_values": Array(f4, (seats,)),
        "results_visits": Array(i4, (a,)),
        "results_values": Array(f8, ("players",)),
        "results_shares": Array(f4, (a,)),
        "results_scores": Array(f8, (a,)),
    }
    if agent is not None:
        size, raw = state.itemsize, agent.network.num_values
        seen = raw // 2 if agent.value_target == "seats" else 1
        redraws = REDRAWS if hints_of(game).private_fields else 0
        found |= {
            "leaves_redraws": Array(state, (1, redraws)),
            "leaves_likelihoods": Array(f8, (1, redraws)),
            "leaves_lengths": Array(i8, (GROUP,)),
            "leaves_states": Array(state, (GROUP,)),
            "leaves_observations": Array(i1, (GROUP, o)),
            "leaves_masks": Array(i1, (GROUP, a)),
            "leaf_bytes": Array(i1, (GROUP, size), "leaves_states"),
            "rows": Array(i8, (1,)),
            "net_weights": Array(f4, (len(agent.network.parameters),)),
            "net_work": Array(f4, (sizes["work"],)),
            "net_narrow_work": Array(i2, (sizes["narrow_work"],)),
            "net_logits": Array(f4, (1, a)),
            "net_raw": Array(f4, (raw,)),
            "net_chances": Array(f4, (GROUP, a)),
            "net_estimates": Array(f4, (GROUP, seen)),
            "past_states": Array(state, ("past",)),
            "past_bytes": Array(i1, ("past", size), "past_states"),
            "past_actions": Array(i8, ("past",)),
            "hands_bytes": Array(i1, (redraws, size), "leaves_redraws"),
            "hands_logs": Array(f8, (redraws,)),
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
