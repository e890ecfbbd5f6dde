"""Agents in any language: programs that read positions from standard input and answer with actions, one line each.

The first line is `{"type": "game", "game": …, "options": {…}, "num_players": …, "labels": […], "seed": …, "seconds": …}` and
has no answer. The answer to each `{"type": "move", "game_id": …, "view": {…}}` is `{"action": …}` within `seconds`: the
number of one of the view's `legal` actions. `view` is `Game.seat_view`, the information available to the seat. Several
games can run at once; `game_id` distinguishes them.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import queue
import secrets
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any
from weakref import WeakKeyDictionary

import numpy as np

from garden_core.batch.batch import Batch
from garden_core.batch.policies import FORFEIT
from garden_core.checks import one_line
from garden_core.game import Game

SECONDS = 10.0
"""Default time per move."""
START = 5.0
"""Largest time for the move that `check` requests."""
MOST_PROCESSES = 256
LIMIT = 100_000
"""Largest number of characters in a line from the program."""
LOOK = 0.2
"""Seconds between looks whether a program has ended, and for the rest of its output after that."""
ESCAPE = "" if sys.platform == "win32" else "\\"
"""Character that escapes the next one in a command; on Windows it separates folders."""
MARK = "GARDEN_PROGRAM"
"""Environment variable by which the processes of a program are found."""


class GameNumbers:
    """Numbers the games in the rows of batches, as an agent meets them."""

    def __init__(self) -> None:
        self._games: WeakKeyDictionary[Batch, dict[int, tuple[int, tuple[int, int], int]]] = (
            WeakKeyDictionary()
        )
        """By batch and row: the number of its game, what tells this game from others of the row, and the decisions in it at
        the agent's last move."""
        self._started = 0

    def of(self, batch: Batch, row: int) -> int:
        """Return the number of the game in a row: a new one after a deal, or if decisions were taken back."""
        games = self._games.setdefault(batch, {})
        dealt = int(batch.resets[row]), int(batch.episodes[row])
        decisions = int(batch.states[row]["decisions"])
        number, last_dealt, last_decisions = games.get(row, (-1, dealt, 0))
        if number < 0 or dealt != last_dealt or decisions <= last_decisions:
            number, self._started = self._started, self._started + 1
        games[row] = number, dealt, decisions
        return number


class ProgramAgent:
    """A policy that runs a program. A program that dies, is late, or answers wrongly loses that game, with a warning.

    The program starts with the first move, and again after it has lost a game. It plays its games one move after another;
    several processes of it share the games, and think at the same time.

    Args:
        command: the program and its arguments, as on a command line.
        game: the game to play.
        seed: each process receives a hash of it and of its own number, which does not reveal the game's seed even if both
            are equal.
        seconds: time per move.
        processes: largest number of processes, 1 to 256.

    Raises:
        ValueError: for an empty command, a time that is not positive, or a wrong number of processes.
    """

    def __init__(
        self, command: str, game: Game, seed: int = 0, seconds: float = SECONDS, processes: int = 1
    ) -> None:
        words = shlex.shlex(command, posix=True, punctuation_chars=False)
        words.whitespace_split, words.commenters, words.escape = True, "", ESCAPE
        try:
            self.command = list(words)
        except ValueError as error:
            raise ValueError(f"program {one_line(command)}: {error}") from None
        if not self.command:
            raise ValueError("program: needs a command, as in 'program:python my_bot.py'")
        if not seconds > 0:
            raise ValueError(f"program: the time for a move must be positive, not {seconds}")
        if not 1 <= processes <= MOST_PROCESSES:
            raise ValueError(
                f"program: the number of processes must be 1 to {MOST_PROCESSES}, not {processes}"
            )
        self.game, self.seed, self.seconds = game, seed, seconds
        self._processes: list[_Process | None] = [None] * processes
        self._games = GameNumbers()

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Return an action for each of `rows`, or FORFEIT if the program has lost the game; raises as `Batch.asked`."""
        rows = batch.asked(rows)
        requests: dict[int, list[tuple[int, dict[str, Any]]]] = {}
        for i, row in enumerate(rows):
            state, number = batch.states[row], self._games.of(batch, int(row))
            message = self._message(state, number)
            requests.setdefault(number % len(self._processes), []).append((i, message))
        if len(requests) == 1:
            answers = [self._answers(*request) for request in requests.items()]
        else:
            with ThreadPoolExecutor(len(requests)) as threads:
                try:
                    answers = list(threads.map(self._answers, *zip(*requests.items(), strict=True)))
                except BaseException:
                    self.close()  # ends the waiting threads
                    raise
        actions = np.zeros(len(rows), np.int64)
        for i, action, reason in itertools.chain(*answers):
            actions[i] = action
            if reason:
                warnings.warn(f"program {shlex.join(self.command)} loses a game: {reason}", stacklevel=2)
        return actions

    def close(self) -> None:
        """End the program."""
        for number, process in enumerate(self._processes):
            self._end(number, process)

    def _end(self, number: int, process: _Process | None) -> None:
        if process is not None:
            process.kill()
            self._processes[number] = None

    def check(self) -> None:
        """Start the program, request a move, which may be wrong, within `START` seconds, and end it.

        Raises:
            ValueError: if it cannot be run, or ends before it answers; with its last lines on standard error.
        """
        batch = Batch(self.game, 1)
        batch.reset(self.seed)
        message = self._message(batch.states[0], 0)
        about = f"program {one_line(shlex.join(self.command))}"
        with tempfile.TemporaryFile() as errors:
            try:
                process = self._start(0, errors)
            except OSError as error:
                raise ValueError(f"{about} cannot be run: {error}") from None
            try:
                process.ask(message, min(self.seconds, START))
            except _LostError as error:
                if process.process.poll() is None:  # late, or a wrong answer: it will lose its games
                    return
                errors.seek(max(0, errors.seek(0, os.SEEK_END) - 2000))
                lines = filter(None, map(str.strip, errors.read().decode(errors="replace").split("\n")))
                last = one_line(" | ".join([*lines][-5:]))
                wrote = f"; it wrote: {last}" if last else ""
                raise ValueError(f"{about} does not start: {error}{wrote}") from None
            finally:
                process.kill()

    def _answers(self, number: int, requests: list[tuple[int, dict[str, Any]]]) -> list[tuple[int, int, str]]:
        """Return the index of each request, the answer of process `number`, and the reason for a FORFEIT."""
        answers = []
        for i, message in requests:
            process, action, reason = self._processes[number], FORFEIT, ""
            try:
                if process is None:
                    process = self._processes[number] = self._start(number)
                answer = process.ask(message, self.seconds)
                action = _checked(answer, {option["action"] for option in message["view"]["legal"]})
            except OSError as error:
                reason = f"it cannot be run: {error}"
            except _LostError as error:
                reason = str(error)
            if reason:
                self._end(number, process)
            answers.append((i, action, reason))
        return answers

    def _message(self, state: np.void, game_id: int) -> dict[str, Any]:
        """Return the request for a move in a state."""
        view = self.game.seat_view(state, int(state["current_player"]))
        return {"type": "move", "game_id": game_id, "view": view}

    def _start(self, number: int, errors: IO[bytes] | None = None) -> _Process:
        """Start process `number` and send it the game; `errors` is the file for its standard error, by default ours."""
        process, game = _Process(self.command, errors), self.game
        process.write(
            {
                "type": "game",
                "game": game.name,
                "options": game.shown_options,
                "num_players": game.num_players,
                "labels": game.labels,
                "seed": _program_seed(self.seed, number),
                "seconds": self.seconds,
            }
        )
        return process


def _checked(line: str, legal: set[int]) -> int:
    """Return the action in an answer."""
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


def _program_seed(seed: int, number: int) -> int:
    """Return the seed, 32 bits, that a process receives; with the agent's own seed it could deal the game."""
    digest = hashlib.sha256(f"garden-envs program {seed}{f' {number}' * bool(number)}".encode()).digest()
    return int.from_bytes(digest[:4], "little")


class _LostError(Exception):
    """The reason why a program has lost a game."""


_Messages = queue.Queue[tuple[str, threading.Event]]


class _Process:
    """A running program and its child processes, with a thread that writes its input and one that reads its output."""

    def __init__(self, command: list[str], errors: IO[bytes] | None = None) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
            env=os.environ | {MARK: (mark := secrets.token_hex(8))},
        )
        self.messages: _Messages = queue.Queue()
        self.lines: queue.Queue[str] = queue.Queue(maxsize=8)
        ended = threading.Event()
        writing = threading.Thread(target=_write, args=(self.process.stdin, self.messages), daemon=True)
        reading = threading.Thread(target=_read, args=(self.process.stdout, self.lines, ended), daemon=True)
        writing.start()
        reading.start()
        self.kill = weakref.finalize(self, _end, self.process, self.messages, ended, (writing, reading), mark)
        _running.add(self)

    def write(self, message: dict[str, Any]) -> threading.Event:
        """Queue a message; the returned event is set once the program has read it or closed its input."""
        written = threading.Event()
        self.messages.put((json.dumps(message) + "\n", written))
        return written

    def ask(self, message: dict[str, Any], seconds: float) -> str:
        """Send a message and return the program's next line.

        Raises:
            _LostError: if it does not read the message and answer within `seconds`, ends, or writes too long a line.
        """
        deadline = time.monotonic() + seconds
        if not self.write(message).wait(seconds):
            raise _LostError(f"it did not read its input within {seconds:g} s")
        line = self._line(deadline)
        if line is None:
            raise _LostError(f"it did not answer within {seconds:g} s")
        if not line:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(1)
            raise _LostError(f"it ended (exit status {self.process.poll()})")
        if not line.endswith("\n"):
            raise _LostError(f"its line is longer than {LIMIT:,} characters, or not ended")
        return line

    def _line(self, deadline: float) -> str | None:
        """Return the next line, "" if the program has ended, or None if it is late.

        Another process may hold the pipe of a program that has ended, so that its output has no end.
        """
        while True:
            ended = self.process.poll() is not None
            with contextlib.suppress(queue.Empty):
                return self.lines.get(timeout=max(0.0, min(deadline - time.monotonic(), LOOK)))
            if ended:
                return ""
            if time.monotonic() >= deadline:
                return None


_running: weakref.WeakSet[_Process] = weakref.WeakSet()


def end_all() -> None:
    """End all programs started by this process, before it exits abruptly."""
    for process in list(_running):
        process.kill()


def _write(stream: Any, messages: _Messages) -> None:
    """Write messages until an empty one; then close the stream."""
    message = "…"
    while message:
        message, written = messages.get()
        # if the program no longer reads, its output shows that it ended
        with contextlib.suppress(OSError, ValueError):
            if message:
                stream.write(message)
                stream.flush()
            else:
                stream.close()
        written.set()


def _read(stream: Any, lines: queue.Queue[str], ended: threading.Event) -> None:
    """Put lines into the queue until the program has ended, and "" at its end; then close the stream."""
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
    mark: str,
) -> None:
    """Kill the program, its process group, and on Linux all other processes that it has started."""
    ended.set()
    messages.put(("", threading.Event()))
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
    entry = f"{MARK}={mark}".encode()
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):  # another user's, or it has ended
            if entry in environment.read_bytes().split(b"\0"):
                os.kill(int(environment.parent.name), signal.SIGKILL)
    for thread in threads:
        thread.join(0.5)
