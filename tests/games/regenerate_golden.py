"""Write the golden playthroughs anew, after a change that is meant to change games: python tests/games/regenerate_golden.py.

Each file tells one game: options, seed, then at each decision who is to move, a digest of all seats' views, every
so often the whole state, the legal actions, the one taken, and what was paid for it. Read the diff in review.
"""

import hashlib
import json
import random
from pathlib import Path

import numpy as np

from garden_core import Batch, make
from garden_core.policies import GreedyPolicy

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


def mixed_play(seed):
    """A chooser, greedy or random by turns, so that games reach high scores and odd places."""
    rng, greedy = random.Random(seed), GreedyPolicy(seed)

    def choose(batch):
        if rng.random() < 0.5:
            return batch.game.labels[greedy(batch, np.array([0]))[0]]
        return rng.choice(batch.game.legal_labels(batch.states[0]))

    return choose


def main():
    for file, (name, options, seed) in VARIANTS.items():
        lines = playthrough(name, options, seed, mixed_play(seed))
        path = GAMES / name / "golden" / f"{file}.txt"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
