"""The documentation: its code runs, its tables are current, its links lead somewhere."""

import re
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

import generate
import pictures
import pig
from garden_agents import games
from PIL import Image

from garden_core import Replay, make

PAGES = generate.pages()
NEEDED = {"clients.md": ("torchrl", "pyspiel", "minari")}
"""Libraries that the code of a page needs, where `make test` does not install them."""
ON_A_GPU = ("gpu.md",)
"""Pages whose code `tests/cuda` runs."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name, marks=[pytest.mark.quick] * (page.name == "README.md"))
        for page in PAGES
        if page.name not in ON_A_GPU
    ],
)
def test_snippets_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(games._registered, pig.Pig, games.Hints())  # which own-game.md replaces
    for library in NEEDED.get(page.name, ()):
        pytest.importorskip(library)
    snippets = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    namespace = {"__name__": page.stem}
    if page.name == "own-game.md":  # its snippets are parts of the example
        namespace |= vars(pig)
    for number, snippet in enumerate(snippets):
        with warnings.catch_warnings():
            # Others' warnings that a user sees too and that nothing here can help.
            warnings.filterwarnings("ignore", category=DeprecationWarning)
            exec(compile(snippet, f"{page.name}, snippet {number}", "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_generated_tables_are_current(page):
    text = page.read_text()
    assert generate.filled(text) == text, "run: python docs/generate.py"


def test_every_generated_table_is_used():
    used = {name for page in PAGES for name in re.findall(r"<!-- begin ([\w ]+) -->", page.read_text())}
    assert used == set(generate.generated())


def test_pictures_are_current():
    for path, picture in pictures.stills().items():
        assert path.read_text() == picture, "run: python docs/generate.py"


def test_every_game_has_its_pictures_and_they_are_shown():
    assert set(pictures.SHOWN) == set(generate.own_games())
    assert set(pictures.FOLDER.iterdir()) == pictures.files(), "run: python docs/pictures.py"
    text = "".join(page.read_text() for page in PAGES)
    for path in pictures.files():
        assert f"pictures/{path.name}" in text, path.name


@pytest.mark.parametrize("name", pictures.SHOWN)
def test_films_are_small_and_show_the_recorded_games(name):
    shown, path = pictures.SHOWN[name], pictures.FOLDER / f"{name}.gif"
    assert path.stat().st_size < 1_500_000
    replay = Replay.load(path.with_suffix(".json"))
    with Image.open(path) as film:
        assert film.width == shown.width
        assert film.n_frames == len(replay.actions) // shown.every + 1


@pytest.mark.parametrize("name", generate.own_games())
def test_readme_has_the_sizes_of_actions_and_observations(name):
    game = make(name)
    line = next(
        line
        for line in (ROOT / "README.md").read_text().splitlines()
        if f"docs/{name}.md" in line and "|" in line
    )
    assert f"| {game.num_actions} | {game.observation_shape[0]:,} |" in line


def test_pages_of_rules_are_current():
    made = generate.rules()
    assert set(made) == set((ROOT / "docs" / "rules").iterdir())
    for path, text in made.items():
        assert path.read_text() == text, "run: python docs/generate.py"


@pytest.mark.parametrize("page", [*PAGES, ROOT / "leaderboard" / "README.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r'(?:\]\(|(?:href|src|srcset)=")([^)"#]+)[)"#]', page.read_text()):
        if "://" not in target and not target.startswith("api/"):  # those pages are made with the site
            assert (page.parent / target).exists(), target
