"""Names from strangers: none imports code, runs a program or opens a file, at whichever place it comes in."""

import ast
import json
import sys
from pathlib import Path

import msgspec
import pytest
from entries import enter, made_up
from garden_agents import untrusted_agent
from garden_agents.evaluation import leaderboard
from garden_agents.play import rooms, web
from garden_agents.play.match import Arguments, Match, agents_of, new_replay
from garden_agents.registry import make_game
from garden_agents.report import played
from garden_agents.report.run_files import Config
from garden_agents.text.session import Session

from garden_core import RandomPolicy, Replay, UntrustedError, make, record, untrusted_game
from garden_core.files.formats import checksum

ROOT = Path(__file__).parents[2]
GAMES = ["trap:Pig", "trap", "os:system", "../outside", "", "cacti\0", "cacti_env:Cacti", "x" * 10_000]
AGENTS = [
    "trap:Pig",
    "trap:Pig-mcts:5",
    "trap:Pig?a=1",
    "program:touch {mark}",
    "program*8@1s:touch {mark}",
    "program:touch {mark}-mcts:5",
    "{folder}/run",
    "{folder}/x.onnx",
    "{folder}-mcts:100",
    "mcts:3000000",
    "mcts:999999999",
    "mcts:99s",
    "network-mcts:10000",
    "network-mcts:9999999s",
    "greedy-mcts:5",
    "human",
    "openai:model",
    "mcts:５",
    "greedy\n",
    "",
]
CODE = [
    agent for agent in AGENTS if agent.startswith(("program", "openai")) or agent.endswith(("Pig", "Pig?a=1"))
]
OPTIONS = [
    {"cards": "/dev/zero"},
    {"cards": "{folder}/cards.toml"},
    {"cards": ["x"]},
    {"num_players": 10**9},
    {"nothing": 1},
]


@pytest.fixture
def filled(trap, tmp_path):
    """Return a function that fills names with the mark and a folder, and one that checks that the mark is not there."""
    (tmp_path / "cards.toml").write_text("secret", "utf-8")

    def fill(value):
        text = json.dumps(value).replace("{mark}", str(trap)).replace("{folder}", str(tmp_path))
        return json.loads(text)

    yield fill
    assert not trap.exists()
    assert "trap" not in sys.modules


def requested(game="cacti", options=None, agent="greedy"):
    """As OpenEnv and verifiers do."""
    Session.requested(game, options or {}, agent)


@pytest.fixture(scope="module")
def server():
    game = make("cacti")
    replay = new_replay(game, 1)
    arguments = Arguments("cacti", seats=["human", "random"])
    return web.Server(Match(replay, arguments.seats, agents_of(arguments.seats, game, 1, False)), arguments)


def page(server, game="cacti", options=None, agent="greedy"):
    """As a page that asks the server for a new game."""
    text = {"type": "new", "game": game, "seats": ["human", agent], "options": options or {}, "seed": "1"}
    server._described_match(rooms.decode(json.dumps(text)))


def from_config(tmp_path, game="cacti", options=None, agent="greedy"):
    """As the report of a run's folder."""
    untrusted_agent(agent)
    texts = {name: str(value) for name, value in (options or {}).items()}
    config = msgspec.convert({"arguments": {"game": game, "options": texts}, "data_files": {}}, Config)
    played._game(config, None, tmp_path)


def replayed(game="cacti", options=None, agent="greedy"):
    """As a replay."""
    untrusted_agent(agent)
    content = record(make("cacti"), [RandomPolicy(0), RandomPolicy(1)], seed=1).content()
    del content["checksum"]
    content |= {"game": game, "options": content["options"] | (options or {})}
    Replay.parse(json.dumps(content | {"checksum": checksum(content)}).encode())


def submitted(tmp_path, game="cacti", options=None, agent="greedy"):
    """As an entry of the leaderboard, which may name code that is not run."""
    untrusted_game(game, {})
    folder = tmp_path / "board" / f"{game}-2"
    enter(folder, "entry", agent, made_up(folder.name, agent) | (options or {}))
    leaderboard.read_entries(folder.parent)


@pytest.fixture(params=["requested", "page", "config", "replay", "leaderboard"])
def entrance(request, server, tmp_path):
    """Each place where a stranger's names come in, as a function of game, options and agent."""
    return {
        "requested": requested,
        "page": lambda **names: page(server, **names),
        "config": lambda **names: from_config(tmp_path, **names),
        "replay": replayed,
        "leaderboard": lambda **names: submitted(tmp_path, **names),
    }[request.param]


@pytest.mark.parametrize("game", GAMES)
def test_games(game, entrance, filled):
    with pytest.raises((ValueError, TypeError)):
        entrance(game=game)


@pytest.mark.parametrize("agent", AGENTS)
def test_agents(agent, entrance, filled, request):
    place = request.node.callspec.params["entrance"]
    if (place, agent) == ("page", "human"):
        return
    if place == "leaderboard" and agent in CODE:
        entrance(agent=filled(agent))
        return
    with pytest.raises((ValueError, TypeError)):
        entrance(agent=filled(agent))


@pytest.mark.parametrize("options", OPTIONS)
def test_options(options, entrance, filled):
    with pytest.raises((ValueError, TypeError)) as raised:
        entrance(options=filled(options))
    assert "secret" not in str(raised.value)


def test_what_is_allowed(server, tmp_path):
    untrusted = {"game": "mars", "options": {"num_players": 2, "peaks": 2}, "agent": "mcts:9999"}
    requested(**untrusted | {"agent": "mcts:10"})
    page(server, **untrusted)
    from_config(tmp_path, **untrusted)
    assert untrusted_agent("own:agent", own=["own:agent"]) == "own:agent"
    assert untrusted_game("pig", {}, own="pig:Pig").name == "pig"
    with pytest.raises(UntrustedError):
        make_game("cacti", None, {"cards": "x.toml"}, {})


SERVERS = ["examples/openenv", "examples/verifiers", "garden_core/files", "agents/garden_agents/play/worker"]
READERS = ["agents/garden_agents/play/rooms.py", "agents/garden_agents/text/session.py"]
TRUSTING = {
    "make",
    "game_class",
    "as_game",
    "make_game",
    "imported",
    "import_module",
    "load_agent",
    "eval",
    "exec",
}
ALLOWED = {
    ("session.py", "load_agent"),  # its caller's opponent; `requested` checks it
    ("local.py", "import_module"),  # of the page's own list of games
    ("disk.py", "make"),  # a function of this name
}


def test_what_reads_strangers_names_uses_no_other_way():
    """A server or reader that is added to these folders must use `untrusted_game` and `untrusted_agent`."""
    paths = [*map(Path, READERS)]
    for folder in SERVERS:
        paths += [path for path in sorted((ROOT / folder).rglob("*.py")) if "build" not in path.parts]
    used = set()
    for path in paths:
        for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in TRUSTING:
                used.add((path.name, node.func.id))
    assert used <= ALLOWED
