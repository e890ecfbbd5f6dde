"""Shared by the tests of Gardens of Mars: positions set up by hand, choosers of actions.

Boards are drawn as `Mars.text` draws them, one row per line: `.` an empty hex, `+` the centre, `^` a
peak, b y w g r n a flower (blue, yellow, white, grey, red, green), A to E the gardener of seat 0 to 4, A1 and A2
the two gardeners of a seat, and `Ab` or `A2b` a gardener on a flower.
"""

import itertools
import re

import numpy as np
import table

from mars_env import Mars

LETTERS = "bywgrn"
MOVE = 1  # the phase in a state
COLOURS = ("blue", "yellow", "white", "grey", "red", "green")
HEXES = [(q, r) for q in range(-5, 6) for r in range(-5, 6) if abs(q + r) <= 5]
INDEX = {hexagon: index for index, hexagon in enumerate(HEXES)}
BY_ROW = sorted(HEXES, key=lambda hexagon: (hexagon[1], hexagon[0]))
DIRECTIONS = [(1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)]


def neighbours(hexagon):
    """Return the hexes of the board next to this one."""
    q, r = hexagon
    return [(q + dq, r + dr) for dq, dr in DIRECTIONS if (q + dq, r + dr) in INDEX]


def hex_label(hexagon, second=False):
    return f"{'second ' if second else ''}hex {hexagon[0]},{hexagon[1]}"


OPTIONS = {
    "num_players": range(1, 6),
    "peaks": range(5),
    "special_actions": (False, True),
    "gardeners": (1, 2),
    "cooperative": (False, True),
    "reward": ("outcome", "margin"),
    "view": ("flat", "planes", "flat+special"),
}


def combinations():
    """Yield every allowed combination of options; the cap on decisions is the default."""
    for values in itertools.product(*OPTIONS.values()):
        n, peaks, _, gardeners, cooperative, *_ = values
        if peaks <= 5 - n and (n > 1 or cooperative) and (gardeners == 1 or n == 2):
            yield dict(zip(OPTIONS, values, strict=True))


# --- positions set up by hand ---


class Table(table.Table):
    """One game and its state; `now` is the snapshot."""

    def __init__(self, **options):
        super().__init__(Mars(**options))

    @property
    def dice(self):
        return self.now["dice"]


def read_board(board):
    """Return gardeners {(seat, which): hex}, flowers {hex: colour} and peaks of a drawn board."""
    tokens = board.split()
    assert len(tokens) == 91, f"{len(tokens)} hexes are drawn"
    gardeners, flowers, peaks = {}, {}, []
    for hexagon, token in zip(BY_ROW, tokens, strict=True):
        gardener, which, flower = re.fullmatch(r"([A-E]?)([12]?)([bywgrn]?)|[.+^]", token).groups("")
        if token == "^":
            peaks.append(hexagon)
        if gardener:
            gardeners["ABCDE".index(gardener), int(which or 1) - 1] = hexagon
        if flower:
            flowers[hexagon] = LETTERS.index(flower)
        assert (token == "+") == (hexagon == (0, 0)), "the centre is drawn in the wrong place"
    return gardeners, flowers, peaks


def position(board, *, dice=(), to_move=0, scores=None, stocks=None, decisions=0, seed=0, **options):
    """Set up the start of a turn, in which `to_move` uses one of the `dice`.

    The number of players, gardeners and peaks is as drawn. `stocks` gives the flowers that a seat has left as
    letters, {seat: "bbr"}; other seats share the rest evenly.
    """
    gardeners, flowers, peaks = read_board(board)
    n = 1 + max(seat for seat, _ in gardeners)
    each = 1 + max(which for _, which in gardeners)
    assert len(gardeners) == n * each, "a gardener is missing"
    table = Table(num_players=n, gardeners=each, peaks=len(peaks), **options).deal(seed)
    state = table.state
    state["phase"] = MOVE
    state["current_player"] = to_move
    state["decisions"] = decisions
    for (seat, which), hexagon in gardeners.items():
        state["gardeners"][seat, which] = INDEX[hexagon]
    for hexagon, colour in flowers.items():
        state["flowers"][INDEX[hexagon]] = colour
    state["peaks"][:] = [hexagon in peaks for hexagon in HEXES]
    state["dice"][:] = np.bincount(dice, minlength=len(state["dice"]))
    state["score"][:n] = scores or 0
    if table.game.option_values["reward"] == "margin":
        state["paid"][:] = state["score"]
    state["stocks"][:] = 0
    for colour in range(6):
        for i in range(10 - list(flowers.values()).count(colour)):
            state["stocks"][i % n, colour] += 1
    for seat, letters in (stocks or {}).items():
        state["stocks"][seat] = [letters.count(letter) for letter in LETTERS]
    for name, value in derived(table.now).items():
        state[name] = value
    return table


def derived(snapshot):
    """Return the fields of a state that follow from the others, as arrays."""
    blocked = np.zeros(91, np.uint8)
    for q, r in [*snapshot["peaks"], *itertools.chain(*snapshot["gardeners"])]:
        blocked[INDEX[q, r]] = 1
    sets = [0] * 6
    for q, r, colour in snapshot["flowers"]:
        sets[colour] |= 1 << INDEX[q, r]
    return {
        "blocked": blocked,
        "garden": np.array([(bits & (2**64 - 1), bits >> 64) for bits in sets], np.uint64),
        "planted": np.array([bits.bit_count() for bits in sets], np.int8),
        "num_dice": np.int8(len(snapshot["dice"])),
    }


# --- choosers ---

POLICIES = ("uniform", "builder", "wrecker")


def choose(policy, rng, labels, snapshot):
    """Return one of the legal `labels`: any; or one that builds gardens; or one that costs points."""
    if policy == "uniform":
        return rng.choice(labels)
    flowers = {(q, r): colour for q, r, colour in snapshot["flowers"]}
    return rng.choices(labels, [_weight(policy, label, flowers, snapshot) for label in labels])[0]


def _weight(policy, label, flowers, snapshot):
    word, last = label.rsplit(" ", 1)
    if word == "plant":
        around = [flowers.get(hexagon) for hexagon in neighbours(snapshot["pending"])]
        return 1 + 20 * around.count(COLOURS.index(last)) * (policy == "builder")
    if word == "give up die":
        return 6 if policy == "wrecker" else 1
    target = tuple(map(int, last.split(",")))
    if target in flowers:
        return 6 if policy == "wrecker" else 1
    return 1 + 5 * len([h for h in neighbours(target) if h in flowers]) * (policy == "builder")


# --- a garden that many tests begin with ---

GARDEN = """
         . . . . . E
        . . . . . . .
       . . . . . . . .
      . . . . . . . . .
     . . . . . . . . . .
    D . . . . + . . . . .
     . . . . . . . . . .
      . r r r r . A b .
       . . . . . . . .
        . . . . . . .
         C . . . . B
"""
ADD_5 = ("hex 0,2", "plant red")  # A plants there a fifth red flower
ADD_1 = ("hex 0,2", "plant white")  # or a lonely white one
LOSE_1 = ("hex 2,2",)  # A lands on the blue flower


def seated(board, num_players):
    """Return a drawn board without the gardeners of further seats."""
    return re.sub(f"[{'ABCDE'[num_players:]}.]", ".", board)


def garden(num_players, moves=(), dice=(1, 3), **others):
    """Set up GARDEN with so many players, after A has made the moves."""
    return position(seated(GARDEN, num_players), dice=dice, **others).take(*moves)


def hexes(*labels):
    return {f"hex {label}" for label in labels}


CORNER = """
         . . . . . A
        . . . . . . .
       . . . . . B . .
      . . . . . . . . .
     . . . . . . . . . .
    . . . . . + . . . . .
     . . . . . . . . . .
      . . . . . . . . .
       . . . . . . . .
        . . . . . . .
         . . . . . .
"""
