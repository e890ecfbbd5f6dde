"""Pictures of Botanicus, over whole games, packaged tables and others."""

import random
from xml.etree import ElementTree

import numpy as np
import pytest
import tomli_w
from botanicus_tools import Table, choose, made_up, position

from garden_core.svg import to_pixels


def words(svg):
    return [
        element.text or "" for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("}text")
    ]


@pytest.mark.parametrize("seed", range(6))
def test_pictures_of_a_whole_game(seed, tmp_path):
    options = {"num_players": 2 + seed % 3}
    if seed > 2:
        path = tmp_path / "tables.toml"
        path.write_text(tomli_w.dumps(made_up(seed)))
        options["tables"] = str(path)
    table = Table(**options).deal(seed)
    rng = random.Random(seed)
    while True:
        now, legal = table.now, table.legal
        if now["decisions"] % 7 == 0 or table.over:
            for seat in (None, *range(options["num_players"])):
                page, picture = table.game.text(table.state, seat), table.game.svg(table.state, seat)
                assert ElementTree.fromstring(picture).get("viewBox") == "0 0 1100 800"
                assert "href" not in picture
                assert "url(" not in picture
                assert page.isascii()
                listed = not table.over and seat in (None, now["current_player"])
                assert ("legal: " in page) == listed
                assert all(label in page.replace("\n       ", " ") for label in legal) or not listed
                told = words(picture)
                for player, score in enumerate(now["scores"]):
                    assert f"player_{player}" in told
                    assert str(score) in told
                    assert f"player_{player}: score {score}" in page
        if table.over:
            assert page.startswith("game over: player_0")
            return
        table.take(choose("busy", rng, legal))


def test_lines_of_text_are_short():
    table = Table(num_players=4).deal(3)
    rng = random.Random(3)
    while not table.over:
        assert max(map(len, table.game.text(table.state).splitlines())) <= 100
        table.take(choose("collector", rng, table.legal))


def test_the_table_is_told():
    table = position(
        num_players=3, column=2, flowers=[[1, 2], [], [], []], stack=[2, 1, 0], started=2, coins=[7, 0, 2],
        gardens=[{(0, 0): 4, (1, 1): 2}, {}, {}], gardeners=[(3, 2), (1, 1), (1, 1)], animals=[2, 0, 0],
        hands=[[0, 0, 8], [], [1]], tracks=[[3, 0, 0], [0, 2, 0], [0, 0, 6]], basic_done=[[1], [], []],
        covered=[(0, 0)], tiles=[[0, 1, 8, 9], [2, 3, 10, 11], [4, 5, 12, 13], [6, 7, 14, 15]],
    )  # fmt: skip
    page = table.game.text(table.state, 0)
    for line in (
        "round 1, column 2: player_0 to walk, play a card or place the Flower",
        "order: player_0",
        "  0: coins 2   Flowers, bottom to top: player_1, player_2",
        "  1: points 2 + tile wheelbarrow 1",
        "  2: walk 3 + tile animal 1",
        "A player_0: score 2, coins 7, animals 2, cards: 2 x water 2, 1 x walk 5",
        "C player_2: score 0, coins 2, animals 0, cards: 1 hidden",
        "  0:   IV    .    .    .     2xI 1xII = 5",
        "  1:    .   II    .          1xI 2xII = 7 done",
        "M2l (coins 2, card 1) [A] > M3",
        "end (plant_2 1, prize shovel) [C]",
    ):
        assert line in page or line in page.replace("\n    ", " ")


def test_what_can_be_done_stands_out():
    table = position(coins=[0, 0], stack=[0, 1])
    marked = "#b07800"
    assert table.game.svg(table.state, 0).count(marked) == 4  # the spaces of the column
    assert table.game.svg(table.state, 1).count(marked) == 0
    table.take("flower 3")  # two steps on the shovel track
    assert table.game.svg(table.state, 0).count(marked) == 1
    table.take("advance upper").take("pass")
    assert table.now["asked"] == "plant"
    assert table.game.svg(table.state, 0).count(marked) == 4  # the beds around the fountain


def test_pixels():
    pixels = to_pixels(Table(num_players=4).deal(0).game.svg(Table(num_players=4).deal(0).state))
    assert pixels.shape == (800, 1100, 3)
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 50
