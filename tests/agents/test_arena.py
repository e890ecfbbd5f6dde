"""The arena: fair seats, results that depend on nothing but the seed, games that are kept, ratings, pictures."""

import itertools
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from garden_agents import commands, meet, plots, table
from garden_agents.evaluation import arena
from garden_agents.evaluation.arena import round_robin
from garden_agents.evaluation.ratings import rate_set, ratings_table
from garden_agents.matches import pairs
from garden_agents.matches.meet import (
    places,
    result_of,
    shares_of,
    wilson,
)
from garden_agents.networks import network_agent
from own_agents import change_weights
from processes import full_disk, garden, garden_here, started

from garden_core import GreedyPolicy, RandomPolicy, make
from garden_core.files.disk import Lock
from mars_env import Mars


def compare(output, *agents, game="cacti", **changes):
    """Run an arena; return its results."""
    settings = {"games": 60, "processes": 1, "output": output, **changes}
    return arena.main(arena.Arguments(game, list(agents or ("random", "greedy")), **settings))


# --- games and pairs ---


def test_wilson_interval():
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=5e-5)  # a textbook's example
    assert wilson(570, 600) == pytest.approx((0.92952, 0.96475), abs=1e-5)
    assert wilson(0, 100)[0] == 0
    assert wilson(100, 100)[1] == 1
    assert wilson(0, 0) == (0, 1)


def test_places_and_shares_of_the_win():
    game = Mars(num_players=3)
    states = game.new_states(4)
    states["score"][:, :3] = [[5, 3, 1], [0, 0, 0], [4, 7, 2], [0, 0, 9]]
    assert places(game, states).tolist() == [[0, 1, 2], [0, 0, 0], [1, 0, 2], [1, 1, 0]]
    expected = [[1, 0, 0], [1 / 3, 1 / 3, 1 / 3], [0, 1, 0], [0, 0, 1]]
    np.testing.assert_allclose(shares_of(places(game, states)), expected)


@pytest.mark.parametrize("num_players", [2, 5])
def test_every_seat_is_taken_equally_often(num_players):
    game = Mars(num_players=num_players)
    result = meet(game, ("greedy", "random"), (GreedyPolicy(), RandomPolicy()), 31, seed=1)
    assert result.games == -(-31 // num_players) * num_players
    assert len(result.by_seat) == num_players
    assert result.win_rate == pytest.approx(np.mean(result.by_seat))
    assert result.win_rate > 1 / num_players
    assert result.mean_score > result.opponents_mean_score


# --- jobs ---


NAMES = ["random", "greedy", "own_agents:last_legal", "own_agents:first_legal"]
MIXED = {"mixed": True, "num_players": 3}


@pytest.mark.parametrize(
    ("game", "more", "words"),
    [("cacti", {}, "--num-players 2 --seed 0"), ("mars", MIXED, "--mixed --num-players 3 --seed 0")],
)
def test_results_do_not_depend_on_processes(game, more, words, tmp_path, capsys):
    written = []
    for processes in (1, 2):
        output = tmp_path / f"{processes}" / "arena.json"
        results = compare(output, *NAMES, game=game, processes=processes, **more)
        jobs = sorted((output.parent / "arena.games.jsonl").read_text("utf-8").splitlines())
        picture, printed = output.with_suffix(".png").read_bytes(), capsys.readouterr().out
        written.append((output.read_bytes(), jobs, picture, printed))
    assert written[0] == written[1]
    report = json.loads(output.read_bytes())
    assert report["command"] == f"garden arena {game} {' '.join(NAMES)} --games 60 {words}"
    assert report["options"] == make(game, num_players=more.get("num_players", 2)).option_values
    assert [each["agent"] for each in report["results"]] == [result.agent for result in results]
    if more:
        assert [result.games for result in results] == [3 * 60] * 4
        assert len(jobs) == 1 + 4 * 2
    else:
        assert [(r.agent, r.opponent) for r in results] == list(itertools.combinations(NAMES, 2))
        assert len(jobs) == 1 + 6 * 2


def test_seeds_matter():
    game = make("cacti")
    first, again, other = (round_robin(game, ["random", "greedy"], 20, seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    jobs = [pairs.Job(("random", "random"), block, 50) for block in (0, 1)]
    assert pairs.play_job(game, jobs[0], 1) != pairs.play_job(game, jobs[1], 1)


@pytest.mark.parametrize(
    ("name", "processes", "message"),
    [
        ("raising", 1, r"own_agents:raising \(against random\) failed: ZeroDivisionError: division by zero"),
        (
            "illegal",
            2,
            r"illegal \(against random\) failed: IllegalActionError: row \d+: action .* is illegal",
        ),
        ("dying", 2, "a process died .* while playing random against own_agents:dying"),
    ],
)
def test_an_agent_that_fails_is_named(name, processes, message):
    with pytest.raises(RuntimeError, match=message):
        round_robin(make("cacti"), ["random", f"own_agents:{name}"], 60, processes=processes)


def test_forfeited_games_are_lost_and_counted(tmp_path, capsys):
    output = tmp_path / "arena.json"
    for _ in range(2):  # played, and read from the file of finished jobs
        compare(output, "own_agents:quitting", "random", games=16)
        assert "gave up 4 of 16 games against random, which it lost" in capsys.readouterr().out
        (result,) = json.loads(output.read_text("utf-8"))["results"]
        assert (result["forfeits"], result["opponents_forfeits"]) == (4, 0)
        assert result["win_rate"] <= 12 / 16
    (result,) = compare(tmp_path / "other.json", "random", "own_agents:quitting", games=16)
    assert (result.forfeits, result.opponents_forfeits) == (0, 4)
    compare(tmp_path / "none.json", games=16)
    assert "gave up" not in capsys.readouterr().out.rpartition("agent ")[2]


# --- kept games ---


def test_an_interrupted_arena_goes_on(tmp_path, monkeypatch, played):
    whole, parts = tmp_path / "whole.json", tmp_path / "parts.json"
    compare(whole, games=120)
    played.clear()
    play_job = pairs.play_job

    def interrupted(game, job, **settings):
        if job.block == 1:
            raise KeyboardInterrupt
        return play_job(game, job, **settings)

    monkeypatch.setattr(pairs, "play_job", interrupted)
    kept = tmp_path / "parts.games.jsonl"
    with pytest.raises(SystemExit, match=r"stopped; the same command continues from .*parts\.games\.jsonl"):
        compare(parts, games=120)
    assert not parts.exists()
    with kept.open("a") as file:
        file.write('{"job":[["random","gree')  # as a crash leaves it
    monkeypatch.setattr(pairs, "play_job", play_job)
    compare(parts, games=120)
    assert [job.block for job in played] == [0, 1, 2]
    assert parts.read_bytes() == whole.read_bytes()
    assert kept.read_bytes() == (tmp_path / "whole.games.jsonl").read_bytes()


def test_two_arenas_do_not_share_a_file(tmp_path, played):
    output, kept = tmp_path / "arena.json", tmp_path / "arena.games.jsonl"
    compare(output, games=50)
    before = kept.read_bytes()
    held = Lock(kept)
    with pytest.raises(SystemExit, match=r"arena\.games\.jsonl is in use by another process"):
        compare(output, games=100)
    assert kept.read_bytes() == before
    held.close()
    compare(output, games=100)
    assert [job.block for job in played] == [0, 1]


def test_more_agents_and_games_reuse_finished_jobs(tmp_path, played):
    output = tmp_path / "arena.json"
    compare(output, games=50)
    before = json.loads(output.read_text("utf-8"))["results"]
    compare(output, "own_agents:last_legal", "random", "greedy", games=50)
    own = "own_agents:last_legal"
    assert [job.agents for job in played] == [("random", "greedy"), (own, "random"), (own, "greedy")]
    assert json.loads(output.read_text("utf-8"))["results"][-1] == before[0]
    played.clear()
    compare(output, games=100)
    assert played == [(("random", "greedy"), 1, 50)]


def test_files_of_several_machines_are_joined(tmp_path, played):
    names, joined, kept = ("greedy~0.5", "random", "greedy"), tmp_path / "0.json", []
    for i in range(2):
        compare(tmp_path / f"{i}.json", *names[i : i + 2], games=10)
        kept += (tmp_path / f"{i}.games.jsonl").read_text("utf-8").splitlines(True)[i:]
    (tmp_path / "0.games.jsonl").write_text("".join(kept), "utf-8")
    played.clear()
    compare(joined, *names, games=10)
    assert [job.agents for job in played] == [names[::2]]
    compare(tmp_path / "whole.json", *names, games=10)
    assert joined.read_bytes() == (tmp_path / "whole.json").read_bytes()


def test_games_of_another_arena_are_refused(tmp_path):
    output, kept = tmp_path / "arena.json", tmp_path / "arena.games.jsonl"
    names = ("random", "own_agents:last_legal")

    def refused(message, *names, **changes):
        with pytest.raises(SystemExit, match=message):
            compare(output, *names, **changes)

    compare(output, *names, games=10)
    before = kept.read_bytes()
    refused("holds other games: seed is 0, not 1; choose another --output, or delete", seed=1)
    refused(r"option max_decisions is \d+, not 50, data is", options={"max_decisions": "50"})
    assert kept.read_bytes() == before
    kept.write_text("scribble\n", "utf-8")
    refused("is damaged, or no file of finished jobs")


@pytest.mark.parametrize("search", ["", "-mcts:2"])
def test_games_of_another_network_are_refused(tmp_path, search):
    game = make("cacti")
    path = tmp_path / "network.safetensors"
    shutil.copy(network_agent.shipped(game)[2], path)
    output, agent = tmp_path / "arena.json", f"{path}{search}"
    compare(output, "random", agent, games=2)
    compare(output, "random", agent, games=2)
    change_weights(path, game)
    with pytest.raises(SystemExit, match=r"has changed since its games in .* were played"):
        compare(output, "random", agent, games=2)


@pytest.mark.parametrize(
    ("names", "changes", "message"),
    [
        (["random"], {}, "at least two agents"),
        (["random", "greedy", "random"], {}, "named twice: random greedy random"),
        (["random", "grandmaster"], {}, "unknown agent 'grandmaster'"),
        ([], {"games": 0}, "games must be at least 1, not 0"),
        ([], {"options": {"luck": "1"}}, "cacti got an unexpected keyword argument 'luck'"),
        ([], {"picture": Path("a.foo")}, r"a picture ends in \.png, .*, not 'a\.foo'"),
        ([], {"output": Path.cwd()}, "is a folder, not a file"),
    ],
)
def test_arguments_are_checked_before_any_game(tmp_path, played, names, changes, message):
    changes = {"output": tmp_path / "arena.json"} | changes
    with pytest.raises(SystemExit, match=f"error: .*{message}"):
        compare(changes.pop("output"), *names, **changes)
    assert not played
    assert not list(tmp_path.iterdir())


def test_a_cooperative_game_is_refused():
    with pytest.raises(ValueError, match="two players against each other"):
        round_robin(Mars(num_players=2, cooperative=True), ["random", "greedy"])


# --- ratings ---


def test_ratings_with_ties_and_without_random():
    ratings = rate_set(["a", "b"], {("a", "b"): ((0.5, 0.5), 100)}, 2)
    assert [r.rating for r in ratings] == pytest.approx([0, 0], abs=1e-9)
    better, worse = rate_set(["a", "b"], {("a", "b"): ((0.0, 1.0), 100)}, 2)  # b always wins
    assert (better.agent, worse.agent, worse.rating) == ("b", "a", 0)
    assert 300 < better.rating < 3000
    assert "Elo's scale, the lowest, a, = 0" in ratings_table([better, worse])


# --- pictures ---


@pytest.mark.parametrize("num_players", [2, 5])
def test_picture_of_many_agents_with_long_names(tmp_path, num_players):
    names = ["random", "greedy", "mcts:4000", "runs/mars-20250101-120000", "company.agents:strong"]
    pairs, rng = [*itertools.permutations(names, 2)], np.random.default_rng(0)
    played = rng.random((len(pairs), 10, num_players)).argsort(2)
    results = [
        result_of(pair, part, part + 30, np.full(10, -1)) for pair, part in zip(pairs, played, strict=True)
    ]
    ratings = rate_set(names, {pair: ((k / 20, 1 - k / 20), 10) for k, pair in enumerate(pairs)}, num_players)
    arena.picture(tmp_path / "arena.png", results, ratings, "Mars()")
    assert (tmp_path / "arena.png").read_bytes().startswith(b"\x89PNG")
    assert max(map(len, table(results).splitlines())) <= 110


SHORT = "arena cacti random greedy --games 4 --processes 1 --output"


def test_results_are_written_though_standard_output_is_closed(tmp_path):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started(SHORT, tmp_path / "x.json", cwd=tmp_path, **pipes) as process:
        process.stdout.close()
        error = process.stderr.read()
    assert process.returncode == commands.CLOSED_PIPE
    assert "Traceback" not in error
    assert "BrokenPipe" not in error
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".jsonl", ".png"}


def test_characters_that_a_terminal_lacks_are_replaced(tmp_path):
    done = garden(SHORT, tmp_path / "x.json", PYTHONIOENCODING="ascii")
    assert "?" in done.stdout  # for the dots of an interval
    assert (tmp_path / "x.json").exists()


def test_results_stay_when_the_picture_does_not_fit_on_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(plots, "write_atomically", full_disk)
    printed, message = garden_here(SHORT, tmp_path / "x.json")
    assert message == f"error: {tmp_path / 'x.png'}: No space left on device"
    assert "greedy" in printed
    assert json.loads((tmp_path / "x.json").read_text("utf-8"))["results"][0]["games"] == 4
