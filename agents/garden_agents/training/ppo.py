"""MaskablePPO of sb3-contrib for any game."""

from __future__ import annotations

from typing import Any

from sb3_contrib import MaskablePPO

from garden_agents.networks.policies import policy_for
from garden_core.game import Game
from garden_core.interfaces.sb3 import GardenVecEnv

__all__ = ["new_model"]


def new_model(
    game: Game,
    env: GardenVecEnv,
    network: dict[str, Any],
    *,
    rollout: int = 32,
    epochs: int = 4,
    minibatches: int = 4,
    learning_rate: float = 1e-3,
    discount: float = 0.995,
    gae_lambda: float = 0.95,
    entropy: float = 0.01,
    seed: int = 0,
) -> MaskablePPO:
    """Return an untrained model whose rollouts are `rollout` decisions in every row of `env`.

    `network` has the arguments of `garden_agents.networks.policies.policy_for`: kind, channels, hidden.
    """
    policy, policy_kwargs = policy_for(game, **network)
    return MaskablePPO(
        policy,
        env,
        n_steps=rollout,
        batch_size=rollout * env.num_envs // minibatches,
        n_epochs=epochs,
        learning_rate=learning_rate,
        gamma=discount,
        gae_lambda=gae_lambda,
        ent_coef=entropy,
        policy_kwargs=policy_kwargs,
        seed=seed,
        device="cpu",
    )
