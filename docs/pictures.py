"""Make the pictures and films that README and docs show, of games between the trained agents: `python docs/pictures.py`.

For each game there are, in docs/pictures: the recorded game (.json), a position of it as a picture (.svg), and films of
it (.gif), light and dark. `python docs/generate.py` draws the pictures anew, of the games as they are recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from garden_agents.registry import load_agent
from PIL import Image, ImageSequence

from garden_core import make
from garden_core.recorded.film import save_film
from garden_core.recorded.replay import Replay, record

FOLDER = Path(__file__).with_name("pictures")


class Shown(NamedTuple):
    """A game that the docs show.

    Attributes:
        agent: agent on every seat.
        seed: seed of the deal; the seed of each seat's agent is the number of the seat.
        position: number of decisions before the position in the picture.
        film: settings of the film, see `save_film`; it begins in the middle, as boards are empty at first.
        small: whether README shows a film, too: compact and cropped.
    """

    agent: str
    seed: int
    position: int
    film: dict[str, Any]
    small: bool


SMALL = (400, 530)
"""Width and height of the films in README."""
SHOWN = {
    "mars": Shown(
        "network-mcts:100", 2, 82, {"every": 3, "width": 720, "seconds": 0.6, "start": 60}, small=True
    ),
    "cacti": Shown(
        "network-mcts:100", 8, 18, {"every": 1, "width": 720, "seconds": 1.0, "start": 8}, small=True
    ),
    "botanicus": Shown(
        "network", 3, 149, {"every": 5, "width": 800, "seconds": 0.9, "start": 75}, small=False
    ),
}


def played(name: str) -> Replay:
    """Play the game that is shown."""
    shown, game = SHOWN[name], make(name)
    return record(game, [load_agent(shown.agent, game, seed) for seed in range(game.num_players)], shown.seed)


def stills() -> dict[Path, str]:
    """Return, by file, a picture of a position of each recorded game."""
    made = {}
    for name, shown in SHOWN.items():
        replay = Replay.load(FOLDER / f"{name}.json")
        state, last = list(replay.decisions())[shown.position]
        made[FOLDER / f"{name}.svg"] = replay.game.svg(state, legal=True, last=last)
    return made


def films(name: str) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the files of the films of a game, and their settings."""
    shown = SHOWN[name]
    for dark in (False, True):
        end = "-dark.gif" if dark else ".gif"
        yield FOLDER / f"{name}{end}", shown.film | {"dark": dark}
        if shown.small:
            yield (
                FOLDER / f"{name}-small{end}",
                shown.film | {"dark": dark, "compact": True, "width": SMALL[0]},
            )


def crop(path: Path) -> None:
    """Leave out what is below the height of the small films."""
    with Image.open(path) as film:
        pictures = [picture.convert("RGB").crop((0, 0, *SMALL)) for picture in ImageSequence.Iterator(film)]
        seconds = [picture.info["duration"] for picture in ImageSequence.Iterator(film)]
    first, *others = (picture.quantize(dither=Image.Dither.NONE) for picture in pictures)
    first.save(path, save_all=True, append_images=others, duration=seconds, loop=0, optimize=True)


def files() -> set[Path]:
    """Return every file that is in the folder."""
    kept = {FOLDER / f"{name}{kind}" for name in SHOWN for kind in (".json", ".svg")}
    return kept | {path for name in SHOWN for path, _ in films(name)}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in SHOWN:
        replay = played(name)
        replay.save(FOLDER / f"{name}.json")
        for path, settings in films(name):
            save_film(replay, path, **settings)
            if settings.get("compact"):
                crop(path)
        print(f"{name}: {len(replay.actions)} decisions, scores {', '.join(map(str, replay.scores))}")
    for path, content in stills().items():
        path.write_text(content, "utf-8")
