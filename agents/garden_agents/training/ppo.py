"""PPO by self-play: `garden train mars --minutes 10`.

Every seat that the current network plays is learned from; a decision is credited with all that its seat gets until the
seat's own next decision (J. Schulman et al., "Proximal policy optimization algorithms", 2017; advantages as in J. Schulman
et al., "High-dimensional continuous control using generalized advantage estimation", 2016, without discount). In a share
of the games one seat is the network's and the others are drawn from an opponent pool. The training begins by imitating
greedy play, whose weight in the loss then falls to 0.

A run's folder holds the files that `garden_agents.training.run_folder.Run` lists, and a checkpoint. Ctrl-C saves the
checkpoint; `--resume FOLDER` continues from it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import torch

from garden_agents.cluster import connected
from garden_agents.networks.architecture import empty_network, new_network
from garden_agents.networks.heads import chances_and_margins, num_values, sample, target_of
from garden_agents.networks.network_agent import start_from
from garden_agents.networks.tensors import ILLEGAL
from garden_agents.progress import progress_bar
from garden_agents.registry import load_agent
from garden_agents.training.arguments import WorkerArguments, in_words, open_run
from garden_agents.training.checkpoint import CHECKPOINT, Progress, check, load, save
from garden_agents.training.credit import (
    OPEN,
    SETTLED,
    Decisions,
    Rollout,
    advantages,
    link,
    pay,
    value_targets,
)
from garden_agents.training.loss import NAMES, policy_loss, seat_loss, team_loss
from garden_agents.training.pool import OpponentPool
from garden_agents.training.run_folder import Interrupted, Interruption, Run
from garden_agents.training.tensor_self_play import TensorSelfPlay
from garden_agents.training.torch_network import Loss, TorchNetwork, clip, value_loss
from garden_core import loops
from garden_core.batch import Batch
from garden_core.checks import short
from garden_core.game import Game
from garden_core.policies import GreedyPolicy, Policy, ask

__all__ = ["Arguments", "train", "trained"]

A = TypeVar("A", bound="Arguments")

MAX_GRADIENT = 0.5  # largest norm of the gradient


@dataclass
class Arguments(WorkerArguments):
    """Train a network by PPO in self-play, evaluate it, and keep everything in a folder."""

    trainer = "ppo"
    agent_arguments = ("panel", "pool_agents")

    steps: int | None = None
    """training length, decisions learned from; not limited with --minutes and otherwise 2,000,000 if not given"""
    threads: int = 1
    """number of threads that share a minibatch; two help where waking one takes less than 0.1 ms, see docs"""

    outcome: float = 0.0
    """initial share of the first place in what is maximised, 0 to 1; the rest is the margin of points"""
    final_outcome: float = 1.0
    """final share of the first place; interpolated linearly"""
    imitation: float = 0.3
    """share of the training in which greedy play is imitated; its weight in the loss falls linearly from 1 to 0"""
    imitation_decisions: int = 300_000
    """largest number of decisions in that part of the training"""

    envs: int = 128
    """number of games played at once"""
    rollout: int = 32
    """length of a rollout: decisions in each game between two updates"""
    epochs: int = 3
    """number of passes over a rollout in an update"""
    minibatch: int = 256
    """number of decisions in a minibatch"""
    learning_rate: float | None = None
    """initial learning rate (Adam); if not given 2e-3, or 5e-4 with initial weights, which the higher one would undo"""
    final_learning_rate: float | None = None
    """final learning rate, interpolated linearly; if not given 1e-4, or 5e-5 with initial weights"""
    gae_lambda: float = 0.95
    """lambda of generalised advantage estimation, for the policy"""
    value_lambda: float = 0.98
    """the same for the targets of the values, from one decision in the game to the next"""
    clip: float = 0.2
    """largest change of an action's probability that an update is rewarded for, as a factor less 1"""
    entropy: float = 0.01
    """initial weight of the entropy bonus"""
    final_entropy: float = 0.002
    """final weight of the entropy bonus; interpolated linearly"""
    magnet: float = 0.0
    """weight of the Kullback-Leibler divergence from the policy that the average of the weights has"""
    magnet_decisions: int = 200_000
    """decisions learned from over which the weights are averaged; the present ones count most, older ones ever less"""
    value_weight: float = 0.5
    """weight of each of the two value losses"""
    values_only: bool = False
    """learn the values alone, of a policy that stays as it is; for initial weights with separate values"""

    start: Path | None = None
    """file of a network with the initial weights, which may be of another number of players; random ones if not given"""

    pool_share: float = 0.0
    """share of the games that are played against the opponent pool; the others are played against the network itself"""
    random_share: float = 0.1
    """share of the pool's opponents that play at random"""
    greedy_share: float = 0.3
    """share of the pool's opponents that play greedily"""
    self_share: float = 0.6
    """share of the pool's opponents that are past selves; harder ones are drawn more often"""
    pool_agents: tuple[str, ...] = ()
    """further agents in the pool, named as in the arena; harder ones are drawn more often"""
    agents_share: float = 0.0
    """share of the pool's opponents that are such agents"""
    past_selves: int = 6
    """largest number of past selves; a new one then replaces the one that is beaten most often"""
    snapshot_every: int = 100_000
    """decisions learned from between two new past selves"""
    checkpoint_every: int = 400_000
    """decisions learned from between two checkpoints"""
    device: str = "cpu"
    """where games are played and the network learns: cpu, or cuda for a GPU, which wants thousands of envs"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._at_least(1, "envs", "rollout", "epochs", "minibatch", "snapshot_every", "checkpoint_every")
        self._at_least(1, "magnet_decisions")
        self._at_least(0, "steps", "imitation", "pool_share", "random_share", "greedy_share", "self_share")
        self._at_least(0, "agents_share", "past_selves", "imitation_decisions", "magnet")
        self._at_least(0, "outcome", "final_outcome", "gae_lambda", "value_lambda", "clip", "value_weight")
        self._at_least(0, "entropy", "final_entropy", "learning_rate", "final_learning_rate")
        self._at_most(65_536, "envs", "rollout", "minibatch")
        self._at_most(1000, "past_selves")
        self._at_most(1, "imitation", "pool_share", "outcome", "final_outcome", "gae_lambda", "value_lambda")
        self._at_most(10**15, "steps")
        if self.device not in ("cpu", "cuda"):
            raise ValueError(f"device must be cpu or cuda, not {short(self.device)}")
        if self.device == "cuda" and self.pool_agents and self.ray is None:
            raise ValueError(
                "on a GPU the pool has no further agents: leave out pool_agents, or play in workers (ray)"
            )
        if self.resume is None and bool(self.pool_agents) != bool(self.agents_share):
            raise ValueError("pool_agents and agents_share go together: give both or neither")
        if self.resume is None and self.pool_agents and not self.pool_share:
            raise ValueError("pool_agents are not drawn unless pool_share is more than 0")
        shares = self.random_share, self.greedy_share, self.self_share, self.agents_share
        if self.pool_share and not any(shares):
            raise ValueError("with pool_share one of the shares of the pool's opponents must be more than 0")
        if self.values_only and not (self.separate_values and self.start):
            raise ValueError("values_only needs initial weights (start) with separate_values")

    @property
    def learning_rates(self) -> tuple[float, float]:
        """The initial and the final learning rate, as given or by default."""
        first, last = (2e-3, 1e-4) if self.start is None else (5e-4, 5e-5)
        if self.learning_rate is not None:
            first = self.learning_rate
        if self.final_learning_rate is not None:
            last = self.final_learning_rate
        return first, last

    def pool(self, agents: Sequence[Policy] = (), kind: type[OpponentPool] = OpponentPool) -> OpponentPool:
        """Return an opponent pool, with the further agents `pool_agents`."""
        shares = self.random_share, self.greedy_share, self.self_share
        return kind(shares, self.past_selves, agents, self.agents_share if agents else 0.0)


class Source(Protocol):
    """Where rollouts come from: games of this process (`SelfPlay`), or of workers."""

    def rollout(self, with_greedy: bool) -> Rollout:
        """Play with the network as it is now; return what there is to learn from, also what greedy play would do."""
        ...


class Weights(NamedTuple):
    """Numbers of the loss: see the arguments of the same names; policy is 0 or 1."""

    policy: float
    clip: float
    entropy: float
    magnet: float
    imitation: float
    value: float


class Minibatch(NamedTuple):
    """What the loss needs of decisions, arrays or tensors; see `Decisions`.

    Attributes:
        advantages: float32 (N,).
        average: float32 (N, num_actions), log probabilities of the average policy; (N, 0) where it has no weight.
        targets: float32 (N, columns), of the values.
        counted: float32 (N,).
    """

    masks: Any
    actions: Any
    log_probabilities: Any
    greedy: Any
    advantages: Any
    average: Any
    targets: Any
    counted: Any


class SelfPlay:
    """Games of the network against itself and against the pool, and the decisions to learn from.

    Args:
        game: the game with the reward "margin".
        network: the network.
        pool: the opponent pool, which records the results against it.
        arguments: the training's arguments.
        seed: seed of the games and of the sampled actions.

    Attributes:
        decisions: the decisions; the first `count` are filled. Those that were open at the end of the last rollout come
            first.
        inputs: what the network reads at each decision.
    """

    def __init__(
        self, game: Game, network: TorchNetwork, pool: OpponentPool, arguments: Arguments, seed: int
    ) -> None:
        self.game, self.network, self.pool, self.arguments = game, network, pool, arguments
        n, envs = game.num_players, arguments.envs
        self.rng = np.random.default_rng(seed)
        self.batch = Batch(game, envs)
        self.batch.reset(seed)
        self.greedy = GreedyPolicy(seed)
        size = envs * (arguments.rollout + n)
        columns = num_values(target_of(game), n)
        self.decisions = Decisions(
            masks=np.zeros((size, game.num_actions), np.int8),
            actions=np.zeros(size, np.int64),
            log_probabilities=np.zeros(size, np.float32),
            values=np.zeros((size, columns), np.float32),
            rewards=np.zeros((size, columns), np.float32),
            next=np.full(size, OPEN),
            paid=np.zeros((size, columns), np.float32),
            after=np.full(size, OPEN),
            deciders=np.zeros(size, np.int64),
            targets=np.zeros((size, columns), np.float32),
            greedy=np.zeros(size, np.int64),
            counted=np.zeros(size, np.float32),
        )
        shapes = [part.shape[1:] for part in network.network.inputs(self.batch.flat[:1])]
        self.inputs = tuple(np.zeros((size, *shape), np.float32) for shape in shapes)
        self.count = 0
        self.latest = np.full((envs, n), -1)
        """The last decision of each seat in each game, an index into `decisions`; -1 for none."""
        self.last = np.full(envs, -1)
        """The last decision in each game."""
        self.opponents = np.full((envs, n), -1)
        """The opponent in each seat, an index into the pool; -1 for the current network."""
        self._standings = np.zeros((envs, game.max_players), np.int32)
        self._rng_states = self.rng.integers(2**63, size=(envs, 4), dtype=np.uint64)
        self._seat_opponents(np.arange(envs))

    def rollout(self, with_greedy: bool) -> Rollout:
        """Play `rollout` decisions in each game; return them, as views of memory that the next call overwrites."""
        self.play(with_greedy)
        chosen, found = self.advantages()
        decisions = Decisions(*(part[: self.count] for part in self.decisions))
        return Rollout(decisions, tuple(part[: self.count] for part in self.inputs), chosen, found)

    def play(self, with_greedy: bool) -> None:
        """Play `rollout` decisions in each game; fill `decisions` and `inputs`.

        Args:
            with_greedy: also note what greedy play would have chosen.
        """
        self._keep_open_decisions()
        batch = self.batch
        for _ in range(self.arguments.rollout):
            actions = batch.action_mask.argmax(1)
            deciding = batch.action_mask.sum(1, dtype=np.int64) > 1
            opponents = self.opponents[batch.all_rows, batch.current_player]
            own = np.flatnonzero(deciding & (opponents < 0))
            for opponent in np.unique(opponents[deciding & (opponents >= 0)]):
                rows = np.flatnonzero(deciding & (opponents == opponent))
                actions[rows] = ask(self.pool.policies[opponent], batch, rows)
            if len(own):
                actions[own] = self._decide(own, with_greedy)
            batch.step(actions)
            self._pay()

    def advantages(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the indexes of the decisions to learn from, and the advantages of all, float32 (count, columns).

        Fills `decisions.targets` too.
        """
        d, a = Decisions(*(part[: self.count] for part in self.decisions)), self.arguments
        value_targets(d.after, d.deciders, d.values, d.paid, a.value_lambda, d.targets)
        found = np.zeros_like(d.values)
        advantages(d.next, d.values, d.rewards, a.gae_lambda, found)
        return np.flatnonzero(d.next != OPEN), found

    def _decide(self, rows: np.ndarray, with_greedy: bool) -> np.ndarray:
        """Choose the network's actions in `rows`, and add the decisions."""
        batch, d = self.batch, self.decisions
        new = slice(self.count, self.count + len(rows))
        inputs = self.network.network.inputs(batch.flat[rows])
        for kept, part in zip(self.inputs, inputs, strict=True):
            kept[new] = part
        logits, raw = self.network.evaluate(inputs)
        d.masks[new] = batch.action_mask[rows]
        d.actions[new], d.log_probabilities[new] = sample(logits, d.masks[new], self._rng_states, rows)
        d.values[new] = raw if self.game.cooperative else chances_and_margins(raw)
        d.rewards[new], d.paid[new], d.deciders[new] = 0, 0, batch.current_player[rows]
        d.counted[new] = (self.opponents[rows] < 0).all(1) | (self.arguments.pool_share == 1)
        if with_greedy:
            d.greedy[new] = self.greedy(batch, rows)
        link(self.latest, self.last, d.next, d.after, rows, d.deciders[new], self.count)
        self.count += len(rows)
        return d.actions[new]

    def _pay(self) -> None:
        """Pay the open decisions for the last step; seat opponents anew where a game ended."""
        batch, d = self.batch, self.decisions
        over = batch.terminated | batch.truncated
        ended = np.flatnonzero(over)
        if len(ended):
            standings = np.zeros((len(ended), self.game.max_players), np.int32)
            loops.standings_rows(batch.last_states[ended], self.game.params, standings)
            self._standings[ended] = standings
        chains = self.latest, self.last, d.next, d.after, d.deciders
        pay(*chains, d.rewards, d.paid, batch.rewards, over, self._standings)
        if len(ended):
            self._count_results(ended)
            self._seat_opponents(ended)

    def _seat_opponents(self, rows: np.ndarray) -> None:
        """Draw who plays the new games of `rows`."""
        n, a = self.game.num_players, self.arguments
        self.opponents[rows] = -1
        rows = rows[self.rng.random(len(rows)) < a.pool_share]
        if len(rows) and n > 1 and not self.game.cooperative:
            weights = self.pool.weights / self.pool.weights.sum()
            self.opponents[rows] = self.rng.choice(len(weights), (len(rows), n), p=weights)
            self.opponents[rows, self.rng.integers(n, size=len(rows))] = -1

    def _count_results(self, rows: np.ndarray) -> None:
        """Record finished games against the pool."""
        for row in rows[(self.opponents[rows] >= 0).any(1)]:
            seat = int(np.flatnonzero(self.opponents[row] < 0)[0])
            for other in np.flatnonzero(self.opponents[row] >= 0):
                difference = int(self._standings[row, seat]) - int(self._standings[row, other])
                self.pool.count(int(self.opponents[row, other]), (np.sign(difference) + 1) / 2)

    def _keep_open_decisions(self) -> None:
        """Drop all decisions but the open ones; where the game has gone on, the values' targets are as they are."""
        rows, seats = np.nonzero(self.latest >= 0)
        order = np.argsort(self.latest[rows, seats])
        rows, seats = rows[order], seats[order]
        kept = self.latest[rows, seats]
        for array in (*self.decisions, *self.inputs):
            array[: len(kept)] = array[kept]
        last = kept == self.last[rows]
        self.decisions.after[: len(kept)][~last] = SETTLED
        self.last[rows[last]] = np.flatnonzero(last)
        self.latest[rows, seats] = np.arange(len(kept))
        self.count = len(kept)


def on_device(rollout: Rollout, device: torch.device) -> Rollout:
    """Return a rollout as tensors on a device."""

    def put(array: Any) -> torch.Tensor:
        return (torch.from_numpy(array) if isinstance(array, np.ndarray) else array).to(device)

    decisions, inputs = Decisions(*map(put, rollout.decisions)), tuple(map(put, rollout.inputs))
    return Rollout(decisions, inputs, put(rollout.chosen), put(rollout.advantages))


def compiled_loss(about: Minibatch, weights: Weights, size: int) -> Loss:
    """Return PPO's loss as a mean over `size` of the decisions in `about`, arrays; it logs `loss.NAMES`."""
    policy, clip_range, entropy, magnet, imitation, value = weights
    on_values = team_loss if about.targets.shape[1] == 1 else seat_loss

    def loss(
        rows: np.ndarray,
        logits: np.ndarray,
        raw: np.ndarray,
        d_logits: np.ndarray,
        d_raw: np.ndarray,
        sums: np.ndarray,
    ) -> None:
        if policy:
            policy_loss(
                logits, rows, *about[:6], clip_range, entropy, magnet, imitation, size, d_logits, sums
            )
        else:
            d_logits[:] = 0
        on_values(raw, rows, about.targets, about.counted, value, size, d_raw, sums)

    return loss


def formula(
    logits: torch.Tensor, raw: torch.Tensor, about: Minibatch, weights: Weights
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return PPO's loss in torch, and the means that are logged, (5,), in the order of `loss.NAMES`."""
    policy, clip_range, entropy_weight, magnet, imitation, value_weight = weights
    logs = logits.masked_fill(about.masks == 0, ILLEGAL).log_softmax(1)
    change = logs.gather(1, about.actions[:, None])[:, 0] - about.log_probabilities
    ratio = change.exp()
    clipped = ratio.clamp(1 - clip_range, 1 + clip_range)
    policy_loss = -torch.minimum(ratio * about.advantages, clipped * about.advantages).mean()
    entropy = -(logs.exp() * logs).sum(1).mean()
    divergence = (logs.exp() * (logs - about.average)).sum(1).mean() if magnet else 0.0
    copied = -logs.gather(1, about.greedy[:, None]).mean()
    on_values = value_loss(raw, about.targets, about.counted)
    on_policy = (1 - imitation) * (policy_loss - entropy_weight * entropy + magnet * divergence)
    loss = policy * (on_policy + imitation * copied) + value_weight * on_values
    outside = ((ratio - 1).abs() > clip_range).float().mean()
    return loss, torch.stack((policy_loss, on_values, entropy, -change.mean(), outside)).detach()


class Training:
    """The training loop: games, updates, evaluations, checkpoints.

    Args:
        arguments: the training's arguments.
        run: the run's folder.
        game: the game with the reward "margin".
        agents: the further agents in the pool.
    """

    def __init__(self, arguments: Arguments, run: Run, game: Game, agents: Sequence[Policy] = ()) -> None:
        a = self.arguments = arguments
        self.run, self.game = run, game
        self.network = new_network(game, run.architecture, target_of(game), a.seed)
        if a.start is not None and a.resume is None:
            start_from(a.start, self.network, game, run.architecture)
        self.torch_network = TorchNetwork(self.network, a.device, a.threads)
        self.average = TorchNetwork(self.network.copy(), a.device, a.threads)
        """The network with the average weights."""
        self.optimizer = torch.optim.Adam([self.torch_network.parameters], a.learning_rates[0], fused=True)
        self.agents = agents
        self.pool = a.pool(agents)
        self.rng = np.random.default_rng(a.seed)
        self.decisions = 0
        """Decisions learned from so far."""
        self.steps = (2_000_000 if a.minutes is None else 10**12) if a.steps is None else a.steps
        self.limit = math.inf if a.minutes is None else a.minutes * 60

    @property
    def done(self) -> float:
        """Completed share of the training, 0 to 1, by decisions or by time, whichever is larger."""
        return min(
            1.0, max(self.decisions / self.steps if self.steps else 1.0, self.run.seconds / self.limit)
        )

    @property
    def imitation(self) -> float:
        """Weight of imitation in the loss, 1 to 0; that of PPO's loss is the rest."""
        share, most = self.arguments.imitation, self.arguments.imitation_decisions
        if self.arguments.values_only:
            return 0.0
        return max(0.0, 1 - max(self.done / share, self.decisions / most)) if share and most else 0.0

    def _between(self, first: float, last: float) -> float:
        """Return what is interpolated linearly over the training."""
        return first + (last - first) * self.done

    def go(self) -> None:
        """Train until the end or until Ctrl-C is pressed, and save a checkpoint.

        Raises:
            SystemExit: after Ctrl-C.
        """
        with progress_bar(unit="decision", unit_scale=True, smoothing=0.1, desc="compiling") as self.bar:
            self.run.report = self.bar.set_description
            self._compile()
            with self._source() as source:
                self.run.warm_up(self.network, target_of(self.game))
                with Interruption() as interruption:
                    self.run.check = interruption.check
                    with contextlib.suppress(Interrupted):
                        self._loop(source)
                    self.save()
        if interruption.requested:
            raise SystemExit(
                f"stopped at {self.decisions:,} decisions; "
                f"continue with: {self.arguments.command} --resume {self.run.folder}"
            )

    @contextlib.contextmanager
    def _source(self) -> Iterator[Source]:
        """Give the games of this process, or those of workers until they are no longer needed."""
        a = self.arguments
        seed = a.seed + self.decisions
        if a.ray is None:
            yield self._games(self.pool, seed)
            return
        from garden_agents.training import ray_workers  # loads Ray

        with connected(a.ray):
            yield ray_workers.Workers(self.game, self.network, self.pool, a, SelfPlay, seed)

    def _games(self, pool: OpponentPool, seed: int) -> Source:
        """Return games of this process, on the device of the network unless workers play the games."""
        a, network = self.arguments, self.torch_network
        if not network.by_torch or a.ray is not None:
            return SelfPlay(self.game, network, pool, a, seed)
        shape = a.envs, a.rollout, a.pool_share, a.gae_lambda, a.value_lambda
        return TensorSelfPlay(self.game, network, pool, seed, *shape)

    def _compile(self) -> None:
        """Compile all that the training needs, before the clock starts."""
        games = self._games(self.arguments.pool(self.agents), 0)
        rollout = games.rollout(with_greedy=self.arguments.imitation > 0)
        if not self.torch_network.by_torch and len(rollout.advantages):
            about = self._about(rollout, rollout.advantages[:, 0])
            loss = compiled_loss(about, Weights(1.0, 0.2, 0.0, 0.0, 0.0, 1.0), 1)
            self.torch_network.gradient(rollout.inputs, np.arange(1), loss, np.zeros(len(NAMES)))

    def _loop(self, source: Source) -> None:
        a, evaluations = self.arguments, self.arguments.evaluation_count(self.arguments.minutes)
        self.run.begin()
        self.bar.reset(None if a.minutes else self.steps)
        self.bar.update(self.decisions)
        self.run.report("training")
        snapshots, checkpoints = self.decisions // a.snapshot_every, self.decisions // a.checkpoint_every
        evaluated = min(
            int(self.done * evaluations), len(self.run.past)
        )  # one that was interrupted is made up
        while self.done < 1:
            rollout = source.rollout(with_greedy=self.imitation > 0)
            self.run.check()
            if not len(rollout.chosen):  # too short for a seat to come to its next decision
                continue
            losses = self._learn(rollout)
            self.torch_network.synchronise()
            if a.pool_share and self.decisions // a.snapshot_every > snapshots:
                snapshots = self.decisions // a.snapshot_every
                self.pool.freeze(self.network)
            if self.decisions // a.checkpoint_every > checkpoints:
                checkpoints = self.decisions // a.checkpoint_every
                self.save()
            self._log(losses)
            due = int(self.done * evaluations)
            if evaluated < due < evaluations:  # the last evaluation follows the last update, in Run.finish
                evaluated = due
                self.run.evaluate(self.network, self.decisions, target_of(self.game))
                self.save()
                self.run.report("training")

    def _learn(self, rollout: Rollout) -> dict[str, float]:
        """Update the network by a rollout; return the mean losses, by `loss.NAMES`."""
        if self.torch_network.by_torch:
            rollout = on_device(rollout, self.torch_network.device)
        a, n, chosen, found = self.arguments, self.game.num_players, rollout.chosen, rollout.advantages
        if self.game.cooperative:
            advantage = found[:, 0]
        else:  # the first place on the scale of `heads.expected_values`
            share = self._between(a.outcome, a.final_outcome)
            advantage = share * n / (n - 1) * found[:, 0] + (1 - share) * found[:, n]
        mean = advantage[chosen].mean()
        spread = ((advantage[chosen] - mean) ** 2).mean() ** 0.5
        advantage = (advantage - mean) / (spread + 1e-8)
        for group in self.optimizer.param_groups:
            group["lr"] = self._between(*a.learning_rates)
        entropy = self._between(a.entropy, a.final_entropy)
        weights = Weights(not a.values_only, a.clip, entropy, a.magnet, self.imitation, a.value_weight)
        sums = np.zeros(len(NAMES))
        about = self._about(rollout, advantage)
        parts = max(1, round(len(chosen) / a.minibatch))
        for _ in range(a.epochs):
            for rows in np.array_split(self.rng.permutation(len(chosen)), parts):
                rows = chosen[rows if isinstance(chosen, np.ndarray) else torch.from_numpy(rows)]
                self._update(rollout.inputs, about, rows, weights, sums)
                self.run.check()
        self.decisions += len(chosen)
        if a.magnet:
            share = len(chosen) / (len(chosen) + a.magnet_decisions)
            with torch.no_grad():
                self.average.parameters.lerp_(self.torch_network.parameters, share)
        losses = dict(zip(NAMES, (sums / (a.epochs * len(chosen))).tolist(), strict=True))
        if a.values_only:
            losses |= {name: math.nan for name in NAMES if name != "value_loss"}
        return losses

    def _about(self, rollout: Rollout, advantage: np.ndarray) -> Minibatch:
        """Return what the loss needs of all decisions of a rollout."""
        d, average = rollout.decisions, self._average_policy(rollout)
        return Minibatch(
            d.masks, d.actions, d.log_probabilities, d.greedy, advantage, average, d.targets, d.counted
        )

    def _average_policy(self, rollout: Rollout) -> Any:
        """Return the log probabilities of the average policy at the decisions, float32 (size, num_actions or 0)."""
        if not self.arguments.magnet:
            return rollout.advantages[:, :0]
        illegal = rollout.decisions.masks == 0
        if self.average.by_torch:
            with torch.no_grad():
                return self.average(rollout.inputs)[0].masked_fill(illegal, ILLEGAL).log_softmax(1)
        found, _ = self.average.evaluate(rollout.inputs)
        found[illegal] = ILLEGAL
        found -= found.max(1, keepdims=True)
        return found - np.log(np.exp(found).sum(1, keepdims=True))

    def _update(
        self,
        inputs: tuple[Any, ...],
        about: Minibatch,
        rows: Any,
        weights: Weights,
        sums: np.ndarray,
    ) -> None:
        """Take one step of the optimizer by the decisions `rows`; add their losses to `sums`."""
        network = self.torch_network
        if not network.by_torch:
            loss = compiled_loss(about, weights, len(rows))
            network.parameters.grad = clip(network.gradient(inputs, rows, loss, sums), MAX_GRADIENT)
        else:
            self.optimizer.zero_grad()
            chosen = Minibatch(*(tensor[rows] for tensor in about))
            mean, means = formula(*network(tuple(part[rows] for part in inputs)), chosen, weights)
            mean.backward()
            torch.nn.utils.clip_grad_norm_([network.parameters], MAX_GRADIENT)
            sums += means.cpu().numpy() * len(rows)
        self.optimizer.step()

    def _log(self, losses: dict[str, float]) -> None:
        """Show and write the progress."""
        seconds, rates = self.run.seconds, self.pool.rates()
        if self.arguments.minutes is not None:  # the length that the present speed will reach
            self.bar.total = max(self.decisions, min(self.steps, int(self.decisions / seconds * self.limit)))
        self.bar.update(self.decisions - self.bar.n)
        self.bar.set_postfix_str(", ".join(f"{name} {rate:.0%}" for name, rate in rates.items()))
        self.run.log(
            {
                "decisions": self.decisions,
                "seconds": seconds,
                "decisions_per_second": self.decisions / seconds,
                **{
                    f"ahead_of_{name}": rates.get(name, math.nan)
                    for name in ("random", "greedy", "agents", "self")
                },
                **losses,
                "imitation": self.imitation,
                "first_place_share": self._between(self.arguments.outcome, self.arguments.final_outcome),
                "learning_rate": self.optimizer.param_groups[0]["lr"],
            }
        )

    def save(self) -> None:
        """Write the checkpoint."""
        self.torch_network.synchronise()
        pool = self.pool
        progress = Progress(self.decisions, self.run.seconds, pool.ahead.tolist(), pool.met.tolist())
        past = [network.weights for network in pool.networks]
        save(
            self.run.folder / CHECKPOINT, self.run.game, self.network.weights, self.optimizer, progress, past
        )

    def load(self) -> None:
        """Restore the training and the run from the checkpoint.

        Raises:
            ValueError: if the checkpoint cannot be read or is damaged, or its network or pool is another one.
        """
        path, shapes = self.run.folder / CHECKPOINT, self.network.shapes
        progress, weights, past = load(path, self.run.game, shapes, shapes, self.optimizer)
        try:
            self.pool.restore(progress.ahead, progress.met, past, self.network)
        except ValueError as error:
            raise ValueError(f"{path} is no checkpoint of this training: {error}") from None
        for name, array in weights.items():
            self.network.weights[name][:] = array
        for network in (self.torch_network, self.average):  # the average begins anew
            network.network.parameters[:] = self.network.parameters
            network.take_weights()
        self.decisions = progress.decisions
        self.rng = np.random.default_rng((self.arguments.seed, self.decisions))
        self.run.rewind(progress.decisions, progress.seconds)


def train(arguments: Arguments) -> Path:
    """Train, evaluate and write the run's folder; return its path.

    Raises:
        SystemExit: as `arguments.open_run`, after Ctrl-C (a checkpoint is saved), and where `device` is cuda and games or
            torch find no GPU.
        ValueError: for a config, checkpoint or initial network that is damaged or does not fit, and unknown agents.
    """
    return trained(arguments)[0]


def trained(arguments: A) -> tuple[Path, A, Game]:
    """Do what `train` does; return the run's folder, its arguments and its game."""
    folder, arguments, game, command = open_run(arguments)
    first, last = arguments.learning_rates  # which config.toml is to hold, given or not
    arguments = dataclasses.replace(arguments, learning_rate=first, final_learning_rate=last)
    if arguments.device == "cuda":
        if not torch.cuda.is_available():
            raise SystemExit(f"--device cuda: torch {torch.__version__} finds no GPU")
        if arguments.ray is None:
            try:
                Batch(game, 1, device="cuda")
            except (ImportError, RuntimeError) as error:
                raise SystemExit(f"--device cuda: {error}") from None
    torch.set_num_threads(1)  # passes of the network have threads of their own
    if game.cooperative and arguments.pool_share:
        raise SystemExit(f"in {in_words(game)} nobody plays against a pool: leave out pool_share")
    empty = empty_network(game, arguments.architecture, target_of(game))  # raises before the folder is made
    if arguments.start is not None and arguments.resume is None:
        start_from(arguments.start, empty, game, arguments.architecture)  # likewise
    if arguments.resume is not None:  # before memory is allocated for the widths in the config
        check(folder / CHECKPOINT, game, empty.shapes)
    agents = [load_agent(name, game, arguments.seed + i) for i, name in enumerate(arguments.pool_agents)]
    run = Run.of(folder, game, arguments, command)
    training = Training(arguments, run, game, agents)
    if arguments.resume is None:
        run.rewind(0, 0.0)
    else:
        training.load()
    run.write_config(arguments)
    training.save()
    print(f"training on {in_words(game)}, in {folder}", flush=True)
    if training.done < 1:
        training.go()
    run.finish(arguments.eval_games, training.network, training.decisions, target_of(game))
    return folder, arguments, game
