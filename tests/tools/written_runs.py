"""Finished training runs, written by hand for tests of their readers."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copyfile

from garden_agents.networks import NETWORK
from garden_agents.networks.network_agent import shipped

from garden_core import make

CONFIG = """\
command = "garden train cacti --minutes 2.0"
trainer = "ppo"
[arguments]
game = "cacti"
minutes = 2.0
seed = 7
evaluation_games = 63
[arguments.options]
[game]
name = "cacti"
[game.options]
num_players = 2
[versions]
garden-envs = "0.1.0"
"""
METRICS = """\
decisions,seconds,decisions_per_second,ahead_of_random,ahead_of_agents,policy_loss,value_loss
1000,1.0,1000,0.5,nan,0.25,nan
3000,2.0,1500,0.75,nan,-0.125,nan
"""
EVALUATIONS = """\
decisions,seconds,random,greedy,kept
1000,30.0,0.5,0.25,1000
2000,60.0,0.875,0.75,2000
3000,90.0,0.75,0.875,2000
"""
RESULTS = {
    "decisions": 3000,
    "results": [
        {
            "agent": "network",
            "opponent": "greedy",
            "games": 600,
            "win_rate": 0.91,
            "interval": [0.885, 0.93],
            "mean_score": 21.25,
            "opponents_mean_score": 5.5,
            "by_seat": [0.94, 0.88],
        }
    ],
}


def write_run(folder: Path) -> Path:
    """Write a finished run of Cacti with the shipped network; return the folder."""
    folder.mkdir(parents=True)
    for name, content in (
        ("config.toml", CONFIG),
        ("metrics.csv", METRICS),
        ("evaluations.csv", EVALUATIONS),
        ("evaluation.json", json.dumps(RESULTS)),
    ):
        (folder / name).write_text(content, "utf-8")
    copyfile(shipped(make("cacti"))[2], folder / NETWORK)
    return folder
