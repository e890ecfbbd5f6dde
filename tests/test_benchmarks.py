"""The benchmarks run, and write what they should; no timing is asserted."""

import importlib
import json
import shlex
import sys
from collections import Counter
from importlib.util import find_spec

import garden_agents
import msgspec
import numpy as np
import pytest
import tyro
from garden_agents import games
from garden_agents.games import Hints
from garden_agents.networks.architecture import Architecture
from garden_agents.networks.network_agent import save_network
from processes import ROOT, python

from benchmarks import baselines, common
from garden_core import list_games, make

GAME = list_games()[0]
SPREAD = {"median", "min", "max"}


def main_of(name, words, folder):
    """Run a benchmark in this process, with the words of its command line and a folder for its results."""
    package = "docs.report" if (ROOT / "docs" / "report" / f"{name}.py").exists() else "benchmarks"
    module = importlib.import_module(f"{package}.{name}")
    kind = getattr(module, "Options", None) or module.Arguments
    module.main(tyro.cli(kind, args=[*shlex.split(words), "--output", str(folder)]))


def run(module, folder, capsys, words=""):
    """Run a benchmark as its page says; return its results and its output."""
    main_of(module, f"{GAME} --quick {words}", folder)
    printed = capsys.readouterr().out
    assert {path.name for path in folder.iterdir()} == {f"{module}.json", f"{module}.png"}
    assert (folder / f"{module}.png").read_bytes().startswith(b"\x89PNG")
    results = json.loads((folder / f"{module}.json").read_text("utf-8"))
    assert results["benchmark"] == module
    assert {"date", "commit", "python", "numpy", "numba", "processor", "cores"} <= set(results["facts"])
    return results, printed


def check_spread(spread):
    assert set(spread) == SPREAD
    assert 0 < spread["min"] <= spread["median"] <= spread["max"]


@pytest.fixture
def yardstick(tmp_path):
    """A program with the arguments and the output of a yardstick."""
    path = tmp_path / "yardstick"
    check = "import sys; players, games, steps, observed = map(int, sys.argv[1:])"
    path.write_text(
        f"#!{sys.executable}\n{check}\nprint(f'games {{games}}: {{1 + observed}}.50 M decisions/s')\n",
        "utf-8",
    )
    path.chmod(0o755)
    return path


def test_throughput(tmp_path, yardstick, capsys):
    players = str(make(GAME).num_players)
    words = f"--num-players {players} --yardstick {yardstick}"
    results, printed = run("throughput", tmp_path / "results", capsys, words)
    measured = [(entry["what"], entry["num_envs"]) for entry in results["measurements"]]
    beside = {"random play": 1.5e6, "random play, observed": 2.5e6, "Batch.step": None}
    assert measured == [(what, n) for n in (1, 64) for what in beside] + [("env()", 1)]
    for entry in results["measurements"]:
        assert entry["what"] in printed
        assert (entry["game"], str(entry["num_players"])) == (GAME, players)
        check_spread(entry["decisions_per_second"])
        if expected := beside.get(entry["what"]):
            assert entry["beside"]["decisions_per_second"]["median"] == expected
            check_spread(entry["beside"]["ratio"])
    assert str(yardstick) not in json.dumps(results)


def test_startup(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # compiling is not what is tested
    results, printed = run("startup", tmp_path, capsys)
    measured = [(entry["interface"], entry["cache"]) for entry in results["measurements"]]
    assert measured == [(interface, cache) for interface in ("env()", "Batch") for cache in ("empty", "warm")]
    for entry in results["measurements"]:
        assert entry["interface"] in printed
        assert set(entry["seconds"]) == {"import", "make", "reset", "step", "process"}
        for spread in entry["seconds"].values():
            check_spread(spread)


def quick(module, folder, words, result=None):
    """Run a benchmark with Cacti; return the measurements in the file `result`."""
    if module == "training":  # it changes a setting of torch for its whole process
        python("-m", f"benchmarks.{module}", "cacti", *words.split(), "--output", folder)
    else:
        main_of(module, f"cacti {words}", folder)
    return json.loads((folder / f"{result or module}.json").read_text("utf-8"))["measurements"]


@pytest.mark.parametrize(
    ("module", "windows", "words", "spreads"),
    [
        ("search", 1, "--seconds 0.05", "decisions_per_second"),
        ("threads", 2, "--sizes 512 --seconds 0.02", "decisions_per_second one_thread ratio"),
        ("datasets", 2, "--games 5 --seconds 0.02", "loading expanding DataLoader"),
        ("training", 1, "--seconds 0.1", "decisions_per_second"),
        ("roofline", 1, "--seconds 0.1", "gflops gflops_of_products share"),
    ],
)
def test_measurements(module, windows, words, spreads, tmp_path):
    for entry in quick(module, tmp_path, f"--windows {windows} {words}"):
        for spread in spreads.split():
            check_spread(entry[spread])
        assert sum(entry.get("shares_of_time", {"all": 1}).values()) == pytest.approx(1, abs=0.01)


def test_calibration(tmp_path):
    measurements = quick("calibration", tmp_path, "--matches 20")
    assert [entry["values_by"] for entry in measurements] == ["network", "playouts"]
    for entry in measurements:
        assert all(len(entry[key]) == 6 for key in ("mean_value", "mean_outcome", "correlation"))


SHORT = "--minutes 0.02 --matches 4 --runs"


@pytest.mark.long
def test_exploit(tmp_path):
    measurements = quick("exploit", tmp_path / "results", f"{SHORT} {tmp_path}/runs", "exploit-cacti")
    assert len(measurements) >= 2
    for entry in measurements:
        assert [result["opponent"] for result in entry["results"]] == [entry["agent"]] * 2


@pytest.mark.long
def test_variants(tmp_path):
    from docs.report import variants

    main_of("variants", f"mars {SHORT} {tmp_path}/runs", tmp_path)
    entry = json.loads((tmp_path / "variants-mars.json").read_text("utf-8"))["measurements"]
    assert {m["variant"] for m in entry} == set(variants.VARIANTS["mars"])
    assert ("special actions", "comes with the game") in {(m["variant"], m["network"]) for m in entry}


@pytest.mark.long
def test_ladder(tmp_path):
    from docs.report import ladder

    (entry,) = quick("ladder", tmp_path, "--matches 2 --moves 2", "ladder-cacti")
    assert set(entry["seconds_a_move"]) == set(ladder.AGENTS)
    assert [result["opponent"] for result in entry["results"]][-1] == ladder.EQUAL


def test_games(tmp_path):
    main_of("games", "cacti --matches 10", tmp_path)
    rows = json.loads((tmp_path / "games.json").read_text("utf-8"))["measurements"]
    assert [row["agent"] for row in rows] == ["random", "network"]
    for row in rows:
        assert 2 < row["legal_actions"] < row["num_actions"]
        assert row["choices"] <= row["decisions"]
        assert sum(row["wins_by_seat"]) == pytest.approx(1)


BALANCED = {"cacti": (0.4, 0.62), "botanicus": (0.35, 0.65)}
"""Share of wins of the first seat, if greedy play has both: bounds of each set of generated cards."""


def test_generated_cards_are_balanced(tmp_path):
    """In a few sets that are played here, and in those of the result file."""
    main_of("card_sets", "cacti --sets 6 --share 0.5", tmp_path)
    new, committed = (
        json.loads((folder / "card-sets.json").read_text("utf-8"))["measurements"]
        for folder in (tmp_path, ROOT / "docs" / "report")
    )
    assert [row["agents"] for row in new] == [
        ["greedy", "greedy"],
        ["greedy", "random"],
        ["mcts:50", "greedy"],
    ]
    for row in (*new, *committed):
        share, decisions = row["share"], row["decisions"]
        if row["agents"] == ["greedy", "greedy"]:
            low, high = BALANCED[row["game"]]
            assert low < share["quantiles"][0] <= share["quantiles"][-1] < high
            assert share["beyond_chance"] < 0.04
        else:
            assert share["mean"] > 0.65
        for length in decisions["quantiles"][1:-1]:
            assert length == pytest.approx(decisions["packaged"], rel=0.2)


@pytest.mark.parametrize("part", ["errors", "repeats", "deals"])
def test_comparing(part, tmp_path):
    words = f"{part} --games cacti --tests 2 --repeats 1 --matches 100 --pairs 10 --processes 1"
    main_of("comparing", words, tmp_path)
    (path,) = tmp_path.iterdir()
    rows = json.loads(path.read_text("utf-8"))["measurements"]
    if part == "errors":
        assert [row["num_players"] for row in rows] == [2] * 7 + [4] * 7
        assert all(row["games"] < row["fixed_games"] for row in rows if row["lead"] in (-40, 100))
    if part == "repeats":
        ((test,), fixed) = rows[0]["tests"], rows[0]["fixed_games"]
        assert test["lower"] <= test["rate"] <= test["upper"]
        assert 0 < rows[0]["fixed_games_shared"] < fixed < 3000
    if part == "deals":
        assert [row["deals"] for row in rows] == [10, 10]
        assert all(0 <= row["variance"] < 2 for row in rows)


@pytest.mark.thorough
def test_luck(tmp_path):
    """Its corrections leave the mean as it is: of a game that is solved, within two standard errors."""
    main_of("luck", "cacti --matches 100 --redraws 2 --estimates 40", tmp_path)
    pig, *pairs = json.loads((tmp_path / "luck.json").read_text("utf-8"))["measurements"]
    assert abs(pig["mean"] - pig["truth"]) < 2 * pig["standard_error"]
    assert pig["variance_left"] < 0.9
    assert [pair["agent"] for pair in pairs] == ["network", "network-mcts:20"]
    assert all(pair["events"] > 5 for pair in pairs)


def test_networks_are_replaced_by_stronger_ones(tmp_path, monkeypatch, capsys):
    game = make("cacti")
    old, good, bad = (tmp_path / name for name in ("networks/2.safetensors", "good", "bad"))
    agent = garden_agents.load(game)
    monkeypatch.setitem(games._registered, type(game), Hints(folder=tmp_path))
    for run, sign in ((good, 1), (bad, -1)):
        run.mkdir()
        agent.network.parameters[:] *= sign
        architecture = msgspec.convert(agent.config["network"], Architecture)
        origin = {"command": f"garden train cacti --run {run}"}
        save_network(
            run / "network.safetensors", game, agent.network, architecture, agent.value_target, origin
        )

    def decided(run):
        main_of("networks", f"cacti {run} --elo 0 100 --processes 1", tmp_path)
        assert run.name in capsys.readouterr().out
        return json.loads((tmp_path / "networks.json").read_text("utf-8"))["measurements"]

    assert "games" not in decided(bad)[-1]
    assert old.read_bytes() == (bad / "half.safetensors").read_bytes()
    assert decided(good)[-1]["answer"] == "above"
    assert old.read_bytes() == (good / "half.safetensors").read_bytes()
    assert old.stat().st_size < 0.6 * (good / "network.safetensors").stat().st_size
    decisions = decided(bad)
    assert [each["replaced"] for each in decisions] == [True, True, False]
    assert decisions[-1]["command"] == decisions[-2]["before"] == f"garden train cacti --run {bad}"
    assert old.read_bytes() == (good / "half.safetensors").read_bytes()
    half = garden_agents.load(game).network.parameters
    np.testing.assert_allclose(half, -agent.network.parameters, rtol=1e-3, atol=1e-7)


def test_soak(tmp_path):
    """A short one of each game: nothing is lost, and the results are written."""
    import soak

    soak.main(soak.Arguments(decisions=20_000, output=tmp_path))
    entry = json.loads((tmp_path / "soak.json").read_text("utf-8"))["measurements"]
    assert [(m["game"], m["way"]) for m in entry] == [
        (game, way) for game in list_games() for way in soak.WAYS
    ]
    assert all(m["positions"] >= m["decisions"] // 1100 for m in entry)


def test_web(tmp_path):
    main_of("web", f"{GAME} --at-once 2 --decisions 2 --pause 0 --wrong 5", tmp_path)
    results = json.loads((tmp_path / "web.json").read_text("utf-8"))["measurements"]
    assert [entry["case"] for entry in results] == ["one game", "2 games at once", "wrong messages"]
    assert all(0 < entry["median_ms"] <= entry["p99_ms"] for entry in results)


def test_files_made_with_other_settings_are_not_measured(tmp_path):
    path = tmp_path / "network.pt"
    common.check_same(path, {"seed": 0, "decisions": 1000})
    path.write_text("", "utf-8")
    common.check_same(path, {"seed": 0, "decisions": 1000})
    with pytest.raises(ValueError, match="made with other settings: decisions is 1000, not 2000"):
        common.check_same(path, {"seed": 0, "decisions": 2000})
    (tmp_path / "network.pt.json").unlink()
    with pytest.raises(ValueError, match="seed is None, not 0"):
        common.check_same(path, {"seed": 0, "decisions": 1000})


def test_the_plan_of_baselines():
    runs = baselines.plan(baselines.Arguments(tasks=("cacti-2", "mars-4")))
    counts = Counter((run.task, run.method, run.decisions) for run in runs)
    assert counts["cacti-2", "behaviour cloning", 10**6] == counts["mars-4", "MaskablePPO", 10**6] == 5
    assert counts["cacti-2", "MaskablePPO", 10**7] == 5
    assert counts["mars-4", "MaskablePPO", 10**7] == 3
    assert counts["cacti-2", "garden train", 10**8] == 5
    assert not counts["mars-4", "garden train", 10**8]
    assert len({run.name for run in runs}) == len(runs)


def test_the_picture_of_baselines(tmp_path):
    rows = [
        {"task": "cacti-2", "version": 1, "method": method, "decisions": 100, "rating": 5, "curve": curve}
        for method, curve in (("garden train", [(50, 1), (100, 5)]), ("behaviour cloning", []))
    ]
    baselines.draw(tmp_path / "picture.png", rows, "cacti-2")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.long
def test_baselines(tmp_path):
    few = {"tasks": ("cacti-2",), "decisions": (20_000,), "seeds": 1, "processes": 1}
    methods = tuple(each for each in baselines.METHODS if each != "DQN" or find_spec("torchrl"))
    arguments = baselines.Arguments(
        **few, methods=methods, runs=tmp_path / "runs", output=tmp_path / "out.jsonl"
    )
    baselines.main(arguments)
    rows = baselines.read(tmp_path / "out.jsonl")
    assert {row["method"] for row in rows} == set(methods)
    baselines.main(arguments)  # all are there
    assert baselines.read(tmp_path / "out.jsonl") == rows
