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


READING = {
    "numpy": "import numpy; numpy.load('weights', allow_pickle=True)",
    "a path": "from pathlib import Path; Path('weights').read_bytes()",
    "os": "import os; os.read(os.open('weights', os.O_RDONLY), 9)",
    "another folder": "exec(\"with open(__file__.replace('mine.py', 'weights'), 'rb') as file: file.read()\")",
}


@pytest.mark.parametrize(
    ("how", "where"),
    [*((how, "made") for how in READING), ("a path", "imported"), ("another folder", "helped")],
)
def test_files_that_an_agent_reads(folder, how, where):
    import numpy as np

    def retrain(number):
        with (folder / "weights").open("wb") as file:
            np.save(file, np.full(3, number))

    retrain(1)
    reading = READING[how]
    if where == "made":
        (folder / "mine.py").write_text(MAKE.format(body=reading), "utf-8")
    elif where == "imported":
        (folder / "mine.py").write_text(reading + MAKE.format(body="pass"), "utf-8")
    else:
        (folder / "helper.py").write_text(reading.replace("mine.py", "helper.py"), "utf-8")
        (folder / "mine.py").write_text(MAKE.format(body="import helper"), "utf-8")
    before = digest()
    assert not before.startswith(UNSEEN)
    assert digest() == before == here().digest == here().digest
    retrain(2)
    assert before != digest() == here().digest


def test_a_file_that_is_read_once_per_process_counts_each_time(folder):
    (folder / "weights").write_text("1", "utf-8")
    reading = (
        "__import__('functools').cache(lambda: __import__('pathlib').Path('weights').read_text('utf-8'))"
    )
    (folder / "mine.py").write_text(f"read = {reading}" + MAKE.format(body="read()"), "utf-8")
    first = here().digest
    assert first == here().digest
    (folder / "weights").write_text("2", "utf-8")
    assert first != here().digest == digest()


@pytest.mark.parametrize(
    ("files", "changed"),
    [
        ({"mine.py": "import helper" + MAKE.format(body="pass"), "helper.py": ""}, "helper.py"),
        ({"mine.py": MAKE.format(body="__import__('helper')"), "helper.py": ""}, "helper.py"),
        ({"mine.py": f"import helper\ndef make(game, seed): return {FIRST}", "helper.py": ""}, "mine.py"),
        (
            {
                "bots/__init__.py": "",
                "bots/one.py": "from .net import f" + MAKE.format(body="pass"),
                "bots/net.py": "from bots import parts\nf = 1",
                "bots/parts.py": "",
            },
            "bots/parts.py",
        ),
        # imported not until it plays:
        ({"mine.py": "def make(game, seed):\n def p(b, r):\n  import helper\n return p", "helper.py": ""}, "helper.py"),
    ],
)  # fmt: skip
def test_modules_of_the_author(folder, files, changed):
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    name = "bots.one:make" if "bots/one.py" in files else "mine:make"
    before = digest(name)
    assert not before.startswith(UNSEEN)
    assert digest(name) == before
    (folder / changed).write_text(files[changed] + "\n# changed\n", "utf-8")
    assert digest(name) != before


def test_unrelated_files_do_not_matter(folder):
    body = """for path, mode in (("log", "a"), ("new", "w"), ("both", "a+"), (os.devnull, "r")):
        with open(path, mode) as file: file.write("x") if mode in "aw" else file.read()"""
    (folder / "mine.py").write_text("import os, numpy, json, mars_env" + MAKE.format(body=body), "utf-8")
    before = digest()
    assert digest() == before
    (folder / "other.py").write_text("", "utf-8")
    assert digest() == before == here().digest


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import subprocess", "it uses subprocess"),
        ("from safetensors.numpy import load_file", "it uses safetensors"),
        ("import torch; read = torch.jit.load", "it uses torch.jit"),
        ("def later():\n    from sqlite3 import connect", "it uses sqlite3"),
        ("from helper import ask", "it uses socket"),
    ],
)
def test_agents_that_can_change_unseen(folder, text, why):
    (folder / "helper.py").write_text("from socket import socket as ask", "utf-8")
    (folder / "mine.py").write_text(text + MAKE.format(body="pass"), "utf-8")
    identity = here()
    assert identity.digest.startswith(UNSEEN)
    assert identity.unseen.startswith(why)


def test_a_program_can_change_unseen(folder):
    (folder / "bot.py").write_text("print(1)", "utf-8")
    name = f"program:{sys.executable} bot.py"
    before = here(name)
    assert (before.digest[0], before.unseen) == (UNSEEN, "it is a program")
    (folder / "bot.py").write_text("print(2)", "utf-8")
    assert here(name).digest != before.digest


def test_a_module_that_was_imported_before_may_have_read_files_then(folder):
    (folder / "mine.py").write_text(MAKE.format(body="pass"), "utf-8")
    __import__("mine")
    assert "imported before" in here().unseen


def test_an_agent_can_set_its_digest(folder):
    mine = folder / "mine.py"
    vouching = f"policy = {FIRST}\n    policy.digest = 'version 1'\n    return policy\n"
    text = "import subprocess" + MAKE.format(body=f"{READING['a path']}\n    {vouching}")
    (folder / "weights").write_text("1", "utf-8")
    mine.write_text(text, "utf-8")
    before = digest()
    assert not before.startswith(UNSEEN)
    (folder / "weights").write_text("2", "utf-8")
    assert digest() == before
    for other in (text.replace("version 1", "version 2"), text + "# changed\n"):
        mine.write_text(other, "utf-8")
        assert digest() != before
    mine.write_text(text.replace("'version 1'", "2"), "utf-8")
    with pytest.raises(ValueError, match="agent mine:make: its digest must be a string, not 2"):
        here()


@pytest.mark.parametrize("name", ["greedy", "network-mcts:2"])
def test_agents_of_this_project_are_known(name, folder):
    assert (here(name).unseen, here(name).digest) == ("", digest(name))


def test_search_that_a_module_guides(folder):
    body = f"{READING['a path']}\n    import garden_agents\n    return garden_agents.load('cacti')"
    (folder / "mine.py").write_text(MAKE.format(body=body), "utf-8")
    (folder / "weights").write_text("1", "utf-8")
    before = digest("mine:make-mcts:2")
    (folder / "weights").write_text("2", "utf-8")
    assert before != digest("mine:make-mcts:2")


# --- the arena ---


def arena_here(*agents, more=()):
    words = "arena cacti --games 4 --processes 1 --output x.json"
    return garden_here(words, *agents, *more)[1]


def test_the_arena_refuses_games_of_other_weights(folder):
    (folder / "weights").write_text("1", "utf-8")
    (folder / "mine.py").write_text(MAKE.format(body=READING["a path"]), "utf-8")
    for _ in range(2):
        assert arena_here("random", "mine:make") is None
    (folder / "weights").write_text("2", "utf-8")
    assert "mine:make has changed since its games in x.games.jsonl were played" in arena_here(
        "random", "mine:make"
    )


def test_the_arena_plays_again_what_can_change_unseen(folder, played, capsys):
    (folder / "mine.py").write_text("import socket" + MAKE.format(body="pass"), "utf-8")
    agents = ["random", "greedy", "mine:make"]
    arguments = arena.Arguments("cacti", agents, games=4, processes=1, output=folder / "x.json")
    arena.main(arguments)
    assert len(played) == 3
    assert "unseen" not in capsys.readouterr().err
    arena.main(arguments)
    assert [job.opponent for job in played[3:]] == ["mine:make"] * 2
    assert (
        f"mine:make can change unseen, as it uses socket: its games in {folder / 'x.games.jsonl'} are played again; "
        "--unchanged mine:make keeps them"
    ) in capsys.readouterr().err
    assert arena_here(*agents, more=["--unchanged", "mine:make"]) is None
    assert len(played) == 5
    message = arena_here(*agents, more=["--unchanged", "chess"])
    assert "unchanged names an agent that does not play: chess" in message
    results = json.loads((folder / "x.json").read_text("utf-8"))["results"]
    assert [r["games"] for r in results] == [4, 4, 4]
