"""The command `garden`: train, exploit, play, arena, leaderboard, record, report, replay, warm-up."""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType

USAGE = """\
usage: garden COMMAND ...

commands, each with its own --help:
  train GAME              train an agent by self-play; --method ppo (default) or expert-iteration, and for ppo
                          --trainer own (default) or sb3, Stable-Baselines3's
  exploit GAME            train a best response to --agent NAME: how often can that agent be beaten?
  play GAME               play in the terminal, or with --web on a page in the browser, against agents or other people
  arena GAME AGENT ...    play a round robin between agents: win rates and ratings
  leaderboard             compute the leaderboard's ratings from its kept games; --play GAME plays what is missing
  record GAME             write games between --agents NAME ... to one small file, a dataset
  report RUN              make a page of a training run: results, curves, how its network plays
  replay FILE             verify a recorded game and show its moves; make it a page or a film
  warm-up [GAME ...]      compile the games now, all installed ones by default
"""


CLOSED_PIPE = 128 + 13
"""Exit status after the reader of the output has closed its pipe, as a shell reports SIGPIPE."""


def main(words: Sequence[str] | None = None) -> None:
    """Run a command.

    Args:
        words: the command and its arguments; those of the process by default.

    Raises:
        SystemExit: with a message if the command fails; without one after --help.
    """
    words = sys.argv[1:] if words is None else list(words)
    if not words or words[0] in ("-h", "--help"):
        print(USAGE, end="")
        return
    command = COMMANDS.get(words[0])
    if command is None:
        raise SystemExit(f"garden has no command {words[0]!r}\n\n{USAGE.rstrip()}")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # of characters that a terminal lacks
    try:
        with _sigterm_as_ctrl_c():
            command(words[1:])
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has gone, as in `garden replay FILE | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(CLOSED_PIPE) from None
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        wanted = {"train": words[0] in ("train", "exploit"), "web": "--web" in words}
        extra = ",".join(name for name in wanted if wanted[name]) or "play"
        raise SystemExit(
            f"`garden {words[0]}` needs the package {package!r}: pip install 'garden-envs[{extra}]'"
        ) from error


@contextlib.contextmanager
def _sigterm_as_ctrl_c() -> Iterator[None]:
    """Treat SIGTERM as Ctrl-C, after which a command keeps what it has done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        handler = signal.getsignal(
            signal.SIGINT
        )  # shells start background commands of scripts with SIGINT ignored
        (handler if callable(handler) else signal.default_int_handler)(signal.SIGINT, frame)

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _train(words: list[str]) -> None:
    from garden_agents.training import arguments

    method, words = _split_option(words, "--method", arguments.METHODS)
    trainer, words = _split_option(words, "--trainer", arguments.TRAINERS)
    module = {
        "ppo": "ppo" if trainer == arguments.TRAINERS[0] else trainer,
        "expert-iteration": "expert_iteration",
    }
    training = importlib.import_module(f"garden_agents.training.{module[method]}")
    arguments.command_line(training.train, training.Arguments, words)


def _split_option(words: list[str], option: str, choices: Sequence[str]) -> tuple[str, list[str]]:
    """Return the value of an option, the first of `choices` by default, and the command line without the option."""
    words = [
        part for word in words for part in (word.split("=", 1) if word.startswith(f"{option}=") else [word])
    ]
    if option not in words:
        return choices[0], words
    at = words.index(option)
    value = words[at + 1] if at + 1 < len(words) else ""
    if value not in choices:
        raise SystemExit(f"error: {option} must be {' or '.join(choices)}, not {value!r}")
    return value, words[:at] + words[at + 2 :]


def _exploit(words: list[str]) -> None:
    from garden_agents.training import arguments, exploit

    arguments.command_line(exploit.exploit, exploit.Arguments, words)


def _run(name: str, words: list[str]) -> None:
    """Run a command of a module with a class `Arguments` and a function `main`; `play --web` runs another module's `main`."""
    if name in ("arena", "leaderboard", "record"):
        # NumPy, here and in spawned processes, multiplies matrices on one thread: their number can change the last
        # digits of a network's answers, and with them games. It must be set before NumPy is imported.
        for library in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
            os.environ[library] = "1"
    import tyro

    module = importlib.import_module(f"garden_agents.{MODULES[name]}")
    arguments = tyro.cli(module.Arguments, args=words, prog=f"garden {name}")
    if name == "play" and arguments.web:
        module = importlib.import_module("garden_agents.play.web")
    module.main(arguments)


def _warm_up(words: list[str]) -> None:
    from garden_core.registry import list_games
    from garden_core.warm_up import warm_up

    if words and words[0] in ("-h", "--help"):
        print("usage: garden warm-up [GAME ...]\n\ncompile the games now, all installed ones by default")
        return
    try:
        for name in words or list_games():
            print(f"{name}: ready after {warm_up(name)[name]:.1f} s", flush=True)
    except ValueError as error:
        raise SystemExit(f"error: {error}") from error


MODULES = {
    "play": "play.terminal",
    "arena": "evaluation.arena",
    "leaderboard": "evaluation.leaderboard",
    "record": "evaluation.record",
    "report": "evaluation.report",
    "replay": "play.recorded",
}
"""By command its module."""
COMMANDS: dict[str, Callable[[list[str]], None]] = {
    "train": _train,
    "exploit": _exploit,
    **{name: functools.partial(_run, name) for name in MODULES},
    "warm-up": _warm_up,
}
