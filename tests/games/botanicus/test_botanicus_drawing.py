"""Pictures and text of Botanicus, over whole games, packaged tables and others."""

import random
import re

import pytest
from botanicus_tools import (
    M2L,
    PLANT_2,
    SHOVEL_END,
    W2U,
    WALK_5,
    WATER_2,
    Table,
    choose,
    laid,
    made_up,
    position,
)
from data_tools import written
from layout import texts
from quick import seeds

MOST_LINES = {2: 34, 3: 40, 4: 48}  # by number of players, without the list of legal actions
INTERNAL = re.compile(r"plant_\d|\b[MWS]\d|\bpole\b|prize (money|shovel)|[a-z] 1xI")


@pytest.mark.parametrize("seed", seeds(6, 0, 1, 5))
@pytest.mark.many_games
def test_a_whole_game_as_text_and_picture(seed, tmp_path):
    """Scores and legal actions, no internal names; the text is compact, except for long tracks of other data."""
    num_players, own_data = 2 + seed % 3, seed > 2
    options = {"tables": written(tmp_path, made_up(seed))} if own_data else {}
    table = Table(num_players=num_players, **options).deal(seed)
    rng = random.Random(seed)
    while True:
        now, legal = table.now, table.legal
        if now["decisions"] % 7 == 0 or table.over:
            for seat in (None, *range(num_players)):
                page, shown = table.game.text(table.state, seat), texts(table.game.svg(table.state, seat))
                shown_text, _, listed = page.partition("\n\nlegal: ")
                if table.over or seat not in (None, now["current_player"]):
                    assert not listed
                else:
                    assert all(label in listed.replace("\n       ", " ") for label in legal)
                assert max(map(len, page.splitlines())) <= 100
                assert own_data or len(shown_text.splitlines()) <= MOST_LINES[num_players]
                assert not [each for each in (shown_text, *shown) if INTERNAL.search(each)]
                for player, score in enumerate(now["scores"]):
                    assert {f"player_{player}", str(score)} <= set(shown)
                    assert f"player_{player}: score {score}" in page
        if table.over:
            assert page.startswith("game over; level scores rank in the order ")
            return
        table.take(choose("busy", rng, legal))


@pytest.mark.parametrize(("cap", "first"), [(2000, "game over"), (30, "stopped by the cap of 30 decisions")])
def test_the_end_explains_the_scores(cap, first):
    table = Table(num_players=3, max_decisions=cap).deal(1)
    rng = random.Random(1)
    while not table.over:
        table.take(choose("busy", rng, table.legal))
    page, picture = table.game.text(table.state), " ".join(texts(table.game.svg(table.state)))
    assert page.startswith(first)
    assert first in picture
    sheets = table.game.score_sheet(table.now)
    for player, (score, parts) in enumerate(zip(table.scores, sheets, strict=True)):
        sheet = " + ".join(f"{part} {points}" for part, points in parts.items())
        assert f"\nplayer_{player}: {score} = {sheet}\n" in page
        for part, points in parts.items():
            assert f"{part} {points}" in picture, part


def test_the_table_as_text():
    table = position(
        num_players=3,
        column=2,
        flowers=[[1, 2], [], [], []],
        stack=[2, 1, 0],
        started=2,
        coins=[7, 0, 2],
        gardens=[{(0, 0): 4, (1, 1): 2}, {}, {}],
        gardeners=[(3, 2), (1, 1), (1, 1)],
        animals=[2, 0, 0],
        hands=[[WATER_2, WATER_2, WALK_5], [], [PLANT_2]],
        tracks=[[M2L, 0, 0], [0, W2U, 0], [0, 0, SHOVEL_END]],
        basic_done=[[1], [], []],
        covered=[(0, 0)],
        tiles=laid(),
    )
    page = table.game.text(table.state, 0)
    for line in (
        "round 1, column 2: player_0 to walk, play a card or place the Flower; still to play: P0\n",
        "  0: 2 coins [P1 P2], costs 6 coins ",
        "  1: 2 points + tile wheelbarrow track 1 ",
        "  2: walk 3 + tile 1 animal ",
        " 0: Pole Position (3 coins)\n",
        "P0 player_0: score 2, 7 coins, 2 animals, Gardener at 3,2 reaches ( ), cards: 2 water (x2), walk 5\n",
        "P2 player_2: score 0, 2 coins, 0 animals, Gardener at 1,1 reaches ( ), cards: 1 hidden\n",
        "  0  IV    .    .    .   2 I + 1 II = 5 ",
        "  1   .   II    .        1 I + 2 II = 7 done ",
        "  3        .   (.)  (.)  1 I + 1 II + 1 III = 8 ",
        " 5 coins or 2 coins + 1 card [P0] > ",
        " > end: 1 plant II + shovel prize [P2]\n",
    ):
        assert line in page or line in page.replace("\n    ", " ")


def test_what_can_be_done_stands_out():
    table = position(coins=[0, 0], stack=[0, 1])

    def marked(seat):
        return table.game.svg(table.state, seat, legal=True).count("data-action")

    assert (marked(0), marked(1)) == (4, 0)  # the spaces of the column
    table.take("flower 3")  # two steps on the shovel track
    assert marked(0) == 2  # the next step, or none
    table.take("advance upper")  # there it stops, as the next step costs coins
    assert table.now["asked"] == "plant"
    assert marked(0) == 5  # the beds around the fountain, or none


def test_what_the_last_action_changed_is_marked():
    """At the action's target, or at the player's name if the action leaves no trace."""
    table, rng, seen = Table(num_players=3).deal(5), random.Random(5), set()
    while not table.over:
        player, label = table.now["current_player"], choose("busy", rng, table.legal)
        action = table.game.labels.index(label)
        table.take(label)
        seen.add(label.split()[0])
        marks = table.game.svg(table.state, last=(player, action)).count("data-last")
        both = label.startswith("assign") and -1 not in table.now["tasks"][player]  # the last task follows
        assert marks == 1 + both, label
    assert seen >= {"assign", "flower", "walk", "bed", "advance", "resolve", "use", "sell", "pass"}


def test_places_bear_their_names_on_demand():
    table = position(coins=[6, 6])
    plain, named = (texts(table.game.svg(table.state, names=names)) for names in (False, True))
    assert not {"0,0", "1,2", "4,3"} & set(plain)
    assert {"0,0", "1,2", "4,3"} <= set(named)
    assert named.count("3") == plain.count("3") + 2  # the lowest space of this column and the next
