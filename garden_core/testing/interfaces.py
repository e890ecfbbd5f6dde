"""Checks that a batch and the PettingZoo environment play the same games as the kernels."""

from __future__ import annotations

import numpy as np

from garden_core.batch.batch import Batch
from garden_core.game import Game
from garden_core.interfaces.pettingzoo_env import GardenEnv
from garden_core.jit.rng import game_seed
from garden_core.testing.played import act, dealt, is_over, legal_actions, observations


class _Direct:
    """Games one after the other, played with the kernels alone, as in row `row` of a batch."""

    def __init__(self, game: Game, seed: int, row: int) -> None:
        self.game, self.seed, self.row, self.number = game, seed, row, -1
        self.deal()

    def deal(self) -> None:
        self.number += 1
        seed = game_seed(np.uint64(self.seed), np.uint64(self.row), np.uint64(self.number))
        self.states = dealt(self.game, seed)

    @property
    def player(self) -> int:
        return int(self.states["current_player"][0])

    @property
    def mask(self) -> np.ndarray:
        return legal_actions(self.game, self.states)[0]

    def view(self, seat: int) -> np.ndarray:
        return observations(self.game, self.states)[seat].reshape(self.game.observation_shape)

    @property
    def rewards(self) -> np.ndarray:
        return self.states["rewards"][0, : self.game.num_players]


def check_batch(game: Game, seed: int, choose: np.random.Generator) -> None:
    rows = [_Direct(game, seed, row) for row in range(3)]
    batch = Batch(game, len(rows))
    batch.reset(seed=seed)
    step = 0
    while step < 30 or rows[0].number == 0:
        at = f"{game!r}, Batch of seed {seed}, step {step}"
        for row, direct in enumerate(rows):
            same = batch.states[row].tobytes() == direct.states[0].tobytes()
            assert same, f"{at}: the state of row {row} differs from direct play"
            assert batch.current_player[row] == direct.player, f"{at}: current_player of row {row} is wrong"
            assert np.array_equal(batch.action_mask[row], direct.mask), f"{at}: mask of row {row} is wrong"
            same = np.array_equal(batch.observation[row], direct.view(direct.player))
            assert same, f"{at}: the observation of row {row} is wrong"
        actions = [int(choose.choice(np.flatnonzero(mask))) for mask in batch.action_mask]
        batch.step(actions)
        step += 1
        for row, direct in enumerate(rows):
            act(game, direct.states, actions[row])
            for name in ("terminated", "truncated"):
                flag = bool(getattr(batch, name)[row])
                assert flag == direct.states[name][0], f"{at}: {name} of row {row} is {flag}"
            assert np.array_equal(batch.rewards[row], direct.rewards), f"{at}: rewards of row {row} are wrong"
            if is_over(direct.states):
                same = batch.last_states[row].tobytes() == direct.states[0].tobytes()
                assert same, f"{at}: last_states of row {row} is not the finished game"
                direct.deal()


def check_aec(game: Game, seed: int, choose: np.random.Generator) -> None:
    direct = _Direct(game, seed, 0)
    env = GardenEnv(game)
    env.reset(seed=seed)
    agents = env.possible_agents
    total = np.zeros(game.num_players)
    step = 0
    while True:
        at = f"{game!r}, PettingZoo environment of seed {seed}, step {step}"
        over = is_over(direct.states)
        for seat, agent in enumerate(agents):
            seen = env.observe(agent)
            mask = direct.mask if seat == direct.player else np.zeros_like(direct.mask)
            assert np.array_equal(seen["observation"], direct.view(seat)), f"{at}: {agent}'s view is wrong"
            assert np.array_equal(seen["action_mask"], mask), f"{at}: {agent}'s mask is wrong"
            assert abs(env.rewards[agent] - direct.rewards[seat]) < 1e-6, f"{at}: {agent}'s reward is wrong"
            ends = env.terminations[agent], env.truncations[agent]
            assert any(ends) == over, f"{at}: {agent}'s terminated, truncated are {ends}"
        if over:
            break
        assert env.agent_selection == agents[direct.player], (
            f"{at}: the agent selected is {env.agent_selection}"
        )
        action = int(choose.choice(np.flatnonzero(direct.mask)))
        total[direct.player] = 0  # the mover has received its earlier rewards
        env.step(action)
        act(game, direct.states, action)
        step += 1
        total += direct.rewards
    for _ in agents:
        agent = env.agent_selection
        reward = env.last()[1]
        due = total[agents.index(agent)]
        assert abs(reward - due) < 1e-4, f"{at}: the last reward of {agent} is {reward}, not {due}"
        env.step(None)
    assert not env.agents, f"{at}: {env.agents} are left after all dead steps"
