"""Tree search on a GPU as a policy for a batch there: all rows search in step, the network judges all leaves in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from garden_agents.networks.network_agent import NetworkAgent
from garden_agents.networks.tensors import ILLEGAL, TensorInputs, as_tensor, expected_values, forward
from garden_agents.search import gpu_trees
from garden_agents.search.agent import MCTSAgent, Searched
from garden_agents.search.tree import ASKED, BEGIN, BY_PRIOR, Leaves, Tree, node_type
from garden_core.batch.batch import Batch
from garden_core.batch.choices import Scratch
from garden_core.batch.gpu import launch, put, view
from garden_core.batch.policies import SEARCH_STREAM, Streams
from garden_core.game import Game
from garden_core.jit import records


class GpuSearch:
    """A search that is guided by a network, for batches on a GPU; as on the CPU, but for the rounding of floats.

    It draws no conclusions from earlier moves, as a batch on a GPU has no history.

    Args:
        agent: the same search for the CPU, for example `load_agent("network-mcts:100", game)`.

    Raises:
        ValueError: for a search without a network, or one that is limited by time.
    """

    def __init__(self, agent: MCTSAgent) -> None:
        if not isinstance(agent.network, NetworkAgent) or agent.seconds is not None:
            raise ValueError("on a GPU a search is guided by a network, and limited by its simulations")
        self.agent, self.network = agent, agent.network.network
        self.value_target = agent.network.value_target
        self.read = TensorInputs(self.network)
        self._parameters = torch.from_numpy(self.network.parameters)
        self._memory: _Memory | None = None
        self._streams = Streams(SEARCH_STREAM, agent.seed)

    def __call__(self, batch: Batch, rows: np.ndarray) -> Any:
        """Return the best action, a tensor int64 (len(rows),), for the player to move in each of `rows`."""
        return self.search(batch, rows).actions

    @torch.no_grad()
    def search(self, batch: Batch, rows: np.ndarray, noise: torch.Tensor | None = None) -> Searched:
        """Search for the player to move in each of `rows`; see `MCTSAgent.search`. What is found are tensors.

        Raises:
            ValueError: for noise without sequential halving, or rows named twice.
            IndexError: for a row that does not exist.
            RuntimeError: before the batch's first reset.
        """
        self.agent.check(batch, noise)
        rows = batch.chosen(rows, "asked")
        masks = as_tensor(batch.action_mask)[as_tensor(batch.target.indexes(rows))]
        legal = masks.sum(1)
        self._parameters = torch.from_numpy(self.network.parameters).to(masks.device)
        found: Any = (
            masks.int(),
            torch.zeros((len(rows), batch.game.num_players), dtype=torch.float64, device=masks.device),
            masks.float(),
            masks.argmax(1),
        )
        part = torch.nonzero(legal > 1)[:, 0]
        if len(part):
            open_rows = rows[part.cpu().numpy()]
            results = self._search(batch, open_rows, legal[part], None if noise is None else noise[part])
            for whole, these in zip(found, results, strict=True):
                whole[part] = these
        return Searched(*found)

    def _search(
        self, batch: Batch, rows: np.ndarray, legal: torch.Tensor, noise: torch.Tensor | None
    ) -> list[torch.Tensor]:
        """Search in rows with several legal actions; return what `Searched` holds."""
        agent, n = self.agent, len(rows)
        if self._memory is None or not self._memory.fits(batch.game, n):
            self._memory = _Memory(batch, n, agent.simulations + 2, agent.group)
        memory = self._memory
        memory.begin(rows, noise)
        self._simulate(batch, memory, n, 1)  # judges the roots
        done = 0
        while done < agent.simulations:
            if agent.considered:
                self._halve(batch, memory, n, legal, done / agent.simulations)
            group = min(agent.group, agent.simulations - done)
            self._simulate(batch, memory, n, group)
            done += group
        where = batch.states, batch.target.params, memory.rows
        choices = batch.action_mask, memory.noise
        launch(gpu_trees.read, n, memory.trees, *where, choices, agent.scale, memory.scores, memory.found)
        return [as_tensor(part)[:n] for part in memory.found]

    def _simulate(self, batch: Batch, memory: _Memory, n: int, group: int) -> None:
        """Descend each tree `group` times, evaluate the leaves and back up their values."""
        params, leaves = batch.target.params, memory.leaves
        where = memory.scratches, batch.states, params, memory.rows
        how = group, self.agent.exploration, self.agent.others
        seen, legal, answers = (
            as_tensor(array)[: n * group] for array in (leaves.observations, leaves.masks, leaves.answers)
        )
        answers.fill_(BEGIN)
        launch(gpu_trees.descend, n, memory.trees, *where, how, leaves, self._streams.on(batch))
        while self.agent.others == BY_PRIOR and len(asked := torch.nonzero(answers == ASKED)[:, 0]):
            probabilities, _ = self._evaluate(seen[asked], legal[asked])
            answers[asked] = probabilities.argmax(1)
            launch(gpu_trees.descend, n, memory.trees, *where, how, leaves, self._streams.on(batch))
        judged = tuple(map(put, self._evaluate(seen, legal)))
        sums = memory.values, memory.scratches.points
        launch(gpu_trees.back_up, n, memory.trees, group, params, memory.rows, leaves, judged, sums)

    def _evaluate(self, seen: torch.Tensor, legal: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return probabilities, float32 (N, num_actions), and values, float32 (N, seats or 1): see `NetworkAgent.evaluate`."""
        logits, raw = forward(self.network, self._parameters, self.read(seen))
        probabilities = logits.masked_fill(legal == 0, ILLEGAL).softmax(1)
        return probabilities, expected_values(raw, self.value_target).contiguous()

    def _halve(self, batch: Batch, memory: _Memory, n: int, legal: torch.Tensor, share: float) -> None:
        """Reduce the number of considered actions to what it is to be after `share` of the simulations."""
        agent = self.agent
        first = legal.clamp(max=int(agent.considered))
        stages = first.double().log2().ceil()
        counts = (first // (2 ** (share * stages).floor().long())).clamp(min=2)
        where = batch.states, memory.rows, batch.action_mask, memory.noise
        launch(gpu_trees.halve, n, memory.trees, *where, put(counts), agent.scale, memory.scores)


class _Memory:
    """The arrays on the GPU that searches write to, for at most `rows` trees of `nodes` nodes each."""

    def __init__(self, batch: Batch, rows: int, nodes: int, group: int) -> None:
        game, target = batch.game, batch.target
        self.game, self.size, leaves = game, rows, rows * group
        zeros = target.zeros
        self.trees = Tree(
            put(records((rows, nodes), node_type(game))),
            zeros((rows, 1), np.int64),
            zeros((leaves, nodes), np.int64),
            zeros((rows, game.num_actions), np.int8),
        )
        self.scratches = Scratch(
            put(records((rows, 3), game.state_dtype)),
            zeros((rows, 3, game.num_actions), np.int8),  # a third mask for the search itself
            zeros((rows, game.max_players), np.int32),
            zeros((rows, game.num_actions), np.int64),
        )
        nothing = target.new_states(1), zeros(1, np.float64)
        redraws, likelihoods = (view(one, (rows, 0), (one.strides[0],) * 2) for one in nothing)
        self.leaves = Leaves(
            redraws,
            likelihoods,
            answers=zeros(leaves, np.int64),
            lengths=zeros(leaves, np.int64),
            states=target.new_states(leaves),
            observations=target.allocate(leaves, game.observation_size),
            masks=target.allocate(leaves, game.num_actions),
        )
        self.values = zeros((rows, game.max_players), np.float32)
        self.scores = zeros((rows, game.num_actions), np.float64)
        self.found = (
            zeros((rows, game.num_actions), np.int32),
            zeros((rows, game.num_players), np.float64),
            zeros((rows, game.num_actions), np.float32),
            zeros(rows, np.int64),
        )
        self.noise: Any = None
        self.rows: Any = None

    def fits(self, game: Game, rows: int) -> bool:
        """Whether so many searches of a game have room."""
        return self.game is game and self.size >= rows

    def begin(self, rows: np.ndarray, noise: torch.Tensor | None) -> None:
        """Empty the trees, for searches in `rows`."""
        self.rows = put(rows)
        as_tensor(self.trees.used).zero_()
        as_tensor(self.trees.considered).zero_()
        zeros = np.zeros((len(rows), self.game.num_actions), np.float32)
        self.noise = put(zeros if noise is None else noise.float().contiguous())
