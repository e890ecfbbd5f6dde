"""Try the package as strangers will have it: `python -m tests.release` (`make check-release`).

Builds wheel and sdist into `dist/`, checks what the package index will show, and installs each into a fresh environment,
where all games are played from a folder outside of this project. --extras has every extra installed and used as well, each in
an environment of its own, and --python does all of it with another interpreter.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import tyro

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"

PLAY = """
import gymnasium, garden_core, garden_agents
from garden_core.recorded.replay import Replay, record
from garden_core.batch.policies import GreedyPolicy, RandomPolicy
from garden_core.interfaces.pettingzoo_env import env as make_env

assert garden_core.list_games() == ["botanicus", "cacti", "mars"], garden_core.list_games()
for name in garden_core.list_games():
    env = make_env(name)
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        over = terminated or truncated
        env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))
    env = gymnasium.make(f"{name}_env:garden/{name.title()}-v0", opponents="network")
    observation, info = env.reset(seed=1)
    env.step(info["action_mask"].argmax())
    batch, policy = garden_core.Batch(name, 64), RandomPolicy()
    batch.reset(seed=1)
    for _ in range(100):
        batch.step(policy(batch, batch.all_rows))
    game = garden_core.make(name)
    replay = record(game, [garden_agents.load(name), GreedyPolicy()], seed=1)
    replay.save(f"{name}.json")
    assert Replay.load(f"{name}.json").scores == replay.scores
    assert game.rules_text != game.summary and "<svg" in game.svg(list(replay.states())[-1])
    print("played", name, replay.scores)
"""

USES = {
    "play": "-m garden_agents arena cacti random greedy --games 20 --processes 1",
    "web": "-c 'from garden_agents.play.web import Server'",
    "human": "-c 'import pygame'",
    "sb3": "-c 'from garden_core.interfaces.sb3 import GardenVecEnv; GardenVecEnv(\"cacti\", 4, seed=1).reset()'",
    "train": "-m garden_agents train cacti --steps 20000 --evaluation-games 10 --final-games 40",
    "cuda": "-c 'from numba import cuda; cuda.is_available(); import garden_core.batch.gpu.target'",
    "minari": "-c 'import minari, garden_core.interfaces.minari'",
    "onnx": '-c \'from garden_agents import export_onnx, load; export_onnx(load("cacti"), "cacti.onnx")\'',
    "ray": '-c \'from garden_core.interfaces.rllib import MultiAgentGame; MultiAgentGame({"game": "cacti"}).reset()\'',
}
"""By extra: arguments of Python in an environment that has it."""


@dataclass
class Arguments:
    """Build the package, and try it in fresh environments."""

    extras: tuple[str, ...] = ()
    """extras to try too, or the word all"""
    python: str = sys.executable
    """interpreter of the fresh environments"""


def run(*command: str | Path, folder: Path = ROOT) -> None:
    """Run a command in `folder`, without this process's own environment of Python."""
    hidden = ("PYTHONPATH", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    subprocess.run(command, check=True, cwd=folder, env=environment)


def build() -> tuple[Path, Path]:
    """Build wheel and sdist, check what their metadata says; return their paths."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST)
    wheel, sdist = (next(DIST.glob(pattern)) for pattern in ("*.whl", "*.tar.gz"))
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    return wheel, sdist


def tried(package: Path, extra: str, python: str) -> None:
    """Install a package, with an extra if one is named, into a fresh environment, and use it there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(python, "-m", "venv", folder / "venv")
        own = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        what = f"{package}[{extra}]" if extra else str(package)
        names = {"ray": ["constraints-ray"], "cuda": ["constraints", "constraints-cuda"]}
        constraints = [f"--constraint={ROOT / name}.txt" for name in names.get(extra, ["constraints"])]
        pip = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if extra == "ray":  # pip would take very long to find versions that go together
            run(*pip, *constraints, "torch", "uv")
            pip = [own, "-m", "uv", "pip", "install", "--quiet", "--python", own]
        run(*pip, *constraints, what)
        run(own, *(shlex.split(USES[extra]) if extra else ["-c", PLAY]), folder=folder)
    print(f"{package.name} {extra or 'without extras'}: installed and used with {python}", flush=True)


def main(arguments: Arguments) -> None:
    """Build, check, install and use."""
    wheel, sdist = build()
    for package in (wheel, sdist):
        tried(package, "", arguments.python)
    for extra in USES if arguments.extras == ("all",) else arguments.extras:
        tried(wheel, extra, arguments.python)


if __name__ == "__main__":
    main(tyro.cli(Arguments))
