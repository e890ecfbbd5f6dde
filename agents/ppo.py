"""MaskablePPO of sb3-contrib for any game: making a model, and keeping it safely on disk."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import torch
from sb3_contrib import MaskablePPO

from agents.networks import policy_for
from agents.selfplay import OpponentPool
from garden_core.files import write_atomically
from garden_core.game import Game
from garden_core.sb3 import GardenVecEnv

__all__ = ["load_checkpoint", "new_model", "save_checkpoint"]


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

    `network` has the arguments of `agents.networks.policy_for`: kind, channels, hidden.
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


def save_checkpoint(folder: Path, model: MaskablePPO, pool: OpponentPool) -> None:
    """Write model.zip (network, optimizer, decisions so far) and pool.pt; the old ones stay whole till then.

    Raises:
        OSError: if the disk is full or the folder cannot be written.
    """
    buffer = io.BytesIO()
    model.save(buffer)
    write_atomically(folder / "model.zip", buffer.getvalue())
    buffer = io.BytesIO()
    torch.save(pool.state_dict(), buffer)
    write_atomically(folder / "pool.pt", buffer.getvalue())


def load_checkpoint(folder: Path, env: GardenVecEnv, pool: OpponentPool) -> MaskablePPO:
    """Return the model of a run, ready to go on, and restore its pool.

    Raises:
        FileNotFoundError: if the folder holds no checkpoint.
    """
    for name in ("model.zip", "pool.pt"):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder} holds no checkpoint: {name} is missing")
    model = MaskablePPO.load(folder / "model.zip", env=env, device="cpu")
    pool.load_state_dict(torch.load(folder / "pool.pt", weights_only=True), model.policy)
    return model
