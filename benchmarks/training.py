"""Speed of PPO training: `python -m benchmarks.training [GAMES...]`.

Measured are the learner's decisions per second, rollouts and updates together, where a third of the opponents are past
selves, a third random and a third greedy: with a flat (64, 64) network, 256 games and 4 epochs x 4 minibatches, and with
the default network and settings of `garden_agents.training.sb3`; each with one thread of torch and with two.
"""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import tyro
from garden_agents.training.pool import OpponentPool, SelfPlayVecEnv
from garden_agents.training.sb3 import MODEL_SETTINGS, new_model
from garden_agents.training.sb3 import Arguments as Defaults
from garden_agents.training.sb3_policies import exported

from benchmarks import common
from garden_core import list_games, make

FLAT = {"network": "flat", "hidden": 64, "envs": 256, "rollout": 32, "epochs": 4, "minibatches": 4}


@dataclass
class Arguments:
    """Measure the decisions per second of a training by MaskablePPO."""

    games: tyro.conf.Positional[tuple[str, ...]] = ()
    """names of games; all installed ones if none is given"""
    windows: int = 3
    """number of measured windows"""
    rollouts: int = 2
    """number of rollouts, with their updates, in a window"""
    output: Path = common.RESULTS
    """folder for training.json"""


def measure(name: str, settings: dict[str, Any], threads: int, windows: int, rollouts: int) -> dict[str, Any]:
    """Return the learner's decisions per second in one game; `settings` are arguments of the training."""
    torch.set_num_threads(threads)
    arguments = dataclasses.replace(Defaults(), **settings)
    game = make(name, reward="margin")
    pool = OpponentPool((1 / 3, 1 / 3, 1 / 3), arguments.past_selves)
    env = SelfPlayVecEnv(game, arguments.envs, pool)
    model = new_model(
        game, env, arguments.architecture, **{key: getattr(arguments, key) for key in MODEL_SETTINGS}
    )
    for _ in range(arguments.past_selves):
        pool.freeze(exported(model.policy, game, arguments.architecture))
    env.learner.set_weights(pool.weights)
    decisions = rollouts * arguments.rollout * arguments.envs
    model.learn(decisions, reset_num_timesteps=False)  # compiles, and spreads the games over all phases
    others = common.OtherCores()
    rates = []
    for _ in range(windows):
        start = time.perf_counter()
        model.learn(decisions, reset_num_timesteps=False)
        rates.append(decisions / (time.perf_counter() - start))
    found = {"game": name, "threads": threads, "settings": settings}
    return found | {"decisions_per_second": common.spread(rates), "other_cores": others()}


def main(arguments: Arguments) -> None:
    """Measure every game, print a table and write the result file."""
    torch.distributions.Distribution.set_default_validate_args(False)
    measurements = []
    print(f"{'game':<12} {'network':<10} {'threads':>7} {'decisions/s':>12}")
    for name in arguments.games or list_games():
        for network, settings in (("flat 64", FLAT), ("default", {})):
            for threads in (1, 2):
                result = measure(name, settings, threads, arguments.windows, arguments.rollouts)
                measurements.append(result | {"network": network})
                rate = result["decisions_per_second"]["median"]
                print(f"{name:<12} {network:<10} {threads:>7} {rate:>12,.0f}", flush=True)
    settings = {"windows": arguments.windows, "rollouts": arguments.rollouts, "default": _plain(Defaults())}
    common.save(arguments.output, "training", settings, measurements)


def _plain(defaults: Defaults) -> dict[str, Any]:
    return {key: value for key, value in dataclasses.asdict(defaults).items() if key not in ("run", "resume")}


if __name__ == "__main__":
    main(tyro.cli(Arguments))
