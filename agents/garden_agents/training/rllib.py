"""RLlib's PPO with this project's networks, masks, and a league of past selves (`garden_core.interfaces.rllib`).

For example::

    config = league_config("cacti", num_env_runners=2)
    algorithm = config.build_algo()
    for _ in range(10):
        algorithm.train()
    algorithm.save_to_path("checkpoints/cacti")
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.core.columns import Columns
from ray.rllib.core.distribution.torch.torch_distribution import TorchCategorical
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule

from garden_agents.networks.architecture import Architecture, empty_network, new_network
from garden_agents.networks.network_agent import NetworkAgent
from garden_agents.training.sb3_policies import NetworkPolicy
from garden_core.batch.batch import Batch
from garden_core.batch.policies import Policy, RandomPolicy
from garden_core.game import Game
from garden_core.interfaces.rllib import LearnerVectorEnv
from garden_core.registry import as_game

Weights = dict[str, np.ndarray]


class MaskedModule(TorchRLModule, ValueFunctionAPI):
    """A network of this project, flat or on a board, as an RLModule that never chooses an illegal action.

    `model_config` holds "game", a name, "options" of the game, and "network", the fields of
    `garden_agents.networks.architecture.Architecture`.
    """

    def setup(self) -> None:
        """Make the layers."""
        game, architecture = _made(self.model_config)
        seed = int(torch.randint(2**31, (1,)))  # RLlib seeds torch
        self.policy = NetworkPolicy(
            spaces.Box(0, 127, (game.observation_size,), np.int8),
            spaces.Discrete(game.num_actions),
            lambda _: 0.0,
            network=new_network(game, architecture, "outcome", seed),
        )
        self.action_dist_cls = TorchCategorical

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return {Columns.ACTION_DIST_INPUTS: self._logits_and_values(batch)[0]}

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        logits, values = self._logits_and_values(batch)
        return {Columns.ACTION_DIST_INPUTS: logits, Columns.EMBEDDINGS: values}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """Return the value of each observation; `embeddings` are values computed before."""
        values = self._logits_and_values(batch)[1] if embeddings is None else embeddings
        return values.squeeze(-1)

    def _logits_and_values(self, batch: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
        seen = batch[Columns.OBS]
        return self.policy.logits_and_values(seen["observations"].flatten(1), seen["action_mask"])


def _made(config: dict[str, Any]) -> tuple[Game, Architecture]:
    return as_game(config["game"], config.get("options") or {}), Architecture(**config.get("network") or {})


def weights_of(module: MaskedModule) -> Weights:
    """Return a module's weights by name, as arrays that travel between processes."""
    return module.policy.exported().weights


def agent_of(algorithm: Algorithm, seed: int = 0) -> NetworkAgent:
    """Return what an algorithm has learned as an agent for arena, search and play, without torch or Ray."""
    module = algorithm.get_module()
    return NetworkAgent(module.policy.exported(), "outcome", seed=seed)


class _Past:
    """A past self among the opponents: until it gets weights it plays at random."""

    def __init__(self, game: Game, architecture: Architecture, seed: int) -> None:
        self.game, self.architecture, self.seed = game, architecture, seed
        self.policy: Policy = RandomPolicy(seed)

    def become(self, weights: Weights) -> None:
        network = empty_network(self.game, self.architecture, "outcome")
        network.set_weights(weights)
        self.policy = NetworkAgent(network, "outcome", sampled=True, seed=self.seed)

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        return self.policy(batch, rows)


class LeagueEnv(LearnerVectorEnv):
    """`LearnerVectorEnv` whose opponents are random play and past selves, as many as `config["league"]["size"]`.

    Args:
        config: as for `LearnerVectorEnv`, without opponents and weights; and "league", a dict of "size" and "network".
    """

    def __init__(self, config: dict[str, Any]) -> None:
        rest = dict(config)
        league = rest.pop("league")
        options = {
            k: v for k, v in rest.items() if k not in ("game", "num_envs", "seat", "threads", "illegal")
        }
        game, architecture = _made({"game": rest["game"], "options": options, "network": league["network"]})
        self.past = [_Past(game, architecture, seed) for seed in range(league["size"])]
        super().__init__(rest | {"opponents": ["random", *self.past]})
        self.learner.set_weights([1.0] + [0.0] * len(self.past))

    def set_league(self, league: list[Weights]) -> None:
        """Play against these past selves from the next games on, and now and then against random play."""
        for past, weights in zip(self.past, league, strict=False):
            past.become(weights)
        known = min(len(league), len(self.past))
        self.learner.set_weights([0.1] + [0.9 / max(known, 1)] * known + [0.0] * (len(self.past) - known))


class LeagueCallback(RLlibCallback):
    """Adds the present network to the league every few iterations; the oldest leaves. Not in checkpoints."""

    def __init__(self) -> None:
        super().__init__()
        self.league: list[Weights] = []

    def on_train_result(self, *, algorithm: Algorithm, result: dict[str, Any], **kwargs: Any) -> None:
        """Add the network, and send the league to the runners."""
        league = algorithm.config.env_config["league"]
        if result["training_iteration"] % league["every"] == 0:
            self.league = [*self.league, weights_of(algorithm.get_module())][-league["size"] :]
            self._send(algorithm)
        result["league"] = len(self.league)

    def on_checkpoint_loaded(self, *, algorithm: Algorithm, **kwargs: Any) -> None:
        """Begin the league again with the network of the checkpoint."""
        self.league = [weights_of(algorithm.get_module())]
        self._send(algorithm)

    def on_env_runners_recreated(self, *, algorithm: Algorithm, **kwargs: Any) -> None:
        """Send the league to runners that took the place of others."""
        self._send(algorithm)

    def _send(self, algorithm: Algorithm) -> None:
        league = self.league
        algorithm.env_runner_group.foreach_env_runner(
            lambda runner: None if runner.env is None else runner.env.unwrapped.set_league(league)
        )


def league_config(
    game: str,
    num_env_runners: int = 0,
    num_envs: int = 256,
    size: int = 5,
    every: int = 5,
    network: dict[str, Any] | None = None,
    **options: Any,
) -> PPOConfig:
    """Return a configuration of PPO by self-play against a league; change it as any of RLlib's.

    Args:
        game: the game's name.
        num_env_runners: processes that play, beside the one that learns; 0: it plays itself.
        num_envs: games at once in each runner.
        size: number of past selves.
        every: iterations between two of them.
        network: fields of `Architecture`; the game's default if None.
        **options: the game's options.
    """
    league = {"size": size, "every": every, "network": network or {}}
    return (
        PPOConfig()
        .environment(LeagueEnv, env_config={"game": game, "league": league, **options})
        .env_runners(
            num_env_runners=num_env_runners,
            num_envs_per_env_runner=num_envs,
            gym_env_vectorize_mode="vector_entry_point",
            rollout_fragment_length="auto",
        )
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=MaskedModule,
                model_config={"game": game, "options": options, "network": league["network"]},
            )
        )
        .training(
            train_batch_size_per_learner=16384,
            minibatch_size=1024,
            num_epochs=3,
            lr=1e-3,
            gamma=1.0,
            lambda_=0.95,
            entropy_coeff=0.01,
            clip_param=0.2,
            vf_clip_param=10.0,
            use_kl_loss=False,
        )
        .callbacks(LeagueCallback)
        .fault_tolerance(restart_failed_env_runners=True)
    )
