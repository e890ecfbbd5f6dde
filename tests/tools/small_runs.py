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
    "eval_games": 6,
    "threads": 1,
    "checkpoint_every": 500,
    "panel": ("random", "greedy"),
    "panel_games": 4,
    "evaluations": 2,
}
"""Arguments of a short training by PPO, with either trainer."""


def tiny(**changes) -> Arguments:
    return Arguments(**(SHORT | {"steps": 1024, "minibatches": 2} | changes))


def tiny_ppo(**changes) -> ppo.Arguments:
    return ppo.Arguments(**(SHORT | {"steps": 1000, "minibatch": 128} | changes))


def results_of(folder: Path, name: str = "evaluation.json") -> list[dict]:
    """Return the results in a file of a run."""
    return json.loads((folder / name).read_text("utf-8"))["results"]


def parameters_of(folder: Path, game: str = "mars") -> np.ndarray:
    """Return all weights of a run's network."""
    return NetworkAgent.load(folder, make(game)).network.parameters


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))
