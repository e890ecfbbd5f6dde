"""Arguments that all training methods share, and the config.toml that records them with a run."""

from __future__ import annotations

import dataclasses
import itertools
import math
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar, get_args

import msgspec
import tyro

from garden_agents.cluster import LOCAL
from garden_agents.errors import one_line_errors
from garden_agents.evaluation.run_files import CONFIG, read_config
from garden_agents.games import hints_of
from garden_agents.networks.architecture import WIDEST, Architecture, Kind
from garden_agents.registry import is_built_in, make_game
from garden_agents.training.checkpoint import CHECKPOINT
from garden_core.checks import one_line, short
from garden_core.files.data import DataFile, parsed, read
from garden_core.game import Game
from garden_core.registry import game_class, list_games

METHODS = ("ppo", "expert-iteration")  # the first is the default
TRAINERS = ("own", "sb3")  # of ppo; the first is the default
DEFAULTS = "training.toml"  # a game's own defaults, in the folder of its `Hints`
LIMITS = ("steps", "minutes")
"""Arguments that a resumed run can have anew."""
PLACES = ("ray", "workers")
"""Arguments that say where a run is played, which can be others when it is resumed."""
T = TypeVar("T", bound="TrainingArguments")


@dataclass
class TrainingArguments:
    """Arguments that all training methods share."""

    trainer: ClassVar[str]
    """Name of the section with its arguments in a game's `training.toml`."""
    command: ClassVar[str] = "garden train"
    """The command, with the options that choose the method and trainer."""
    agent_arguments: ClassVar[tuple[str, ...]] = ("panel",)
    """Arguments that are names of agents, which may be code."""

    game: tyro.conf.Positional[str] = ""
    """name of an installed game, or module:Class"""
    num_players: int | None = None
    """number of players; the game's default if not given"""
    options: dict[str, str] = field(default_factory=dict)
    """other options of the game, name and value in turn, for example: --options peaks 2 gardeners 2"""
    minutes: float | None = None
    """training time in minutes, summed over resumes, evaluations excluded"""
    seed: int = 0
    """seed of the games, the initial weights and all random choices"""
    run: Path | None = None
    """folder for the results; runs/GAME-DATE-TIME if not given"""
    resume: Path | None = None
    """folder of a run to continue, with other limits (minutes, steps) or places (ray, workers); code is named again"""

    network: Kind = "auto"
    """architecture of the network: board, flat, or auto for board where the game has a board"""
    channels: int = 32
    """number of channels of the board network"""
    hidden: int = 128
    """width of the hidden layers"""
    separate_values: bool = False
    """in the flat network, read the values from hidden layers of their own: twice the work, better values"""
    threads: int = 2
    """number of threads of torch and of search; 1 is safer on a busy machine"""

    panel: tuple[str, ...] = ("random", "greedy", "mcts:50")
    """agents that evaluations during the training play against; the network with the highest mean win rate is kept"""
    evaluations: int | None = None
    """number of evenly spaced evaluations; if not given one per five minutes, at least two (four if only steps are limited)"""
    panel_games: int = 32
    """games against each agent of the panel in an evaluation"""
    eval_games: int = 600
    """games against random and against greedy in the final evaluation; 0 for no final evaluation"""

    def __post_init__(self) -> None:
        self._within(1, WIDEST, "channels", "hidden")
        self._within(1, 1024, "threads")
        self._within(1, 10**9, "panel_games")
        self._within(0, 10**9, "evaluations", "eval_games")
        self._within(0, math.inf, "seed")
        self._within(None, 10**9, "minutes")
        for name, value in vars(self).items():
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"{name} must be a finite number, not {value}")
        if self.network not in get_args(Kind):
            raise ValueError(f"network must be {', '.join(get_args(Kind))}, not {short(self.network)}")
        if self.seed >= 2**63:  # others are counted from it
            raise ValueError(f"seed must be less than 2**63, not {short(self.seed)}")
        if self.minutes is not None and not self.minutes > 0:
            raise ValueError(f"minutes must be more than 0, not {self.minutes}")

    def _within(self, low: float | None, high: float, *names: str) -> None:
        """Raise ValueError for an argument below `low`, if that is not None, or above `high`."""
        for name in names:
            value = getattr(self, name)
            if value is None:
                continue
            if low is not None and not value >= low:
                raise ValueError(f"{name} must be at least {low}, not {short(value)}")
            if not value <= high:
                raise ValueError(f"{name} must be at most {high:,}, not {short(value)}")

    def evaluation_count(self, minutes: float | None) -> int:
        """Return the number of evaluations in a training of `minutes` (None: limited by steps only)."""
        if self.evaluations is not None:
            return self.evaluations
        return 4 if minutes is None else max(2, round(minutes / 5))

    @classmethod
    def for_game(cls, game: str, **given: Any) -> Self:
        """Return the arguments given, and for all others the game's own defaults (`training.toml` in the folder of its `Hints`).

        Raises:
            ValueError: if there is no such game, or its file has an argument that this trainer does not have.
        """
        folder = hints_of(game_class(game)).folder
        path = None if folder is None else folder / DEFAULTS
        defaults = parsed(read(path).content).get(cls.trainer, {}) if path and path.exists() else {}
        try:
            return cls(game=game, **(defaults | given))
        except TypeError as error:
            raise ValueError(f"{path}: {error}") from None

    @property
    def architecture(self) -> Architecture:
        """The network's architecture."""
        return Architecture(self.network, self.channels, self.hidden, self.separate_values)


def open_run(arguments: T) -> tuple[Path, T, Game, str]:
    """Return a run's folder, its arguments, its game with the reward "margin", and the command that repeats it.

    A resumed run has the arguments in its config.toml, except for LIMITS if one is given, and for PLACES.

    Raises:
        SystemExit: if no game is named, the folder of a new run holds a run already, or that of a resumed run none; for
            the game's option "reward".
        ValueError: for a config that is damaged, or names code or networks that the command line does not name; for
            arguments that a resumed run cannot change.
    """
    data_files = None
    if arguments.resume is None and not arguments.game:
        raise SystemExit(f"name a game to train on; installed are {', '.join(list_games())}")
    if arguments.resume is None:
        name = arguments.game.rpartition(":")[2].lower()
        folder = arguments.run or Path("runs") / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
        if (folder / CHECKPOINT).exists():
            raise SystemExit(
                f"{folder} holds a run already: continue it with --resume {folder}, or choose another --run"
            )
    else:
        folder = arguments.resume
        missing = [name for name in (CONFIG, CHECKPOINT) if not (folder / name).is_file()]
        if missing:
            raise SystemExit(f"{folder} holds no run to resume: {' and '.join(missing)} missing")
        stored, data_files = _read_config(folder / CONFIG, type(arguments))
        _check_named(stored, arguments, folder / CONFIG)
        given = vars(arguments)
        limits = {name: given[name] for name in LIMITS if name in given}
        if not any(value is not None for value in limits.values()):
            limits = {}
        places = {name: given[name] for name in PLACES if name in given}
        if places.get("workers", 0) is None:
            del places["workers"]
        _check_kept(stored, arguments)
        arguments = dataclasses.replace(stored, **limits, **places, resume=folder)
    if "reward" in arguments.options:
        raise SystemExit(
            "training sets the option reward itself: what it maximises are arguments of the training"
        )
    game = make_game(arguments.game, arguments.num_players, arguments.options, data_files)
    defaults = type(arguments).for_game(arguments.game)
    game = game.with_options(reward="margin")
    garden, train, *choices = arguments.command.split()
    words = [garden, train, arguments.game, *choices]
    for name, value in plain(arguments).items():
        if name != "game" and value != getattr(defaults, name):
            option = name.replace("_", "-")
            if isinstance(value, bool):
                words += [f"--{option}" if value else f"--no-{option}"]
                continue
            values = itertools.chain(*value.items()) if isinstance(value, dict) else value
            words += [f"--{option}"]
            words += map(str, values) if isinstance(value, dict | tuple | list) else [str(value)]
    if getattr(arguments, "ray", None) is not None:  # not its address; a local cluster does as well
        words += ["--ray", LOCAL]
    return folder, arguments, game, shlex.join(words)


def in_words(game: Game) -> str:
    """Return a game's title, its number of players, and the options that are not at their default.

    The reward is left out, as each trainer makes what it maximises from the margin.
    """
    values = {option.name: game.shown_options[option.name] for option in game.options}
    defaults = game.defaults | {"num_players": game.num_players}
    chosen = [f"{name} {value}" for name, value in values.items() if value != defaults[name]]
    return ", ".join([game.title, f"{game.num_players} player{'s' * (game.num_players > 1)}", *chosen])


def _check_kept(stored: TrainingArguments, given: TrainingArguments) -> None:
    """Raise ValueError if an argument is given that a resumed run cannot change."""
    free = {"game", "run", "resume", *LIMITS, *PLACES, *given.agent_arguments}
    for name, default in vars(type(given)()).items():
        value = getattr(given, name)
        if name not in free and value not in (default, getattr(stored, name)):
            kept = short(getattr(stored, name))
            raise ValueError(f"a resumed run keeps its {name}, here {kept}: leave it out")


def _read_config(path: Path, kind: type[T]) -> tuple[T, dict[str, DataFile]]:
    """Return a run's arguments, and its data files by option."""
    config = read_config(path)
    try:
        unknown = set(config.arguments) - {field.name for field in dataclasses.fields(kind)}
        if unknown:
            raise ValueError(f"unknown arguments {', '.join(map(short, sorted(unknown)))}")
        arguments = msgspec.convert(config.arguments, kind, dec_hook=lambda form, value: form(value))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no config of this training method: {one_line(error)}") from None
    files = {name: DataFile(f"{name} in {path}", text) for name, text in config.data_files.items()}
    return arguments, files


def _check_named(stored: TrainingArguments, given: TrainingArguments, path: Path) -> None:
    """Raise ValueError for code and files that a config names and the command line does not."""
    if ":" in stored.game and stored.game != given.game:
        raise ValueError(
            f"{path} names code as its game: to run it, give {short(stored.game)} on the command line too"
        )
    for argument in stored.agent_arguments:
        names = getattr(stored, argument)
        external = {name for name in names if not is_built_in(name)}
        if not external <= set(getattr(given, argument)):
            what = f"--{argument.replace('_', '-')}"
            raise ValueError(
                f"{path} names code, networks or long searches in {what}: to use them, give {what} "
                f"{one_line(' '.join(map(short, names)))} on the command line too"
            )


def command_line(train: Callable[[Any], Path], kind: type[TrainingArguments], words: Sequence[str]) -> None:
    """Run `train` with the arguments on a command line.

    Raises:
        SystemExit: with a message of one line, for wrong arguments, damaged files and after Ctrl-C.
    """
    with one_line_errors("stopped; to continue, give the same command with --resume and the run's folder"):
        arguments = tyro.cli(kind, args=words, prog=kind.command)
        if arguments.resume is None and arguments.game:
            arguments = tyro.cli(kind, args=words, prog=kind.command, default=kind.for_game(arguments.game))
        train(arguments)


def plain(arguments: Any) -> dict[str, Any]:
    """Return arguments as config.toml holds them: without those that are None, the run's folder and the cluster."""
    values = dataclasses.asdict(arguments)
    kept = {key: v for key, v in values.items() if v is not None and key not in ("run", "resume", "ray")}
    return {key: str(v) if isinstance(v, Path) else v for key, v in kept.items()}
