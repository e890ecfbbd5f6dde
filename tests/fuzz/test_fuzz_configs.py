"""A stranger's or a damaged run's folder: a run that goes on, or an error in one line."""

import os
import random
import signal
import tomllib

import fuzzing
import pytest
import tomli_w
from garden_agents.plots import plot
from garden_agents.training.arguments import command_line, open_run
from garden_agents.training.checkpoint import CHECKPOINT
from garden_agents.training.measures import TeamScore, WinRates
from garden_agents.training.ppo import Arguments
from garden_agents.training.run_folder import Run
from garden_agents.untrusted import is_built_in

from cacti_env.cards import PACKAGED
from garden_core import UntrustedError, list_games, make
from garden_core.files.data import DataFile
from garden_core.files.disk import write_atomically

ERRORS = (ValueError, TypeError, UntrustedError)  # which `command_line` prints in one line, like any OSError


def run_folder(folder):
    """Make a run's folder as far as `open_run` reads it; return the content of its config."""
    game = make("cacti", cards=DataFile("cards.toml", PACKAGED.read_text("utf-8")))
    run = object.__new__(Run)
    run.folder, run.game, run.command = folder, game, "garden train cacti"
    run.past, run.measure = [], TeamScore(game, 1, 0)
    pool = {"pool_share": 0.5, "pool_agents": ("greedy", "mcts:50")}
    run.arguments = Arguments("cacti", options={"cards": "cards.toml"}, minutes=2.0, **pool)
    run.write_config()
    (folder / CHECKPOINT).write_bytes(b"")
    return tomllib.loads((folder / "config.toml").read_text("utf-8"))


def opened(folder):
    """Take up a run; what comes out names no code or file of the config's own, and nothing of endless size."""
    run, _ = fuzzing.outcome(lambda: open_run(Arguments(resume=folder)), ERRORS)
    if run is not None:
        _, arguments, game, _ = run
        assert game.name in list_games()
        assert all(map(is_built_in, arguments.pool_agents))
        assert arguments.hidden <= 16_384
        assert arguments.threads <= 1024
        assert all(label.isprintable() for label in game.labels)
    return run


def written(config):
    return tomli_w.dumps(config).encode()


@fuzzing.each_block
def test_changed_and_damaged_configs(numbers, tmp_path):
    content, path = run_folder(tmp_path), tmp_path / "config.toml"

    def load(path):
        return opened(path.parent)

    def with_arguments(arguments):
        return written(content | {"arguments": arguments})

    assert fuzzing.load_changed(load, path, content["arguments"], with_arguments, numbers)
    fuzzing.load_changed(load, path, content, written, numbers)
    fuzzing.load_damaged(load, path, written(content), numbers)


CLAIMS = [
    {"game": "os:system"},
    {"pool_agents": ["os:system"]},
    {"pool_agents": ["/tmp/network.safetensors"]},
    {"pool_agents": ["mcts:1000000000"]},
    {"pool_agents": ["mcts:9999999s"]},
    {"options": {"cards": "/dev/zero"}, "game": "botanicus"},
    {"options": {"max_decisions": "[" * 100_000}},
    {"hidden": 10**9},
    {"threads": 10**9},
    {"envs": 10**9},
    {"channels": 10**9},
    {"rollout": 10**12},
    {"learning_rate": float("nan")},
    {"options": {"max_decisions": "9" * 5000}},
    {"minutes": float("inf")},
    {"\x1b[2J" * 1000: 1},
    {"seed": 2**63, "steps": 2**63 - 1},
]


@pytest.mark.parametrize("claim", CLAIMS)
def test_claims(claim, tmp_path):
    content = run_folder(tmp_path)
    assert opened(tmp_path) is not None
    content["arguments"] |= claim
    if "options" in claim and "game" in claim:
        del content["data_files"]
    (tmp_path / "config.toml").write_bytes(written(content))
    assert opened(tmp_path) is None


def test_a_config_that_claims_wide_layers_is_refused_before_they_are_built(tmp_path):
    content = run_folder(tmp_path)
    content["arguments"] |= {"hidden": 16_384, "channels": 16_384, "network": "flat"}
    (tmp_path / "config.toml").write_bytes(written(content))
    from garden_agents.training.sb3 import train

    with pytest.raises(ValueError, match=CHECKPOINT), fuzzing.within(20):
        train(Arguments(resume=tmp_path))


@pytest.mark.parametrize("name", ["config.toml", CHECKPOINT, "metrics.csv", "evaluations.csv"])
def test_no_files(name, tmp_path):
    """Each file of the folder in turn is a device, a pipe, a link to nowhere, …"""
    (tmp_path / "special").mkdir()
    for number, path in enumerate(fuzzing.special_paths(tmp_path / "special")):
        if name.endswith(".csv") and not os.path.exists(path):
            continue  # a run without these
        if name == CHECKPOINT and path.name == "huge":
            continue  # which is noticed when it is loaded: test_fuzz_checkpoints
        folder = tmp_path / str(number)
        folder.mkdir()
        run_folder(folder)
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(path)

        def taken_up(folder=folder):
            open_run(Arguments(resume=folder))
            rewound(folder, {})

        with pytest.raises((*ERRORS, OSError, SystemExit)) as raised, fuzzing.within(5):
            taken_up()
        fuzzing.check_message(raised.value)


def rewound(folder, tables):
    """Let a run go back to decision 100 with these tables."""
    for name, content in tables.items():
        (folder / name).write_bytes(content)
    run = object.__new__(Run)
    run.folder, run.past, run.seconds_before = folder, [], 0.0
    run.measure = WinRates(make("cacti"), 1, 0, ("random",), 1)
    run.rewind(100, 0.0)


@fuzzing.each_block
def test_damaged_tables(numbers, tmp_path):
    whole = {
        "metrics.csv": b"decisions,seconds,loss\n50,1.5,nan\n100,3.0,0.25\n150,4.5,0.1\n",
        "evaluations.csv": b"decisions,seconds,random,kept\n50,1.5,0.75,50\n100,3.0,0.8,100\n",
    }
    for number in numbers:
        rng = random.Random(number)
        tables = {name: fuzzing.damaged(content, rng) for name, content in whole.items()}
        fuzzing.outcome(lambda tables=tables: rewound(tmp_path, tables), ValueError, names=".csv is damaged")


def test_pickles(tmp_path):
    for content in fuzzing.pickles(tmp_path / "marker"):
        run_folder(tmp_path)
        (tmp_path / "config.toml").write_bytes(content)
        assert opened(tmp_path) is None
        for table in ("metrics.csv", "evaluations.csv"):
            with pytest.raises(ValueError, match=f"{table} is damaged"):
                rewound(tmp_path, {table: content})
            (tmp_path / table).unlink()
    assert not (tmp_path / "marker").exists()


def test_links_in_a_strangers_folder_lead_no_writing_elsewhere(tmp_path, monkeypatch):
    victim, folder = tmp_path / "victim", tmp_path / "run"
    victim.write_text("precious", "utf-8")
    folder.mkdir()
    for name in ("config.toml", "curve.png", "game.json"):
        (folder / name).symlink_to(victim)
        (folder / f".{name}.{signal.SIGINT}.tmp").symlink_to(victim)
    monkeypatch.setattr("os.getpid", lambda: int(signal.SIGINT))  # as if it had been guessed
    with plot(folder / "curve.png", 1, (2, 2)):
        pass
    write_atomically(folder / "game.json", b"{}")
    write_atomically(folder / "config.toml", b"")
    assert victim.read_text("utf-8") == "precious"
    assert not any((folder / name).is_symlink() for name in ("config.toml", "curve.png", "game.json"))


@pytest.mark.parametrize("error", [MemoryError("no room"), OSError(28, "No space left"), TypeError("b")])
def test_commands_end_in_one_line(error):
    def train(arguments):
        raise error

    with pytest.raises(SystemExit, match=r"\Aerror: .*\Z"):
        command_line(train, Arguments, [])
