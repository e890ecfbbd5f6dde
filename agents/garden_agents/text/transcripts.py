"""Transcripts: every answer of a language model, as JSON Lines."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from io import FileIO
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from garden_agents.text.prompts import Message
from garden_core.checks import one_line
from garden_core.files.disk import append, open_to_append, read_regular

SIZE = 2_000_000_000
"""Largest size of a transcript in bytes."""
CHUNK = 100_000
"""Bytes that are read at a time from its end."""


LATE = "late"
"""What stands for the reason why an answer ended if there was none in time."""


class Completion(NamedTuple):
    """A model's answer.

    Attributes:
        text: the answer.
        prompt_tokens, completion_tokens: numbers of tokens, None where unknown.
        finish: why it ended, as OpenAI's `finish_reason`; "length": at the limit of tokens, so that it does not count.
        reasoning: thoughts apart from the answer, for the transcript.

    Example:
        >>> from garden_agents.text import Completion
        >>> Completion("ACTION: pass", prompt_tokens=900, completion_tokens=3).completion_tokens
        3
    """

    text: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    finish: str = "stop"
    reasoning: str = ""


class Reply(NamedTuple):
    """A completion, without text and with `finish` LATE if there was none in time, and how long it took."""

    completion: Completion
    seconds: float


Natural = Annotated[int, msgspec.Meta(ge=0)]
Seconds = Annotated[float, msgspec.Meta(ge=0)]


class Line(msgspec.Struct, forbid_unknown_fields=True):
    """A line of a transcript."""

    key: str
    """see `key_of`"""
    model: str | dict[str, Any]
    """name, or name, server and settings"""
    game_seed: Natural
    seat: Natural
    decision: Natural
    """number of decisions made in the game before"""
    attempt: Natural
    """0 for the first answer to a prompt"""
    messages: list[dict[str, str]]
    order: Natural
    """seed of the order of the list of actions, see `garden_agents.text.prompt`"""
    answer: str
    reasoning: str
    """thoughts that the server hands over apart from the answer"""
    finish: str
    """why the answer ended, as the server says: "length" at its limit of tokens; LATE if there was none in time"""
    outcome: str
    """legal, illegal, unreadable, truncated or late"""
    error: str
    """the reason why an answer is wrong, as the model sees it"""
    action: str | None
    """label of the action, "forfeit", or None if the model is asked again"""
    fallback: bool
    """whether the action is not the model's, after too many wrong answers"""
    seconds: Seconds
    prompt_tokens: Natural | None
    completion_tokens: Natural | None
    game: dict[str, Any]
    """its name, version, options and digest of data"""
    allowed: Seconds
    """seconds allowed for the answer"""


def key_of(
    model: str | Mapping[str, Any],
    game: Mapping[str, Any],
    place: Sequence[int],
    messages: Sequence[Message],
    allowed: float,
    structured: bool,
) -> str:
    """Return a digest of all on which an answer depends.

    `game` has name, version, options and digest of data; `place` game seed, seat, decision and attempt. The messages depend
    on mode and rules, and on the version of the prompts.
    """
    parts = {"model": model, "game": game, "place": place, "messages": messages, "allowed": allowed}
    parts["structured"] = structured
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]


class Transcript:
    """A file of answers, to which further ones are appended.

    Args:
        path: the file, None for no file.

    Raises:
        ValueError: if the file cannot be read or written, or a line is damaged. A last line without an end, as an interruption
            leaves it, is skipped.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                open_to_append(path).close()
            except OSError as error:
                raise ValueError(f"{path} cannot be written: {error.strerror}") from None
        self._known = {line.key: line for line in read(path)} if path is not None else {}

    def get(self, key: str) -> Reply | None:
        """Return the reply of an attempt that the file had when it was opened, or None."""
        line = self._known.get(key)
        if line is None:
            return None
        tokens = line.prompt_tokens, line.completion_tokens
        return Reply(Completion(line.answer, *tokens, line.finish, line.reasoning), line.seconds)

    def add(self, line: Line) -> None:
        """Append a line, unless the file had its attempt when it was opened."""
        if self.path is not None and line.key not in self._known:
            with open_to_append(self.path) as file:
                _end_last_line(file)
                append(file, msgspec.json.encode(line) + b"\n")


def read(path: Path) -> list[Line]:
    """Return the lines of a transcript.

    Raises:
        ValueError: if it cannot be read, or a line but the last is damaged; it names the line.
    """
    try:
        content = read_regular(path, SIZE)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    *lines, _ = content.split(b"\n")
    decoder = msgspec.json.Decoder(Line)
    read_lines = []
    for number, line in enumerate(lines, 1):
        try:
            read_lines.append(decoder.decode(line))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}, line {number}: {one_line(error)}") from None
    return read_lines


def _end_last_line(file: FileIO) -> None:
    """Remove the part of a line that an interruption left at the end of a file."""
    size = end = file.seek(0, os.SEEK_END)
    found = -1
    while end and found < 0:
        start = max(0, end - CHUNK)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        end = start + found + 1
    if end < size:
        file.truncate(end)
