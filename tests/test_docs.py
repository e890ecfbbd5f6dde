"""The documentation: its code runs, its tables are current, its links lead somewhere, its words are plain."""

import doctest
import importlib
import re
import sys
import warnings
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]

import cards
import generate
import pictures
import pig
import reference
import strength
from garden_agents import games
from garden_agents.matches import record
from PIL import Image

from garden_core import Replay, make

PAGES = generate.pages()
NEEDED = {"libraries.md": ("torchrl", "pyspiel", "minari"), "own-model.md": ("onnxscript", "onnxruntime")}
"""Libraries that the code of a page needs, where `make test` does not install them."""
ON_A_GPU = ("gpu.md",)
"""Pages whose code `tests/cuda` runs."""
SNIPPET = re.compile(r"```python\n(.*?)```(?:\n```\n(.*?)```)?", re.DOTALL)
"""Code, and the output that is shown right below it."""
WITHOUT_EXAMPLE = {
    *reference.ALIASES,
    "garden_agents.games.TEST_SEEDS",
    "garden_agents.games.TRAINING_SEEDS",
} | {
    "garden_agents.networks.NETWORK",
    "garden_agents.networks.SUFFIX",
}
"""Public constants and types."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name, marks=[pytest.mark.quick] * (page.name == "README.md"))
        for page in PAGES
        if page.name not in ON_A_GPU
    ],
)
def test_snippets_run_and_print_what_is_shown(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(games._registered, pig.Pig, games.Hints())  # which own-game.md replaces
    for library in NEEDED.get(page.name, ()):
        pytest.importorskip(library)
    module = ModuleType(page.stem)
    monkeypatch.setitem(sys.modules, page.stem, module)  # pickle looks classes up there
    namespace = vars(module)
    if page.name == "own-game.md":  # its snippets are parts of the example
        namespace |= vars(pig) | {"__name__": page.stem}
    for number, (snippet, shown) in enumerate(SNIPPET.findall(page.read_text("utf-8"))):
        capsys.readouterr()
        with warnings.catch_warnings():
            # Others' warnings that a user sees too and that nothing here can help.
            warnings.filterwarnings("ignore", category=DeprecationWarning)
            warnings.filterwarnings("ignore", ".*LeafSpec", FutureWarning)
            exec(compile(snippet, f"{page.name}, snippet {number}", "exec"), namespace)
        assert not shown or capsys.readouterr().out == shown


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Record the games that the examples load; return the folder."""
    folder = tmp_path_factory.mktemp("examples")
    record.main(record.Arguments("cacti", ["random", "greedy"], folder / "games.safetensors", games=20))
    return folder


@pytest.mark.filterwarnings("ignore:.* is set to None:UserWarning")  # Minari's: who wrote the dataset
@pytest.mark.parametrize("package", reference.FOLDERS)
def test_every_public_name_has_an_example_that_runs(package, recorded, monkeypatch):
    monkeypatch.chdir(recorded)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(recorded))
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    module = importlib.import_module(package)
    for name in reference.public_names()[package]:
        if f"{package}.{name}" in WITHOUT_EXAMPLE:
            continue
        try:
            public = getattr(module, name)
        except ImportError:
            assert package == "garden_core.interfaces" or name == "export_onnx"  # of another library
            continue
        before = runner.tries
        for example in finder.find(public, name, module=False, globs={}):
            runner.run(example)
        assert runner.tries > before, f"{name} has no example"
    assert not runner.summarize(verbose=False).failed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_generated_tables_are_current(page):
    text = page.read_text("utf-8")
    assert generate.filled(text) == text, "run: python docs/generate.py"


def test_every_generated_table_is_used():
    used = {
        name for page in PAGES for name in re.findall(r"<!-- begin ([\w ]+) -->", page.read_text("utf-8"))
    }
    assert used == set(generate.generated())


def test_statistics_over_seeds():
    mean, middle, low, high = strength.spread([0, 100, 110, 120, 1000])
    assert (mean, middle) == (266, 110)
    assert low < 110 < high


def test_pictures_are_current():
    for path, picture in pictures.stills().items():
        assert path.read_text("utf-8") == picture, "run: python docs/generate.py"


def test_every_game_has_its_pictures_and_they_are_shown():
    assert set(pictures.SHOWN) == set(generate.own_games())
    assert set(pictures.FOLDER.iterdir()) == pictures.files(), "run: python docs/pictures.py"
    text = "".join(page.read_text("utf-8") for page in PAGES)
    for path in pictures.files():
        assert f"pictures/{path.name}" in text, path.name


@pytest.mark.parametrize("name", pictures.SHOWN)
def test_films_are_small_and_show_the_recorded_games(name):
    decisions = len(Replay.load(pictures.FOLDER / f"{name}.json").actions)
    for path, settings in pictures.films(name):
        assert path.stat().st_size < 1_500_000
        with Image.open(path) as film:
            assert film.width == settings["width"]
            assert film.n_frames == (decisions - settings["start"]) // settings["every"] + 1


@pytest.mark.parametrize("name", generate.own_games())
def test_readme_has_the_sizes_of_actions_and_observations(name):
    game = make(name)
    line = next(
        line
        for line in (ROOT / "README.md").read_text("utf-8").splitlines()
        if f"docs/{name}.md" in line and "|" in line
    )
    assert f"| {game.num_actions} | {game.observation_shape[0]:,} |" in line


@pytest.mark.parametrize("made", [generate.rules(), cards.cards()], ids=["rules", "cards"])
def test_whole_pages_are_current(made):
    assert set(made) == set(next(iter(made)).parent.iterdir())
    for path, text in made.items():
        assert path.read_text("utf-8") == text, "run: python docs/generate.py"


@pytest.mark.parametrize("page", [*PAGES, ROOT / "leaderboard" / "README.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r'(?:\]\(|(?:href|src|srcset)=")([^)"#]+)[)"#]', page.read_text("utf-8")):
        if "://" not in target and not target.startswith(("api/", "play/")):  # made with the site
            assert (page.parent / target).exists(), target
