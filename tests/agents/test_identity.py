"""Identities of agents: a change of an agent changes its digest, or the agent is known to change unseen."""

import json
import sys

import pytest
from garden_agents.evaluation import arena
from garden_agents.identity import UNSEEN, identity_of
from processes import garden_here, python

from garden_core import make

GAME = make("cacti")
FIRST = "lambda batch, rows: batch.action_mask[rows].argmax(1)"
MAKE = f"""
def make(game, seed):
    {{body}}
    return {FIRST}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, where the author's modules are."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in ("mine", "helper", "bots"):
            del sys.modules[name]


def digest(name="mine:make"):
    """The digest of an agent in a new process, as a command makes it."""
    code = (
        "from garden_agents.identity import identity_of; from garden_core import make;"
        f"print(identity_of({name!r}, make('cacti')).digest)"
    )
    return python("-c", code, cwd=".").stdout.strip()


def here(name="mine:make"):
    """Return the identity of an agent as this process sees it."""
    return identity_of(name, GAME)


VOUCHING = f"policy = {FIRST}\n    policy.digest = 'version 1'\n    return policy"


def test_code_without_a_digest_can_change_unseen(folder):
    (folder / "mine.py").write_text(MAKE.format(body="pass"), "utf-8")
    before = here()
    assert (before.digest[0], before.unseen) == (UNSEEN, "its policy has no attribute `digest`")
    assert before.digest == digest()
    (folder / "mine.py").write_text(MAKE.format(body="pass  # changed"), "utf-8")
    assert before.digest != digest()


def test_code_with_a_digest_is_seen(folder):
    mine, text = folder / "mine.py", MAKE.format(body=VOUCHING)
    mine.write_text(text, "utf-8")
    before = digest()
    assert before == here().digest
    assert not before.startswith(UNSEEN)
    for other in (text.replace("version 1", "version 2"), text + "# changed\n"):
        mine.write_text(other, "utf-8")
        assert digest() != before
    mine.write_text(text.replace("'version 1'", "2"), "utf-8")
    del sys.modules["mine"]
    with pytest.raises(ValueError, match="agent mine:make: its digest must be a string, not 2"):
        here()


def test_a_program_can_change_unseen(folder):
    (folder / "bot.py").write_text("print(1)", "utf-8")
    name = f"program:{sys.executable} bot.py"
    before = here(name)
    assert (before.digest[0], before.unseen) == (UNSEEN, "it is a program")
    (folder / "bot.py").write_text("print(2)", "utf-8")
    assert here(name).digest != before.digest


@pytest.mark.parametrize("name", ["greedy", "network-mcts:2"])
def test_agents_of_this_project_are_known(name, folder):
    assert (here(name).unseen, here(name).digest) == ("", digest(name))


def test_search_that_a_module_guides(folder):
    body = "import garden_agents\n    network = garden_agents.load('cacti')\n    network.digest = '1'\n    return network"
    (folder / "mine.py").write_text(MAKE.format(body=body), "utf-8")
    before = digest("mine:make-mcts:2")
    assert not before.startswith(UNSEEN)
    (folder / "mine.py").write_text(MAKE.format(body=body.replace("'1'", "'2'")), "utf-8")
    assert before != digest("mine:make-mcts:2")


# --- the arena ---


def arena_here(*agents, more=()):
    words = "arena cacti --games 4 --processes 1 --output x.json"
    return garden_here(words, *agents, *more)[1]


def test_the_arena_plays_again_what_can_change_unseen(folder, played, capsys):
    (folder / "mine.py").write_text(MAKE.format(body="pass"), "utf-8")
    agents = ["random", "greedy", "mine:make"]
    arguments = arena.Arguments("cacti", agents, games=4, processes=1, output=folder / "x.json")
    arena.main(arguments)
    assert len(played) == 3
    assert "unseen" not in capsys.readouterr().err
    arena.main(arguments)
    assert [job.opponent for job in played[3:]] == ["mine:make"] * 2
    assert (
        f"mine:make can change unseen, as its policy has no attribute `digest`: its games in {folder / 'x.games.jsonl'} are played again; "
        "--unchanged mine:make keeps them"
    ) in capsys.readouterr().err
    assert arena_here(*agents, more=["--unchanged", "mine:make"]) is None
    assert len(played) == 5
    message = arena_here(*agents, more=["--unchanged", "chess"])
    assert "unchanged names an agent that does not play: chess" in message
    results = json.loads((folder / "x.json").read_text("utf-8"))["results"]
    assert [r["games"] for r in results] == [4, 4, 4]
