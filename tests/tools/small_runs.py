"""Small training runs for tests: arguments and output files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from garden_agents import NetworkAgent
from garden_agents.networks.architecture import Architecture
from garden_agents.training import ppo
from garden_agents.training.checkpoint import CHECKPOINT
from garden_agents.training.sb3 import Arguments

from garden_core import make

SMALL = Architecture("auto", channels=4, hidden=16)
LEFT = {
    "config.toml",
    "metrics.csv",
    "evaluations.csv",
    "network.safetensors",
    "curve.png",
    "evaluation.json",
    "game.json",
    CHECKPOINT,
}
SHORT = {
    "game": "mars",
    "envs": 16,
    "rollout": 32,
    "channels": 4,
    "hidden": 16,
    "final_games": 24,
    "threads": 1,
    "checkpoint_every": 500,
    "evaluation_games": 6,
    "evaluations": 2,
}
"""Arguments of a short training by PPO, with either trainer."""


def tiny(**changes) -> Arguments:
    return Arguments(**(SHORT | {"steps": 1024, "minibatches": 2} | changes))


def tiny_ppo(**changes) -> ppo.Arguments:
    return ppo.Arguments(**(SHORT | {"steps": 1000, "minibatch": 128} | changes))


def score_of(folder: Path) -> dict:
    """Return the final rating of a run, see `garden_agents.Score`."""
    return json.loads((folder / "evaluation.json").read_text("utf-8"))["score"]


def parameters_of(folder: Path, game: str = "mars") -> np.ndarray:
    """Return all weights of a run's network."""
    return NetworkAgent.load(folder, make(game)).network.parameters


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))
