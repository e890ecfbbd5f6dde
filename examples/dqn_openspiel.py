"""OpenSpiel's DQN on one of this project's games: `python examples/dqn_openspiel.py`.

Needs open_spiel and torch. One agent plays player 0 and another player 1; each learns from its own decisions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyspiel
import torch
import tyro
from open_spiel.python import rl_environment
from open_spiel.python.algorithms.random_agent import RandomAgent
from open_spiel.python.pytorch.dqn import DQN
from open_spiel.python.rl_agent import AbstractAgent

from garden_core.interfaces import register_games


@dataclass
class Arguments:
    """Train two DQN agents against each other."""

    game: str = "garden_cacti"
    games: int = 1500
    learning_rate: float = 1e-3
    hidden: int = 128
    seed: int = 0


def main(arguments: Arguments) -> float:
    """Train and evaluate; return the win rate against random play."""
    a = arguments
    torch.set_num_threads(1)
    register_games()
    game = pyspiel.load_game(a.game)
    env = rl_environment.Environment(game, observation_type=rl_environment.ObservationType.OBSERVATION)
    size, actions = env.observation_spec()["info_state"][0], env.action_spec()["num_actions"]
    agents = [
        DQN(
            player,
            size,
            actions,
            hidden_layers_sizes=(a.hidden, a.hidden),
            replay_buffer_capacity=50_000,
            learning_rate=a.learning_rate,
            optimizer_str="adam",
            loss_str="huber",
            learn_every=8,
            epsilon_decay_duration=20 * a.games,
            epsilon_decay_schedule_str="linear",
            seed=a.seed + player,
        )
        for player in range(2)
    ]

    def play(players: list[AbstractAgent], evaluation: bool = False) -> Sequence[float]:
        time_step = env.reset()
        while not time_step.last():
            player = players[time_step.observations["current_player"]]
            time_step = env.step([player.step(time_step, evaluation).action])
        for player in players:
            player.step(time_step, evaluation)
        return time_step.rewards

    for number in range(a.games):
        play(agents)
        if number % 100 == 99:
            print(f"{number + 1} games", flush=True)
    np.random.seed(a.seed)
    one, other = (RandomAgent(player, actions) for player in range(2))
    results = [play([agents[0], other], True)[0] for _ in range(100)]
    results += [play([one, agents[1]], True)[1] for _ in range(100)]
    rate = float(np.sign(results).mean() + 1) / 2
    print(f"against random: {rate:.1%} of {len(results)} games; a tie counts half")
    return rate


if __name__ == "__main__":
    main(tyro.cli(Arguments))
