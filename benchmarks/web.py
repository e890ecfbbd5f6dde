"""Response times of the web page for playing: `python -m benchmarks.web [GAMES...]`.

Starts `garden play GAME --web` as a process and plays random legal actions over WebSockets, as pages do, against random agents.
An answer's time is from sending an action to receiving the next position with its picture; the agents move after that. Measures
one game alone, many games at once, and invalid messages.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from websockets.asyncio.client import connect

from benchmarks.common import RESULTS, save
from garden_core import list_games, make

WRONG = ('{"type": "act"}', "x", "[" * 10_000, '{"type": "act", "at": 999, "action": 0}', '{"type": 7}')


@dataclass(frozen=True)
class Options:
    """Measure the response times of the web page for playing."""

    games: tyro.conf.Positional[tuple[str, ...]] = ()
    """names of games; all installed ones if none is given"""
    at_once: int = 50
    """games that are played at the same time"""
    decisions: int = 30
    """largest number of a person's decisions per game"""
    pause: float = 1.0
    """mean thinking time per decision with many games at once, seconds"""
    wrong: int = 500
    """number of invalid messages"""
    output: Path = RESULTS
    """folder for the result file"""


def main(options: Options) -> None:
    """Measure, print the figures, write the result file."""
    measurements = []
    for game in options.games or list_games():
        measurements += _measured(game, options)
        for measurement in measurements[-3:]:
            print(json.dumps(measurement), flush=True)
    about = {"at_once": options.at_once, "decisions": options.decisions, "pause": options.pause}
    save(options.output, "web", about, measurements)


def _measured(game: str, options: Options) -> list[dict[str, Any]]:
    """Return the measurements of a game."""
    seats = ["human"] + ["random"] * (make(game).num_players - 1)
    command = [sys.executable, "-m", "garden_agents", "play", game, "--web", "--no-open", "--seats", *seats]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdout is not None
        try:
            match = next(filter(None, (re.search(r"http://\S+", line) for line in process.stdout)))
            with urllib.request.urlopen(match[0]) as answer:  # redirects to the first game's seat
                socket = answer.url.replace("http://", "ws://").replace("/?", "/socket?")
            return asyncio.run(_all(game, socket, options))
        finally:
            process.terminate()


async def _all(game: str, socket: str, options: Options) -> list[dict[str, Any]]:
    async with connect(socket, max_size=None) as owner:
        keys = []
        for seed in range(options.at_once + 1):
            seats = ["human"] + ["random"] * (make(game).num_players - 1)
            await owner.send(json.dumps({"type": "new", "game": game, "seats": seats, "seed": str(seed)}))
            keys.append((await _next(owner, "opened"))["seat"])
        wrong = []
        for number in range(options.wrong):
            start = time.perf_counter()
            await owner.send(WRONG[number % len(WRONG)])
            await _next(owner, "error")
            wrong.append(time.perf_counter() - start)
    address = f"{socket.partition('?')[0]}?seat="
    alone = await _play(address + keys[0], 0, options.decisions, 0)
    start = time.perf_counter()
    games = [
        _play(address + key, seed, options.decisions, options.pause) for seed, key in enumerate(keys[1:], 1)
    ]
    together = [seconds for one in await asyncio.gather(*games) for seconds in one]
    rate = {"per_s": round(len(together) / (time.perf_counter() - start))}
    return [
        {"game": game, "case": "one game", **_spread(alone)},
        {"game": game, "case": f"{options.at_once} games at once", **_spread(together), **rate},
        {"game": game, "case": "wrong messages", **_spread(wrong)},
    ]


async def _next(socket: Any, kind: str) -> dict[str, Any]:
    """Return the next message of a kind."""
    while True:
        message: dict[str, Any] = json.loads(await socket.recv())
        if message["type"] == kind:
            return message


async def _play(address: str, seed: int, decisions: int, pause: float) -> list[float]:
    """Play a game, with a pause before each decision; return the seconds of each answer."""
    rng, taken = random.Random(seed), list[float]()
    async with connect(address, max_size=None) as socket:
        await socket.send(json.dumps({"type": "look"}))
        now = await _next(socket, "position")
        while not now["over"] and len(taken) < decisions:
            if not now["mine"]:
                now = await _next(socket, "position")
                continue
            action = rng.choice(now["legal"])["action"]
            await asyncio.sleep(pause * rng.uniform(0.5, 1.5))
            start = time.perf_counter()
            await socket.send(json.dumps({"type": "act", "at": now["at"], "action": action}))
            at = now["at"]
            while now["at"] == at:
                now = await _next(socket, "position")
            taken.append(time.perf_counter() - start)
    return taken


def _spread(seconds: list[float]) -> dict[str, Any]:
    """Return the number of answers, and their times in milliseconds."""
    low, high = np.quantile(seconds, [0.5, 0.99]) * 1e3
    return {"answers": len(seconds), "median_ms": round(low, 1), "p99_ms": round(high, 1)}


if __name__ == "__main__":
    main(tyro.cli(Options))
