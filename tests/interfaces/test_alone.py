"""A copy of the core and one game is the whole environment: nothing that learns belongs to it."""

import shutil

from processes import ROOT, python

PLAYED = """
import os, sys
sys.path[:] = [os.getcwd(), *(path for path in sys.path if not path.startswith(ROOT) or "site-packages" in path)]
sys.meta_path[:] = [finder for finder in sys.meta_path if "__editable__" not in getattr(finder, "__module__", repr(finder))]

import gymnasium
from mars_env import mars_v0
import mars_env
from garden_core import Batch
from garden_core.batch.policies import GreedyPolicy

env = mars_v0.env(num_players=3, render_mode="ansi")
env.reset(seed=1)
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    over = terminated or truncated
    env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))
assert "score" in env.render().lower()
assert mars_env.Mars().svg(Batch(mars_env.Mars(), 1).states[0]).startswith("<svg")

learner = gymnasium.make("garden/Mars-v0", opponents="greedy", seat="random")
_, info = learner.reset(seed=1)
over = False
while not over:
    _, _, terminated, truncated, info = learner.step(int(info["action_mask"].argmax()))
    over = terminated or truncated

batch = Batch(mars_env.Mars(num_players=5), 4)
batch.reset(1)
greedy = GreedyPolicy(1)
for _ in range(20):
    batch.step(greedy(batch, batch.all_rows))

ours = {name: module.__file__ for name, module in sys.modules.items() if name.partition(".")[0] in FOUND}
assert {name.partition(".")[0] for name in ours} == {"garden_core", "mars_env"}, sorted(ours)
assert all(path.startswith(os.getcwd()) for path in ours.values()), ours
"""


def test_core_and_one_game_play_without_the_rest(tmp_path):
    for name in ("garden_core", "mars_env"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    packages = "garden_core", "mars_env", "cacti_env", "botanicus_env", "garden_agents"
    python(
        "-c",
        f"ROOT, FOUND = {str(ROOT)!r}, {packages}\n{PLAYED}",
        cwd=tmp_path,
        PYTHONPATH=None,
        NUMBA_DISABLE_JIT="1",
    )
