"""The command `garden`; `USAGE` lists its commands."""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib
import io
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType

USAGE = """\
usage: garden COMMAND ...

commands, each with its own --help:
  train GAME              train an agent by PPO in self-play; --trainer own (default) or sb3, Stable-Baselines3's
  exploit GAME            train a best response to --agent NAME: how often can that agent be beaten?
  play GAME               play in the terminal, or with --web on a page in the browser, against agents or other people
  score AGENT             place an agent on the benchmark's scale: its rating in each task that it can play
  arena GAME AGENT ...    play a round robin between agents: win rates and ratings
  compare GAME A B        play A against B until it is clear whether A is stronger
  leaderboard             write the leaderboard's tables from its scores; --replay ENTRY plays some games of an entry again
  record GAME             write games between --agents NAME ... to one small file, a dataset
  report RUN              make a page of a training run: results, curves, how its network plays
  export GAME FOLDER      write a game and its agents for browsers, as WebAssembly
  replay FILE             verify a recorded game and show its moves; make a page or a film of it
  warm-up [GAME ...]      compile the games now, all installed ones by default
"""


CLOSED_PIPE = 128 + 13
"""Exit status after the reader of the output closed its pipe: a shell's status for SIGPIPE."""


def main(words: Sequence[str] | None = None) -> None:
    """Run a command.

    Args:
        words: the command and its arguments; `sys.argv[1:]` by default.

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
            stream.reconfigure(errors="replace")  # characters that the terminal lacks
    # NumPy must use one thread, also in spawned processes: the number of threads can change the last digits of a network's output,
    # and so the games; and small products are slower in several. The variables must be set before NumPy is imported.
    for library in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
        os.environ[library] = "1"
    try:
        with _sigterm_as_ctrl_c():
            command(words[1:])
        sys.stdout.flush()
    except BrokenPipeError:  # as in `garden replay FILE | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(CLOSED_PIPE) from None
    except ModuleNotFoundError as error:
        from garden_core.plugins import EXTRA

        package = (error.name or "").partition(".")[0]
        extras = _extras_with(package)
        if not extras:  # a module that the caller's own code needs
            raise
        trains = words[0] in ("train", "exploit") and not {"play", "sb3", "train"}.isdisjoint(extras)
        extra = "train" if trains else extras[0]
        raise SystemExit(
            f"`garden {words[0]}` needs the package {package!r}: {EXTRA.format(extra)}"
        ) from error


def _extras_with(package: str) -> list[str]:
    """Return the extras that install a package, given by the name that is imported."""
    from importlib.metadata import requires

    extras = []
    for requirement in requires("garden-envs") or ():
        extra = re.search(r"extra == ['\"](\w+)", requirement)
        name = re.split(r"[^\w.-]", requirement)[0].replace("-", "_")
        if extra and name.lower() in (package.lower(), f"{package}_py", f"{package}_ce"):
            extras.append(extra[1])
    return extras


@contextlib.contextmanager
def _sigterm_as_ctrl_c() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C, after which commands save finished work."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        # shells ignore SIGINT in background commands of scripts
        handler = signal.getsignal(signal.SIGINT)
        (handler if callable(handler) else signal.default_int_handler)(signal.SIGINT, frame)

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _train(words: list[str]) -> None:
    from garden_agents.training import arguments

    parser = argparse.ArgumentParser(
        "garden train", add_help=False, allow_abbrev=False, usage=argparse.SUPPRESS
    )
    parser.add_argument("--trainer", choices=arguments.TRAINERS, default="own")
    way, words = parser.parse_known_args(words)
    training = importlib.import_module(f"garden_agents.training.{arguments.TRAINERS[way.trainer]}")
    arguments.command_line(training.train, training.Arguments, words)


def _exploit(words: list[str]) -> None:
    from garden_agents.training import arguments, exploit

    arguments.command_line(exploit.exploit, exploit.Arguments, words)


def _run(name: str, words: list[str]) -> None:
    """Run a command: `main` of its module, with the module's `Arguments`."""
    import tyro

    from garden_agents.command_help import REGISTRY

    module = importlib.import_module(f"garden_agents.{MODULES[name]}")
    arguments = tyro.cli(module.Arguments, args=words, prog=f"garden {name}", registry=REGISTRY)
    if name == "play" and arguments.web:
        module = importlib.import_module("garden_agents.play.web")
    module.main(arguments)


def _warm_up(words: list[str]) -> None:
    from garden_agents.errors import one_line_errors
    from garden_core.registry import list_games
    from garden_core.warm_up import warm_up

    if words and words[0] in ("-h", "--help"):
        print("usage: garden warm-up [GAME ...]\n\ncompile the games now, all installed ones by default")
        return
    with one_line_errors():
        for name in words or list_games():
            print(f"{name}: ready after {warm_up(name)[name]:.1f} s", flush=True)


MODULES = {
    "play": "play.terminal",
    "score": "evaluation.score_command",
    "arena": "evaluation.arena",
    "compare": "evaluation.compare",
    "leaderboard": "evaluation.leaderboard",
    "record": "matches.record",
    "report": "report.page",
    "replay": "play.recorded",
    "export": "wasm.export",
}
"""Module by command."""
COMMANDS: dict[str, Callable[[list[str]], None]] = {
    "train": _train,
    "exploit": _exploit,
    **{name: functools.partial(_run, name) for name in MODULES},
    "warm-up": _warm_up,
}
