"""Pictures of Cacti, over whole games, packaged cards and others."""

import random

import pytest
from cacti_tools import Table, choose, made_up, position
from data_tools import written
from layout import texts

from cacti_env.drawing import LIGHT


def all_positions(seed, **options):
    table = Table(**options).deal(seed)
    rng = random.Random(seed)
    yield table
    while not table.over:
        yield table.take(choose("uniform", rng, table.legal))


@pytest.mark.parametrize("seed", range(6))
def test_a_whole_game_as_text_and_picture(seed, tmp_path):
    """Scores, legal actions and hidden cards, as far as the seat may know them, in short lines."""
    options = {"cards": written(tmp_path, made_up(seed))} if seed else {}
    for table in all_positions(seed, **options):
        now, legal = table.now, table.legal
        for seat in (None, 0, 1):
            page, shown = table.game.text(table.state, seat), texts(table.game.svg(table.state, seat))
            assert max(map(len, page.splitlines())) <= 100 or seed
            _, _, listed = page.partition("legal: ")
            if table.over or seat not in (None, now["current_player"]):
                assert not listed
            else:
                assert all(label in listed.replace("\n       ", " ") for label in legal)
            for player, score in enumerate(now["scores"]):
                if table.over or seat in (None, player):
                    assert str(score) in shown
                    assert f"player_{player}: score {score}" in page
            assert shown.count("?") == (0 if seat is None or table.over else 1)
            assert shown.count("hidden") == (0 if seat is None else len(now["basic_in_hand"][1 - seat]))


def test_the_table_as_text():
    table = position(
        middle=[0, 0, 2, 3],
        nurseries=[[1] * 4, [2, 3, 3]],
        deck=[1, 2],
        discards=[0, 0],
        bonus=(2, 3),
        hands=[["starting"], [4]],
        arrangement_deck=[7, 1],
        planted=[[[2, "upper"]], ["starting"]],
        special=[None, [0, 0, 0]],
    )
    page = table.game.text(table.state)
    rows = {line[:26].strip(): line[26:].split() for line in page.splitlines()}
    assert rows["middle"] == ["2", "-", "1", "1"]
    assert rows["player_0: Nursery"] == ["-", "4", "-", "-"]
    assert rows["player_1: Nursery"] == ["-", "-", "1", "2"]
    assert rows["under Special Planter"] == ["3", "-", "-", "-"]
    assert rows["discards"] == ["2", "-", "-", "-"]
    for line in (
        "Cacti deck: 2 cards, next: prickly pear, saguaro",
        "Arrangement deck: 2 cards, top:\n  basic 7: upper 1 prickly pear + 2 saguaro = 3, lower 2 barrel + 3 star = 6",
        "player_0: score -1 if the game ended now\n",
        "  = planted 3 + special 0 + bonus 0 - left over 4 (cacti 4 x types 1)\n",
        "planted: basic 2 upper = 3",
        "planted: starting = 5",
    ):
        assert line in page


def test_the_score_is_explained_as_far_as_it_is_open():
    setup = {
        "middle": [0, 0, 2, 3],
        "nurseries": [[1, 1], [2, 2, 3]],
        "planted": [[[2, "upper"]], ["starting"]],
        "special": [None, [0, 0]],
        "deck": [0],
        "bonus": (1, 2),
        "max_decisions": 1,
    }
    table = position(**setup)
    page, shown = table.game.text(table.state, 0), texts(table.game.svg(table.state, 0))
    own, other = (
        "planted 3 + special 0 + bonus 2 - left over 0",
        "planted 5 + special 2 (the rest is counted in the end)",
    )
    assert f"player_0: score 5 if the game ended now\n  = {own}\n" in page
    assert f"player_1: 7 points on the table\n  = {other}\n  Bonus Planter: hidden\n" in page
    assert {own, other, "if the game ended now", "points on the table"} <= set(shown)
    table.take("grow star")
    page, shown = table.game.text(table.state, 0), texts(table.game.svg(table.state, 0))
    own = "planted 3 + special 0 + bonus 2 - left over 1 (cacti 1 x types 1)"
    other = "planted 5 + special 2 + bonus 2 - left over 1 (cacti 1 x types 1)"
    assert f"player_0: score 4\n  = {own}\n" in page
    assert f"player_1: score 8\n  = {other}\n" in page
    assert {own, other, "points"} <= set(shown)
    assert page.startswith("stopped by the cap of 1 decisions, scored as it stands: 4 to 8\n")


def test_what_can_be_done_stands_out():
    table = position(middle=[0, 0, 1, 1, 1], nurseries=[[0, 1, 2, 3], []], hands=[["starting"], []])
    plain = position(middle=[], nurseries=[[], []], hands=[["starting"], []])
    marked = LIGHT.gold  # edges of five cards, the Starting Arrangement and the Special Planter
    for each, seat, count in ((table, 0, 7), (table, 1, 0), (plain, 0, 0)):
        assert each.game.svg(each.state, seat, legal=True).count(marked) == count


@pytest.mark.parametrize("compact", [False, True])
def test_what_the_last_action_changed_is_marked(compact):
    seen = set()
    for seed in range(8):
        table, rng = Table().deal(seed), random.Random(seed)
        while not table.over:
            player, label = table.now["current_player"], choose("uniform", rng, table.legal)
            table.take(label)
            last = player, table.game.labels.index(label)
            seen.add(label.split()[0])
            assert table.game.svg(table.state, last=last, compact=compact).count("data-last") == 1, label
    assert seen == {"grow", "plant", "special", "take", "leave"}


def test_arrangements_bear_their_names_on_demand():
    table = position(middle=[0], nurseries=[[], []], hands=[["starting"], [4]])
    plain, named = (texts(table.game.svg(table.state, names=names)) for names in (False, True))
    assert "4" in plain
    assert {"4 upper", "4 lower", "starting"} <= set(named)
