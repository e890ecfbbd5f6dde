"""Films of recorded games: a page for a browser, GIF and MP4."""

from __future__ import annotations

import base64
import gzip
import html
import io
import itertools
import json
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from garden_core.files.disk import write_atomically
from garden_core.game import Game
from garden_core.recorded.replay import Replay
from garden_core.render.svg import to_png

TEMPLATE = Path(__file__).with_name("replay.html")
GIF_LIMIT = 200_000_000
"""Maximum number of pixels in all pictures of a GIF; each needs a byte of memory while it is made."""
_COLOURS_OF = 5  # approximate number of pictures from which the palette of a GIF is made


def picture(game: Game, state: Any, path: str | Path, width: int | None = None, **look: Any) -> None:
    """Write the picture of a position as SVG or PNG, by the file's name.

    Args:
        game: the game.
        state: a state record.
        path: the file, .svg or .png.
        width: width of a PNG in pixels; None: the picture's own.
        **look: `seat`, `legal`, `last`, `dark`, `compact`, `names` of `Game.svg`.

    Raises:
        ValueError: for another kind of file, or as `Game.svg`.

    Example:
        >>> from garden_core import Batch, picture
        >>> batch = Batch("mars", num_envs=1)
        >>> batch.reset(seed=0)
        >>> picture(batch.game, batch.states[0], "position.svg", seat=0)
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in (".svg", ".png"):
        raise ValueError(f"a picture is .svg or .png, not {path.name}")
    drawn = game.svg(state, **look)
    write_atomically(path, drawn.encode() if kind == ".svg" else to_png(drawn, width))


def page(
    replay: Replay,
    seat: int | None = None,
    estimates: Sequence[Sequence[float]] | None = None,
    **look: Any,
) -> str:
    """Return a self-contained HTML page that shows the game's pictures, decisions and scores, also offline.

    `Replay.load` also reads such pages.

    Args:
        replay: the game.
        seat: show the view of this seat; None shows everything. The page also contains the replay, which hides nothing.
        estimates: expected outcome of each seat in each position, from the deal on; not shown if None.
        **look: `dark`, `names` of `Game.svg`; a narrow window shows compact pictures.

    Raises:
        ValueError: for the wrong number of estimates, a seat that does not exist, or a game without pictures.
    """
    game = replay.game
    shown = list(replay.decisions())
    if estimates is not None and len(estimates) != len(shown):
        raise ValueError(f"{len(shown)} positions need as many estimates, not {len(estimates)}")
    moves = [
        f"player_{last[0]}: {game.describe_to(before, last[1], seat)}"
        for (before, _), (_, last) in itertools.pairwise(shown)
        if last is not None
    ]
    scores = [game.scores(state, seat) for state, _ in shown]
    # Positions differ little: each different element is stored once, and a picture is a list of their numbers.
    pieces: dict[str, int] = {}

    def numbers(**form: bool) -> list[list[int]]:
        drawn = (game.svg(state, seat, last=last, **form, **look) for state, last in shown)
        split = (re.findall("<[^<]*", svg) for svg in drawn)
        return [[pieces.setdefault(piece, len(pieces)) for piece in parts] for parts in split]

    film = {
        "wide": numbers(),
        "narrow": numbers(compact=True),
        "pieces": list(pieces),
        "moves": moves,
        "scores": scores,
        "estimates": estimates,
    }
    packed = gzip.compress(json.dumps(film).encode(), mtime=0)
    parts = {
        "title": html.escape(f"{game.title}: {', '.join(map(str, scores[-1]))}"),
        "replay": json.dumps(replay.content()).replace("<", "\\u003c"),
        "film": base64.b64encode(packed).decode(),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], TEMPLATE.read_text("utf-8"))


def save_page(replay: Replay, path: str | Path, **shown: Any) -> None:
    """Write the page; arguments as for `page`.

    Example:
        >>> from garden_core import RandomPolicy, make, record, save_page
        >>> replay = record(make("cacti"), [RandomPolicy(1), RandomPolicy(2)], seed=3)
        >>> save_page(replay, "game.html")
    """
    write_atomically(Path(path), page(replay, **shown).encode())


def save_film(
    replay: Replay,
    path: str | Path,
    seat: int | None = None,
    width: int = 800,
    seconds: float = 0.7,
    every: int = 1,
    start: int = 0,
    **look: Any,
) -> None:
    """Write a GIF or, with the package `av`, an MP4, by the file's name.

    Args:
        replay: the game.
        path: the file, .gif or .mp4.
        seat: show the view of this seat; None shows everything.
        width: in pixels.
        seconds: duration of each position; the last one stays three times as long.
        every: show the last position and every `every`-th before it.
        start: leave out the positions before decision `start`.
        **look: `dark`, `compact`, `names` of `Game.svg`.

    Raises:
        ValueError: for another kind of file, a width, time or `every` that is not positive, a GIF of more than `GIF_LIMIT`
            pixels, or as `Replay.frames`.
        ImportError: for .mp4 without `av`.

    Example:
        >>> from garden_core import RandomPolicy, make, record, save_film
        >>> replay = record(make("cacti"), [RandomPolicy(1), RandomPolicy(2)], seed=3)
        >>> save_film(replay, "game.gif", width=320, every=4)
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in (".gif", ".mp4"):
        raise ValueError(f"a film is .gif or .mp4, not {path.name}")
    if not (width > 0 and seconds > 0 and every > 0):
        raise ValueError(f"width, seconds and every must be positive, not {width}, {seconds} and {every}")
    pictures = replay.frames(seat, width, every, start, **look)
    if kind == ".mp4":
        write_atomically(path, _mp4(pictures, seconds))
        return
    number = (len(replay.actions) - start) // every + 1
    few = list(replay.frames(seat, width, every * -(-number // _COLOURS_OF), start, **look))
    pixels = number * few[0].shape[0] * few[0].shape[1]
    if pixels > GIF_LIMIT:
        enough = every * -(-pixels // GIF_LIMIT)
        raise ValueError(
            f"{number:,} pictures are too many for a GIF of this width: show every {enough}th, or make an .mp4"
        )
    write_atomically(path, _gif(pictures, few, seconds))


def _gif(pictures: Iterator[np.ndarray], few: Sequence[np.ndarray], seconds: float) -> bytes:
    """Encode pictures with a common palette, made from a few of them, so that unchanged parts take no space."""
    from PIL import Image

    palette = Image.fromarray(np.concatenate(few)).quantize(method=Image.Quantize.FASTOCTREE)
    first, *others = (
        Image.fromarray(each).quantize(palette=palette, dither=Image.Dither.NONE) for each in pictures
    )
    times = [round(1000 * seconds)] * len(others) + [round(3000 * seconds)]
    out = io.BytesIO()
    first.save(out, "GIF", save_all=True, append_images=others, duration=times, loop=0, optimize=True)
    return out.getvalue()


def _mp4(pictures: Iterator[np.ndarray], seconds: float) -> bytes:
    try:
        import av
    except ImportError as error:
        raise ImportError("films as .mp4 need: pip install av") from error
    first = next(pictures)
    height, width = (side // 2 * 2 for side in first.shape[:2])  # the format requires even sides
    out = io.BytesIO()
    with av.open(out, "w", format="mp4") as container:
        stream = container.add_stream("h264", rate=Fraction(1 / seconds).limit_denominator(1000))
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for shown in itertools.chain([first], pictures):
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(shown[:height, :width]), format="rgb24")
            container.mux(stream.encode(frame))
        for last in (frame, frame, None):  # None flushes the encoder
            container.mux(stream.encode(last))
    return out.getvalue()
