"""Shared by the tests of Botanicus: tables, other data files, choosers of actions."""

import copy
import itertools
import random
import tomllib

import table

from botanicus_env import Botanicus
from botanicus_env.tables import PACKAGED

DATA = tomllib.loads(PACKAGED.read_text("utf-8"))


class Table(table.Table):
    """One game and its state; `now` is the snapshot."""

    def __init__(self, **options):
        super().__init__(Botanicus(**options))


def made_up(seed):
    """Return the content of a random valid data file; with few cards if the seed is odd."""
    rng = random.Random(seed)
    data = copy.deepcopy(DATA)

    gains = ["coins", "points", "animal", "card", "plant_1", "plant_2", "plant_3", "plant_4", "water", "walk"]
    tracks = ["money", "wheelbarrow", "shovel"]
    anything = [*gains, *tracks, "prize money", "prize shovel"]

    def written(kinds):
        kind = rng.choice(kinds)
        return kind if " " in kind else f"{kind} {rng.randint(1, 4)}"

    data["beds"] = [[int(rng.random() < 0.85) for _ in range(4)] for _ in range(5)]
    data["beds"][rng.randrange(5)] = [1, 1, 1, 1]
    data["fountain"] = [rng.randrange(4), rng.randrange(3)]
    data["columns"] = sorted(rng.randint(0, 20) for _ in range(4))
    data["animals"] = [rng.randint(0, 20) for _ in range(5)]

    def task():
        plants = [rng.choice([0, 0, 1, 1, 2]) for _ in range(4)]
        plants[rng.randrange(4)] += not any(plants)
        return {"plants": plants, "points": rng.randint(0, 20)}

    def tile():
        sides = [written(anything), written(anything)]
        return sides if sides[0] != sides[1] else tile()

    data["basic"] = [task() for _ in range(5)]
    data["special"] = [task() for _ in range(rng.randint(20, 32))]
    data["board"] = [[written([*anything, "pole"]) for _ in range(4)] for _ in range(8)]
    few = seed % 2
    kinds = rng.sample([f"{kind} {n}" for kind in [*gains, *tracks] for n in (1, 2)], rng.randint(2, 12))
    if few:
        data["board"][1][0] = data["board"][3][1] = "card 4"
        kinds = kinds[:3]
    data["cards"] = [{"action": kind, "copies": 1 if few else rng.randint(1, 5)} for kind in kinds]
    for sort in ("spotted", "striped"):
        data["tiles"][sort] = [tile() for _ in range(8)]
    for name in ("money", "shovel"):
        data["prizes"][name] = [rng.randint(0, 30) for _ in range(rng.randint(1, 8))]
    for name in tracks:
        data["tracks"][name] = _track(rng, lambda: written([*gains, "prize money", "prize shovel"]))
    return data


def _track(rng, gain):
    """Return a track of 2 to 10 nodes: each leads to the next one, some also to a later one, some at a cost."""
    n = rng.randint(2, 10)
    nodes = []
    for number in range(n):
        node = {"name": f"N{number}", "gains": [gain() for _ in range(rng.randint(0, 3)) if number]}
        if number < n - 1:
            node["upper"] = {"to": f"N{number + 1}", "cost": rng.choice([0, 0, 0, 1, 2])}
            if rng.random() < 0.5:
                node["lower"] = {"to": f"N{rng.randint(number + 1, n - 1)}", "cost": rng.randint(0, 3)}
        nodes.append(node)
    return nodes


POLICIES = ("uniform", "busy", "collector")


def choose(policy, rng, labels):
    """Return one of the legal `labels`: any; seldom a pass; or to draw and keep cards."""
    if policy == "uniform" or rng.random() < 0.2:
        return rng.choice(labels)
    unwanted = {"busy": ("pass", "walk"), "collector": ("pass", "use", "sell")}[policy]
    return rng.choice([label for label in labels if not label.startswith(unwanted)] or labels)


# --- positions set up by hand ---


def position(
    *,
    num_players=2,
    round=1,
    column=1,
    stack=None,
    started=0,
    flowers=None,
    tiles=None,
    covered=None,
    tasks=None,
    pile=None,
    discards=(),
    prizes_taken=None,
    gardens=None,
    gardeners=None,
    coins=None,
    points=None,
    animals=None,
    hands=None,
    tracks=None,
    basic_done=None,
    special_done=None,
    seed=0,
    **options,
):
    """Set up the start of the turn of `stack[started]`, without a check that a game can reach it.

    The rest is as dealt, with all special tasks assigned in the order dealt. For each player: `gardens` a
    dict {(row, column): level}, `gardeners` a crossing (r, c), `hands` a list of card kinds by index, `tracks` a
    list of three nodes, `tasks` five indexes of special tasks (after which `dealt` is the same), `basic_done` and
    `special_done` the rows. `flowers` is four lists, bottom to top, of players or "neutral"; `tiles` 4 x 4 tile
    indexes by even column; `covered` a list of (place among the even columns, space). `pile` is a list of kinds, top
    first; without it, the other cards are shuffled. `prizes_taken` counts from the top of
    the whole stacks of four players.
    """
    made = Table(num_players=num_players, **options).deal(seed)
    while made.now["asked"] == "assign":
        made.take(made.legal[0])
    state, n = made.state, num_players
    state["round_number"], state["column"], state["started"] = round, column, started
    state["asked"] = ASKED.index("start")
    if stack:
        state["stack"][:n] = stack
    state["current_player"] = state["stack"][started]
    for space, flowers_there in enumerate(flowers or [[]] * 4):
        state["flowers"][space, : len(flowers_there)] = [4 if f == "neutral" else f for f in flowers_there]
        state["num_flowers"][space] = len(flowers_there)
    if tiles:
        state["tiles"][:] = tiles
    for place, space in covered or ():
        state["covered"][place, space] = 1
    if prizes_taken:
        state["prizes_taken"][:] = prizes_taken
    for name, values in (("coins", coins), ("points", points), ("animals", animals), ("piece", tracks)):
        if values is not None:
            state[name][:n] = values
    for p in range(n):
        if gardens:
            for (row, bed), level in gardens[p].items():
                assert state["garden"][p, 4 * row + bed] >= 0, f"there is no bed {row},{bed}"
                state["garden"][p, 4 * row + bed] = level
        if gardeners:
            state["gardener"][p] = 3 * gardeners[p][0] + gardeners[p][1]
        if tasks:
            state["dealt"][p] = state["task"][p] = tasks[p]
        for name, rows in (("basic_done", basic_done), ("special_done", special_done)):
            for row in rows[p] if rows else ():
                state[name][p, row] = 1
        for kind in hands[p] if hands else ():
            state["hand"][p, kind] += 1
    for kind in discards:
        state["discards"][kind] += 1
    if pile is None:
        pile = [kind for kind, card in enumerate(made.game.tables.cards) for _ in range(card.copies)]
        for kind in itertools.chain(discards, *(hands or ())):
            pile.remove(kind)
        random.Random(seed).shuffle(pile)
    state["pile"][: len(pile)] = pile[::-1]
    state["pile_left"] = len(pile)
    if made.game.option_values["reward"] == "margin":
        state["paid"][:n] = made.scores
    return made


# --- positions in which seat 0 begins its turn ---

ASKED = ["assign", "neutral", "start", "choose", "plant", "water", "walk", "track", "over"]
KINDS = ["plant_1", "plant_2", "plant_3", "plant_4", "water", "walk", "money", "wheelbarrow", "shovel"]
TRACKS = ["money", "wheelbarrow", "shovel"]
CROSSINGS = [(r, c) for r in range(4) for c in range(3)]
BEDS = [(r, c) for r in range(5) for c in range(4)]
NO_BEDS = [(1, 3), (3, 0)]
# Places among the card kinds and the nodes of the tracks of the packaged data.
WATER_2, PLANT_2, PLANT_1, PLANT_3, MONEY_3, WHEELBARROW_2, SHOVEL_2, ANIMAL_1, WALK_5 = range(9)
COPIES = [3, 2, 3, 2, 2, 2, 2, 1, 1]
M1, M2U, M2L, M3, M4U, M4L, MONEY_END = range(1, 8)
W1, W2U, W2L, W3, W4, WHEELBARROW_END = range(1, 7)
S1, S2, S3, S4, SHOVEL_END = range(1, 6)
LIGHT = [[light for light, _ in DATA["tiles"][sort]] for sort in ("spotted", "striped")]  # sides of tiles
FILLER = [17, 14, 19, 13, 15]  # special tasks that no test meets by chance


def laid(where=()):
    """Return 16 tiles: at {(place among the even columns, space): light side}, and the others in order."""
    tiles = {at: 8 * (at[1] // 2) + LIGHT[at[1] // 2].index(light) for at, light in dict(where).items()}
    rest = [[t for t in sort if t not in tiles.values()] for sort in (range(8), range(8, 16))]
    return [
        [tiles[place, space] if (place, space) in tiles else rest[space // 2].pop(0) for space in range(4)]
        for place in range(4)
    ]


def mine(
    *,
    num_players=3,
    hand=(),
    garden=None,
    gardener=(1, 1),
    coins=6,
    points=0,
    animals=0,
    pieces=(0, 0, 0),
    tasks=FILLER,
    basic_done=(),
    special_done=(),
    tiles=None,
    **others,
):
    """Set up the start of a turn of seat 0, which has all this; the others have 6 coins and nothing else."""

    def own(value, other):
        return [value, *[other] * (num_players - 1)]

    others.setdefault("stack", list(range(num_players)))
    return position(
        num_players=num_players,
        hands=own(list(hand), []),
        gardens=own(garden or {}, {}),
        gardeners=own(gardener, (1, 1)),
        coins=own(coins, 6),
        points=own(points, 0),
        animals=own(animals, 0),
        tracks=own(list(pieces), [0, 0, 0]),
        tasks=own(list(tasks), FILLER),
        basic_done=own(list(basic_done), []),
        special_done=own(list(special_done), []),
        tiles=laid(tiles or {}),
        **others,
    )


def printed(column, space, coins=6, **own):
    """Let seat 0 of two place its Flower on the neutral one, which costs 3 coins and gives no tile's action."""
    flowers_there = [["neutral"] if s == space else [] for s in range(4)]
    covered = [(column // 2 - 1, space)] if column % 2 == 0 else []
    table = mine(num_players=2, column=column, flowers=flowers_there, covered=covered, coins=coins + 3, **own)
    return table.take(f"flower {space}")


def through(table):
    """Forfeit all decisions up to the next turn, or to the rest of this one."""
    while table.now["asked"] not in ("start", "neutral", "over"):
        table.take("pass")
    return table


def put(table, label):
    """Take the action and forfeit all decisions after it."""
    return through(table.take(label))


def starting(*prefixes):
    """Return a filter of labels."""
    return lambda labels: [label for label in labels if label.startswith(prefixes)]


walks, beds, resolves, uses, sells, flowers, neutrals = map(
    starting, ("walk", "bed", "resolve", "use", "sell", "flower", "neutral")
)


def planted(table, seat=0):
    """Return the garden of a seat as {(row, column): level}."""
    return {BEDS[i]: level for i, level in enumerate(table.now["gardens"][seat]) if level > 0}


def turn(table):
    """Return the player to move and the kind of decision."""
    return table.now["current_player"], table.now["asked"]


def of(table, key, seat=0):
    return table.now[key][seat]


def last(**own):
    return mine(round=3, column=8, **own)
