"""Expert iteration and the arena on Ray: the same results as without, any number of workers, killed ones are replaced."""

import os
import signal
import tomllib

import numpy as np
import pytest

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.filterwarnings("ignore")

from garden_agents.evaluation.arena import round_robin
from garden_agents.evaluation.compare import compare
from garden_agents.evaluation.pairs import Games
from garden_agents.evaluation.sequential import SequentialTest
from garden_agents.networks.architecture import new_network
from garden_agents.networks.heads import target_of
from garden_agents.training import expert_iteration as expert
from garden_agents.training import search_games
from garden_agents.training.ray_workers import MOVES, SearchWorkers

from garden_core import make


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


def process_of(actor):
    return ray.get(actor.__ray_call__.remote(lambda _: os.getpid()))


def killed(actor):
    """Kill a worker; return its process number."""
    process = process_of(actor)
    os.kill(process, signal.SIGKILL)
    return process


# --- expert iteration ---

SEARCHED = {
    "game": "cacti",
    "envs": 8,
    "simulations": 4,
    "fast_simulations": 2,
    "hidden": 16,
    "minibatch": 32,
    "panel": (),
    "eval_games": 0,
    "ray": "local",
}


def begun(number):
    """Return a game, arguments with this number of workers, and a network."""
    game, arguments = make("cacti", reward="margin"), expert.Arguments(**SEARCHED, workers=number)
    return game, arguments, new_network(game, arguments.architecture, target_of(game))


@pytest.mark.parametrize("number", [1, 2])
def test_expert_iteration_learns_from_workers(tmp_path, number):
    expert.train(expert.Arguments(**SEARCHED, workers=number, minutes=0.2, run=tmp_path / "run"))
    rows = (tmp_path / "run" / "metrics.csv").read_text().splitlines()
    assert len(rows) >= 2
    assert "ray" not in tomllib.loads((tmp_path / "run" / "config.toml").read_text())["arguments"]
    again = expert.Arguments(resume=tmp_path / "run", minutes=0.25)
    assert expert.train(again) == tmp_path / "run"  # in this process


def test_one_worker_has_the_positions_of_a_process_without_ray():
    game, arguments, network = begun(1)
    source = SearchWorkers(game, network, arguments, 5)
    own = search_games.SearchGames(game, arguments, network, 1, 5)
    own.compile()
    by_worker, here = ([games.play(guided=True) for _ in range(3 * MOVES)] for games in (source, own))
    assert all(sum(played.decisions for played in moves) == 24 * MOVES for moves in (by_worker, here))
    columns, expected = (search_games.joined([p.positions for p in played]) for played in (by_worker, here))
    assert len(columns.values) > 8
    np.testing.assert_equal(columns, expected)


def test_a_killed_worker_is_replaced():
    game, arguments, network = begun(2)
    source = SearchWorkers(game, network, arguments, 0)
    source.play(guided=False)
    process = killed(source.actors[0])
    with pytest.warns(UserWarning, match="worker 0 died and is replaced"):
        decisions = [source.play(guided=True).decisions for _ in range(6 * MOVES)]
    assert decisions == [8] * 6 * MOVES
    assert source.replaced == 1
    assert process_of(source.actors[0]) != process


# --- the arena ---

NAMES = ("random", "greedy", "mcts:4")


def test_the_arena_on_ray_has_the_same_results():
    game = make("cacti")
    assert round_robin(game, NAMES, 60, seed=3, ray="local") == round_robin(game, NAMES, 60, seed=3)


def test_jobs_of_a_killed_worker_are_played_again(tmp_path, monkeypatch):
    """An agent kills its process once."""
    (tmp_path / "deadly.py").write_text(DEADLY)
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
    (tmp_path / "failing.py").write_text("def make(game, seed):\n    return lambda batch, rows: 1 / 0\n")
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
        result = compare(Games(make("cacti"), pair), pair, test, ray=where)
        looks.append((test.looks, result))
    assert looks[0] == looks[1]
    assert 2 <= len(looks[0][0]) < 20
