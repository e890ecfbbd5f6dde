"""`garden export`: a game and its agents for browsers and other hosts of WebAssembly."""

from __future__ import annotations

import base64
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FunctionType
from typing import Any

import msgspec
import numpy as np
import tyro
from safetensors.numpy import load, save

from garden_agents.errors import one_line_errors
from garden_agents.networks.network_agent import NetworkAgent, shipped
from garden_agents.registry import value_of
from garden_agents.wasm.compiler import compile_module
from garden_agents.wasm.entries import AGENTS, RULES, Array, arrays, entry, with_network
from garden_agents.wasm.entries import arguments as arguments_of
from garden_core.batch.choices import GREEDY, RANDOM
from garden_core.batch.policies import NETWORK_STREAM, SEARCH_STREAM
from garden_core.files.disk import write_atomically
from garden_core.game import Game
from garden_core.options import REWARD, Option
from garden_core.registry import game_class

FORMAT = 2
"""Version of the description's format."""
STREAMS = {"random": RANDOM, "greedy": GREEDY, "search": SEARCH_STREAM, "network": NETWORK_STREAM}
"""Purposes of agents' random numbers, see `garden_core.batch.policies.Streams`."""
SCRIPTS = ("game.js", "game.d.ts")
"""Files of this package that are copied."""
CHILD = """
import json, sys
sys.path[:], game, folder, options, networks = json.load(sys.stdin)
from garden_agents.wasm.export import Arguments, Path, write
write(Arguments(game, Path(folder), options, tuple(map(Path, networks))))
"""
"""What a process of its own runs."""
MOST_VALUES = 20
"""Largest number of values of an option whose settings are listed one by one."""
MOST_SETTINGS = 10_000
"""Largest number of settings, combinations of options, in a file."""


@dataclass
class Arguments:
    """Write a game and its agents as a WebAssembly module, with an ES module that plays it in browsers and in Node."""

    game: tyro.conf.Positional[str]
    """name of an installed game, or module:Class"""
    folder: tyro.conf.Positional[Path]
    """folder for GAME.wasm, GAME.json, game.js, game.d.ts and the networks"""
    options: dict[str, str] = field(default_factory=dict)
    """data files in place of the packaged ones, as names and values"""
    network: tuple[Path, ...] = ()
    """folders of runs or network files, in place of the pretrained networks for the same numbers of players"""

    @property
    def fixed(self) -> dict[str, Any]:
        """The options as values."""
        return {name: value_of(text) for name, text in self.options.items()}


class Exported:
    """A game's module and its description, in the making.

    Settings (combinations of options) whose states have the same record type share their functions; the names of the functions
    of the second type end with _1, and so on.
    """

    def __init__(self, game: type[Game], fixed: dict[str, Any], networks: Sequence[Path] = ()) -> None:
        self.game, self.fixed = game, fixed
        self.default = game(**fixed)
        self.direct = [option.name for option in self._options() if self._is_direct(option)]
        """Options that are written into the params as they are."""
        self.kinds: list[Game] = []
        self.spaces: list[dict[str, Any]] = []
        self.settings: dict[str, Any] = {}
        listed = [option for option in self._options() if option.name not in self.direct]
        if (count := math.prod(len(self._values(option)) for option in listed)) > MOST_SETTINGS:
            raise ValueError(
                f"{game.name} has {count:,} combinations of options, and a file lists {MOST_SETTINGS:,} at most; options of more "
                f"than {MOST_VALUES} whole numbers are not listed, so widen the range of some: {', '.join(o.name for o in listed)}"
            )
        for chosen in self._combinations(listed):
            self._add(chosen)
        self.networks = self._pretrained() | dict(map(self._network, networks))
        """Networks by number of players, each with its game."""

    def _options(self) -> list[Option]:
        return [option for option in (*self.game.options, REWARD) if not option.is_file]

    def _is_direct(self, option: Option) -> bool:
        return len(self._values(option)) == 0

    def _values(self, option: Option) -> Sequence[Any]:
        """Return the values of an option; none if they are too many to be listed."""
        if isinstance(option.default, bool):
            return False, True
        if option.choices or option.low is None or option.high is None:
            return option.choices
        values = range(option.low, option.high + 1)
        return values if len(values) <= MOST_VALUES else ()

    def _combinations(self, listed: Sequence[Option]) -> Iterator[dict[str, Any]]:
        for values in itertools.product(*map(self._values, listed)):
            yield dict(zip((option.name for option in listed), values, strict=True))

    def _add(self, chosen: dict[str, Any]) -> None:
        try:
            game = self.game(**self.fixed | chosen)
        except ValueError:
            return  # options that exclude each other
        kinds = [kind.state_dtype for kind in self.kinds]
        if game.state_dtype not in kinds:
            self.kinds.append(game)
            kinds.append(game.state_dtype)
        number = kinds.index(game.state_dtype)
        if game.num_actions > self.kinds[number].num_actions:
            self.kinds[number] = game  # a node has room for the actions of all settings
        space = {
            "num_actions": game.num_actions,
            "observation_shape": game.observation_shape,
            "labels": game.labels,
            "observation_parts": [asdict(part) for part in game.observation_parts],
            "action_parts": [asdict(part) for part in game.action_parts],
        }
        if space not in self.spaces:
            self.spaces.append(space)
        self.settings[json.dumps(list(chosen.values()), separators=(",", ":"))] = {
            "params": base64.b64encode(game.params.tobytes()).decode(),
            "kind": number,
            "space": self.spaces.index(space),
            "tables": game.tables_digest,
        }

    def _network(self, path: Path) -> tuple[int, tuple[Game, NetworkAgent]]:
        """Return the number of players, the game and the agent of a network's file, or of a run's folder.

        Raises:
            ValueError: as `NetworkAgent.load`, for a network that was trained with other data.
        """
        made = NetworkAgent.load(path, self.default, allow_other_options=True).config["options"]
        known = [option.name for option in self._options() if option.name in made]
        game = self.default.with_options(**{name: made[name] for name in known})
        agent = NetworkAgent.load(path, game)
        direct = {name: self.default.option_values[name] for name in self.direct}  # in a module, not compared
        return game.num_players, (game.with_options(**direct), agent)

    def _pretrained(self) -> dict[int, tuple[Game, NetworkAgent]]:
        """Return the game's pretrained networks that fit its data."""
        found = {}
        for players, path in shipped(self.default).items():
            game = self.default.with_options(num_players=players)
            try:
                found[players] = game, NetworkAgent.load(path, game)
            except ValueError:
                continue  # trained with other data
        return found

    def description(self, functions: dict[str, Any]) -> dict[str, Any]:
        """Return the description for GAME.json; `functions` are the exported ones of each kind and network."""
        game = self.default
        return {
            "format": FORMAT,
            "name": game.name,
            "title": game.title,
            "version": game.version,
            "summary": game.summary,
            "max_players": game.max_players,
            "streams": STREAMS,
            "options": [
                {
                    "name": o.name,
                    "default": self.default.option_values[o.name],
                    "help": o.help,
                    "note": o.note,
                }
                | (
                    {"values": list(self._values(o))}
                    if o.name not in self.direct
                    else {"low": o.low, "high": o.high}
                )
                for o in self._options()
            ],
            "settings": self.settings,
            "spaces": self.spaces,
            "params": fields_of(game.params_dtype),
            **functions,
        }


def fields_of(dtype: np.dtype) -> dict[str, Any]:
    """Return size and fields of a record type: offset, type and shape by name."""
    fields: Any = dtype.fields
    described = {
        name: [place, kind.base.str[1:], list(kind.shape)] for name, (kind, place, *_) in fields.items()
    }
    return {"size": dtype.itemsize, "fields": described}


def array_of(array: Array) -> list[Any]:
    """Return type, bytes of an entry, shape, and the array whose memory it is."""
    kind = "record" if array.dtype.names else array.dtype.str[1:]
    return [kind, array.dtype.itemsize, list(array.shape), array.same]


def _script(name: str) -> bytes:
    """Return a script, with the version of the format that it reads."""
    return (Path(__file__).parent / name).read_bytes().replace(b"FORMAT = 0", f"FORMAT = {FORMAT}".encode())


def _numbered(function: Callable[..., Any], number: int) -> Callable[..., Any]:
    """Return a copy of a function, with a number in its name unless it is 0."""
    plain = getattr(function, "py_func", function)
    name = f"{plain.__name__}_{number}" if number else plain.__name__
    return FunctionType(plain.__code__, plain.__globals__, name, plain.__defaults__, plain.__closure__)


def exported(exported: Exported) -> tuple[bytes, dict[str, Any], dict[str, bytes]]:
    """Return the module, its description, and the networks' files by name."""
    entries, kinds = [], []
    for number, game in enumerate(exported.kinds):
        known = arrays(game, None, {})
        functions = {function.__name__: _numbered(function, number) for function in (*RULES, *AGENTS)}
        entries += [entry(function, game, known) for function in functions.values()]
        kinds.append(
            {
                "state": fields_of(game.state_dtype),
                "functions": {name: [f.__name__, arguments_of(f)] for name, f in functions.items()},
                "arrays": {name: array_of(array) for name, array in known.items()},
            }
        )
    networks, files = {}, {}
    made: list[tuple[Any, dict[str, Any], dict[str, int]]] = []
    for players, (game, agent) in exported.networks.items():
        layers = {name: shape for name, shape in agent.network.layers.items() if name != "values"}
        architecture = layers, agent.value_target
        if architecture not in [each for each, *_ in made]:
            functions_of, sizes = with_network(agent, game)
            named = {f.__name__: _numbered(f, len(made)) for f in functions_of}
            entries += [entry(f, game, arrays(game, agent, sizes)) for f in named.values()]
            made.append((architecture, named, sizes))
        _, named, sizes = next(each for each in made if each[0] == architecture)
        file = f"{game.name}-{players}.safetensors"
        files[file] = _content(agent)
        networks[str(players)] = {
            "file": file,
            "tables": game.tables_digest,
            "weights": [[name, list(shape)] for name, shape in agent.network.shapes.items()],
            "functions": {name: [f.__name__, arguments_of(f)] for name, f in named.items()},
            "arrays": {name: array_of(array) for name, array in arrays(game, agent, sizes).items()},
        }
    module = compile_module(entries)
    return module, exported.description({"kinds": kinds, "networks": networks}), files


def _content(agent: NetworkAgent) -> bytes:
    """Return the file of a network; of one that learned several numbers of players, with the values of its game's seats."""
    assert agent.path is not None  # it was loaded
    content = agent.path.read_bytes()
    if load(content)["values.weight"].shape == agent.network.shapes["values.weight"]:
        return content
    return save(dict(agent.network.weights), {"config": json.dumps(agent.config)})


@one_line_errors()
def main(arguments: Arguments) -> None:
    """Write the files.

    A process of its own compiles everything anew: code from the cache, which several processes wrote, makes larger modules.

    Raises:
        SystemExit: for an unknown game, data that cannot be read, or a missing linker.
    """
    game = game_class(arguments.game)(**arguments.fixed)
    print(f"compiling {game.title}", flush=True)
    Exported(type(game), arguments.fixed, arguments.network)  # refuses what cannot be exported
    networks = [str(path) for path in arguments.network]
    given = json.dumps([sys.path, arguments.game, str(arguments.folder), arguments.options, networks])
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        done = subprocess.run(
            [sys.executable, "-c", CHILD], input=given, encoding="utf-8", env=environment, check=False
        )
    if done.returncode:
        raise SystemExit("error: the game was not exported")


@one_line_errors("stopped", RuntimeError)
def write(arguments: Arguments) -> None:
    """Compile with what the cache holds, and write the files."""
    made = Exported(game_class(arguments.game), arguments.fixed, arguments.network)
    module, description, files = exported(made)
    name, folder = made.default.name, arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    files |= {
        f"{name}.wasm": module,
        f"{name}.json": json.dumps(description, default=msgspec.to_builtins, separators=(",", ":")).encode(),
    }
    files |= {script: _script(script) for script in SCRIPTS}
    for file, content in files.items():
        write_atomically(folder / file, content)
        print(f"{folder / file}: {len(content) / 1000:,.0f} kB", flush=True)
