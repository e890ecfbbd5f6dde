"""Botanicus in words for people: the rules in short, and one notation for actions, tasks, tracks and seats.

Text, picture, descriptions and the tables of the docs use this notation. The data file, labels and snapshots use
names such as `plant_1 2`.
"""

from __future__ import annotations

from collections.abc import Iterable

from botanicus_env.tables import TRACKS, Node, Tables, Task, stages, ways

LEVELS = ("", "I", "II", "III", "IV")

_SUMMARY = """\
Each player tends a garden of beds in 5 rows (0 to 4, from the top) and 4 columns (0 to 3, from the left);
some places may have no bed. Each begins with 6 coins. The most points win. Plants have levels I to IV.
The Gardener is on a crossing, 0,0 to 3,2, and reaches the beds around it: from crossing 1,1 those at 1,1,
1,2, 2,1 and 2,2. You can plant and water only there.

Points come from tasks, animals, prizes, full columns of the garden and coins. Each row has a basic task.
Before the first turn each player is dealt five special tasks, open to all, and gives one to each row. A
task asks for plants of certain levels that the row must hold at the same time, for example 2 I + 1 II;
levels are exact, and more plants do no harm. The basic task scores as soon as it is met, after that the
special one (at once, if it is already met). Scored tasks stay scored when plants change later. The first
five animals score {}, {}, {}, {} and {} points. A money prize or a shovel prize is the top one of its stack; the
next one often scores less. At the end a column whose beds are all planted scores {}, {}, {} or {} points
if its highest plant is of level I, II, III or IV, and every 3 coins score 1. If scores are level, the
player who is earlier in the last order of Flowers is ahead.

The board has 8 columns of 4 spaces (0 to 3, from the top). You go through them twice, and each player
has one turn per column. First you may, in any order, walk the Gardener once for 1 coin per step, and
play one Garden card: pay 2 coins and carry out its action, or sell it for 3 coins. Then you put a Flower
on a space of the column, for 3 coins for each Flower already there, and carry out the space's action. At
a Pole Position every Flower is free, and only the first gains coins. Each space of every second column
has a tile, whose action the first Flower there gains as well. The Flowers' places are the order of turns
in the next column: upper spaces first, and on one space from the top Flower down. With two players, the
one who is first in a column begins by putting a neutral Flower on one of its spaces; as any Flower does,
it takes the tile away, makes the space dearer and is the first one at a Pole Position. After the first
time through, all tiles are back and show their other sides.

Coins, points, animals, Garden cards and prizes are gained at once and cannot be declined. "2 plant I"
puts two plants of level I on beds in reach that are empty or hold another level, which is replaced; "1
water" raises a plant in reach by a level; "walk 3" takes the Gardener up to three steps for free. These
and track actions may be forfeited, also in part. Of several such actions gained together, the player
chooses the order; of two of one kind, the first gained goes first. A pass at this choice forfeits all of
them that are left.

This is simplified: the printed rules let you decline what is gained at once, and choose between actions
of one kind, too. A sentence of theirs about taking only 1 instead of 2 lacks its icons here; what it
means is unclear, and it is left out. So is the expert game.

"money track 2" moves your piece two steps along that track; where it forks, you choose, and some ways may
cost coins. You may stop early, for 1 point for each step not taken, or go on for 3 coins for each
further step. You gain only the actions of the node where the piece stops, not those it passes. From the
end of a track the piece goes back to the start. After the second time through the board each player has
a last turn: walk and card as always, then one step on a track of your choice."""


def summary(tables: Tables) -> str:
    """Return the rules in short, with the values of a data file."""
    return _SUMMARY.format(*tables.animals, *tables.columns)


def count(n: int, what: str) -> str:
    """Return "1 coin", "2 coins"; `what` is the singular."""
    return f"{n} {what}" + ("" if n == 1 else "s")


def action(text: str) -> str:
    """Return in words an action that the data write as kind and amount: "plant_1 2" is "2 plant I"."""
    kind, _, amount = text.partition(" ")
    if kind == "prize":
        return f"{amount} prize"
    number = int(amount)
    if kind == "pole":
        return f"Pole Position ({count(number, 'coin')})"
    if kind in TRACKS:
        return f"{kind} track {number}"
    if kind == "walk":
        return f"walk {number}"
    if kind == "water":
        return f"{number} water"
    if kind.startswith("plant_"):
        return f"{number} plant {LEVELS[int(kind[-1])]}"
    return count(number, kind.removesuffix("s"))


def actions(texts: Iterable[str]) -> str:
    """Return several actions in words; "nothing" for none."""
    return " + ".join(map(action, texts)) or "nothing"


def plants(task: Task) -> str:
    """Return the plants of a task in words: "2 I + 1 II"."""
    return " + ".join(f"{n} {LEVELS[level]}" for level, n in enumerate(task.plants, 1) if n)


def task(task: Task) -> str:
    """Return the plants and the points of a task in words: "2 I + 1 II = 5"."""
    return f"{plants(task)} = {task.points}"


def for_coins(cost: int) -> str:
    """Return ", free" or " for 2 coins"."""
    return f" for {count(cost, 'coin')}" if cost else ", free"


def marker(who: int | str) -> str:
    """Return how a seat's pieces and Flowers are marked: P0 for player_0; N for the neutral Flower."""
    return "N" if isinstance(who, str) else f"P{who}"


def step(nodes: tuple[Node, ...], number: int) -> str:
    """Return the name of a node of a track: its gains."""
    return "start" if number == 0 else actions(nodes[number].gains)


def target(nodes: tuple[Node, ...], number: int) -> str:
    """Return the name of a node that a way of a track leads to."""
    return "the end" if number == len(nodes) - 1 else step(nodes, number)


def track_line(nodes: tuple[Node, ...], pieces: dict[int, str]) -> str:
    """Return a track in words, from the start to the end.

    " > " separates steps; nodes of the same step are joined by " or ". Edges that do not lead from all nodes of a
    step to all of the next are written out at the node where they begin; their targets are numbered.

    Args:
        nodes: of the track.
        pieces: the markers of the pieces on a node, by its number.
    """
    edges, in_stages, last = ways(nodes), stages(nodes), len(nodes) - 1
    into = [{cost for here in edges for end, cost in here if end == to} for to in range(len(nodes))]
    price = [costs.pop() if len(costs) == 1 else 0 for costs in into]
    others = {}
    for stage, following in zip(in_stages, [*in_stages[1:], []], strict=True):
        for number in stage:
            usual = [(to, cost) for to, cost in edges[number] if to in following and cost == price[to]]
            whole = {to for to, _ in usual} == {*following}
            rest = [way for way in edges[number] if not whole or way not in usual]
            others[number] = "or" if whole else "only", rest
    named = {to for _, here in others.values() for to, _ in here}

    def words(number: int) -> str:
        text = step(nodes, number)
        if number == last:
            text = f"end: {text}"
        elif number in named:
            text = f"({number}) {text}"
        if price[number]:
            text += for_coins(price[number])
        only, here = others[number]
        if here:
            targets = [
                ("the end" if to == last else f"({to})") + (for_coins(cost) if cost != price[to] else "")
                for to, cost in here
            ]
            text += f" ({only} to {' or '.join(targets)})"
        return text + (f" [{pieces[number]}]" if number in pieces else "")

    return " > ".join(" or ".join(map(words, stage)) for stage in in_stages)
