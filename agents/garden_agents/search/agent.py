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

CLOCK = 16  # simulations between two looks at the clock

ROOTS = 64  # searches in step at most: their trees are kept at the same time


class Network(Protocol):
    """What guides a search: probabilities and values for the player to move."""

    def evaluate(self, observation: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return probabilities, float32 (N, num_actions), and values, float32 (N,), about -1 to 1."""


class _Memory:
    """What searches write to, for `rows` trees of `nodes` nodes."""

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
        own = scratch(game)
        self.scratch = own._replace(masks=np.concatenate([own.masks, own.masks[:1]]))
        self.values = np.zeros(game.max_players, np.float32)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and nodes."""
        return self.trees.path.shape

    def grow(self) -> None:
        """Make room for twice as many nodes; the trees stay as they are."""
        rows, nodes = self.shape
        wider = records((rows, 2 * nodes), self.trees.nodes.dtype), np.zeros((rows, 2 * nodes), np.int64)
        wider[0][:, :nodes], wider[1][:, :nodes] = self.trees.nodes, self.trees.path
        self.trees = Tree(wider[0], self.trees.used, wider[1])


def _read(batch: Batch, rows: np.ndarray, memory: _Memory, visits: np.ndarray, values: np.ndarray) -> None:
    """Fill in what the searches of `rows` found."""
    roots = memory.trees.nodes[: len(rows)]
    root_visits(roots, visits)
    players = batch.current_player[rows]
    values[:] = roots["totals"][np.arange(len(rows)), 0, players] / roots["visits"][:, 0]


class MCTSAgent:
    """Tree search as a policy for a batch; row i draws from the generator of (seed, i).

    Args:
        simulations: of each move.
        seconds: time for each move, in place of `simulations`; what is played then depends on the machine.
        threads: searches of a batch that run at the same time, each on a core of its own; with a network, whose own
            threads are torch's, they go in step instead. What is played does not depend on it.
        exploration: the PUCT exploration constant.
        prior: "greedy", by greedy play's values of the actions, or "equal"; unused with a network.
        rollout: "random" or "greedy", the policy that plays on from the tree; unused with a network.
        depth: decisions that a simulation plays on outside the tree; unused with a network.
        network: what gives priors and values in place of rollouts.
        seed: of all draws.

    Raises:
        ValueError: for arguments out of range, or while searching for a network's answer of another shape.
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
        """By row, what the last search found."""

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Return the action taken most often, int64 (len(rows),), for the player to move in each of `rows`."""
        visits, values = self.search(batch, rows)
        self._last = {int(row): (visits[i], float(values[i])) for i, row in enumerate(rows)}
        return visits.argmax(1)

    def search(
        self, batch: Batch, rows: np.ndarray, noise: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Search for the player to move in each of `rows`.

        Args:
            noise: float (len(rows), num_actions) or None; mixed into a network's priors at the root, a quarter.

        Raises:
            ValueError: for noise without a network, or rows named twice.
            IndexError: for a row that does not exist.
            RuntimeError: before the batch's first reset.

        Returns:
            How often each action was taken, int32 (len(rows), num_actions), and the mean value for the player,
            float64 (len(rows),), from -1 to 1. An only legal action is not searched: once, value 0.
        """
        if noise is not None and self.network is None:
            raise ValueError("noise is for the priors of a network, and there is none")
        if len(self._rng_states) < batch.num_envs:
            self._rng_states = np.zeros((batch.num_envs, 4), np.uint64)
            seed_rngs(self._rng_states, np.uint64(self.seed))
        require_reset(batch.dealt, "a policy")
        rows = as_rows(rows, batch.num_envs, "asked")
        visits = batch.action_mask[rows].astype(np.int32)
        values = np.zeros(len(rows))
        unclear = np.flatnonzero(visits.sum(1) > 1)
        if self.network is None:
            self._share_out(batch, rows, unclear, visits, values)
        else:
            for start in range(0, len(unclear), ROOTS):
                part = unclear[start : start + ROOTS]
                visits[part], values[part] = self._search_rows(
                    batch, rows[part], None if noise is None else noise[part]
                )
        return visits, values

    def _share_out(
        self, batch: Batch, rows: np.ndarray, unclear: np.ndarray, visits: np.ndarray, values: np.ndarray
    ) -> None:
        """Searches without a network, shared out among the threads."""

        def search(i: int) -> int:
            return self._search_row(batch, rows[i], visits[i : i + 1], values[i : i + 1])

        if self.threads == 1 or len(unclear) < 2:
            self.decisions += sum(map(search, unclear))
        else:
            with ThreadPoolExecutor(self.threads) as executor:
                self.decisions += sum(executor.map(search, unclear))

    def _search_row(self, batch: Batch, row: int, visits: np.ndarray, values: np.ndarray) -> int:
        """One search without a network; return the decisions that it simulated."""
        memory = self._take_memory(batch.game, 1)
        decisions = 0
        until = time.perf_counter() + (self.seconds or 0.0)
        done = 0
        while done == 0 or (done < self.simulations if self.seconds is None else time.perf_counter() < until):
            count = self.simulations if self.seconds is None else CLOCK
            if memory.trees.used[0, 0] + count >= memory.shape[1]:
                memory.grow()
            tree = Tree(*(part[0] for part in memory.trees))
            decisions += simulate(
                *tree, *memory.scratch, batch.states, batch.game.params, row, count, self.prior, self.exploration,
                self.depth, self.rollout, memory.values, memory.leaves, self._rng_states,
            )  # fmt: skip
            done += count
        _read(batch, np.array([row]), memory, visits, values)
        self._free.append(memory)
        return decisions

    def _search_rows(
        self, batch: Batch, rows: np.ndarray, noise: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """All searches in step, their leaves evaluated by the network; `seconds` is shared out between them."""
        n = len(rows)
        memory = self._take_memory(batch.game, n)
        until = time.perf_counter() + (self.seconds or 0.0) * n
        step = 0  # the first evaluates the roots, every other one is a simulation
        while step < 2 or (step <= self.simulations if self.seconds is None else time.perf_counter() < until):
            if step + 1 >= memory.shape[1]:
                memory.grow()
            self._simulate_rows(batch, rows, memory)
            if step == 0 and noise is not None:
                roots = memory.trees.nodes["priors"][:n, 0]
                roots[:] = 0.75 * roots + 0.25 * noise
            step += 1
        visits, values = np.zeros((n, batch.game.num_actions), np.int32), np.zeros(n)
        _read(batch, rows, memory, visits, values)
        self._free.append(memory)
        return visits, values

    def _simulate_rows(self, batch: Batch, rows: np.ndarray, memory: _Memory) -> None:
        """Go down all trees once, evaluate the leaves, and back up their values."""
        assert self.network is not None
        n, params = len(rows), batch.game.params
        trees = Tree(*(part[:n] for part in memory.trees))
        lengths, leaves = memory.lengths[:n], memory.leaves[:n]
        observations, masks = memory.observations[:n], memory.leaf_masks[:n]
        descend_rows(
            *trees, *memory.scratch, batch.states, params, rows, self.exploration, lengths, leaves, observations,
            masks, self._rng_states,
        )  # fmt: skip
        probabilities, values = self.network.evaluate(observations, masks)
        if probabilities.shape != masks.shape or values.shape != (n,):
            raise ValueError(
                f"evaluate must return shapes {masks.shape} and {(n,)}, not {probabilities.shape} and {values.shape}"
            )
        back_up_rows(
            trees.nodes, trees.path, lengths, params, leaves, masks, probabilities, values, memory.values,
            memory.scratch.points,
        )  # fmt: skip
        self.decisions += int(lengths.sum())

    def _take_memory(self, game: Game, rows: int) -> _Memory:
        """Return memory that no other search writes to, with empty trees."""
        nodes = max(self.simulations + 2, 4 * CLOCK)
        try:
            memory = self._free.pop()  # one step, which threads cannot divide
        except IndexError:
            return _Memory(game, rows, nodes)
        if memory.game is not game or memory.shape[0] < rows or memory.shape[1] < nodes:
            return _Memory(game, rows, nodes)
        memory.trees.used[:] = 0
        return memory

    def estimate(self, batch: Batch, row: int) -> str:
        """Return in words what the last search in a row found: value and the three actions taken most."""
        if row not in self._last:
            self(batch, np.array([row]))
        if batch.action_mask[row].sum() == 1:
            return "the only action"
        visits, value = self._last[row]
        order = np.argsort(-visits, kind="stable")[:3]
        best = ", ".join(f"{batch.game.labels[a]} {visits[a] / visits.sum():.0%}" for a in order if visits[a])
        return f"value {value:+.2f}; {best}"
