"""Tree search as a policy for a batch."""

from __future__ import annotations

import contextlib
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from garden_agents.networks.heads import best_actions
from garden_agents.search.backup import back_up_rows
from garden_agents.search.beliefs import Network, weighed_redraws
from garden_agents.search.halving import Roots, halve_rows, read_rows
from garden_agents.search.selection import Selection, descend_rows
from garden_agents.search.simulation import Rollouts, simulate
from garden_agents.search.tree import PRIORS, Leaves, Tree, node_type
from garden_core.batch.batch import Batch
from garden_core.batch.choices import BUILT_IN, scratch
from garden_core.batch.policies import SEARCH_STREAM, Reseedable, Streams
from garden_core.checks import as_rows, require_reset
from garden_core.game import Game
from garden_core.jit import records

CLOCK = 8  # simulations between two looks at the clock, or at what sequential halving considers
ROOTS = 64  # most searches that run in step; all their trees are in memory at once


class Searched(NamedTuple):
    """What searches of n positions found; values and actions are those of the player to move.

    Attributes:
        visits: int32 (n, num_actions), simulations that began with each action.
        values: float64 (n, num_players), -1 to 1, mean values of all seats, counted from the player to move.
        shares: float32 (n, num_actions), how good the search takes each action to be, as probabilities: its share of the
            visits; after sequential halving a softmax of priors and values.
        actions: int64 (n,), the best action.
    """

    visits: np.ndarray
    values: np.ndarray
    shares: np.ndarray
    actions: np.ndarray

    @classmethod
    def empty(cls, game: Game, rows: int) -> Searched:
        """Return arrays of zeros for `rows` positions."""
        shape = (rows, game.num_actions)
        values = np.zeros((rows, game.num_players))
        return cls(np.zeros(shape, np.int32), values, np.zeros(shape, np.float32), np.zeros(rows, np.int64))


class _Memory:
    """The arrays that searches write to, for `rows` trees of `nodes` nodes each, and `group` leaves of each tree."""

    def __init__(self, game: Game, rows: int, nodes: int, group: int) -> None:
        self.game, leaves = game, rows * group
        self.trees = Tree(
            records((rows, nodes), node_type(game)),
            np.zeros((rows, 1), np.int64),
            np.zeros((leaves, nodes), np.int64),
            np.zeros((rows, game.num_actions), np.int8),
        )
        self.noise = np.zeros((rows, game.num_actions), np.float32)
        self.scores = np.zeros(game.num_actions)
        self.leaves = Leaves(
            records((rows, 0), game.state_dtype),
            np.zeros((rows, 0)),
            np.zeros(leaves, np.int64),
            records(leaves, game.state_dtype),
            np.zeros((leaves, game.observation_size), np.int8),
            np.zeros((leaves, game.num_actions), np.int8),
        )
        policies = scratch(game)
        masks = np.concatenate([policies.masks, policies.masks[:1]])  # a third row, for the search itself
        self.scratch = policies._replace(masks=masks)
        self.values = np.zeros(game.max_players, np.float32)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and nodes."""
        return self.trees.nodes.shape

    def grow(self) -> None:
        """Double the number of nodes, keeping the trees."""
        rows, size = self.shape
        nodes = records((rows, 2 * size), self.trees.nodes.dtype)
        nodes[:, :size] = self.trees.nodes
        path = np.pad(self.trees.path, ((0, 0), (0, size)))
        self.trees = self.trees._replace(nodes=nodes, path=path)


class MCTSAgent(Reseedable):
    """Tree search as a policy for a batch.

    Args:
        simulations: simulations for each move.
        seconds: seconds for each move, in place of `simulations`; the moves then depend on the machine's speed.
        threads: searches that run at the same time, one for each row. Moves do not depend on it. Unused with a
            network: its searches run in step, so that it evaluates the leaves of all rows in one pass.
        exploration: PUCT exploration constant; 0.3 with a network and 1 without if None.
        considered: number of actions at the root that sequential halving begins with: their number is halved again and
            again, each stage having as many simulations. 0 for PUCT at the root too; 16 with a network and 0 without
            if None.
        scale: weight of values beside priors in sequential halving, see `garden_agents.search.halving`.
        prior: prior of the actions: "greedy" (by greedy play's action values) or "equal"; unused with a network.
        rollout: policy of the rollouts, "random" or "greedy"; unused with a network.
        depth: length of a rollout, decisions; unused with a network.
        network: network for priors and values, in place of rollouts.
        group: leaves of a search that the network evaluates in one pass.
        seed: seed of all random choices; each row has a generator of its own.

    Raises:
        ValueError: for arguments out of range; while searching, for an answer of the network of another shape.
    """

    def __init__(
        self,
        simulations: int = 400,
        seconds: float | None = None,
        threads: int = 1,
        exploration: float | None = None,
        considered: int | None = None,
        scale: float = 1.0,
        prior: str = "greedy",
        rollout: str = "greedy",
        depth: int = 12,
        network: Network | None = None,
        group: int = 4,
        seed: int = 0,
    ) -> None:
        if exploration is None:
            exploration = 1.0 if network is None else 0.3
        if considered is None:
            considered = 0 if network is None else 16
        for name, number, low in (
            ("simulations", simulations, 1),
            ("threads", threads, 1),
            ("depth", depth, 0),
            ("group", group, 1),
            ("exploration", exploration, 0),
            ("considered", considered, 0),
            ("scale", scale, 0),
        ):
            if not number >= low:
                raise ValueError(f"{name} must be at least {low}, not {number}")
        if considered == 1:
            raise ValueError("considered must be 0 or at least 2, not 1")
        if seconds is not None and not seconds > 0:
            raise ValueError(f"seconds must be more than 0, not {seconds}")
        for name, value, known in (("rollout", rollout, BUILT_IN), ("prior", prior, PRIORS)):
            if value not in known:
                raise ValueError(f"{name} must be {' or '.join(map(repr, known))}, not {value!r}")
        self.simulations, self.seconds, self.threads = simulations, seconds, threads
        self.exploration, self.considered, self.scale = exploration, considered, scale
        self.prior, self.rollout, self.depth = PRIORS.index(prior), BUILT_IN.index(rollout), depth
        self.network, self.group, self.seed = network, group, seed
        self.decisions = 0
        """Decisions simulated so far."""
        self._streams = Streams(SEARCH_STREAM, self.seed)
        self._free: list[_Memory] = []
        self._last: dict[int, tuple[np.ndarray, float]] = {}
        """Shares and value of the last search, by row."""

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Return the best action, int64 (len(rows),), for the player to move in each of `rows`."""
        found = self.search(batch, rows)
        self._last = {int(row): (found.shares[i], float(found.values[i, 0])) for i, row in enumerate(rows)}
        return found.actions

    def search(self, batch: Batch, rows: np.ndarray, noise: np.ndarray | None = None) -> Searched:
        """Search for the player to move in each of `rows`.

        Args:
            batch: the games.
            rows: indexes of the rows, int (n,).
            noise: float (n, num_actions) or None: noise that is added to the scores in sequential halving; where it is drawn
                from Gumbel's distribution, the best action is drawn by `shares`.

        Raises:
            ValueError: for noise without sequential halving, or rows named twice.
            IndexError: for a row that does not exist.
            RuntimeError: before the batch's first reset.

        Returns:
            What was found. Where only one action is legal there is no search, but one visit and values 0.
        """
        if noise is not None and not self.considered:
            raise ValueError("noise is for sequential halving, and this search has none: considered is 0")
        require_reset(batch.dealt, "a policy")
        rows = as_rows(rows, batch.num_envs, "asked")
        masks = batch.action_mask[rows]
        found = Searched.empty(batch.game, len(rows))
        found.visits[:], found.shares[:], found.actions[:] = masks, masks, masks.argmax(1)
        open_rows = np.flatnonzero(masks.sum(1) > 1)  # more than one legal action
        if noise is None:
            noise = np.zeros(masks.shape, np.float32)
        if self.network is None:
            self._search_in_threads(batch, rows, open_rows, noise, found)
        else:
            for start in range(0, len(open_rows), ROOTS):
                part = open_rows[start : start + ROOTS]
                results = self._search_rows(batch, rows[part], noise[part])
                for whole, these in zip(found, results, strict=True):
                    whole[part] = these
        return found

    def _search_in_threads(
        self, batch: Batch, rows: np.ndarray, open_rows: np.ndarray, noise: np.ndarray, found: Searched
    ) -> None:
        """Search without a network in rows[open_rows], in `threads` threads; fill those rows of `found`."""

        def search(i: int) -> int:
            return self._search_row(
                batch, rows[i : i + 1], noise[i : i + 1], Searched(*(part[i : i + 1] for part in found))
            )

        if self.threads == 1 or len(open_rows) < 2:
            self.decisions += sum(map(search, open_rows))
        else:
            with ThreadPoolExecutor(self.threads) as executor:
                self.decisions += sum(executor.map(search, open_rows))

    def _search_row(self, batch: Batch, row: np.ndarray, noise: np.ndarray, found: Searched) -> int:
        """Search without a network in one row, int (1,); return the number of simulated decisions."""
        memory = self._take_memory(batch.game, 1)
        memory.noise[:1] = noise
        at = int(row[0])
        leaf, root = (memory.leaves.states, memory.values), batch.states[at : at + 1]
        selection = Selection(int(batch.current_player[at]), self.prior, self.exploration)
        settings, rng_state = (selection, Rollouts(self.rollout, self.depth)), self._streams.on(batch)[at]
        start, done, decisions = time.perf_counter(), 0, 0
        while not done or self._share(start, done, 1) < 1:
            count = CLOCK if done else 1  # the first simulation gives the priors
            if done:
                self._halve(batch, row, memory, self._share(start, done, 1))
            if self.seconds is None:
                count = min(count, self.simulations - done) if self.considered else self.simulations
            if memory.trees.used[0, 0] + count >= memory.shape[1]:
                memory.grow()
            tree = Tree(*(part[0] for part in memory.trees))
            decisions += simulate(
                tree, memory.scratch, leaf, root, batch.game.params, settings, count, rng_state
            )
            done += count
        self._read(batch, row, memory, found)
        self._free.append(memory)
        return decisions

    def _search_rows(self, batch: Batch, rows: np.ndarray, noise: np.ndarray) -> Searched:
        """Search in all `rows` in step, guided by the network; the time limit is `seconds` for each row."""
        n, game = len(rows), batch.game
        memory = self._take_memory(game, n)
        memory.noise[:n] = noise
        start, done = time.perf_counter(), 0
        assert self.network is not None
        redraws, likelihoods = weighed_redraws(batch, rows, self.network, self._streams.on(batch))
        memory.leaves = memory.leaves._replace(redraws=redraws, likelihoods=likelihoods)
        self._simulate_rows(batch, rows, memory, 1)  # judges the roots
        while not done or self._share(start, done, n) < 1:
            self._halve(batch, rows, memory, self._share(start, done, n))
            group = self.group if self.seconds is not None else min(self.group, self.simulations - done)
            if done + group + 1 >= memory.shape[1]:
                memory.grow()
            self._simulate_rows(batch, rows, memory, group)
            done += group
        found = Searched.empty(game, n)
        self._read(batch, rows, memory, found)
        self._free.append(memory)
        return found

    def _share(self, start: float, done: int, searches: int) -> float:
        """Return the share of the simulations, or of the time since `start`, that is used."""
        if self.seconds is None:
            return done / self.simulations
        return (time.perf_counter() - start) / (self.seconds * searches)

    def _halve(self, batch: Batch, rows: np.ndarray, memory: _Memory, share: float) -> None:
        """Reduce the number of considered actions to what it is to be after `share` of the simulations."""
        if self.considered:
            roots = self._roots(batch, rows, memory)
            first = np.minimum(self.considered, roots.masks.sum(1))
            stages = np.ceil(np.log2(first))
            counts = np.maximum(2, first // 2 ** np.floor(share * stages).astype(np.int64))
            halve_rows(memory.trees, roots, counts, self.scale, memory.scores)

    def _roots(self, batch: Batch, rows: np.ndarray, memory: _Memory) -> Roots:
        return Roots(batch.states, rows, batch.action_mask[rows], memory.noise)

    def _simulate_rows(self, batch: Batch, rows: np.ndarray, memory: _Memory, group: int) -> None:
        """Descend each tree `group` times, evaluate the leaves and back up their values."""
        assert self.network is not None
        n, params, trees = len(rows) * group, batch.game.params, memory.trees
        leaves = Leaves(*memory.leaves[:2], *(part[:n] for part in memory.leaves[2:]))
        rng_states, masks = self._streams.on(batch), leaves.masks
        descend_rows(trees, memory.scratch, leaves, batch.states, params, rows, self.exploration, rng_states)
        probabilities, values = self.network.evaluate(leaves.observations, masks)
        wanted = (n,) if values.ndim == 1 else (n, batch.game.num_players)
        if probabilities.shape != masks.shape or values.shape != wanted:
            raise ValueError(
                f"evaluate must return shapes {masks.shape} and {wanted}, not {probabilities.shape} and {values.shape}"
            )
        judged = probabilities, values.reshape(n, -1)
        back_up_rows(trees, leaves, group, params, judged, memory.values, memory.scratch.points)
        self.decisions += int(leaves.lengths.sum())

    def _read(self, batch: Batch, rows: np.ndarray, memory: _Memory, found: Searched) -> None:
        """Fill `found` from the roots of the trees."""
        roots = self._roots(batch, rows, memory)
        read_rows(memory.trees, roots, batch.game.params, self.scale, memory.scores, found)

    def _take_memory(self, game: Game, rows: int) -> _Memory:
        """Return arrays that no other search writes to, with empty trees."""
        nodes = max(self.simulations + 2, 4 * CLOCK)
        with contextlib.suppress(IndexError):
            memory = self._free.pop()  # an atomic operation, so threads never get the same arrays
            if memory.game is game and memory.shape[0] >= rows and memory.shape[1] >= nodes:
                memory.trees.used[:], memory.trees.considered[:] = 0, 0
                return memory
        return _Memory(game, rows, nodes, self.group)

    def estimate(self, batch: Batch, row: int) -> str:
        """Return the value that the last search in `row` found and its three best actions, in words."""
        if row not in self._last:
            self(batch, np.array([row]))
        shares, value = self._last[row]
        return best_actions(batch, row, value, shares)
