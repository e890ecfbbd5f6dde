"""`garden record`: games of agents in a dataset, the same for any number of processes; no finished game is lost."""

import os
import signal

import numpy as np
import pytest
from garden_agents import commands, load
from garden_agents.matches import record
from garden_agents.matches.record import lineups, play_block
from processes import garden_here

from garden_core import Dataset, make
from garden_core.batch.policies import FORFEIT


def recorded(output, *agents, games=20, processes=1, game="cacti", more=()):
    names = agents or ("random", "greedy")
    words = f"record {game} --games {games} --processes {processes} --agents"
    return garden_here(words, *names, "--output", output, *more)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "games.safetensors"


def test_games_of_agents(tmp_path):
    path = tmp_path / "new folder" / "games.safetensors"
    printed, message = recorded(path, games=101, more=["--seed", 5])
    assert message is None
    games = Dataset.load(path)
    assert (len(games), games.agents, games.seed) == (102, ("random", "greedy"), 5)
    assert games.game == make("cacti")
    greedy = games.record.lineups == 1
    assert greedy.sum(axis=0).tolist() == [51, 51]
    assert games.returns[greedy].mean() > 0.2
    assert len(set(games.record.seeds.tolist())) == 102
    assert f"{games!r}" in printed
    assert "greedy" in printed.splitlines()[-1]


def test_games_that_another_process_writes_meanwhile_stay(path, monkeypatch):
    def slow(arguments, game, play=record._record):
        path.write_text("games of another process", "utf-8")
        return play(arguments, game)

    monkeypatch.setattr(record, "_record", slow)
    printed, message = recorded(path)
    assert message is None
    assert path.read_text("utf-8") == "games of another process"
    assert "these games are in" in printed
    assert len(Dataset.load(path.with_name("games-2.safetensors"))) == 20


def test_the_number_of_processes_changes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "BLOCK", 10)
    for processes in (1, 2):
        assert recorded(tmp_path / f"{processes}.safetensors", games=30, processes=processes)[1] is None
    assert (tmp_path / "1.safetensors").read_bytes() == (tmp_path / "2.safetensors").read_bytes()
    assert recorded(tmp_path / "other.safetensors", games=30, more=["--seed", 1])[1] is None
    assert (tmp_path / "1.safetensors").read_bytes() != (tmp_path / "other.safetensors").read_bytes()


@pytest.mark.parametrize(
    ("game", "more", "expected"),
    [
        ("mars", "--num-players 3 --options max_decisions 30", {"num_players": 3, "max_decisions": 30}),
        ("mars", "--num-players 1 --options cooperative true", {"num_players": 1, "cooperative": True}),
        ("pig:Pig", "", {}),
    ],
)
def test_options_and_own_games(game, more, expected, path):
    assert recorded(path, game=game, games=3, more=more.split())[1] is None
    named = {"game": game} if ":" in game else {}
    assert Dataset.load(path, **named).game == make(game, **expected)


@pytest.mark.parametrize(("agents", "num_players"), [(1, 3), (2, 1), (2, 5), (3, 2), (4, 3)])
def test_every_agent_has_every_seat_equally_often(agents, num_players):
    seated = lineups(agents, num_players, 6 * agents, seed=1)
    assert seated.shape == (6 * agents, num_players)
    for seat in range(num_players):
        assert np.bincount(seated[:, seat]).tolist() == [6] * agents
    assert agents == 1 or num_players == 1 or all(len(set(table)) > 1 for table in seated.tolist())


def test_probabilities_are_those_of_the_agents(path, tmp_path, monkeypatch):
    """In games of several jobs, some of which are given up."""
    monkeypatch.setattr(record, "BLOCK", 8)
    agents = "random", "own_agents:sampling", "network", "own_agents:quitting"
    assert recorded(path, *agents, games=20, more=["--probabilities"])[1] is None
    games = Dataset.load(path)
    assert (games.record.forfeited >= 0).any()
    decisions = games.expand()
    legal = decisions.action_mask.sum(1)
    uniform, sampled, certain, unknown = (decisions.agent == agent for agent in range(4))
    assert np.array_equal(decisions.probability[uniform], np.float32(1) / legal[uniform].astype(np.float32))
    policy, _ = load("cacti").evaluate(decisions.observation[sampled], decisions.action_mask[sampled])
    chances = policy[np.arange(len(policy)), decisions.action[sampled]]
    np.testing.assert_allclose(decisions.probability[sampled], chances, rtol=1e-4)
    assert (chances < 0.5).any()
    assert (decisions.probability[certain] == 1).all()
    assert np.isnan(decisions.probability[unknown]).all()
    recorded(tmp_path / "without.safetensors", *agents, games=20)
    without = Dataset.load(tmp_path / "without.safetensors")
    assert without.record.probabilities is None
    assert np.array_equal(without.record.actions, games.record.actions)


def test_impossible_probabilities_stop_the_recording(path):
    message = recorded(path, "random", "own_agents:boasting", more=["--probabilities"])[1]
    assert message.startswith(
        "error: own_agents:boasting failed: DatasetError: probabilities must be above 0"
    )
    assert not path.exists()


def test_forfeited_games_are_kept(path):
    printed, message = recorded(path, "own_agents:quitting", "random", games=10)
    assert message is None
    assert "gave up 3 games" in printed.splitlines()[-2]
    games = Dataset.load(path)
    assert len(games) == 10
    (given_up,) = np.nonzero(games.record.forfeited >= 0)
    assert given_up.tolist() == [0, 4, 8]  # rows of the agent that gives up
    seats = games.record.forfeited[given_up]
    assert (games.record.lineups[given_up, seats] == 0).all()
    assert (games.returns[given_up, seats] == -1).all()
    assert (games.returns[given_up, 1 - seats] == 0).all()
    decisions = games.expand()
    assert FORFEIT not in decisions.action
    for (game, seat), total in np.ndenumerate(games.returns):
        own = (decisions.game == game) & (decisions.player == seat)
        if own.any():
            assert decisions.reward[own].sum() == decisions.return_to_go[own][0] == total
    assert {games.replay(int(game)).ended for game in given_up} == {"running"}


def test_games_forfeited_at_once_have_no_decisions(path):
    _, message = recorded(path, "own_agents:quitting_all", games=10)
    assert message == "error: there are no decisions"
    assert not path.exists()


@pytest.mark.parametrize(
    ("raised", "message"),
    [
        (KeyboardInterrupt(), r"stopped; 20 finished games are in .*games\.safetensors"),
        (RuntimeError("greedy failed"), r"error: greedy failed; 20 finished games are in"),
    ],
)
def test_finished_games_are_kept(tmp_path, monkeypatch, raised, message):
    whole, part = tmp_path / "whole.safetensors", tmp_path / "games.safetensors"
    monkeypatch.setattr(record, "BLOCK", 10)
    recorded(whole, games=30)

    def interrupted(game, names, job, **settings):
        if job.block == 2:
            raise raised
        return play_block(game, names, job, **settings)

    monkeypatch.setattr(record, "play_block", interrupted)
    with pytest.raises(SystemExit, match=message):
        raise SystemExit(recorded(part, games=30)[1])
    assert np.array_equal(Dataset.load(part).record.seeds, Dataset.load(whole).record.seeds[:20])


def test_nothing_finished_leaves_no_file(path):
    message = recorded(path, "random", "own_agents:illegal")[1]
    assert message.startswith("error: own_agents:illegal failed: IllegalActionError: row ")
    assert message.endswith("; no game is finished, and no file is written")
    assert not path.exists()


def test_a_full_file_ends_the_recording(path, monkeypatch):
    monkeypatch.setattr(record, "BLOCK", 10)
    monkeypatch.setattr(record, "ROOM", 1000)
    assert recorded(path, games=1000)[1].startswith("the file is full; ")
    assert 1000 < path.stat().st_size < 5000
    assert len(Dataset.load(path)) % 10 == 0


@pytest.mark.parametrize(
    ("agents", "options", "message"),
    [
        (["random", "random"], {}, "an agent is named twice: random random"),
        (["random"], {"games": 0}, "games must be at least 1, not 0"),
        (["random"], {"game": "chess"}, "unknown game 'chess'"),
        (["random"], {"more": ["--options", "x", 1]}, "unexpected keyword argument 'x'"),
    ],
)
def test_arguments_are_checked_before_any_game(path, agents, options, message):
    assert message in recorded(path, *agents, **options)[1]
    assert not path.exists()


def test_no_file_is_overwritten(path):
    path.write_text("mine", "utf-8")
    assert recorded(path)[1] == f"error: {path} is there already; choose another --output"
    assert recorded(path.parent)[1] == f"error: {path.parent} is there already; choose another --output"
    assert path.read_text("utf-8") == "mine"
    assert "File exists" in recorded(path / "games.safetensors")[1]


def test_sigterm_stops_a_command_as_ctrl_c_does(monkeypatch):
    """The tests above show what Ctrl-C keeps."""
    monkeypatch.setitem(commands.COMMANDS, "record", lambda words: os.kill(os.getpid(), signal.SIGTERM))
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt):
        commands.main(["record"])
    assert signal.getsignal(signal.SIGTERM) == before
