"""What the tests of Botanicus share: tables, other data files, choosers of actions."""

import copy
import random
import tomllib

import table

from botanicus_env import Botanicus
from botanicus_env.tables import PACKAGED

DATA = tomllib.loads(PACKAGED.read_text())


class Table(table.Table):
    """One game and its state; `now` is the snapshot."""

    def __init__(self, **options):
        super().__init__(Botanicus(**options))


def made_up(seed):
    """Another data file's content: other beds, tasks, tracks, prizes, spaces, tiles and cards; few cards with an odd seed."""
    rng = random.Random(seed)
    data = copy.deepcopy(DATA)

    def amount_of(kind):
        return f"{kind} {rng.randint(1, 4)}"

    gains = ["coins", "points", "animal", "card", "plant_1", "plant_2", "plant_3", "plant_4", "water", "walk"]
    tracks = ["money", "wheelbarrow", "shovel"]
    anything = [*gains, *tracks, "prize money", "prize shovel"]

    def written(kinds):
        kind = rng.choice(kinds)
        return kind if " " in kind else amount_of(kind)

    data["beds"] = [[int(rng.random() < 0.85) for _ in range(4)] for _ in range(5)]
    data["beds"][rng.randrange(5)] = [1, 1, 1, 1]
    data["fountain"] = [rng.randrange(4), rng.randrange(3)]
    data["columns"] = sorted(rng.randint(0, 20) for _ in range(4))
    data["animals"] = [rng.randint(0, 20) for _ in range(5)]

    def task():
        plants = [rng.choice([0, 0, 1, 1, 2]) for _ in range(4)]
        plants[rng.randrange(4)] += not any(plants)
        return {"plants": plants, "points": rng.randint(0, 20)}

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
        data["tiles"][sort] = [[written(anything), written(anything)] for _ in range(8)]
    for name in ("money", "shovel"):
        data["prizes"][name] = [rng.randint(0, 30) for _ in range(rng.randint(1, 8))]
    for name in tracks:
        data["tracks"][name] = _track(rng, lambda: written([*gains, "prize money", "prize shovel"]))
    return data


def _track(rng, gain):
    """A track of 2 to 10 nodes: each leads to the next one, some also to a later one at a cost."""
    n = rng.randint(2, 10)
    nodes = []
    for number in range(n):
        node = {"name": f"N{number}", "gains": [gain() for _ in range(rng.randint(0, 3)) if number]}
        if number < n - 1:
            node["upper"] = {"to": f"N{number + 1}"}
            if rng.random() < 0.5:
                node["lower"] = {"to": f"N{rng.randint(number + 1, n - 1)}", "cost": rng.randint(0, 3)}
        nodes.append(node)
    return nodes


POLICIES = ("uniform", "busy", "collector")


def choose(policy, rng, labels):
    """Return one of the legal `labels`: any; rather not passing; or drawing and keeping cards."""
    if policy == "uniform" or rng.random() < 0.2:
        return rng.choice(labels)
    unwanted = {"busy": ("pass", "walk"), "collector": ("pass", "use", "sell")}[policy]
    return rng.choice([label for label in labels if not label.startswith(unwanted)] or labels)


# --- positions set up by hand ---


def position(
    *, num_players=2, round=1, column=1, stack=None, started=0, flowers=None, tiles=None, covered=None, tasks=None,
    pile=None, discards=(), prizes_taken=None, gardens=None, gardeners=None, coins=None, points=None, animals=None,
    hands=None, tracks=None, basic_done=None, special_done=None, seed=0, **options,
):  # fmt: skip
    """Set up the start of a turn (asked "start", whoever is `stack[started]`); nothing checks that it can come about.

    What is not given is as dealt, with all special tasks assigned in the order dealt. For each player: `gardens` a
    dict {(row, column): level}, `gardeners` a crossing (r, c), `hands` a list of card kinds by index, `tracks` a
    list of three nodes, `tasks` five indexes of special tasks (after which `dealt` is the same), `basic_done` and
    `special_done` the rows. `flowers` is four lists, bottom to top, of players or "neutral"; `tiles` 4 x 4 tile
    indexes by even column; `covered` a list of (place among the even columns, space). `pile` is a list of kinds, top
    first; without it, it is what is in no hand and not discarded, shuffled. `prizes_taken` counts from the top of
    the whole stacks of four players.
    """
    made = Table(num_players=num_players, **options).deal(seed)
    while made.now["asked"] == "assign":
        made.take(made.legal[0])
    state, n = made.state, num_players
    state["round_number"], state["column"], state["started"] = round, column, started
    state["asked"] = 2
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
    _fill_pile(made, pile, discards, hands or [], seed)
    if made.game.chosen["reward"] == "margin":
        state["paid"][:n] = made.scores
    return made


def _fill_pile(made, pile, discards, hands, seed):
    state = made.state
    for kind in discards:
        state["discards"][kind] += 1
    if pile is None:
        pile = [kind for kind, card in enumerate(made.game.tables.cards) for _ in range(card.copies)]
        for kind in [*discards, *(kind for hand in hands for kind in hand)]:
            pile.remove(kind)
        random.Random(seed).shuffle(pile)
    state["pile"][: len(pile)] = list(pile)[::-1]
    state["pile_left"] = len(pile)
