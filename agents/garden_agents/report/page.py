"""A training run as one page for the browser: `garden report RUN`.

The page is self-contained. Runs are untrusted: the content of their files is escaped, no file can run code, and a section
reports missing or damaged files.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from os.path import isdir
from pathlib import Path

import tyro

from garden_agents.errors import one_line_errors
from garden_agents.progress import progress_bar
from garden_agents.report import files, played
from garden_agents.report.parts import section, words
from garden_agents.report.run_files import CONFIG, read_config
from garden_core.checks import as_integer, one_line
from garden_core.files.disk import write_atomically

TEMPLATE = Path(__file__).with_name("page.html")
REPORT = "report.html"
MOST_GAMES = 10_000


def page(
    folder: str | Path,
    games: int = 200,
    game: str | None = None,
    on_finished: Callable[[int], object] | None = None,
) -> str:
    """Return a page about a training run, whether it is finished, running or interrupted.

    Args:
        folder: the run's folder.
        games: games of its best network against itself, for the sections on how it plays; 0 for the sections about the
            files only.
        game: module:Class of a game that is not installed; such a game requires it for `games`, as a file alone never
            imports code.
        on_finished: called after each step of all games with the number of games that it ended.

    Raises:
        ValueError: if the folder's config.toml is missing or damaged, or `games` is not 0 to 10,000.
    """
    folder = Path(folder)
    as_integer(games, "games", f"0 to {MOST_GAMES:,}", 0, MOST_GAMES)
    if not isdir(folder):
        raise ValueError(f"{one_line(folder)} is no folder of a training run")
    config = read_config(folder / CONFIG)
    run = files.RunFiles(folder, config)
    content = [
        files.settings(run),
        section("Final evaluation", files.final(run)),
        section("Evaluations during the training", files.evaluations(run)),
    ]
    if games:
        content += played.sections(folder, config, games, game, on_finished)
    parts = {
        "title": f"{words(config.game.get('name', 'game'), 60)}: {words(folder.absolute().name, 100)}",
        "state": files.state(run),
        "content": "\n".join(content),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], TEMPLATE.read_text("utf-8"))


@dataclass
class Arguments:
    """Make a page of a training run: results, curves, how its network plays, sample games."""

    run: tyro.conf.Positional[Path]
    """folder of the run, which may still be running"""
    output: Path | None = None
    """HTML file for the page; report.html in the folder if not given"""
    games: int = 200
    """games of the network against itself, which show how it plays; 0 for curves only"""
    game: str | None = None
    """module:Class of a game that is not installed; required for such a game, as a file alone never imports code"""


def main(arguments: Arguments) -> None:
    """Write the page, whole or not at all, and print its path.

    Raises:
        SystemExit: for a folder without a run, arguments that are not valid, a file that cannot be written, or after
            Ctrl-C.
    """
    a = arguments
    path = a.output or a.run / REPORT
    with (
        one_line_errors("stopped; nothing was written"),
        progress_bar(total=a.games, unit="game", disable=a.games < 1) as bar,
    ):
        write_atomically(path, page(a.run, a.games, a.game, bar.update).encode())
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
