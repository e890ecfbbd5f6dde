"""OpenSpiel's DQN on one of this project's games: `python examples/dqn_openspiel.py`.

Needs open_spiel and torch. One agent plays player 0 and another player 1; each learns from its own decisions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyspiel
import torch
import tyro
from open_spiel.python import rl_environment
from open_spiel.python.pytorch.dqn import DQN

from garden_core.interfaces import register_games


@dataclass
class Arguments:
    """Train two DQN agents against each other."""

    game: str = "garden_cacti"
    games: int = 1500
    learning_rate: float = 1e-3
    hidden: int = 128
    seed: int = 0


def win_rate(agents: list[DQN], env: rl_environment.Environment, games: int = 200) -> float:
    """Return the share of games that the agents win against random play, in alternating seats; a tie counts half."""
    choose, wins = np.random.default_rng(1), 0.0
    for number in range(games):
        seat, time_step = number % 2, env.reset()
        while not time_step.last():
            player = time_step.observations["current_player"]
            if player == seat:
                action = agents[player].step(time_step, is_evaluation=True).action
            else:
                action = choose.choice(time_step.observations["legal_actions"][player])
            time_step = env.step([action])
        wins += (np.sign(time_step.rewards[seat]) + 1) / 2
    return wins / games


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
    for number in range(a.games):
        time_step = env.reset()
        while not time_step.last():
            player = time_step.observations["current_player"]
            time_step = env.step([agents[player].step(time_step).action])
        for agent in agents:
            agent.step(time_step)
        if number % 100 == 99:
            print(f"{number + 1} games", flush=True)
    rate = win_rate(agents, env)
    print(f"against random: {rate:.1%}")
    return rate


if __name__ == "__main__":
    main(tyro.cli(Arguments))
