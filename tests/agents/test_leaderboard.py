"""The leaderboard: tables that follow from the kept games alone, files that are checked, games that are missing."""

import re
import shutil
import sys
from datetime import date
from pathlib import Path

import msgspec
import pytest
import tomli_w
from garden_agents import load_agent
from garden_agents.evaluation import leaderboard
from garden_agents.evaluation.leaderboard import read_tables
from garden_agents.matches.pairs import Job, play_job
from garden_agents.networks.network_agent import shipped
from own_agents import change_weights
from processes import ROOT, garden, garden_here, python

from garden_core import make
from garden_core.files.disk import Lock
from garden_core.plugins import imported

TABLES = sorted(path.parent.name for path in (ROOT / "leaderboard").glob("*/games.jsonl"))
BOT = """
def make(game, seed):
    return lambda batch, rows: batch.action_mask[rows].argmax(1)

def quitting(game, seed):
    return lambda batch, rows: [-1] * len(rows)
"""
PAGE = "# Ratings\n\n<!-- begin ratings -->\n<!-- end ratings -->\nThe end.\n"


README = Path("leaderboard/README.md")
CACTI = Path("leaderboard/cacti-2")
KEPT = CACTI / "games.jsonl"


def enter(name, agent, folder=CACTI, **changes):
    """Add an entry."""
    entry = {"agent": agent, "author": "Someone", "date": date(2026, 11, 24), "command": "garden arena"}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.toml").write_text(tomli_w.dumps(entry | changes), "utf-8")


@pytest.fixture
def board(tmp_path, monkeypatch):
    """A leaderboard with entries for Cacti, in a current folder that has a module `their_bot` too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("their_bot", None)
    Path("their_bot.py").write_text(BOT, "utf-8")
    for agent in ("random", "greedy"):
        enter(agent, agent)
    README.write_text(PAGE, "utf-8")


@pytest.fixture
def table(board):
    """That leaderboard with games."""
    assert play() == ""


def play(*arguments, games=60, game="cacti"):
    """Play what is missing; return what was printed."""
    printed, message = garden_here(f"leaderboard --play {game} --games {games} --processes 1", *arguments)
    assert message is None
    return printed


def fails(*arguments):
    """The message of a command that fails."""
    _, message = garden_here("leaderboard", *arguments)
    assert message is not None
    assert "\n" not in message
    return message


def rows():
    """Return the page's tables, a dict of cells by column for each line with a rating."""
    lines = README.read_text("utf-8").splitlines()
    cells = [re.split(r" *\| *", line)[1:-1] for line in lines if line.startswith("| [")]
    return [dict(zip(leaderboard.COLUMNS, row, strict=True)) for row in cells]


# --- this project's leaderboard ---


@pytest.fixture
def ours(tmp_path, monkeypatch):
    """A copy of this project's leaderboard, its tables blanked out."""
    shutil.copytree(ROOT / "leaderboard", tmp_path / "leaderboard")
    monkeypatch.chdir(tmp_path)
    README.write_text(leaderboard._PART.sub("", README.read_text("utf-8")), "utf-8")


def test_two_processes_do_not_play_for_one_leaderboard(board):
    held = Lock(README.parent)
    assert "leaderboard is in use by another process" in garden_here("leaderboard", "--play", "cacti")[1]
    assert not KEPT.exists()
    held.close()


def test_kept_games_give_the_same_bytes_in_every_process_and_order(ours):
    blank, expected = README.read_bytes(), (ROOT / README).read_bytes()
    assert blank != expected
    for seed in ("1", "2"):
        README.write_bytes(blank)
        garden("leaderboard", cwd=Path.cwd(), PYTHONHASHSEED=seed)
        assert README.read_bytes() == expected, "run: garden leaderboard"
        for path in README.parent.glob("*/games.jsonl"):
            head, *lines = path.read_text("utf-8").splitlines()
            path.write_text("\n".join([head, *reversed(lines)]) + "\n", "utf-8")


@pytest.fixture(params=TABLES)
def our_table(request, monkeypatch):
    """A table of this project's leaderboard."""
    monkeypatch.chdir(ROOT)
    return next(t for t in read_tables(README.parent) if t.folder.name == request.param)


def test_baselines_and_networks_are_entered_and_every_agent_loads(our_table):
    assert {"random", "greedy", "network"} <= our_table.entries.keys()
    assert any(agent.startswith("mcts:") for agent in our_table.entries)
    assert our_table.game == make(our_table.game.name, num_players=our_table.game.num_players)
    for agent, entry in our_table.entries.items():
        if entry.is_code:
            assert callable(imported(agent, "agent"))
        else:
            load_agent(agent, our_table.game)
    assert {agent for block in our_table.done for agent in block[:2]} == our_table.entries.keys()


@pytest.mark.parametrize(
    "agents", ["random greedy", pytest.param("random greedy mcts:50", marks=pytest.mark.long)]
)
def test_kept_games_are_what_the_agents_play(our_table, agents):
    """If this fails, agents or rules have changed: delete the games of such agents and play them again.

    Networks are left out, as the last digits of their outputs may differ between machines.
    """
    blocks = [block for block in sorted(our_table.done) if {*block[:2]} <= {*agents.split()} and not block[2]]
    assert blocks
    for block in blocks:
        job, _, played, _ = msgspec.structs.astuple(our_table.done[block])
        assert play_job(our_table.game, Job(*job), leaderboard.SEED) == played, block


# --- playing ---


def test_only_missing_games_are_played(board, played):
    play()
    assert played == [("greedy", "random", 0, 50), ("greedy", "random", 1, 10)]
    before = {path: path.read_bytes() for path in README.parent.rglob("*.*")}
    play()
    assert len(played) == 2
    enter("other", "mcts:2", games=5)
    play()
    assert played[2:] == [("greedy", "mcts:2", 0, 6), ("mcts:2", "random", 0, 6)]
    (CACTI / "other.toml").unlink()
    lines = KEPT.read_text("utf-8").splitlines(keepends=True)
    KEPT.write_text("".join(line for line in lines if "mcts" not in line), "utf-8")
    assert garden_here("leaderboard") == ("", None)
    assert {path: path.read_bytes() for path in README.parent.rglob("*.*")} == before


def test_more_games_replace_a_part_of_a_job(table, played):
    play(games=100)
    assert played == [("greedy", "random", 1, 50)]
    assert rows()[0]["games"] == "100"


def test_numpy_has_one_thread(board):
    """In a process that has not imported it yet; the number of threads can change a network's answers."""
    code = (
        "import sys; from garden_agents.commands import main; assert 'numpy' not in sys.modules;"
        "main(['leaderboard']); import os; print(os.environ['OPENBLAS_NUM_THREADS'])"
    )
    assert python("-c", code, cwd=Path.cwd(), OPENBLAS_NUM_THREADS="2").stdout == "1\n"


def test_an_interrupted_command_goes_on(board, played, monkeypatch):
    def interrupted(game, job, play_job=play_job, **settings):
        if job.block == 1:
            raise KeyboardInterrupt
        return play_job(game, job, **settings)

    with monkeypatch.context() as patch:
        patch.setattr("garden_agents.matches.pairs.play_job", interrupted)
        assert fails("--play", "cacti", "--processes", 1).startswith("stopped; the same command continues")
    play()
    assert played == [("greedy", "random", 1, 10)]


def test_games_of_three_have_two_lineups_per_pair(board):
    for agent in ("random", "greedy"):
        enter(agent, agent, Path("leaderboard/mars-3"))
    play("--num-players", 3, game="mars", games=4)
    first, last = rows()
    assert first["entry"] == "[greedy](../leaderboard/mars-3/greedy.toml)"
    assert first["games"] == "12"  # one among two of the other, and the other way round
    assert re.fullmatch(r"[\d.]+% \(.*\) of 6", first["wins against the next"])
    assert (last["agent"], last["wins against the next"]) == ("`random`", "")
    assert last["rating"].startswith("0 ±")


def test_win_rate_against_the_next_where_the_pair_is_the_other_way_round(board):
    (CACTI / "random.toml").unlink()
    enter("strong", "mcts:20")
    play()
    first, last = rows()
    assert (first["agent"], last["agent"]) == ("`mcts:20`", "`greedy`")
    assert last["rating"].startswith("0 ±")
    won, low, high = map(float, re.findall(r"([\d.]+)%", first["wins against the next"]))
    assert won > 50
    assert low < won < high


# --- agents that are code, and networks that change ---


def test_code_runs_only_if_it_is_named(board, trap, played):
    enter("trap", "trap:make")
    printed = play()
    assert "cacti-2: trap:make is left out: it is code, which --code trap:make allows to run" in printed
    assert garden_here("leaderboard", "--check")[1] is None
    assert not trap.exists()
    assert all("trap:make" not in job for job in played)


def test_code_that_is_named_plays(board):
    """Also if it gives up all its games."""
    for name in ("make", "quitting"):
        enter(name, f"their_bot:{name}", games=10)
    assert play("--code", "their_bot:make", "their_bot:quitting") == ""
    games = {row["agent"]: row["games"] for row in rows()}
    bots = {"`their_bot:make`": "30", "`their_bot:quitting`": "30"}
    assert games == {"`greedy`": "80", "`random`": "80"} | bots
    page = README.read_text("utf-8")
    assert "`their_bot:quitting` gave up 30 of these games, which it lost." in page
    assert garden_here("leaderboard", "--check") == ("", None)


def test_games_of_an_agent_whose_library_is_missing_count(board):
    enter("bot", "their_bot:make", games=10)
    play("--code", "their_bot:make")
    page = README.read_bytes()
    Path("their_bot.py").write_text("import no_such_library\n" + BOT, "utf-8")
    sys.modules.pop("their_bot", None)
    printed = play("--code", "their_bot:make")
    assert (
        "cacti-2: their_bot:make is left out: agent their_bot:make cannot be imported: No module" in printed
    )
    assert README.read_bytes() == page


@pytest.mark.parametrize("search", ["", "-mcts:2"])
def test_games_of_another_network_are_played_again(table, played, search):
    path = CACTI / "mine.safetensors"
    shutil.copy(shipped(make("cacti"))[2], path)
    agent = f"{path}{search}"
    enter("mine", agent, games=2)
    play()
    change_weights(path, make("cacti"))
    message = f"{agent} has another network now than in these games; garden leaderboard --play cacti plays them again"
    assert message in fails("--check")
    played.clear()
    play()
    assert played == [("greedy", agent, 0, 2), (agent, "random", 0, 2)]
    assert garden_here("leaderboard", "--check") == ("", None)


# --- damaged files ---


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"agent": "grandmaster"}, "an agent is a built-in one, module:attribute, or .*, not 'grandmaster'"),
        ({"agent": "program:rm"}, "an agent is a built-in one, .* not 'program:rm'"),
        ({"agent": "leaderboard/cacti-2/../x.safetensors"}, "an agent is a built-in one"),
        ({"agent": "leaderboard/cacti-2/none.safetensors"}, "unknown agent 'leaderboard/cacti-2/none"),
        ({"agent": "mcts:0.5s"}, "give mcts:0.5s simulations"),
        ({"agent": "greedy"}, "greedy is the agent of leaderboard/cacti-2/greedy.toml too"),
        ({"author": "a | b"}, "author"),
        ({"author": "\u202ea"}, "author and command are one line without control"),
        ({"command": "two\nlines"}, "command"),
        ({"date": "12"}, "date"),
        ({"games": 0}, "games"),
        ({"elo": "3000"}, "unknown field `elo`"),
    ],
)
def test_wrong_entries_are_refused(table, changes, message):
    enter("new", **({"agent": "mcts:5"} | changes))
    assert re.match(rf"error: leaderboard/cacti-2/new.toml\b.*{message}", fails())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("chess-2", "a folder is called GAME-PLAYERS, and games are botanicus, cacti, mars"),
        ("os:system-2", "a folder is called GAME-PLAYERS"),
        ("cacti-7", "num_players must be"),
    ],
)
def test_folders_of_unknown_games_are_refused(board, name, message):
    (README.parent / name).mkdir()
    assert re.match(f"error: leaderboard/{name}: .*({message})", fails())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"version":0', '"version":1', "line 1: it must be "),
        ('["greedy"', '["strong"', "line 2: no entry has the agent 'strong'"),
        ('["greedy","random"', '["random","greedy"', "line 2: random against greedy is no pair"),
        ('"random",1,10]', '"random",0,10]', "line 3: the digest is not that of these games"),
        ('"random",1,10]', '"random",1,12]', "line 3: the results are not those of a job"),
        ("[[[0,1]", "[[[1,0]", "line 2: the digest is not that of these games"),
        ("[[[0,1]", "[[[1,1]", "line 2: the results are not those of a job"),
        ('"sources":["",', '"sources":["a",', "line 2: the digest is not"),
        ('{"job"', '<<<<<<<\n{"job"', "line 2: "),
    ],
)
def test_changed_games_are_refused(table, old, new, message):
    text = KEPT.read_text("utf-8")
    assert old in text
    KEPT.write_text(text.replace(old, new, 1), "utf-8")
    before = KEPT.read_bytes()
    for arguments in ((), ("--check",), ("--play", "cacti")):
        assert f"error: leaderboard/cacti-2/games.jsonl, {message}" in fails(*arguments)
    assert KEPT.read_bytes() == before


def test_games_that_are_there_twice_or_cut_off(table):
    text = KEPT.read_text("utf-8")
    KEPT.write_text(text + text.splitlines()[1] + "\n", "utf-8")
    assert "line 4: block 0 of greedy against random is there twice" in fails()
    KEPT.write_text(text[:-40], "utf-8")
    assert "games.jsonl, line 3: " in fails()
    KEPT.write_bytes(b"\xff\xfe")
    assert "games.jsonl, line 1: it must be" in fails()


def test_a_page_that_is_not_current_or_has_no_place_for_tables(table):
    assert garden_here("leaderboard", "--check") == ("", None)
    README.write_text(README.read_text("utf-8").replace("60", "61"), "utf-8")
    changed = README.read_bytes()
    assert fails("--check") == "error: leaderboard/README.md is not current: run garden leaderboard"
    assert README.read_bytes() == changed
    README.write_text("# Ratings\n", "utf-8")
    assert "must have the lines <!-- begin ratings --> and <!-- end ratings --> once" in fails()
    README.unlink()
    assert fails() == "error: leaderboard/README.md: No such file or directory"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--check", "--play", "cacti"), "--check writes nothing, so it does not go with --play"),
        (("--num-players", 2), "--num-players and --code say what to --play"),
        (("--play", "cacti", "--num-players", 3), "leaderboard has cacti-2"),
        (("--play", "cacti", "--code", "greedy"), "no entry has the agent 'greedy'"),
        (("--play", "cacti", "--games", 0), "games must be at least 1, not 0"),
        (("--folder", "nowhere"), "nowhere has no leaderboard"),
    ],
)
def test_wrong_arguments_are_refused(board, arguments, message):
    assert fails(*arguments).startswith(f"error: {message}")
    assert not KEPT.exists()
