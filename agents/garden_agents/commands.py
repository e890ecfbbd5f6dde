"""The command `garden`: train, exploit, play, arena, leaderboard, record, report, replay, warm-up."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence

__all__ = ["main"]

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
        with _stopped_alike():
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
def _stopped_alike() -> Iterator[None]:
    """Treat SIGTERM as Ctrl-C, after which a command keeps what it has done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
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


def _play(words: list[str]) -> None:
    import tyro

    from garden_agents.play.match import Arguments

    arguments = tyro.cli(Arguments, args=words, prog="garden play")
    shown = importlib.import_module(f"garden_agents.play.{'web' if arguments.web else 'terminal'}")
    shown.main(arguments)


def _multiply_on_one_thread() -> None:
    """Have NumPy multiply matrices on one thread, here and in processes that are spawned; before it is imported.

    The number of threads can change the last digits of a network's answers, and with them games.
    """
    for library in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
        os.environ[library] = "1"


def _arena(words: list[str]) -> None:
    _multiply_on_one_thread()
    import tyro

    from garden_agents.evaluation import arena

    arena.main(tyro.cli(arena.Arguments, args=words, prog="garden arena"))


def _leaderboard(words: list[str]) -> None:
    _multiply_on_one_thread()
    import tyro

    from garden_agents.evaluation import leaderboard

    leaderboard.main(tyro.cli(leaderboard.Arguments, args=words, prog="garden leaderboard"))


def _record(words: list[str]) -> None:
    _multiply_on_one_thread()
    import tyro

    from garden_agents.evaluation import record

    record.main(tyro.cli(record.Arguments, args=words, prog="garden record"))


def _report(words: list[str]) -> None:
    import tyro

    from garden_agents.evaluation.report import Arguments

    arguments = tyro.cli(Arguments, args=words, prog="garden report")
    shown = importlib.import_module(f"garden_agents.evaluation.{'live' if arguments.web else 'report'}")
    shown.main(arguments)


def _replay(words: list[str]) -> None:
    import tyro

    from garden_agents.play import recorded

    recorded.main(tyro.cli(recorded.Arguments, args=words, prog="garden replay"))


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


COMMANDS: dict[str, Callable[[list[str]], None]] = {
    "train": _train,
    "exploit": _exploit,
    "play": _play,
    "arena": _arena,
    "leaderboard": _leaderboard,
    "record": _record,
    "report": _report,
    "replay": _replay,
    "warm-up": _warm_up,
}
