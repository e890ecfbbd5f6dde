"""Agents in any language: a program that reads the position as a line of standard input, and answers with a line.

The first line is `{"type": "game", "game": …, "options": {…}, "num_players": …, "labels": […], "seed": …, "seconds": …}`, which
wants no answer. Then each `{"type": "move", "game_id": …, "view": {…}}` wants `{"action": …}` within `seconds`: the number of
one of the view's `legal` actions. `view` is `Game.seat_view`, all that the seat may know. Several games can go on at once,
told apart by `game_id`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import queue
import shlex
import signal
import subprocess
import tempfile
import threading
import time
import warnings
import weakref
from typing import IO, Any

import numpy as np

from garden_core.batch.batch import Batch
from garden_core.batch.policies import FORFEIT
from garden_core.checks import one_line
from garden_core.game import Game

SECONDS = 10.0
"""Time for a move, unless another one is named."""
START = 5.0
"""Time for the move that `check` asks for, if that for a move is longer."""
LIMIT = 100_000
"""Characters that a line of the program may have."""


class ProgramAgent:
    """A policy that asks a program. A program that dies, is late, or answers wrongly loses that game, with a warning.

    It is started when it is first asked, and again after it has lost a game.

    Args:
        command: the program and its arguments, as on a command line.
        game: the game that it plays.
        seed: of the seed that the program gets, which says nothing about the game's even if both were the same.
        seconds: time for a move.

    Raises:
        ValueError: for a command that names nothing, or a time that is not positive.
    """

    def __init__(self, command: str, game: Game, seed: int = 0, seconds: float = SECONDS) -> None:
        try:
            self.command = shlex.split(command)
        except ValueError as error:
            raise ValueError(f"program {one_line(command)}: {error}") from None
        if not self.command:
            raise ValueError("program: needs a command, as in 'program:python my_bot.py'")
        if not seconds > 0:
            raise ValueError(f"program: the time for a move must be positive, not {seconds}")
        self.game, self.seed, self.seconds = game, seed, seconds
        self._process: _Process | None = None
        self._games: dict[int, tuple[int, int]] = {}
        """By row the number of its game, and the decisions in it when the program was last asked."""
        self._started = 0

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Return an action for each of `rows`, or FORFEIT where the program has lost the game."""
        return np.array([self._action(batch, int(row)) for row in rows], np.int64)

    def close(self) -> None:
        """End the program."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    def check(self) -> None:
        """Start the program and ask it for a move, which may be wrong, for `START` seconds at most; then end it.

        Raises:
            ValueError: if it cannot be run, or ends before it answers; with what it wrote last to its standard error.
        """
        batch = Batch(self.game, 1)
        batch.reset(self.seed)
        view = self.game.seat_view(batch.states[0], int(batch.current_player[0]))
        about = f"program {one_line(shlex.join(self.command))}"
        with tempfile.TemporaryFile() as errors:
            try:
                process = self._start(errors)
            except OSError as error:
                raise ValueError(f"{about} cannot be run: {error}") from None
            try:
                process.ask({"type": "move", "game_id": 0, "view": view}, min(self.seconds, START))
            except _LostError as error:
                if process.process.poll() is None:  # late, or a wrong answer: it loses its games
                    return
                errors.seek(max(0, errors.seek(0, os.SEEK_END) - 2000))
                lines = map(str.strip, errors.read().decode(errors="replace").split("\n"))
                last = one_line(" | ".join([line for line in lines if line][-5:]))
                raise ValueError(
                    f"{about} does not start: {error}" + f"; it wrote: {last}" * bool(last)
                ) from None
            finally:
                process.kill()

    def _action(self, batch: Batch, row: int) -> int:
        state = batch.states[row]
        view = self.game.seat_view(state, int(state["current_player"]))
        message = {"type": "move", "game_id": self._game_id(row, int(state["decisions"])), "view": view}
        try:
            if self._process is None:
                self._process = self._start()
            return _checked(
                self._process.ask(message, self.seconds), {one["action"] for one in view["legal"]}
            )
        except OSError as error:
            reason = f"it cannot be run: {error}"
        except _LostError as error:
            reason = str(error)
        self.close()
        warnings.warn(f"program {shlex.join(self.command)} loses a game: {reason}", stacklevel=2)
        return FORFEIT

    def _game_id(self, row: int, decisions: int) -> int:
        """Return the number of the game in a row: a new one where fewer decisions are taken than before."""
        number, last = self._games.get(row, (-1, 0))
        if number < 0 or decisions <= last:
            number, self._started = self._started, self._started + 1
        self._games[row] = number, decisions
        return number

    def _start(self, errors: IO[bytes] | None = None) -> _Process:
        """Start the program and send it the game; `errors` is the file for its standard error, this process's if None."""
        process, game = _Process(self.command, errors), self.game
        process.write(
            {
                "type": "game",
                "game": game.name,
                "options": game.shown_options,
                "num_players": game.num_players,
                "labels": game.labels,
                "seed": _program_seed(self.seed),
                "seconds": self.seconds,
            }
        )
        return process


def _checked(line: str, legal: set[int]) -> int:
    """Return the action of an answer."""
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        raise _LostError(f"its answer is not JSON: {one_line(line, 80)}") from None
    action = answer.get("action") if isinstance(answer, dict) else None
    if type(action) is not int:
        raise _LostError(f'its answer has no whole number "action": {one_line(line, 80)}')
    if action not in legal:
        raise _LostError(f"its action {one_line(action, 20)} is not legal")
    return action


def _program_seed(seed: int) -> int:
    """Return the seed, 32 bits, that a program gets in place of its agent's, from which it could deal the game itself."""
    digest = hashlib.sha256(f"garden-envs program {seed}".encode()).digest()
    return int.from_bytes(digest[:4], "little")


class _LostError(Exception):
    """Why a program has lost a game."""


_Messages = queue.Queue[tuple[str, threading.Event]]


class _Process:
    """A running program and what it starts; threads of their own write its input and read its output."""

    def __init__(self, command: list[str], errors: IO[bytes] | None = None) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
        self.messages: _Messages = queue.Queue()
        self.lines: queue.Queue[str] = queue.Queue(maxsize=8)
        ended = threading.Event()
        writing = threading.Thread(target=_write, args=(self.process.stdin, self.messages), daemon=True)
        reading = threading.Thread(target=_read, args=(self.process.stdout, self.lines, ended), daemon=True)
        writing.start()
        reading.start()
        self.kill = weakref.finalize(self, _end, self.process, self.messages, ended, (writing, reading))
        _running.add(self)

    def write(self, message: dict[str, Any]) -> threading.Event:
        """Have a message written; the event is set when the program has taken it, or has closed its input."""
        written = threading.Event()
        self.messages.put((json.dumps(message) + "\n", written))
        return written

    def ask(self, message: dict[str, Any], seconds: float) -> str:
        """Return the program's next line after a message.

        Raises:
            _LostError: if it does not take the message and answer within `seconds`, ends, or writes too long a line.
        """
        deadline = time.monotonic() + seconds
        if not self.write(message).wait(seconds):
            raise _LostError(f"it did not read its input within {seconds:g} s")
        try:
            line = self.lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise _LostError(f"it did not answer within {seconds:g} s") from None
        if not line:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(1)
            raise _LostError(f"it ended (exit status {self.process.poll()})")
        if not line.endswith("\n"):
            raise _LostError(f"its line is longer than {LIMIT:,} characters, or not ended")
        return line


_running: weakref.WeakSet[_Process] = weakref.WeakSet()


def end_all() -> None:
    """End all programs that this process has started, before it ends without further ado."""
    for process in list(_running):
        process.kill()


def _write(stream: Any, messages: _Messages) -> None:
    """Write messages until there is an empty one; then close the stream."""
    message = "…"
    while message:
        message, written = messages.get()
        # where the program reads no more, its output says that it ended
        with contextlib.suppress(OSError, ValueError):
            if message:
                stream.write(message)
                stream.flush()
            else:
                stream.close()
        written.set()


def _read(stream: Any, lines: queue.Queue[str], ended: threading.Event) -> None:
    """Put lines into the queue, and "" at the end, until the program has ended; then close the stream."""
    line = "…"
    while line and not ended.is_set():
        try:
            line = stream.readline(LIMIT)
        except (OSError, ValueError):
            line = ""
        while not ended.is_set():
            with contextlib.suppress(queue.Full):
                lines.put(line, timeout=0.1)
                break
        if line and not line.endswith("\n"):
            break
    stream.close()


def _end(
    process: subprocess.Popen[str],
    messages: _Messages,
    ended: threading.Event,
    threads: tuple[threading.Thread, ...],
) -> None:
    """Kill the program and what it has started. Whatever else may hold its pipes is not waited for."""
    ended.set()
    messages.put(("", threading.Event()))
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
    for thread in threads:
        thread.join(0.5)
