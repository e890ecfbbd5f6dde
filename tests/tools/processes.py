"""Processes that tests start: with this checkout, the examples and the tests' tools on the path."""

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATHS = [str(ROOT / folder) for folder in (".", "agents", "examples", "tests/tools")]


def environment(**changes):
    """The environment of this process with its path and changes (None: without the variable)."""
    path = os.pathsep.join([*PATHS, *filter(None, [os.environ.get("PYTHONPATH")])])
    whole = {**os.environ, "PYTHONPATH": path, **changes}
    return {name: value for name, value in whole.items() if value is not None}


def python(*arguments, check=True, cwd=ROOT, timeout=300, typed=None, **changes):
    """Run Python with these arguments; return the finished process, its output as text.

    Args:
        check: the exit status must be 0.
        typed: standard input.
        changes: variables of the environment.
    """
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env=environment(**changes),
        cwd=cwd,
        input=typed,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=timeout,
    )
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


def full_disk(path, *_):
    """Fail as writing to a full disk does."""
    raise OSError(28, "No space left on device", str(path))


def garden_here(command, *arguments, typed=""):
    """Run the command `garden` in this process, with the words of `command` and more arguments.

    Returns its output, and its error message or None.
    """
    from garden_agents.commands import main

    printed, stdin, message = io.StringIO(), sys.stdin, None
    sys.stdin = io.StringIO(typed)
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
            main([*command.split(), *map(str, arguments)])
    except SystemExit as error:
        message = error.code
    finally:
        sys.stdin = stdin
    return printed.getvalue(), message


def garden(command, *arguments, **settings):
    """Run the command `garden` in another process, as `python`."""
    return python("-m", "garden_agents", *command.split(), *arguments, **settings)


def started(command, *arguments, **settings):
    """Start the command `garden` in another process; return its `Popen`."""
    words = [sys.executable, "-m", "garden_agents", *command.split(), *map(str, arguments)]
    return subprocess.Popen(words, env=environment(), encoding="utf-8", **settings)
