"""Positions of each task, as snapshots, in which members of a field are asked for actions: these tell whether a member has changed.

    python -m garden_agents.evaluation.positions cacti-2      # writes the positions of a new task

Snapshots outlive changes of the code; a change of the rules that they do not survive makes another task.
"""

from __future__ import annotations

import functools
import json
import lzma
import sys

import numpy as np

from garden_agents.evaluation.tasks import task_of
from garden_agents.matches.meet import use_one_torch_thread
from garden_agents.registry import FIELDS, load_agent
from garden_core.batch.batch import Batch
from garden_core.files.disk import write_atomically

NUMBER = 1000
PLAYER = "greedy~0.3"
"""Who has played to get to the positions."""
LIMIT = 20_000_000  # of the uncompressed file, bytes


def write(task: str) -> None:
    """Write positions in which there is a choice, from games of `PLAYER`: about as many of each length of a game."""
    game = task_of(task).make()
    batch = Batch(game, NUMBER)
    batch.reset(seed=1)
    player, rng = load_agent(PLAYER, game, seed=1), np.random.default_rng(1)
    left = rng.integers(1, 100, NUMBER)  # decisions until a position is taken, in this game or the next
    states, taken = game.new_states(NUMBER), np.zeros(NUMBER, np.bool_)
    while not taken.all():
        batch.step(player(batch, batch.all_rows))
        left -= 1
        now = ~taken & (left <= 0) & (batch.action_mask.sum(1) > 1)
        states[now], taken = batch.states[now], taken | now
    lines = "\n".join(json.dumps(game.snapshot(state), separators=(",", ":")) for state in states)
    write_atomically(FIELDS / task / "positions.xz", lzma.compress(lines.encode(), preset=9))


@functools.cache
def states_of(task: str) -> np.ndarray:
    """Return the positions of a task, state records (NUMBER,)."""
    game = task_of(task).make()
    content = lzma.LZMADecompressor().decompress((FIELDS / task / "positions.xz").read_bytes(), LIMIT)
    states = game.new_states(NUMBER)
    for number, line in enumerate(content.decode().split("\n")):
        states[number] = game.from_snapshot(json.loads(line), seed=number)
    return states


def actions_of(agent: str, task: str) -> list[int]:
    """Return what an agent with seed 0 does in the positions of a task."""
    use_one_torch_thread()
    game = task_of(task).make()
    batch = Batch(game, NUMBER, autoreset=False)
    batch.set_states(batch.all_rows, states_of(task))
    return np.asarray(load_agent(agent, game, seed=0)(batch, batch.all_rows)).tolist()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        write(name)
