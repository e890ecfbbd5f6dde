"""Self-play with games and decisions in tensors, all on a GPU: `self_play.SelfPlay` for `--device cuda`.

Each step has a place for a decision in every game; `valid` marks the places where the network decided. The operations are
torch's, over all games at once, and run on any device.
"""

from __future__ import annotations

import numpy as np
import torch

from garden_agents.networks.network import Network
from garden_agents.networks.tensors import ILLEGAL, forward
from garden_agents.training.credit import OPEN, OVER, TARGET_FINAL, Decisions, Rollout
from garden_agents.training.gpu.tensors import TensorInputs, as_tensor, chances_and_margins
from garden_agents.training.pool import OpponentPool, PastSelf
from garden_agents.training.ppo_arguments import VALUE_LAMBDA, Arguments
from garden_agents.training.torch_network import TorchNetwork
from garden_core.batch.batch import Batch
from garden_core.batch.policies import GreedyPolicy, Policy
from garden_core.game import Game


class TensorSelfPlay:
    """Games of the network against itself and against the pool, and the decisions to learn from.

    Args:
        game: the game with the reward "margin".
        network: the network; games are played and learned from on its device.
        pool: the opponent pool without further agents; it records results.
        arguments: the training's arguments.
        seed: seed of the games and of the sampled actions.

    Attributes:
        decisions: tensors (places + 1, ...); the last place receives discarded writes.
        inputs: network inputs at each place.
        valid: bool (places + 1,), whether the network decided there.
    """

    def __init__(
        self,
        game: Game,
        network: TorchNetwork,
        pool: OpponentPool,
        arguments: Arguments,
        seed: int,
    ) -> None:
        self.game, self.network, self.pool, self.arguments = game, network, pool, arguments
        envs = self.envs = arguments.envs
        n = self.num_players = game.num_players
        device = self.device = network.device
        self.batch = Batch(game, envs, device=device.type)
        self.batch.reset(seed)
        self.read = TensorInputs(network.network)
        self.greedy = GreedyPolicy(seed)
        self.generator = torch.Generator(device).manual_seed(seed)
        self.observation, self.mask, self.mover, self.paid, self.terminated, self.truncated = map(
            as_tensor,
            (self.batch.flat, self.batch.action_mask, self.batch.current_player, *self.batch.result),
        )
        self.carried = n * envs
        """Number of places for open decisions of the last rollout, one for each seat of each game."""
        self.nowhere = self.carried + arguments.rollout * envs
        """Index of the last place."""
        places = self.nowhere + 1
        self.decisions = Decisions(
            *(torch.from_numpy(part).to(device) for part in Decisions.empty(game, places))
        )
        read = self.read(self.observation[:1])
        self.inputs = tuple(part.new_zeros(places, *part.shape[1:]) for part in read)
        self.valid = torch.zeros(places, dtype=torch.bool, device=device)
        self.latest = torch.full((envs, n), -1, device=device)
        """Place of each seat's last decision in each game; -1 for none."""
        self.last = self.latest[:, 0].clone()
        """Place of the last decision in each game."""
        self.opponents = self.latest.clone()
        """Opponent in each seat, an index into the pool; -1 for the current network."""
        self._standings = self.batch.target.zeros((envs, game.max_players), np.int32)
        self.standings = as_tensor(self._standings)
        self.rows, self.seats = (torch.arange(k, device=device) for k in (envs, n))
        self._parameters: dict[PastSelf, tuple[Network, torch.Tensor]] = {}
        """Networks of past selves, and their parameters on the device."""
        self._results: list[tuple[torch.Tensor, torch.Tensor]] = []
        self._seat_opponents(torch.ones(envs, dtype=torch.bool, device=device))

    @torch.no_grad()
    def rollout(self, with_greedy: bool) -> Rollout:
        """Play `rollout` decisions in each game; return them, as views of memory that the next call overwrites."""
        self._keep_open_decisions()
        for step in range(self.arguments.rollout):
            self._play(self.carried + step * self.envs, with_greedy)
        if self._results:
            opponents, results = (torch.cat(parts).flatten() for parts in zip(*self._results, strict=True))
            met = opponents >= 0
            for index, result in zip(opponents[met].tolist(), results[met].tolist(), strict=True):
                self.pool.count(index, result)
            self._results = []
        chosen = torch.nonzero(self.valid & (self.decisions.next != OPEN))[:, 0]
        return Rollout(self.decisions, self.inputs, chosen, self._advantages())

    def _play(self, first: int, with_greedy: bool) -> None:
        """Take a decision in every game; the network's decisions are at the places from `first` on."""
        batch, d, mover = self.batch, self.decisions, self.mover.clone()
        new = slice(first, first + self.envs)
        deciding = self.mask.sum(1) > 1
        opponents = self.opponents.gather(1, mover[:, None])[:, 0]
        own = deciding & (opponents < 0)
        inputs = self.read(self.observation)
        for kept, part in zip(self.inputs, inputs, strict=True):
            kept[new] = part
        logits, raw = self.network(inputs)
        logs = logits.masked_fill(self.mask == 0, ILLEGAL).log_softmax(1)
        actions = torch.multinomial(logs.exp(), 1, generator=self.generator)
        d.masks[new] = self.mask
        d.actions[new], d.log_probabilities[new] = actions[:, 0], logs.gather(1, actions)[:, 0]
        d.values[new] = raw if self.game.cooperative else chances_and_margins(raw)
        d.rewards[new], d.paid[new], d.next[new], d.after[new] = 0, 0, OPEN, OPEN
        d.deciders[new] = mover
        d.counted[new] = ((self.opponents < 0).all(1) | (self.arguments.pool_share == 1)).float()
        if with_greedy:
            d.greedy[new] = as_tensor(self.greedy(batch, batch.all_rows))
        self.valid[new] = own
        self._link(own, mover, first)
        chosen = actions[:, 0]
        asked = torch.where(deciding, opponents, -1)
        for index in asked.unique().tolist() if self.arguments.pool_share else ():
            if index >= 0:
                rows = torch.nonzero(asked == index)[:, 0]
                chosen[rows] = self._ask(self.pool.policies[index], rows, inputs)
        batch.step(chosen if self.device.type != "cpu" else chosen.numpy())
        self._pay()

    def _ask(self, policy: Policy, rows: torch.Tensor, inputs: tuple[torch.Tensor, ...]) -> torch.Tensor:
        """Return an opponent's actions in the games `rows`, int64 (len(rows),)."""
        if not isinstance(policy, PastSelf):
            return as_tensor(policy(self.batch, self.batch.all_rows))[rows]
        cached = self._parameters.get(policy)
        if cached is None or cached[0] is not policy.network:
            parameters = torch.from_numpy(policy.network.parameters).to(self.device)
            cached = self._parameters[policy] = policy.network, parameters
        logits, _ = forward(*cached, tuple(part[rows] for part in inputs))
        shares = logits.masked_fill(self.mask[rows] == 0, ILLEGAL).softmax(1)
        return torch.multinomial(shares, 1, generator=self.generator)[:, 0]

    def _link(self, own: torch.Tensor, mover: torch.Tensor, first: int) -> None:
        """Link the decisions from place `first` on to the previous ones: see `credit.link`."""
        d, places = self.decisions, first + self.rows
        before = self.latest.gather(1, mover[:, None])[:, 0]
        d.next[self._or_nowhere(before, own)] = places
        d.after[self._or_nowhere(self.last, own)] = places
        self.latest.scatter_(1, mover[:, None], torch.where(own, places, before)[:, None])
        self.last = torch.where(own, places, self.last)

    def _or_nowhere(self, places: torch.Tensor, where: torch.Tensor | bool = True) -> torch.Tensor:
        return torch.where((places >= 0) & where, places, self.nowhere)

    def _pay(self) -> None:
        """Add a step's rewards to the open decisions, and close the decisions of finished games: see `credit.pay`."""
        d, n, over = self.decisions, self.num_players, self.terminated | self.truncated
        self.batch.target.standings(self.batch.last_states, self._standings)
        standings = self.standings[:, :n]
        firsts = standings == standings.amax(1, keepdim=True)
        shares = firsts / firsts.sum(1, keepdim=True) * over[:, None]  # float32
        for total, closed, places, deciders in (
            *((d.rewards, d.next, self.latest[:, k], self.seats[k].expand(self.envs)) for k in range(n)),
            (d.paid, d.after, self.last, d.deciders[self._or_nowhere(self.last)]),
        ):
            seats = (deciders[:, None] + self.seats) % n
            if self.game.cooperative:
                earned = self.paid.gather(1, deciders[:, None])
            else:
                earned = torch.cat([shares.gather(1, seats), self.paid.gather(1, seats)], 1)
            total.index_add_(0, self._or_nowhere(places), earned)
            closed[self._or_nowhere(places, over)] = OVER
        self.latest = torch.where(over[:, None], -1, self.latest)
        self.last = torch.where(over, -1, self.last)
        if self.arguments.pool_share:
            own = (self.opponents < 0).long().argmax(1, keepdim=True)
            results = (torch.sign(standings.gather(1, own) - standings) + 1) / 2
            self._results.append((torch.where(over[:, None], self.opponents, -1), results))
            self._seat_opponents(over)

    def _seat_opponents(self, over: torch.Tensor) -> None:
        """Draw the opponents of the new games where one is over."""
        n, share, generator = self.num_players, self.arguments.pool_share, self.generator
        if not share or n == 1 or self.game.cooperative:
            return
        weights = torch.from_numpy(self.pool.weights).to(self.device)
        drawn = torch.multinomial(weights, self.envs * n, replacement=True, generator=generator)
        own = torch.randint(n, (self.envs, 1), generator=generator, device=self.device)
        drawn = drawn.view(self.envs, n).scatter(1, own, -1)
        joins = torch.rand((self.envs, 1), generator=generator, device=self.device) < share
        self.opponents = torch.where(over[:, None], torch.where(joins, drawn, -1), self.opponents)

    def _keep_open_decisions(self) -> None:
        """Move the open decisions to the first places and drop all others; see `self_play.SelfPlay`."""
        places = (self.seats[:, None] * self.envs + self.rows).T  # (envs, seats)
        kept = self.latest >= 0
        sources = torch.where(kept, self.latest, self.nowhere).T.flatten()
        for tensor in (*self.decisions, *self.inputs):
            tensor[: self.carried] = tensor[sources]
        is_last = kept & (self.latest == self.last[:, None])
        after = self.decisions.after
        after[: self.carried] = torch.where(is_last.T.flatten(), after[: self.carried], TARGET_FINAL)
        self.valid[:] = False
        self.valid[: self.carried] = kept.T.flatten()
        self.last = torch.where(is_last, places, -1).amax(1)
        self.latest = torch.where(kept, places, -1)

    def _advantages(self) -> torch.Tensor:
        """Return the advantages of all decisions, float32 (places + 1, columns); fill `decisions.targets` too.

        Computes `credit.advantages` and `credit.value_targets` for all games at once, from the last step to the first.
        """
        d, columns = self.decisions, self.decisions.values.shape[1]
        advantages = torch.zeros_like(d.values)
        n = columns // 2
        column = torch.arange(columns, device=self.device)
        steps = range(self.carried, self.nowhere, self.envs)
        for part in (*(slice(i, i + self.envs) for i in reversed(steps)), slice(0, self.carried)):
            following, values, rewards = d.next[part, None], d.values[part], d.rewards[part]
            then = following[:, 0].clamp(min=0)
            later = d.values[then] + self.arguments.gae_lambda * advantages[then]
            gained = rewards - values + torch.where(following >= 0, later, 0)
            advantages[part] = torch.where(following == OPEN, 0, gained)
            after, paid = d.after[part, None], d.paid[part]
            then = after[:, 0].clamp(min=0)
            at = column.expand(len(then), columns)
            if n:  # the same seats, counted from the later decider
                turned = (d.deciders[part] - d.deciders[then])[:, None]
                at = column // n * n + (column + turned) % n
            expected, target = d.values[then].gather(1, at), d.targets[then].gather(1, at)
            learned = paid + torch.where(after >= 0, expected + VALUE_LAMBDA * (target - expected), 0)
            learned = torch.where(after == OPEN, values, learned)
            d.targets[part] = torch.where(after == TARGET_FINAL, d.targets[part], learned)
        return advantages
