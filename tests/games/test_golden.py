"""Games and pictures equal the golden files; see regenerate_golden.py."""

import itertools
import json

import pytest
from regenerate_golden import GAMES, PICTURES, VARIANTS, drawn, path_of, playthrough

FILES = sorted(GAMES.glob("*/golden/*.txt"))


def test_every_variant_has_its_file():
    assert {path.stem for path in FILES} == set(VARIANTS)


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_golden_game_is_reproduced(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    header = dict(line.split(": ", 1) for line in lines[:3])
    name, options, seed = header["game"], json.loads(header["options"]), int(header["seed"])
    assert (name, options, seed) == VARIANTS[path.stem]
    taken = (line.removeprefix("taken: ") for line in lines if line.startswith("taken: "))
    played = playthrough(name, options, seed, lambda batch: next(taken))
    for number, (expected, line) in enumerate(itertools.zip_longest(lines, played), 1):
        assert line == expected, f"{path.name}, line {number}"


def test_every_picture_has_its_file():
    assert {path.stem for path in GAMES.glob("*/golden/*.svg")} == set(PICTURES)


@pytest.mark.parametrize("file", PICTURES)
def test_a_golden_picture_is_reproduced(file):
    source, decision, look = PICTURES[file]
    expected = path_of(file, VARIANTS[source][0], "svg").read_text(encoding="utf-8").splitlines()
    lines = drawn(source, decision, look).splitlines()
    for number, (one, other) in enumerate(itertools.zip_longest(expected, lines), 1):
        assert other == one, f"{file}.svg, line {number}; if intended: regenerate_golden.py pictures"
