"""Tree search as a policy for a batch."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from garden_agents.networks.all_seats import Values, is_over, search_values, valued_rows
from garden_agents.networks.heads import best_actions
from garden_agents.search.beliefs import Evaluator, evaluated, weighted_redraws
from garden_agents.search.halving import Roots, read_rows
from garden_agents.search.simulation import Rollouts, simulate
from garden_agents.search.stepping import Search, Weights, back_up_leaves, find_leaves
from garden_agents.search.tree import PRIORS, Leaves, Tree, node_type
from garden_core.batch.batch import Batch
from garden_core.batch.choices import BUILT_IN, scratch
from garden_core.batch.policies import SEARCH_STREAM, Reseedable, Streams
from garden_core.jit import records

PLAYOUT_EXPLORATION, EXPLORATION = 1.0, 0.3
CONSIDERED, SCALE, DEPTH, GROUP = 16, 1.0, 12, 4
"""Defaults of `MCTSAgent`."""
CLOCK = 8  # simulations without a network between two checks of the clock or of the considered actions
ROOTS = 64  # largest number of searches that run in step; all their trees are in memory at once


class Searched(NamedTuple):
    """Results of searching n positions; values and actions are for the player to move.

    Attributes:
        visits: int32 (n, num_actions), simulations that began with each action.
        values: float64 (n, num_players), -1 to 1, mean values of all seats, counted from the player to move.
        shares: float32 (n, num_actions), an improved policy: each action's share of the visits, or after sequential
            halving a softmax of priors and values.
        actions: int64 (n,), the best action.
    """

    visits: np.ndarray
    values: np.ndarray
    shares: np.ndarray
    actions: np.ndarray

    @classmethod
    def without_search(cls, num_players: int, masks: np.ndarray) -> Searched:
        """Return one visit of each legal action and values 0, for action masks (n, num_actions)."""
        values = np.zeros((len(masks), num_players))
        return cls(masks.astype(np.int32), values, masks.astype(np.float32), masks.argmax(1))


def _empty(batch: Batch, roots: Roots, nodes: int, group: int) -> Search:
    """Return empty trees of `nodes` nodes each, with room for `group` leaves of each."""
    rows, game = len(roots.rows), batch.games[0]
    n, policies = rows * group, scratch(game)
    masks = np.concatenate([policies.masks, policies.masks[:1]])  # a third row, for the search itself
    return Search(
        Tree(
            records((rows, nodes), node_type(game)),
            np.zeros((rows, 1), np.int64),
            np.zeros((n, nodes), np.int64),
            np.zeros((rows, game.num_actions), np.int8),
        ),
        Leaves(
            records((rows, 0), game.state_dtype),
            np.zeros((rows, 0)),
            np.zeros(n, np.int64),
            records(n, game.state_dtype),
            np.zeros((n, game.observation_size), np.int8),
            np.zeros((n, game.num_actions), np.int8),
        ),
        roots,
        batch.target.params,
        policies._replace(masks=masks),
        np.zeros(game.max_players, np.float32),
        np.zeros(game.num_actions),
    )


def _grown(trees: Tree) -> Tree:
    """Return the trees with room for twice as many nodes."""
    rows, size = trees.nodes.shape
    nodes = records((rows, 2 * size), trees.nodes.dtype)
    nodes[:, :size] = trees.nodes
    return trees._replace(nodes=nodes, path=np.pad(trees.path, ((0, 0), (0, size))))


class MCTSAgent(Reseedable):
    """Tree search as a policy for a batch.

    Args:
        simulations: simulations per move.
        seconds: seconds per move, instead of `simulations`; moves then depend on the machine's speed.
        threads: searches that run in parallel, one per row. Moves do not depend on it. Unused with a network: its
            searches run in step, so that it evaluates the leaves of all rows in one pass.
        exploration: PUCT exploration constant; by default 0.3 with a network and 1 without.
        considered: number of root actions that sequential halving starts with; it is halved repeatedly, each stage having
            as many simulations. 0 for PUCT at the root; by default 16 with a network and 0 without.
        scale: weight of values relative to priors in sequential halving, see `garden_agents.search.halving`.
        prior: prior of the actions: "greedy" (by greedy play's action values) or "equal"; unused with a network.
        rollout: policy of the rollouts, "random" or "greedy"; unused with a network.
        depth: length of a rollout, decisions; unused with a network.
        network: network for priors and values, instead of rollouts.
        group: leaves of a search that the network evaluates in one pass.
        seed: seed of all random choices; each row has its own generator.

    Raises:
        ValueError: for arguments out of range; while searching, if the network returns arrays of the wrong shape.

    Example:
        >>> from garden_agents import MCTSAgent
        >>> from garden_core import Batch
        >>> batch, agent = Batch("cacti", 2), MCTSAgent(20)
        >>> batch.reset(seed=0)
        >>> agent.search(batch, batch.all_rows).visits.shape
        (2, 35)
    """

    def __init__(
        self,
        simulations: int = 400,
        seconds: float | None = None,
        threads: int = 1,
        exploration: float | None = None,
        considered: int | None = None,
        scale: float = SCALE,
        prior: str = "greedy",
        rollout: str = "greedy",
        depth: int = DEPTH,
        network: Evaluator | None = None,
        group: int = GROUP,
        seed: int = 0,
    ) -> None:
        if exploration is None:
            exploration = PLAYOUT_EXPLORATION if network is None else EXPLORATION
        if considered is None:
            considered = 0 if network is None else CONSIDERED
        self.simulations, self.seconds, self.threads, self.depth = simulations, seconds, threads, depth
        self.exploration, self.considered, self.scale = exploration, considered, scale
        self.network, self.group, self.seed = network, group, seed
        lowest = {"simulations": 1, "threads": 1, "group": 1}
        for name in (*lowest, "depth", "exploration", "considered", "scale"):
            if not getattr(self, name) >= (low := lowest.get(name, 0)):
                raise ValueError(f"{name} must be at least {low}, not {getattr(self, name)}")
        if considered == 1:
            raise ValueError("considered must be 0 or at least 2, not 1")
        if seconds is not None and not seconds > 0:
            raise ValueError(f"seconds must be more than 0, not {seconds}")
        for name, value, known in (("rollout", rollout, BUILT_IN), ("prior", prior, PRIORS)):
            if value not in known:
                raise ValueError(f"{name} must be {' or '.join(map(repr, known))}, not {value!r}")
        self.prior, self.rollout = PRIORS.index(prior), BUILT_IN.index(rollout)
        self.decisions = 0
        """Decisions simulated so far."""
        self._streams = Streams(SEARCH_STREAM, seed)
        self._last: dict[int, tuple[np.ndarray, float]] = {}
        """Shares and value of the last search, by row."""

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Return the best action, int64 (len(rows),), for the player to move in each of `rows`."""
        result = self.search(batch, rows)
        self._last = {int(row): (result.shares[i], float(result.values[i, 0])) for i, row in enumerate(rows)}
        return result.actions

    def search(self, batch: Batch, rows: np.ndarray) -> Searched:
        """Search for the player to move in each of `rows`.

        Args:
            batch: the games.
            rows: indexes of the rows, int (n,).

        Raises:
            ValueError, IndexError, RuntimeError: as `Batch.asked`.

        Returns:
            The results. An only legal action is not searched: it has one visit and values 0.
        """
        rows = batch.asked(rows, any_variant=self.network is None)
        return self._search_some(batch, rows, np.flatnonzero(batch.action_mask[rows].sum(1) > 1))

    def values(self, batch: Batch, rows: np.ndarray) -> Values:
        """Return the expected results of all seats in `rows`, int (n,), which may be over: see `garden_agents.Values`.

        They are the values of a search as `search` does it. An only legal action is searched, too.

        Raises:
            ValueError, IndexError, RuntimeError: as `search`, but not for rows whose game is over.
        """
        rows = valued_rows(batch, rows)
        states = batch.states[rows]
        means = self._search_some(batch, rows, np.flatnonzero(~is_over(states))).values
        first_places = False
        if self.network is not None:
            one = batch.flat[rows[:1]], batch.action_mask[rows[:1]]
            first_places = evaluated(self.network, *one, batch.game.num_players)[1].shape[1] > 1
        return search_values(batch.game, states, means, first_places)

    def _search_some(self, batch: Batch, rows: np.ndarray, choices: np.ndarray) -> Searched:
        """Return the results of searching rows[choices]; the other ones of `rows` are not searched."""
        masks = batch.action_mask[rows]
        result = Searched.without_search(batch.num_players, masks)
        size = 1 if self.network is None else ROOTS
        parts = [choices[start : start + size] for start in range(0, len(choices), size)]
        rng_states = self._streams.on(batch)  # before the threads start, as they share it

        def search(part: np.ndarray) -> int:
            searched, decisions = self._search(
                batch, Roots(batch.states, rows[part], masks[part]), rng_states
            )
            for whole, these in zip(result, searched, strict=True):
                whole[part] = these
            return decisions

        if self.network is None and self.threads > 1 and len(parts) > 1:
            with ThreadPoolExecutor(self.threads) as executor:
                self.decisions += sum(executor.map(search, parts))
        else:
            self.decisions += sum(map(search, parts))
        return result

    def _search(self, batch: Batch, roots: Roots, rng_states: np.ndarray) -> tuple[Searched, int]:
        """Search from all roots in step, from one without a network; return the results and the number of decisions.

        Each row draws from its generator, uint64 (num_envs, 4). The time limit is `seconds` for each root.
        """
        n, start = len(roots.rows), time.perf_counter()
        search = _empty(batch, roots, max(self.simulations + 2, 4 * CLOCK), self.group)
        if self.network is not None:
            drawn = weighted_redraws(batch, roots.rows, self.network, rng_states)
            search = search._replace(leaves=Leaves(*drawn, *search.leaves[2:]))
            done, count, step = -1, 1, self.group  # the first step only evaluates the roots
        else:
            whole = not (self.considered or self.seconds)
            done, count, step = 0, self.simulations if whole else 1, CLOCK
        share, decisions = -1.0, 0
        while share < 1:
            if done + count + 1 >= search.trees.nodes.shape[1]:
                search = search._replace(trees=_grown(search.trees))
            decisions += self._simulate(search, count, share, rng_states)
            done += count
            share = self._share(start, done, n)
            count = step if self.seconds is not None else min(step, self.simulations - done)
        result = Searched.without_search(batch.num_players, roots.masks)
        read_rows(search, self.scale, result)
        return result, decisions

    def _share(self, start: float, done: int, searches: int) -> float:
        """Return the share of the simulations, or of the time since `start`, that is used."""
        if self.seconds is None:
            return done / self.simulations
        return (time.perf_counter() - start) / (self.seconds * searches)

    def _simulate(self, search: Search, count: int, share: float, rng_states: np.ndarray) -> int:
        """Add `count` simulations to each tree, of which `share` is done; return the number of simulated decisions."""
        weights = Weights(self.exploration, self.considered, self.scale)
        if self.network is None:
            rollouts = Rollouts(self.rollout, self.depth)
            return simulate(search, weights, self.prior, rollouts, count, share, rng_states)
        leaves, n = search.leaves, len(search.roots.rows) * count
        find_leaves(search, weights, count, share, rng_states)
        seats = int(search.params["num_players"][0])
        evaluation = evaluated(self.network, leaves.observations[:n], leaves.masks[:n], seats)
        back_up_leaves(search, count, evaluation)
        return int(leaves.lengths[:n].sum())

    def estimate(self, batch: Batch, row: int) -> str:
        """Describe the value by the last search in `row` and its three best actions."""
        if row not in self._last:
            self(batch, np.array([row]))
        shares, value = self._last[row]
        return best_actions(batch, row, value, shares)
