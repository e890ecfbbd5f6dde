"""The leaderboard: tables that follow from the results alone, files that are checked, games that are played again."""

import json
import re
import shutil
from pathlib import Path

import pytest
from entries import enter, made_up
from garden_agents import load_agent
from garden_agents.evaluation import leaderboard
from garden_agents.evaluation.leaderboard import read_entries
from garden_agents.evaluation.score import blocks_of, play_again, score
from garden_agents.evaluation.tasks import task_of
from garden_agents.identity import weights_digest
from garden_agents.networks.network_agent import shipped
from processes import ROOT, garden, garden_here, python

from garden_core import make
from garden_core.plugins import imported

README = Path("leaderboard/README.md")
CACTI = Path("leaderboard/cacti-2")
SCORE = CACTI / "mine.json"
PAGE = "# Scores\n\n<!-- begin ratings -->\n<!-- end ratings -->\nThe end.\n"


@pytest.fixture
def ours(tmp_path, monkeypatch):
    """A copy of this project's leaderboard, its tables blanked out."""
    shutil.copytree(ROOT / "leaderboard", tmp_path / "leaderboard")
    monkeypatch.chdir(tmp_path)
    README.write_text(leaderboard._PART.sub("", README.read_text("utf-8")), "utf-8")


@pytest.fixture
def board(tmp_path, monkeypatch):
    """A leaderboard with an entry."""
    monkeypatch.chdir(tmp_path)
    enter(CACTI, "mine")
    README.write_text(PAGE, "utf-8")


def fails(*arguments):
    """The message of a command that fails."""
    _, message = garden_here("leaderboard", *arguments)
    assert message is not None
    assert "\n" not in message
    return message.removeprefix("error: ")


def rows():
    """Write the page; return its tables, a dict of cells by column for each entry."""
    assert garden_here("leaderboard") == ("", None)
    lines = README.read_text("utf-8").splitlines()
    cells = [re.split(r" *\| *", line)[1:-1] for line in lines if line.startswith("| [")]
    return [dict(zip(leaderboard.COLUMNS, row, strict=True)) for row in cells]


def play_and_enter(agent, seed=0):
    """Enter the score of real games."""
    found = score(agent, "cacti-2", games=60, seed=seed).plain
    weights = "" if ":" in agent else weights_digest(load_agent(agent, make("cacti")))
    enter(CACTI, "mine", agent, found | {"weights": weights, "garden-envs": "1.0.0", "seed": 0})
    return found["results"]


def change(**changes):
    """Change the score's file."""
    SCORE.write_text(json.dumps(json.loads(SCORE.read_text("utf-8")) | changes), "utf-8")


# --- this project's leaderboard ---


def test_the_page_is_current_in_every_process(ours):
    blank, expected = README.read_bytes(), (ROOT / README).read_bytes()
    assert blank != expected
    garden("leaderboard", cwd=Path.cwd(), PYTHONHASHSEED="1")
    assert README.read_bytes() == expected, "run: garden leaderboard"


def test_baselines_and_networks_are_entered_and_every_agent_loads(ours):
    for task, entries in read_entries(README.parent).items():
        agents = {entry.score.agent for entry in entries}
        assert {"greedy", "network"} <= agents
        for agent in agents:
            if leaderboard._CODE.fullmatch(agent):
                assert callable(imported(agent, "agent"))
            else:
                load_agent(agent, task_of(task).make())


@pytest.mark.parametrize("agent", ["greedy", "mcts:50"])
def test_entries_play_as_they_did_when_they_were_scored(ours, agent):
    """If this fails, agents or rules have changed: score such agents again.

    Networks are left out, as the last digits of their outputs may differ between machines.
    """
    for entries in read_entries(README.parent).values():
        (found,) = [entry.score for entry in entries if entry.score.agent == agent]
        blocks = {
            job: digits for job, digits in blocks_of(found).items() if job.opponent in ("random", "greedy")
        }
        assert dict(play_again(found, [*blocks], processes=1)) == blocks


# --- the page ---


def test_entries_are_listed_best_first(board):
    enter(CACTI, "best", "module:make", made_up("cacti-2", "module:make", "1" * 20), tuned_on_field=True)
    enter(CACTI, "worst", "greedy", made_up("cacti-2", "greedy", "0" * 20), note="two\nlines", decisions=1)
    best, mine, worst = rows()
    assert best["entry"] == "[best](../leaderboard/cacti-2/best.toml) *"
    assert re.fullmatch(r"above \d+", best["rating"])
    assert (best["95 % interval"], best["wins against `greedy`"]) == ("", "100% of 20")
    assert re.fullmatch(r"\d+ !", mine["rating"]), "half of the games against all members"
    assert re.fullmatch(r"\d+ … \d+", mine["95 % interval"])
    assert worst["rating"].startswith("below ")
    assert (worst["agent"], worst["wins against `greedy`"]) == ("`greedy`", "")
    assert "## Cacti, 2 players (`cacti-2`, version 1)" in README.read_text("utf-8")


def test_a_page_that_is_not_current_or_has_no_place_for_tables(board):
    assert fails("--check") == "leaderboard/README.md is not current: run garden leaderboard"
    assert README.read_text("utf-8") == PAGE
    rows()
    assert garden_here("leaderboard", "--check") == ("", None)
    README.write_text("# Ratings\n", "utf-8")
    assert "must have the lines <!-- begin ratings --> and <!-- end ratings --> once" in fails()
    README.unlink()
    assert fails() == "leaderboard/README.md: No such file or directory"


def test_numpy_has_one_thread(board):
    """In a process that has not imported it yet; the number of threads can change a network's answers."""
    code = (
        "import sys; from garden_agents.commands import main; assert 'numpy' not in sys.modules;"
        "main(['leaderboard']); import os; print(os.environ['OPENBLAS_NUM_THREADS'])"
    )
    assert python("-c", code, cwd=Path.cwd(), OPENBLAS_NUM_THREADS="2").stdout == "1\n"


# --- games that are played again ---


REPLAY = ("--replay", "cacti-2/mine", "--processes", 1)


def test_games_are_played_again(board, played):
    results = play_and_enter("greedy")
    played.clear()
    printed = [garden_here("leaderboard", *REPLAY, "--seed", seed)[0] for seed in (1, 1, 2)]
    assert played[0] == played[1] != played[2]
    assert printed[0] == printed[1]
    games, blocks = map(int, re.findall(r"(\d+) games of 1 of (\d+) blocks\n", printed[2])[0])
    assert (games, blocks) == (played[2].games, sum(map(len, results.values())))
    assert printed[2].startswith("cacti-2/mine, --seed 2: the same results in all ")
    assert garden_here("leaderboard", *REPLAY)[1] is None
    assert README.read_text("utf-8") == PAGE


def test_results_that_differ_are_reported(board, monkeypatch):
    """Those of games with another seed."""
    play_and_enter("greedy", seed=1)
    monkeypatch.setattr(leaderboard, "REPLAYED", 1.0)
    message = fails(*REPLAY, "--seed", 3)
    assert message.startswith("cacti-2/mine, --seed 3: the results of games differ: ")
    assert re.search(r"\d of 10 in block 1 against ", message)


def test_code_runs_only_if_it_is_named(board, trap):
    enter(CACTI, "mine", "trap:make")
    assert len(rows()) == 1
    for words in ((), ("--code", "trap:Pig")):
        assert "trap:make is code, which --code trap:make allows to run" in fails(*REPLAY, *words)
    assert not trap.exists()
    assert "the module has no 'make'" in fails(*REPLAY, "--code", "trap:make")
    assert trap.exists()


def test_an_own_network_is_a_file_next_to_the_entry(board):
    agent = f"{CACTI}/mine.safetensors"
    enter(CACTI, "mine", f"{agent}-mcts:100")
    assert fails() == f"{SCORE}: there is no file {agent}"
    shutil.copy(shipped(make("cacti"))[2], agent)
    assert fails() == f"{SCORE}: {agent}-mcts:100 has another network now: score it again"
    play_and_enter(agent)
    assert len(rows()) == 1
    README.write_text(PAGE, "utf-8")
    assert garden_here("leaderboard", *REPLAY, "--seed", 0)[1] is None


# --- wrong files and arguments ---


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"author": "a | b"}, "author"),
        ({"author": "\u202ea"}, "author and command are one line without control"),
        ({"command": "two\nlines"}, "author and command are one line"),
        ({"date": "12"}, "date"),
        ({"decisions": -1}, "decisions"),
        ({"knowledge": 1}, "knowledge"),
        ({"elo": "3000"}, "unknown field `elo`"),
    ],
)
def test_wrong_descriptions_are_refused(board, changes, message):
    enter(CACTI, "mine", **changes)
    assert re.match(rf"leaderboard/cacti-2/mine.toml\b.*{message}", fails())


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (
            "grandmaster",
            "an agent is a built-in one, leaderboard/cacti-2/NAME.safetensors, .* not 'grandmaster'",
        ),
        ("leaderboard/cacti-2/../x.safetensors", "an agent is a built-in one"),
        ("leaderboard/mars-2/x.safetensors", "an agent is a built-in one"),
        ("module:a | b", "an agent is a built-in one"),
        ("program:" + "x" * 200, "an agent is a built-in one"),
        ("mcts:0.5s", "give mcts:0.5s simulations"),
        ("network-mcts:1s", "give network-mcts:1s simulations"),
    ],
)
def test_wrong_agents_are_refused(board, agent, message):
    enter(CACTI, "mine", agent)
    assert re.match(rf"{SCORE}: {message}", fails())


LONG = "10" * 20
MADE_UP = made_up("cacti-2", "mcts:5")


def results(games, *members):
    """Results in which some members have other blocks of games."""
    return {"results": MADE_UP["results"] | dict.fromkeys(members or MADE_UP["results"], games)}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 0}, "it is of 'cacti-2', version 0, not cacti-2, version 1: score the agent again"),
        ({"task": "mars-2"}, "it is of 'mars-2', version 1, not cacti-2, version 1: score the agent again"),
        ({"weights": "0" * 16}, "mcts:5 has another network now: score it again"),
        ({"seed": 1}, "its seed must be 0, the default, not 1"),
        ({"interval": 1}, "Expected `array`, got `int`"),
        ({"rating": 3000.0}, "by its results, it must say mcts:5 in cacti-2, version 1: rating "),
        ({"rating": float("nan")}, "by its results, it must say"),
        ({"against": []}, "by its results, it must say"),
        ({"private_cards": 1}, "it is not as garden score wrote it"),
        ({"agent": "greedy"}, "its opponents are not the field of cacti-2: score the agent again"),
        (results([LONG], "me"), "its opponents are not the field of cacti-2: score the agent again"),
        (results([]), "the results are not those of a score"),
        (results([LONG + "1"]), "the results are not"),
        (results(["13" * 20]), "the results are not"),
        (results(["10" * 41]), "the results are not"),
        (results([LONG, LONG]), "the results are not"),
        (results(["10" * 21], "random"), "the results are not"),
        (results([LONG, "10" * 25, "10"], "random"), "the results are not"),
    ],
)
def test_wrong_scores_are_refused(board, changes, message):
    change(**changes)
    assert fails(*REPLAY).startswith(f"{SCORE}: {message}")
    assert README.read_text("utf-8") == PAGE


def test_the_score_of_a_model_has_its_answers_and_settings(board):
    change(counts={}, text_agent={})
    assert len(rows()) == 1


def test_entries_have_two_files_in_the_folder_of_a_task(board):
    SCORE.rename(CACTI / "other.json")
    assert fails() == "leaderboard/cacti-2/mine.json cannot be read: No such file or directory"
    (CACTI / "mine.toml").unlink()
    assert fails() == "leaderboard/cacti-2/other.toml cannot be read: No such file or directory"
    (CACTI / "other.json").rename(CACTI / "-.json")
    assert "cacti-2: a file's name has letters, digits, '.', '_' and '-', not '-'" in fails()
    (CACTI / "-.json").unlink()
    assert fails().startswith("leaderboard has no entries")
    CACTI.rename("leaderboard/chess-2")
    assert "leaderboard/chess-2: folders have the names of tasks, which are botanicus-2" in fails()


def test_wrong_arguments_are_refused(board):
    assert fails("--replay", "cacti-2/none") == "there is no entry 'cacti-2/none'; one is cacti-2/mine"
    assert fails(*REPLAY[:3], 0) == "processes must be at least 1, not 0"
    assert fails("--folder", "nowhere").startswith("nowhere has no entries")
