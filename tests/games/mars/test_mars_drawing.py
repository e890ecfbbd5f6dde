"""Pictures of Gardens of Mars, from snapshots made by hand."""

import sys
from collections import Counter
from xml.etree import ElementTree

import numpy as np
import pytest
from layout import texts

from garden_core.render import svg as drawing_kit
from garden_core.render.svg import Look
from mars_env import drawing


def snapshot(phase="move", gardeners=(((2, -3),), ((-1, 2),)), **changes):
    """Return a game in progress as plain JSON."""
    gardeners = [[list(at) for at in hexes] for hexes in gardeners]
    made = {
        "game": "mars",
        "num_players": len(gardeners),
        "phase": phase,
        "current_player": 0,
        "dice": [1, 4, 4],
        "gardeners": gardeners,
        "flowers": [[-5, 0, 5], [-1, 2, 0], [2, -4, 3]],
        "stocks": [[5, 4, 3, 2, 1, 0] for _ in gardeners],
        "scores": [17 + player for player in range(len(gardeners))],
        "peaks": [],
        "pending": None,
        "decisions": 9,
        "terminated": phase == "over",
        "truncated": False,
    }
    return made | changes


PLACES = ((2, -3),), ((-1, 2),), ((0, 5),), ((-5, 2),), ((5, -5),)
CASES = {
    "place": (
        snapshot("place", [[(1, 1)], []], current_player=1, dice=[], flowers=[]),
        ["hex -5,0", "hex 0,4"],
    ),
    "move": (snapshot(), ["hex 2,-4", "hex 3,-3", "hex -2,1"]),
    "plant": (snapshot("plant", pending=[2, -3], dice=[4]), ["plant blue", "plant red"]),
    "over": (snapshot("over", dice=[]), []),
    "cap": (snapshot("over", truncated=True, terminated=False), []),
    "five tied": (snapshot("over", PLACES, scores=[0] * 5, truncated=True), []),
    "many targets": (snapshot(), [f"hex {q},{r}" for q, r in drawing.HEXES if q + r != 0]),
    "give up": (snapshot(dice=[6], peaks=[[-3, 0], [4, 0]]), ["give up die 6"]),
    "two gardeners": (
        snapshot(gardeners=[[(2, -3), (0, 3)], [(-1, 2), (3, 0)]]),
        ["hex 2,-4", "hex -5,0", "second hex -1,3", "second hex -5,0"],
    ),
} | {f"{n} players": (snapshot(gardeners=PLACES[:n]), ["hex 2,-4"]) for n in (1, 5)}


def marked(labels):
    """Return a look with the actions of these labels marked."""
    return Look({label: number for number, label in enumerate(labels)})


def clicked(svg):
    """Return by action the number of parts that one clicks for it."""
    actions = [element.get("data-action") for element in ElementTree.fromstring(svg).iter()]
    return Counter(int(action) for action in actions if action is not None)


@pytest.mark.parametrize(("state", "labels"), CASES.values(), ids=CASES)
def test_picture_and_text_show_each_player_and_the_legal_actions(state, labels):
    picture, page = drawing.svg(state, look=marked(labels)), drawing.text(state, labels)
    shown, lines = texts(picture), page.splitlines()
    assert clicked(picture) == dict.fromkeys(range(len(labels)), 1)
    assert not clicked(drawing.svg(state))
    assert max(map(len, lines)) <= 100
    if state["phase"] != "place":
        assert all(label in page for label in labels)
    if state["dice"]:
        assert f"dice:    {' '.join(map(str, state['dice']))}\n" in page
    for player, score in enumerate(state["scores"]):
        moving = state["phase"] != "over" and player == state["current_player"]
        assert {f"player_{player}" + " to move" * moving, str(score)} <= set(shown)
        (row,) = [line for line in lines if line[2:].startswith(f"player_{player} ")]
        assert str(score) in row.split()
        assert row.startswith(">") == moving


def test_the_text_board_has_each_hex_once_at_its_coordinates():
    page = drawing.text(*CASES["give up"])
    rows = {line[:4]: line[4:] for line in page.splitlines() if line.startswith("r=")}
    assert len(rows) == 11
    assert rows["r= 0"].split() == ["n", ".", "^", ".", ".", "+", ".", ".", ".", "^", "."]
    assert rows["r= 2"].split() == [".", ".", ".", ".", "1b", ".", ".", ".", "."]
    assert rows["r=-4"].split() == ["-2\\", ".", ".", ".", "g", ".", ".", "."]


def test_the_text_marks_targets_and_the_hex_that_waits_for_a_flower():
    page = drawing.text(*CASES["two gardeners"])
    for mark in ("(g)", "{.}", "<n>", "02", "11b"):
        assert mark in page
    assert "0?" in drawing.text(*CASES["plant"])
    assert "(" not in drawing.text(*CASES["place"]).split("flowers:")[0]  # in words instead


def test_the_last_action_is_marked():
    state, _ = CASES["move"]
    ring = 'data-last="1"'
    assert ring not in drawing.svg(state)
    for last, by, many in (
        ("hex 2,-3", 0, 1),
        ("second hex 0,1", 0, 1),
        ("plant blue", 1, 1),  # a gardener of this player is on a blue flower
        ("plant blue", 0, 0),
        ("give up die 3", 0, 1),
    ):
        assert drawing.svg(state, look=Look(last=last, by=by)).count(ring) == many, last


def test_places_bear_their_names_on_demand():
    state, _ = CASES["move"]
    assert "3,-3" not in texts(drawing.svg(state))
    shown = texts(drawing.svg(state, look=Look(names=True)))
    assert {f"{q},{r}" for q, r in drawing.HEXES} <= set(shown)


def test_groups_bear_their_sizes():
    state = snapshot(flowers=[[0, 1, 2], [1, 1, 2], [2, 1, 2], [-3, 0, 2], [-3, 1, 4]])
    plain = Counter(texts(drawing.svg(snapshot(flowers=[]))))
    assert Counter(texts(drawing.svg(state))) - plain == {"3": 1, "w": 4, "r": 1}


@pytest.mark.parametrize(
    ("state", "team", "result"),
    [
        (CASES["over"][0], False, "game over: highest score 18 (player_1), lowest 17"),
        (CASES["cap"][0], False, "stopped by the cap of 9 decisions, scored as it stands: "),
        (snapshot("over", scores=[0, 0]), False, "game over: every score is 0"),
        (CASES["over"][0], True, "game over: the team scores 17, the lowest score"),
        (snapshot("over", PLACES[:1]), False, "game over: score 17"),
    ],
)
def test_text_and_picture_give_the_result(state, team, result):
    assert drawing.text(state, team=team).startswith(result)
    assert any(text.startswith(result) for text in texts(drawing.svg(state, team=team)))


def test_helpers_escape_and_round():
    assert drawing_kit.tag("g", stroke_width=1 / 3, id='"<') == '<g stroke-width="0.33" id="&quot;&lt;"/>'
    assert ElementTree.fromstring(drawing_kit.text(0, 0, "a < b & c", 10)).text == "a < b & c"
    assert drawing_kit.polygon([(0, -0.001), (1.5, 2)]) == '<polygon points="0,0 1.5,2"/>'


class TestPixels:
    @pytest.fixture(autouse=True)
    def _libraries(self):
        pytest.importorskip("resvg_py")
        pytest.importorskip("font_lato")
        pytest.importorskip("PIL")

    def test_shape_and_type(self):
        picture = drawing.svg(CASES["5 players"][0])
        pixels = drawing_kit.to_pixels(picture)
        assert pixels.shape == (640, 920, 3)
        assert pixels.dtype == np.uint8
        assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 50
        assert drawing_kit.to_pixels(picture, width=450).shape == (314, 450, 3)

    def test_text_is_painted_and_no_font_of_the_machine_is_used(self):
        def paint(*families):
            texts = [drawing_kit.text(5, 20, "Mars 5", 20, font_family=family) for family in families]
            return drawing_kit.to_pixels(drawing_kit.document(100, 40, *texts))

        blank, lato = paint(), paint("Lato")
        assert (blank == 255).all()
        assert (lato < 128).any()
        for family in (None, "DejaVu Sans", "Arial", "sans-serif", "no such family"):
            assert (paint(family) == lato).all()

    def test_missing_library_says_what_to_install(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "resvg_py", None)
        with pytest.raises(ImportError, match="pip install resvg-py font-lato pillow"):
            drawing_kit.to_pixels("<svg/>")
