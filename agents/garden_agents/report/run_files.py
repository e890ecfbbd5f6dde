"""The config and tables of a training run. The files are untrusted: their sizes and contents are checked."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Collection
from pathlib import Path
from typing import Any

import msgspec

from garden_core.checks import one_line
from garden_core.files.data import parsed
from garden_core.files.disk import read_regular

CONFIG, METRICS, EVALUATIONS = "config.toml", "metrics.csv", "evaluations.csv"
RESULTS = "evaluation.json"
"""The final evaluation."""
EXPLOIT = "exploit.json"
"""The results of a best response."""
KEPT = "kept"
"""Column of evaluations.csv: decisions of the network that was kept."""
RATING = "rating", "low", "high"
"""Columns of evaluations.csv in a task of the benchmark: the network's rating and its 95 % interval."""
TEAM = "team"
"""Column of evaluations.csv in a cooperative game: the team's mean score."""
CONFIG_LIMIT = 2_000_000  # largest config.toml, data files included, bytes
TABLE_LIMIT = 30_000_000  # largest metrics.csv and evaluations.csv, bytes
MOST_COLUMNS, MOST_ROWS = 1_000, 500_000  # of these tables


class Config(msgspec.Struct):
    """The content of config.toml.

    Attributes:
        arguments: the training's arguments by name.
        data_files: content of the game's own data files by option.
        game: the game's "name", "options" and the digest of its "data".
        versions: versions by package.
        command: the command that repeats the run; "" in older files.
        trainer: "ppo" or "sb3"; "" in older files.
        measure: what the numbers of evaluations depend on besides the network, such as the version of the task, or digests of opponents.
    """

    arguments: dict[str, Any]
    data_files: dict[str, str] = {}
    game: dict[str, Any] = {}
    versions: dict[str, str] = {}
    command: str = ""
    trainer: str = ""
    measure: dict[str, str] = {}


def read_config(path: Path) -> Config:
    """Return the content of a run's config.toml.

    Raises:
        ValueError: if it cannot be read, is larger than 2 MB, or is no config of a run.
    """
    try:
        return msgspec.convert(parsed(read_regular(path, CONFIG_LIMIT).decode(), CONFIG_LIMIT), Config)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no config of a training run: {one_line(error)}") from None


def read_rows(path: Path, needed: Collection[str], most: int | None = None) -> list[dict[str, str]]:
    """Return the rows of a CSV file of numbers, by column; no rows if there is no file.

    Args:
        path: the file.
        needed: required columns.
        most: largest number of rows: evenly spaced ones, the last row included. None for all.

    Raises:
        ValueError: if a column is missing, a value is no number, or the file is larger than 30 MB, has more than
            `MOST_COLUMNS` columns or `MOST_ROWS` rows.
        OSError: if it cannot be read.
    """
    if not path.exists():
        return []
    try:
        content = read_regular(path, TABLE_LIMIT)
        if content.count(b"\n") > MOST_ROWS:
            raise ValueError(f"it has more than {MOST_ROWS:,} rows")
        lines = list(io.StringIO(content.decode(), newline=""))
        columns = next(csv.reader(lines[:1]), [])
        if len(columns) > MOST_COLUMNS:
            raise ValueError(f"it has {len(columns):,} columns; {MOST_COLUMNS:,} are allowed")
        count = len(lines) - 1
        if most is not None and count > most:
            lines = [lines[0], *(lines[(i + 1) * count // most] for i in range(most))]
        rows = [values for values in csv.reader(lines[1:]) if values]
        if rows and len(rows[-1]) != len(columns):  # an incomplete last line after a crash
            rows.pop()
        if any(len(values) != len(columns) for values in rows):
            raise ValueError("a row has not as many values as there are columns")
        if rows and not set(needed) <= set(columns):
            raise ValueError("a column is missing")
        for value in itertools.chain(*rows):
            float(value)
        return [dict(zip(columns, values, strict=True)) for values in rows]
    except (TypeError, ValueError, csv.Error) as error:
        raise ValueError(f"{path} is damaged: {one_line(error, 200)}") from None
