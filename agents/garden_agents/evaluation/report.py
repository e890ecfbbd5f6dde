"""A training run as one page for the browser: `garden report RUN`.

The page holds all that it shows and fetches nothing. A run may come from a stranger: what its files say is escaped, none
of them can run code, and a section says what is missing or damaged.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from garden_agents.errors import one_line_errors
from garden_agents.evaluation import report_files, report_games
from garden_agents.evaluation.page_parts import section, words
from garden_agents.evaluation.run_files import CONFIG, read_config
from garden_agents.progress import progress_bar
from garden_core.checks import as_integer, one_line
from garden_core.files.disk import is_folder, write_atomically

TEMPLATE = Path(__file__).with_name("report.html")
REPORT = "report.html"
MOST_GAMES = 10_000


def page(
    folder: str | Path,
    games: int = 200,
    game: str | None = None,
    dark: bool = False,
    on_finished: Callable[[int], object] | None = None,
) -> str:
    """Return a page about a training run, whether it is finished, running or interrupted.

    Args:
        folder: the run's folder.
        games: games that its best network plays against itself, for the sections on how it plays; with 0 the page shows
            only what the files hold, and is made in a moment.
        game: module:Class of a game that is not installed; required with `games` for such a game, as a file alone never
            imports code.
        dark: light on dark, whatever the browser prefers.
        on_finished: called after each step of all games with the number of games that it ended.

    Raises:
        ValueError: if the folder's config.toml is missing or damaged, or `games` is not 0 to 10,000.
    """
    folder = Path(folder)
    as_integer(games, "games", f"0 to {MOST_GAMES:,}", 0, MOST_GAMES)
    if not is_folder(folder):
        raise ValueError(f"{one_line(folder)} is no folder of a training run")
    config = read_config(folder / CONFIG)
    found = report_files.Recorded(folder, config)
    content = [
        report_files.settings(found),
        section("Final evaluation", report_files.final(found)),
        section("Evaluations during the training", report_files.evaluations(found)),
    ]
    if games:
        content += report_games.sections(folder, config, games, game, dark, on_finished)
    parts = {
        "look": "dark" if dark else "",
        "title": f"{words(config.game.get('name', 'game'), 60)}: {words(folder.absolute().name, 100)}",
        "state": report_files.state(found),
        "content": "\n".join(content),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], TEMPLATE.read_text("utf-8"))


def save(folder: str | Path, path: str | Path | None = None, **how: Any) -> Path:
    """Write the page, whole or not at all, and return its path.

    Args:
        folder: the run's folder.
        path: the file; report.html in the folder if None.
        **how: as for `page`.

    Raises:
        ValueError: as `page`.
        OSError: if the file cannot be written.
    """
    path = Path(folder) / REPORT if path is None else Path(path)
    write_atomically(path, page(folder, **how).encode())
    return path


@dataclass
class Arguments:
    """Make a page of a training run: results, curves, how its network plays, sample games."""

    run: tyro.conf.Positional[Path]
    """folder of the run, also while it is running"""
    output: Path | None = None
    """HTML file for the page; report.html in the folder if not given"""
    games: int = 200
    """games that the network plays against itself, to show how it plays; 0 for curves alone"""
    game: str | None = None
    """module:Class of a game that is not installed; required for such a game, as a file alone never imports code"""
    dark: bool = False
    """light on dark, whatever the browser prefers"""


def main(arguments: Arguments) -> None:
    """Write the page and say where.

    Raises:
        SystemExit: for a folder that holds no run, arguments that are not valid, or after Ctrl-C.
    """
    a = arguments
    with (
        one_line_errors("stopped; nothing was written"),
        progress_bar(total=a.games, unit="game", disable=a.games < 1) as bar,
    ):
        path = save(a.run, a.output, games=a.games, game=a.game, dark=a.dark, on_finished=bar.update)
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
