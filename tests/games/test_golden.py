"""Whole games go as they went when the files in the games' folders golden were written; see regenerate_golden.py."""

import itertools
import json

import pytest
from regenerate_golden import GAMES, VARIANTS, playthrough

FILES = sorted(GAMES.glob("*/golden/*.txt"))


def test_every_variant_has_its_file():
    assert {path.stem for path in FILES} == set(VARIANTS)


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_golden_game_goes_as_it_went(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    header = dict(line.split(": ", 1) for line in lines[:3])
    name, options, seed = header["game"], json.loads(header["options"]), int(header["seed"])
    assert (name, options, seed) == VARIANTS[path.stem]
    taken = (line.removeprefix("taken: ") for line in lines if line.startswith("taken: "))
    played = playthrough(name, options, seed, lambda batch: next(taken))
    for number, (expected, line) in enumerate(itertools.zip_longest(lines, played), 1):
        assert line == expected, f"{path.name}, line {number}"
