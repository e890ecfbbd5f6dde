"""Write the golden playthroughs and pictures again, after an intended change of games or pictures.

The command: python tests/games/regenerate_golden.py [pictures]; with the word, pictures alone.

Each playthrough holds one game: options and seed, then per decision the player to move, a digest of all seats' views,
the legal actions, the action taken and its rewards; every ten decisions also the whole state. Each picture shows a
position of one of these games, one line per element of the SVG. Read the diff in review, and look at the pictures.
"""

import hashlib
import json
import random
import sys
from pathlib import Path

import numpy as np

from garden_core import Batch, make
from garden_core.batch.policies import GreedyPolicy, RandomPolicy

GAMES = Path(__file__).parent
STATE_EVERY = 10  # decisions

VARIANTS = {  # file name: game, options, seed
    "botanicus_2_players": ("botanicus", {}, 9),
    "botanicus_4_players_margin": ("botanicus", {"num_players": 4, "reward": "margin"}, 10),
    "cacti": ("cacti", {}, 7),
    "cacti_margin": ("cacti", {"reward": "margin"}, 8),
    "mars_2_players": ("mars", {}, 1),
    "mars_5_players": ("mars", {"num_players": 5}, 2),
    "mars_2_gardeners_special": ("mars", {"gardeners": 2, "special_actions": True}, 3),
    "mars_3_players_peaks_planes": ("mars", {"num_players": 3, "peaks": 2, "view": "planes"}, 4),
    "mars_cooperative_1": ("mars", {"num_players": 1, "cooperative": True}, 5),
    "mars_cooperative_4_margin": ("mars", {"num_players": 4, "cooperative": True, "reward": "margin"}, 6),
}

PICTURES = {  # file name: playthrough, decision, how it is drawn
    "botanicus_assign_4_players_dark": ("botanicus_4_players_margin", 5, {"legal": True, "dark": True}),
    "botanicus_start_compact_names": (
        "botanicus_2_players",
        78,
        {"seat": 1, "legal": True, "compact": True, "names": True},
    ),
    "cacti_last_card_dark": ("cacti", 23, {"legal": True, "dark": True}),
    "cacti_plant_compact": ("cacti_margin", 14, {"legal": True, "compact": True}),
    "mars_2_gardeners_names": ("mars_2_gardeners_special", 90, {"legal": True, "names": True}),
    "mars_plant_5_players_compact": ("mars_5_players", 40, {"legal": True, "compact": True}),
}


def playthrough(name, options, seed, choose):
    """Yield the lines of one game; `choose(batch)` gives the label of each action after it was shown as legal."""
    game = make(name, **options)
    batch = Batch(game, 1, autoreset=False)
    batch.reset(seed)
    yield f"game: {name}"
    yield f"options: {json.dumps(options)}"
    yield f"seed: {seed}"
    decision, over = 0, False
    while True:
        yield ""
        views = b"".join(batch.observe(seat).tobytes() for seat in range(game.num_players))
        digest = hashlib.sha256(views).hexdigest()[:12]
        yield f"decision {decision}: {'over' if over else f'player_{batch.current_player[0]}'}, views {digest}"
        if over or decision % STATE_EVERY == 0:
            yield f"state: {json.dumps(game.snapshot(batch.states[0]), separators=(',', ':'))}"
        if over:
            return
        yield f"legal: {' | '.join(game.legal_labels(batch.states[0]))}"
        label = choose(batch)
        yield f"taken: {label}"
        batch.step([game.labels.index(label)])
        over = bool(batch.terminated[0] or batch.truncated[0])
        if over or batch.rewards.any():
            yield f"paid: {' '.join(map(str, batch.rewards[0]))}"
        decision += 1


def random_game(name, options, seed):
    """The lines of a game of random play."""
    policy = RandomPolicy(seed)
    return [*playthrough(name, options, seed, lambda batch: batch.game.labels[policy(batch, [0])[0]])]


def mixed_play(seed):
    """A chooser, greedy or random by turns, so that games reach high scores and odd places."""
    rng, greedy = random.Random(seed), GreedyPolicy(seed)

    def choose(batch):
        if rng.random() < 0.5:
            return batch.game.labels[greedy(batch, np.array([0]))[0]]
        return rng.choice(batch.game.legal_labels(batch.states[0]))

    return choose


def path_of(file, name, kind):
    """Where a playthrough, .txt, or a picture, .svg, of a game is stored."""
    return GAMES / name / "golden" / f"{file}.{kind}"


def drawn(source, decision, look):
    """The picture of a position of a stored playthrough, the last decision marked, with a line for each element."""
    name, options, seed = VARIANTS[source]
    lines = path_of(source, name, "txt").read_text(encoding="utf-8").splitlines()
    taken = [line.removeprefix("taken: ") for line in lines if line.startswith("taken: ")]
    batch = Batch(make(name, **options), 1, autoreset=False)
    batch.reset(seed)
    last = None
    for label in taken[:decision]:
        last = int(batch.current_player[0]), batch.game.labels.index(label)
        batch.step([last[1]])
    return batch.game.svg(batch.states[0], last=last, **look).replace("><", ">\n<") + "\n"


def write_playthroughs():
    for file, (name, options, seed) in VARIANTS.items():
        lines = playthrough(name, options, seed, mixed_play(seed))
        path_of(file, name, "txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def write_pictures():
    for file, (source, decision, look) in PICTURES.items():
        path = path_of(file, VARIANTS[source][0], "svg")
        path.write_text(drawn(source, decision, look), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] != ["pictures"]:
        write_playthroughs()
    write_pictures()
