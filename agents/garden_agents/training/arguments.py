"""Arguments of both trainers, and the config.toml that keeps them in a run's folder."""

from __future__ import annotations

import dataclasses
import functools
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
from tyro.conf import Suppress

from garden_agents.command_help import REGISTRY
from garden_agents.errors import one_line_errors
from garden_agents.games import hints_of
from garden_agents.networks.architecture import WIDEST, Architecture, Kind
from garden_agents.networks.variants import Variants
from garden_agents.registry import make_game
from garden_agents.report.run_files import CONFIG, read_config
from garden_agents.training.checkpoint import CHECKPOINT
from garden_agents.training.pool import OpponentPool
from garden_agents.untrusted import is_built_in
from garden_core.batch.policies import Policy
from garden_core.checks import check_choice, one_line, short
from garden_core.errors import UntrustedError
from garden_core.files.data import DataFile, parsed, read
from garden_core.game import Game
from garden_core.registry import game_class, list_games

TRAINERS = {"own": "ppo", "sb3": "sb3"}
"""Modules of `garden_agents.training` by trainer."""
LIMITS = ("steps", "minutes")
"""Arguments that can change when a run is resumed."""
PAST_SELVES = 6
"""Largest number of past selves; when the pool is full, a new one replaces the one that is beaten most often."""
T = TypeVar("T", bound="TrainingArguments")


@dataclass
class TrainingArguments:
    """Arguments of every trainer."""

    trainer: ClassVar[str]
    """Name of the trainer's section in a game's `training.toml`."""
    command: ClassVar[str] = "garden train"
    """The command, with the option that chooses the trainer."""
    agent_arguments: ClassVar[tuple[str, ...]] = ()
    """Arguments that are names of agents; such a name may be code, `module:attribute`."""
    compared: ClassVar[bool] = True
    """Whether the best network is chosen by games between networks, or by the mean win rate against `opponents`."""
    from_scratch: ClassVar[tuple[str, ...]] = ()
    """Arguments whose defaults in a game's `training.toml` do not apply to a training that starts from a network."""
    pool_shares: ClassVar[tuple[float, float, float]]
    """Shares of random play, greedy play and past selves in the opponent pool."""

    game: tyro.conf.Positional[str] = ""
    """name of an installed game, or module:Class"""
    num_players: int | None = None
    """number of players; the game's default if not given"""
    options: dict[str, str] = field(default_factory=dict)
    """other options of the game, as names and values, for example: --options peaks 2 gardeners 2"""
    minutes: float | None = None
    """training time in minutes, summed over resumes, evaluations excluded"""
    seed: int = 0
    """seed of the games, the initial weights and all random choices"""
    run: Path | None = None
    """folder for the results; runs/GAME-DATE-TIME if not given, with a number at the end if there is one already"""
    resume: Path | None = None
    """folder of a run to continue; only --minutes and --steps can change, and the schedules (learning rate, objective, entropy
    bonus, imitation) keep the length that the run started with; arguments module:attribute must be given again"""

    network: Kind = "auto"
    """architecture of the network: board, flat, plain (flat without the game's own features), or auto (board if the game has a board, else flat)"""
    channels: int = 32
    """number of channels of the board network"""
    hidden: int = 128
    """width of the hidden layers"""
    separate_values: bool = False
    """flat network only: use separate hidden layers for the values, which is more work"""
    threads: int = 2
    """number of threads of torch; 1 is safer on a busy machine"""

    evaluations: int | None = None
    """number of evenly spaced evaluations, of a rating in a task of the benchmark, and elsewhere against random, greedy and mcts:50; default:
    one per five minutes, at least two (four if only steps are limited)"""
    evaluation_games: int = 400
    """games of an evaluation"""
    final_games: int | None = None
    """largest number of games of the final rating, 4,000 by default (garden score), or else of games against each opponent, by default 600;
    0 for no final evaluation"""

    steps: int | None = None
    """training length in decisions of the learner; default: no limit with --minutes, otherwise 2,000,000"""
    outcome: float = 0.0
    """initial weight of the result in the objective, 0 to 1, rising linearly to 1; the rest is the margin of points"""
    envs: int = 128
    """number of games played at once"""
    rollout: int = 32
    """number of decisions per game between two updates"""
    epochs: int = 3
    """number of passes over a rollout per update"""
    gae_lambda: float = 0.95
    """lambda of generalised advantage estimation"""
    entropy: float = 0.01
    """initial weight of the entropy bonus, falling linearly to 0.002"""
    checkpoint_every: int = 400_000
    """decisions of the learner between two checkpoints; past selves join the pool four times as often"""
    keep_checkpoints: int = 0
    """number of networks, evenly spread over the training, to keep in the run's folder as checkpoints/DECISIONS.safetensors"""
    schedule_steps: Suppress[int | None] = None  # --resume sets this and the next one
    """length of the schedules in decisions of the learner; default, if there is none in minutes: the training's length"""
    schedule_minutes: Suppress[float | None] = None
    """length of the schedules in minutes"""

    def __post_init__(self) -> None:
        self._within(1, WIDEST, "channels", "hidden")
        self._within(1, 1024, "threads")
        self._within(1, 10**9, "evaluation_games")
        self._within(0, 10**9, "evaluations", "final_games", "keep_checkpoints")
        self._within(0, 2**63 - 1, "seed")  # other seeds are counted from it
        self._within(1, 65_536, "envs", "rollout")
        self._within(1, math.inf, "epochs", "checkpoint_every")
        self._within(0, 1, "outcome", "gae_lambda")
        self._within(0, math.inf, "entropy")
        self._within(0, 10**15, "steps", "schedule_steps")
        self._within(-math.inf, 10**9, "minutes", "schedule_minutes")
        for name in ("minutes", "schedule_minutes"):
            minutes = getattr(self, name)
            if minutes is not None and minutes <= 0:
                raise ValueError(f"{name} must be more than 0, not {minutes}")
        for name, value in vars(self).items():
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"{name} must be a finite number, not {value}")
        check_choice(self.network, "network", get_args(Kind))

    def _within(self, low: float, high: float, *names: str) -> None:
        """Raise ValueError for an argument below `low` or above `high`."""
        for name in names:
            value = getattr(self, name)
            if value is None:
                continue
            if not value >= low:
                raise ValueError(f"{name} must be at least {low}, not {short(value)}")
            if not value <= high:
                raise ValueError(f"{name} must be at most {high:,}, not {short(value)}")

    @classmethod
    def for_game(cls, game: str, **given: Any) -> Self:
        """Return arguments with the game's own defaults (`training.toml` in the folder of its `Hints`) for those not given.

        Raises:
            ValueError: if there is no such game, or its file has an argument that the trainer does not have.
        """
        folder = hints_of(game_class(game)).folder
        path = None if folder is None else folder / "training.toml"
        defaults = parsed(read(path).content).get(cls.trainer, {}) if path and path.exists() else {}
        if given.get("start") is not None:
            defaults = {name: value for name, value in defaults.items() if name not in cls.from_scratch}
        try:
            return cls(game=game, **(defaults | given))
        except TypeError as error:
            raise ValueError(f"{path}: {error}") from None

    @property
    def architecture(self) -> Architecture:
        """The network's architecture."""
        return Architecture(self.network, self.channels, self.hidden, self.separate_values)

    @property
    def played(self) -> Variants:
        """The variants to learn from, besides the game."""
        return Variants()

    @property
    def opponents(self) -> tuple[str, ...]:
        """Opponents in the evaluations, in place of a rating; () for the usual ones."""
        return ()

    @property
    def max_steps(self) -> int:
        """Largest number of decisions."""
        if self.steps is None:
            return 2_000_000 if self.minutes is None else 10**12
        return self.steps

    @property
    def max_seconds(self) -> float:
        """Largest number of seconds."""
        return math.inf if self.minutes is None else self.minutes * 60

    @property
    def schedule_limits(self) -> dict[str, float | None]:
        """The length of the schedules, as `schedule_steps` and `schedule_minutes`: as given, or the training's."""
        if self.schedule_steps or self.schedule_minutes:
            return {"schedule_steps": self.schedule_steps, "schedule_minutes": self.schedule_minutes}
        steps = self.max_steps if self.minutes is None else self.steps
        return {"schedule_steps": steps, "schedule_minutes": self.minutes}

    def pool(self, agents: Sequence[Policy] = ()) -> OpponentPool:
        """Return an opponent pool that includes `agents`."""
        return OpponentPool(self.pool_shares, PAST_SELVES, agents)


def open_run(arguments: T) -> tuple[Path, T, Game, str]:
    """Return a run's folder, its arguments, its game with the reward "margin", and the command that repeats it.

    A resumed run has the arguments of its config.toml. A limit that is given replaces both limits.

    Raises:
        SystemExit: if no game is named, the folder of a new run already contains a run, or the folder to resume contains
            none; for the game's option "reward".
        ValueError: for a config that is damaged, or names code or networks that the command line does not name; for
            arguments that a resumed run cannot change.
    """
    data_files = None
    if arguments.resume is not None:
        folder = arguments.resume
        missing = [name for name in (CONFIG, CHECKPOINT) if not (folder / name).is_file()]
        if missing:
            raise SystemExit(f"{folder} holds no run to resume: {' and '.join(missing)} missing")
        stored, data_files = _read_config(folder / CONFIG, type(arguments))
        _check_named(stored, arguments, folder / CONFIG)
        _check_kept(stored, arguments, type(arguments)())
        limits = {name: getattr(arguments, name) for name in LIMITS}
        if all(limit is None for limit in limits.values()):
            limits = {}
        elif limits != {name: getattr(stored, name) for name in LIMITS}:
            limits |= stored.schedule_limits
        arguments = dataclasses.replace(stored, **limits, resume=folder)
    elif not arguments.game:
        raise SystemExit(f"name a game to train on; installed are {', '.join(list_games())}")
    else:
        name = arguments.game.rpartition(":")[2].lower()
        folder = arguments.run or Path("runs") / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
        if arguments.run is not None:
            check_empty(folder)
    if "reward" in arguments.options:
        raise SystemExit(
            "training sets the option reward itself: its objective follows from the arguments of the training"
        )
    game = make_game(arguments.game, arguments.num_players, arguments.options, data_files)
    return folder, arguments, game.with_options(reward="margin"), _command(arguments)


def check_empty(folder: Path) -> None:
    """Raise SystemExit if a folder contains a run."""
    if (folder / CHECKPOINT).exists():
        raise SystemExit(
            f"{folder} holds a run already: continue it with --resume {shlex.quote(str(folder))}, or choose another --run"
        )


def _command(arguments: TrainingArguments) -> str:
    """Return the command that repeats a run."""
    words = arguments.command.split()
    words.insert(2, arguments.game)
    defaults = type(arguments).for_game(arguments.game)
    for name, value in plain(arguments).items():
        option = name.replace("_", "-")
        if value == getattr(defaults, name):
            continue
        if isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
            continue
        if isinstance(value, dict):
            value = [*itertools.chain(*value.items())]
        words += [f"--{option}", *map(str, value if isinstance(value, tuple | list) else [value])]
    return shlex.join(words)


def in_words(game: Game) -> str:
    """Return a game's title, its number of players, and the options that are not at their default.

    The reward is not included: it is always the margin, from which each trainer makes its objective.
    """
    shown = game.shown_options
    chosen = [
        f"{option.name} {shown[option.name]}"
        for option in game.options
        if option.name != "num_players" and shown[option.name] != option.default
    ]
    return ", ".join([game.title, f"{game.num_players} player{'s' * (game.num_players > 1)}", *chosen])


def _check_kept(stored: TrainingArguments, given: TrainingArguments, defaults: TrainingArguments) -> None:
    """Raise ValueError if an argument that differs from its default is given, and a resumed run cannot change it."""
    free = {"game", "run", "resume", *LIMITS, *given.agent_arguments}
    for name, default in vars(defaults).items():
        value = getattr(given, name)
        if name not in free and value not in (default, getattr(stored, name)):
            kept = short(getattr(stored, name))
            raise ValueError(f"a resumed run keeps its {name}, here {kept}: leave it out")


def _read_config(path: Path, kind: type[T]) -> tuple[T, dict[str, DataFile]]:
    """Return the arguments in a run's config, and its data files by option."""
    config = read_config(path)
    try:
        unknown = set(config.arguments) - {field.name for field in dataclasses.fields(kind)}
        if unknown:
            raise ValueError(f"unknown arguments {', '.join(map(short, sorted(unknown)))}")
        arguments = msgspec.convert(config.arguments, kind, dec_hook=lambda form, value: form(value))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no config of this trainer: {one_line(error)}") from None
    files = {name: DataFile(f"{name} in {path}", text) for name, text in config.data_files.items()}
    return arguments, files


def _check_named(stored: TrainingArguments, given: TrainingArguments, path: Path) -> None:
    """Raise ValueError if a config names code or files that the command line does not name."""
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
    """Run `train` with the arguments of a command line.

    Raises:
        SystemExit: with a one-line message, for wrong arguments, damaged files and after Ctrl-C.
    """
    stopped = "stopped; to continue, give the same command with --resume and the run's folder"
    with one_line_errors(stopped, UntrustedError):  # a damaged config can name a file that it does not hold
        parse = functools.partial(tyro.cli, kind, args=words, prog=kind.command, registry=REGISTRY)
        arguments = parse()
        if arguments.resume is None and arguments.game:
            start = getattr(arguments, "start", None)
            default = kind.for_game(arguments.game, **({} if start is None else {"start": start}))
            arguments = parse(default=default)
        elif arguments.resume is not None and (arguments.resume / CONFIG).exists():
            stored, _ = _read_config(arguments.resume / CONFIG, kind)
            _check_kept(stored, parse(default=stored), stored)
        train(arguments)


def plain(arguments: Any) -> dict[str, Any]:
    """Return arguments for config.toml: without the run's folder and arguments that are None."""
    return {
        name: str(value) if isinstance(value, Path) else value
        for name, value in dataclasses.asdict(arguments).items()
        if value is not None and name not in ("run", "resume")
    }
