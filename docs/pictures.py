"""Make the pictures and films that README and docs show, of games between the trained agents: `python docs/pictures.py`.

For each game there are, in docs/pictures: the recorded game (.json), a position of it as a picture (.svg), and a film of
it (.gif). `python docs/generate.py` draws the pictures anew, of the games as they are recorded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from garden_agents.registry import load_agent
from PIL import GifImagePlugin, Image, ImageSequence

from garden_core import make
from garden_core.files.replay import Replay, record
from garden_core.render.film import save_film

FOLDER = Path(__file__).with_name("pictures")


class Shown(NamedTuple):
    """A game that the docs show.

    Attributes:
        options: options of the game.
        agent: agent on every seat.
        seed: seed of the deal; the seed of each seat's agent is the number of the seat.
        position: number of decisions before the position in the picture.
        every, width, seconds: settings of the film, see `save_film`.
    """

    options: dict[str, Any]
    agent: str
    seed: int
    position: int
    every: int
    width: int
    seconds: float
    first: int


SHOWN = {
    "mars": Shown({}, "network-mcts:100", 2, 81, 3, 720, 0.6, 20),
    "cacti": Shown({}, "network-mcts:100", 8, 18, 1, 720, 1.0, 8),
    "botanicus": Shown({}, "network", 3, 149, 5, 800, 0.9, 15),
}


def played(name: str) -> Replay:
    """Play the game that is shown."""
    shown = SHOWN[name]
    game = make(name, **shown.options)
    return record(game, [load_agent(shown.agent, game, seed) for seed in range(game.num_players)], shown.seed)


def stills() -> dict[Path, str]:
    """Return, by file, a picture of a position of each recorded game."""
    made = {}
    for name, shown in SHOWN.items():
        replay = Replay.load(FOLDER / f"{name}.json")
        state, last = list(replay.decisions())[shown.position]
        made[FOLDER / f"{name}.svg"] = replay.game.svg(state, legal=True, last=last)
    return made


def begin_in_the_middle(path: Path, first: int) -> None:
    """Leave out the first pictures of a film, which show an empty board."""
    GifImagePlugin.LOADING_STRATEGY = GifImagePlugin.LoadingStrategy.RGB_AFTER_DIFFERENT_PALETTE_ONLY
    with Image.open(path) as film:
        pictures = [picture.copy() for picture in ImageSequence.Iterator(film)][first:]
    pictures[0].save(path, save_all=True, append_images=pictures[1:], loop=0, optimize=True)


def files() -> set[Path]:
    """Return every file that is in the folder."""
    return {FOLDER / f"{name}{kind}" for name in SHOWN for kind in (".json", ".svg", ".gif")}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, shown in SHOWN.items():
        replay = played(name)
        replay.save(FOLDER / f"{name}.json")
        film = {"width": shown.width, "seconds": shown.seconds, "every": shown.every}
        save_film(replay, FOLDER / f"{name}.gif", **film)
        begin_in_the_middle(FOLDER / f"{name}.gif", shown.first)
        print(f"{name}: {len(replay.actions)} decisions, scores {', '.join(map(str, replay.scores))}")
    for path, content in stills().items():
        path.write_text(content, "utf-8")
