"""Tree search as a policy for a batch."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np

from garden_agents.search.tree import (
    PRIORS,
    Tree,
    back_up_rows,
    descend_rows,
    node_type,
    root_visits,
    simulate,
)
from garden_core.batch import Batch
from garden_core.checks import as_rows, require_reset
from garden_core.game import Game
from garden_core.jit import records
from garden_core.policies import BUILT_IN, scratch
from garden_core.rng import seed_rngs

__all__ = ["MCTSAgent", "Network"]

CLOCK = 16  # simulations between two checks of the time limit
ROOTS = 64  # most searches that run in step; all their trees are in memory at once


class Network(Protocol):
    """What can guide a search: priors and values."""

    def evaluate(self, observation: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the actions' probabilities, float32 (N, num_actions), and values, about -1 to 1.

        The values are float32 (N,), for the player to move; or float32 (N, num_players), those of all seats counted from
        the player to move, on the scale of `garden_agents.search.tree.first_places`. In cooperative games they are
        float32 (N,), x / (1 + |x|) for the score still to come, x times the game's reward_divisor.
        """


class _Memory:
    """The arrays that searches write to, for `rows` trees of `nodes` nodes each."""

    def __init__(self, game: Game, rows: int, nodes: int) -> None:
        self.game = game
        self.trees = Tree(
            records((rows, nodes), node_type(game)),
            np.zeros((rows, 1), np.int64),
            np.zeros((rows, nodes), np.int64),
        )
        self.lengths = np.zeros(rows, np.int64)
        self.leaves = records(rows, game.state_dtype)
        self.observations = np.zeros((rows, game.observation_size), np.int8)
        self.leaf_masks = np.zeros((rows, game.num_actions), np.int8)
        policies = scratch(game)
        masks = np.concatenate([policies.masks, policies.masks[:1]])  # a third row, for the search itself
        self.scratch = policies._replace(masks=masks)
        self.values = np.zeros(game.max_players, np.float32)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and nodes."""
        return self.trees.path.shape

    def grow(self) -> None:
        """Double the number of nodes, keeping the trees."""
        count, size = self.shape
        nodes, path = (
            records((count, 2 * size), self.trees.nodes.dtype),
            np.zeros((count, 2 * size), np.int64),
        )
        nodes[:, :size], path[:, :size] = self.trees.nodes, self.trees.path
        self.trees = Tree(nodes, self.trees.used, path)


def _read(batch: Batch, rows: np.ndarray, memory: _Memory, visits: np.ndarray, values: np.ndarray) -> None:
    """Fill `visits` and `values` from the roots of the trees."""
    roots, n = memory.trees.nodes[: len(rows)], batch.game.num_players
    root_visits(roots, visits)
    seats = (batch.current_player[rows][:, None] + np.arange(n)) % n
    values[:] = np.take_along_axis(roots["totals"][:, 0], seats, 1) / roots["visits"][:, :1]


class MCTSAgent:
    """Tree search as a policy for a batch.

    Args:
        simulations: simulations for each move.
        seconds: seconds for each move, in place of `simulations`; the moves then depend on the machine's speed.
        threads: searches that run at the same time, one for each row. Moves do not depend on it. Unused with a
            network: its searches run in step, so that it evaluates the leaves of all rows in one pass.
        exploration: PUCT exploration constant.
        prior: prior of the actions: "greedy" (by greedy play's action values) or "equal"; unused with a network.
        rollout: policy of the rollouts, "random" or "greedy"; unused with a network.
        depth: length of a rollout, decisions; unused with a network.
        network: network for priors and values, in place of rollouts.
        seed: seed of all random choices; row i has a generator of its own, seeded by (seed, i).

    Raises:
        ValueError: for arguments out of range; while searching, for an answer of the network of another shape.
    """

    def __init__(
        self,
        simulations: int = 400,
        seconds: float | None = None,
        threads: int = 1,
        exploration: float = 1.0,
        prior: str = "greedy",
        rollout: str = "greedy",
        depth: int = 12,
        network: Network | None = None,
        seed: int = 0,
    ) -> None:
        least = {"simulations": (simulations, 1), "threads": (threads, 1), "depth": (depth, 0)}
        for name, (number, low) in (least | {"exploration": (exploration, 0)}).items():
            if not number >= low:
                raise ValueError(f"{name} must be at least {low}, not {number}")
        if seconds is not None and not seconds > 0:
            raise ValueError(f"seconds must be more than 0, not {seconds}")
        for name, value, known in (("rollout", rollout, BUILT_IN), ("prior", prior, PRIORS)):
            if value not in known:
                raise ValueError(f"{name} must be {' or '.join(map(repr, known))}, not {value!r}")
        self.simulations, self.seconds, self.threads = simulations, seconds, threads
        self.exploration = exploration
        self.prior, self.rollout, self.depth = PRIORS.index(prior), BUILT_IN.index(rollout), depth
        self.network, self.seed = network, seed
        self.decisions = 0
        """Decisions simulated so far."""
        self._rng_states = np.zeros((0, 4), np.uint64)
        self._free: list[_Memory] = []
        self._last: dict[int, tuple[np.ndarray, float]] = {}
        """Visits and value of the last search, by row."""

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Return the action taken most often, int64 (len(rows),), for the player to move in each of `rows`."""
        visits, values = self.search(batch, rows)
        self._last = {int(row): (visits[i], float(values[i, 0])) for i, row in enumerate(rows)}
        return visits.argmax(1)

    def search(
        self, batch: Batch, rows: np.ndarray, noise: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Search for the player to move in each of `rows`.

        Args:
            batch: the games.
            rows: indexes of the rows, int (n,).
            noise: float (n, num_actions) or None: noise that makes up a quarter of a network's priors at the root.

        Raises:
            ValueError: for noise without a network, or rows named twice.
            IndexError: for a row that does not exist.
            RuntimeError: before the batch's first reset.

        Returns:
            The visits of each action, int32 (n, num_actions), and the mean values of all seats, counted from the player
            to move, float64 (n, num_players), from -1 to 1. Where only one action is legal there is no search: one
            visit, values 0.
        """
        if noise is not None and self.network is None:
            raise ValueError("noise is for the priors of a network, and this search has none")
        if len(self._rng_states) < batch.num_envs:
            self._rng_states = np.zeros((batch.num_envs, 4), np.uint64)
            seed_rngs(self._rng_states, np.uint64(self.seed))
        require_reset(batch.dealt, "a policy")
        rows = as_rows(rows, batch.num_envs, "asked")
        visits = batch.action_mask[rows].astype(np.int32)
        values = np.zeros((len(rows), batch.game.num_players))
        open_rows = np.flatnonzero(visits.sum(1) > 1)  # more than one legal action
        if self.network is None:
            self._search_in_threads(batch, rows, open_rows, visits, values)
        else:
            for start in range(0, len(open_rows), ROOTS):
                part = open_rows[start : start + ROOTS]
                visits[part], values[part] = self._search_rows(
                    batch, rows[part], None if noise is None else noise[part]
                )
        return visits, values

    def _search_in_threads(
        self, batch: Batch, rows: np.ndarray, open_rows: np.ndarray, visits: np.ndarray, values: np.ndarray
    ) -> None:
        """Search without a network in rows[open_rows], in `threads` threads; fill those rows' visits and values."""

        def search(i: int) -> int:
            return self._search_row(batch, rows[i], visits[i : i + 1], values[i : i + 1])

        if self.threads == 1 or len(open_rows) < 2:
            self.decisions += sum(map(search, open_rows))
        else:
            with ThreadPoolExecutor(self.threads) as executor:
                self.decisions += sum(executor.map(search, open_rows))

    def _search_row(self, batch: Batch, row: int, visits: np.ndarray, values: np.ndarray) -> int:
        """Search without a network in one row; return the number of simulated decisions."""
        memory = self._take_memory(batch.game, 1)
        decisions = 0
        until = time.perf_counter() + (self.seconds or 0.0)
        done = 0
        while done == 0 or (done < self.simulations if self.seconds is None else time.perf_counter() < until):
            count = self.simulations if self.seconds is None else CLOCK
            if memory.trees.used[0, 0] + count >= memory.shape[1]:
                memory.grow()
            tree = Tree(*(part[0] for part in memory.trees))
            where = batch.states, batch.game.params, row
            how = count, self.prior, self.exploration, self.depth, self.rollout
            work = memory.values, memory.leaves, self._rng_states
            decisions += simulate(*tree, *memory.scratch, *where, *how, *work)
            done += count
        _read(batch, np.array([row]), memory, visits, values)
        self._free.append(memory)
        return decisions

    def _search_rows(
        self, batch: Batch, rows: np.ndarray, noise: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Search in all `rows` in step, guided by the network; the time limit is `seconds` for each row."""
        n = len(rows)
        memory = self._take_memory(batch.game, n)
        until = time.perf_counter() + (self.seconds or 0.0) * n
        step = 0  # step 0 evaluates the roots; each later step is a simulation
        while step < 2 or (step <= self.simulations if self.seconds is None else time.perf_counter() < until):
            if step + 1 >= memory.shape[1]:
                memory.grow()
            self._simulate_rows(batch, rows, memory)
            if step == 0 and noise is not None:
                roots = memory.trees.nodes["priors"][:n, 0]
                roots[:] = 0.75 * roots + 0.25 * noise
            step += 1
        visits, values = (
            np.zeros((n, batch.game.num_actions), np.int32),
            np.zeros((n, batch.game.num_players)),
        )
        _read(batch, rows, memory, visits, values)
        self._free.append(memory)
        return visits, values

    def _simulate_rows(self, batch: Batch, rows: np.ndarray, memory: _Memory) -> None:
        """Descend all trees once, evaluate the leaves and back up their values."""
        assert self.network is not None
        n, params = len(rows), batch.game.params
        trees = Tree(*(part[:n] for part in memory.trees))
        lengths, leaves = memory.lengths[:n], memory.leaves[:n]
        observations, masks = memory.observations[:n], memory.leaf_masks[:n]
        where = batch.states, params, rows, self.exploration
        descend_rows(*trees, *memory.scratch, *where, lengths, leaves, observations, masks, self._rng_states)
        probabilities, values = self.network.evaluate(observations, masks)
        wanted = (n,) if values.ndim == 1 else (n, batch.game.num_players)
        if probabilities.shape != masks.shape or values.shape != wanted:
            raise ValueError(
                f"evaluate must return shapes {masks.shape} and {wanted}, not {probabilities.shape} and {values.shape}"
            )
        evaluated = leaves, masks, probabilities, values.reshape(n, -1)
        back_up_rows(
            trees.nodes, trees.path, lengths, params, *evaluated, memory.values, memory.scratch.points
        )
        self.decisions += int(lengths.sum())

    def _take_memory(self, game: Game, rows: int) -> _Memory:
        """Return arrays that no other search writes to, with empty trees."""
        nodes = max(self.simulations + 2, 4 * CLOCK)
        try:
            memory = self._free.pop()  # an atomic operation, so threads never get the same arrays
        except IndexError:
            return _Memory(game, rows, nodes)
        if memory.game is not game or memory.shape[0] < rows or memory.shape[1] < nodes:
            return _Memory(game, rows, nodes)
        memory.trees.used[:] = 0
        return memory

    def estimate(self, batch: Batch, row: int) -> str:
        """Return the value that the last search in `row` found and its three most visited actions, in words."""
        if row not in self._last:
            self(batch, np.array([row]))
        if batch.action_mask[row].sum() == 1:
            return "the only action"
        visits, value = self._last[row]
        order = np.argsort(-visits, kind="stable")[:3]
        best = ", ".join(f"{batch.game.labels[a]} {visits[a] / visits.sum():.0%}" for a in order if visits[a])
        return f"value {value:+.2f}; {best}"
