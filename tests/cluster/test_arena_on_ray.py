"""The arena on Ray: the same results as without; jobs of killed workers are played again."""

import pytest

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.filterwarnings("ignore")

from garden_agents.evaluation.arena import mixed_round, round_robin
from garden_agents.evaluation.compare import compare
from garden_agents.evaluation.sequential import SequentialTest
from garden_agents.matches.pairs import Games

from garden_core import make


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


NAMES = ("random", "greedy", "mcts:4")


def test_the_arena_on_ray_has_the_same_results():
    game = make("cacti")
    assert round_robin(game, NAMES, 60, seed=3, ray="local") == round_robin(game, NAMES, 60, seed=3)
    game = make("mars", num_players=3)
    assert mixed_round(game, NAMES, 60, seed=3, ray="local") == mixed_round(game, NAMES, 60, seed=3)


def test_jobs_of_a_killed_worker_are_played_again(tmp_path, monkeypatch):
    """An agent kills its process once."""
    (tmp_path / "deadly.py").write_text(DEADLY, "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("DEADLY", str(tmp_path / "died"))
    monkeypatch.syspath_prepend(tmp_path)
    ray.shutdown()
    results, _ = round_robin(make("cacti"), ("deadly:make", "random"), 100, ray="local")
    assert results[0].games == 100
    assert (tmp_path / "died").exists()


DEADLY = """
import os, signal
from garden_core.batch.policies import GreedyPolicy

def make(game, seed):
    greedy = GreedyPolicy(seed)
    def choose(batch, rows):
        try:
            os.close(os.open(os.environ["DEADLY"], os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return greedy(batch, rows)
        os.kill(os.getpid(), signal.SIGKILL)
    choose.__module__ = __name__
    return choose
"""


def test_an_agent_that_fails_on_ray_is_named(tmp_path, monkeypatch):
    (tmp_path / "failing.py").write_text(
        "def make(game, seed):\n    return lambda batch, rows: 1 / 0\n", "utf-8"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    if ray.is_initialized():
        ray.shutdown()
    with pytest.raises(RuntimeError, match=r"failing:make \(against random\) failed: ZeroDivisionError"):
        round_robin(make("cacti"), ("failing:make", "random"), 100, ray="local")


def test_a_comparison_has_the_same_games():
    looks, pair = [], ("random", "greedy")
    for where in (None, "local"):
        test = SequentialTest(2, (-190, -130))
        result = compare(Games(make("cacti"), pair, 4, same_agents=True), pair, test, ray=where)
        looks.append((test.looks, result))
    assert looks[0] == looks[1]
    assert 2 <= len(looks[0][0]) < 20
