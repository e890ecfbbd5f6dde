"""Play on a page in the browser: `garden play mars --web`.

The server keeps games (`rooms.Room`), each with one secret link per person's seat. A page holds a WebSocket to its seat. A
page with the server's token, which is in the address that the command prints, can also start new games and sees their links.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import secrets
import socket
import sys
import time
import webbrowser
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import font_lato
import msgspec
import uvicorn
from markdown_it import MarkdownIt
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from garden_agents.play.match import Arguments, Match, agents_of, new_replay, set_up
from garden_agents.play.origin import LOCAL, SameOrigin
from garden_agents.play.rooms import New, Page, PictureStyle, Room, decode
from garden_agents.play.shown import AGENTS, PERSON, RefusedError
from garden_agents.untrusted import untrusted_agent
from garden_core.checks import as_seed, one_line
from garden_core.recorded import film
from garden_core.recorded.replay import Replay
from garden_core.registry import game_class, list_games, untrusted_game

IDLE_SECONDS = 3600.0
"""Seconds after which a game without open pages is deleted."""
ROOM_LIMIT = 500
"""Largest number of games at the same time."""
PAGE_LIMIT = 16
"""Largest number of open pages of one seat."""
MESSAGE_LIMIT = 4_000_000
"""Largest message of a page, which may hold a replay, bytes."""
OFFERED = (*AGENTS, "mcts:400", "mcts:1600")
"""Players that the page offers. It also accepts built-in agents, and those named on the command line."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
"""Of every response: only the server's own scripts run, nothing is loaded from elsewhere, nothing is stored."""
INLINE_SCRIPTS = HEADERS | {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
}
"""Of self-contained pages."""
CACHED = HEADERS | {"Cache-Control": "max-age=86400"}
"""Of fonts."""
HERE = Path(__file__).parent
FILES = {
    "/page.js": HERE / "page.js",
    "/page.css": HERE / "page.css",
    "/font/regular": font_lato.font_files["Lato"],
    "/font/bold": font_lato.font_files["LatoBold"],
}
"""Files by path on the server."""


class Server:
    """A web server of games.

    Args:
        match: the first game.
        arguments: of the command; pages may use the agents that they name.
    """

    def __init__(self, match: Match, arguments: Arguments) -> None:
        self.token = secrets.token_urlsafe(16)
        self.arguments = arguments
        self.games = list(dict.fromkeys([arguments.game, *list_games()]))
        """Names of the games that can be started here."""
        self.rooms: dict[str, Room] = {}
        """Room by the key of its link."""
        self.first = match
        self.app = Starlette(
            routes=[
                Route("/", self._page),
                *(Route(path, self._file) for path in FILES),
                Route("/replay.json", self._replay),
                Route("/replay.html", self._replay),
                WebSocketRoute("/socket", self._socket),
            ],
            middleware=[Middleware(SameOrigin, host=arguments.host)],
            lifespan=self._lifespan,
        )

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        self.open(self.first)
        sweeper = asyncio.create_task(self._sweep())
        yield
        sweeper.cancel()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(IDLE_SECONDS / 60)
            self.free_idle()

    def free_idle(self) -> None:
        """Delete the games that had no open page for `IDLE_SECONDS`."""
        oldest = time.monotonic() - IDLE_SECONDS
        self.rooms = {key: room for key, room in self.rooms.items() if room.pages or room.used >= oldest}

    def open(self, match: Match) -> str:
        """Add a room for a game and return the key of its first link.

        Raises:
            RefusedError: if there are too many.
        """
        if len(set(self.rooms.values())) >= ROOM_LIMIT:
            raise RefusedError(f"{ROOM_LIMIT} games are going on already; try again later")
        room = Room(match)
        self.rooms |= dict.fromkeys(room.links, room)
        return next(iter(room.links))

    def _is_owner(self, query: Mapping[str, str]) -> bool:
        return secrets.compare_digest(query.get("token", "").encode(), self.token.encode())

    # --- HTTP ---

    async def _page(self, request: Request) -> Response:
        """Return the page of a seat; with only the token, of the first person in the newest game."""
        query = request.query_params
        if query.get("seat") in self.rooms:
            return FileResponse(HERE / "page.html", headers=HEADERS)
        if self._is_owner(query):
            if self.rooms:
                key = next(iter(list(self.rooms.values())[-1].links))
            else:
                seed, names = secrets.randbits(64), self.arguments.seats
                key = self.open(self._match(new_replay(self.first.game, seed), names, names, seed))
            return RedirectResponse(f"/?token={self.token}&seat={key}", headers=HEADERS)
        gone = "This link is wrong, or its game was deleted because no page was open for an hour."
        return HTMLResponse(f"<!doctype html><title>No game</title><p>{gone}", 404, HEADERS)

    async def _file(self, request: Request) -> Response:
        path = request.url.path
        return FileResponse(FILES[path], headers=CACHED if path.startswith("/font") else HEADERS)

    async def _replay(self, request: Request) -> Response:
        """Return the game's replay, as a file or as a page."""
        room = self.rooms.get(request.query_params.get("seat", ""))
        # a replay shows everything hidden, so it is not sent while several people play
        if room is None or (len(room.match.people) > 1 and not room.match.over):
            why = (
                "no such game" if room is None else "several people play: the replay is available at the end"
            )
            return Response(why, 403, HEADERS, "text/plain")
        async with room.still:
            replay = await run_in_threadpool(room.match.replay)
        if request.url.path == "/replay.json":
            name = replay.game.name.rpartition(":")[2]
            attached = {"Content-Disposition": f'attachment; filename="{name}.json"'}
            return JSONResponse(replay.content(), headers=HEADERS | attached)
        page = await run_in_threadpool(film.page, replay, dark=request.query_params.get("dark") == "1")
        return HTMLResponse(page, headers=INLINE_SCRIPTS)

    # --- WebSockets ---

    async def _socket(self, socket: WebSocket) -> None:
        """Serve a page until it is closed."""
        key = socket.query_params.get("seat", "")
        room = self.rooms.get(key)
        await socket.accept()
        if room is None or sum(page.seat == room.links[key] for page in room.pages) >= PAGE_LIMIT:
            await socket.close(4404, "no such game" if room is None else "too many pages")
            return
        page = Page(socket, room, room.links[key], self._is_owner(socket.query_params))
        room.pages.add(page)
        delivering = asyncio.create_task(page.deliver())
        try:
            page.send(self._welcome(page))
            room.wake()
            while page in room.pages:
                await self._answer(page, await socket.receive_text())
        except (WebSocketDisconnect, KeyError, RuntimeError):  # closed, or received bytes instead of text
            pass
        finally:
            delivering.cancel()
            room.pages.discard(page)
            room.used = time.monotonic()

    async def _answer(self, page: Page, text: str) -> None:
        """Carry out a message, or send the page the reason why not."""
        room = page.room
        room.used = time.monotonic()
        try:
            message = decode(text)
            if isinstance(message, New):
                await self._begin(page, message)
            elif isinstance(message, PictureStyle):
                async with room.still:
                    page.style, page.moves = message, 0
                page.show()
            else:
                await room.answer(page, message)
        except RefusedError as refusal:
            page.send({"type": "error", "text": str(refusal)})
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            page.send({"type": "error", "text": f"not a message: {one_line(error)}"})

    async def _begin(self, page: Page, message: New) -> None:
        """Open a new game, and send its link to the page."""
        if not page.owner:
            raise RefusedError("only the person who started the server can start new games")
        try:
            match = await run_in_threadpool(self._described_match, message)
        except (ValueError, TypeError) as error:
            raise RefusedError(one_line(error)) from None
        page.send({"type": "opened", "seat": self.open(match)})

    def _described_match(self, message: New) -> Match:
        """Return the game that a message describes."""
        for name in message.seats:
            untrusted_agent(name, own=(PERSON, *self.arguments.seats))
        seed = secrets.randbits(64) if message.seed is None else int(message.seed)
        as_seed(seed)
        named = self.arguments.game
        if message.replay is None:
            own = named if message.game == named else None
            replay = new_replay(untrusted_game(message.game, message.options, own=own), seed)
        else:
            replay = Replay.parse(message.replay.encode(), game=named if ":" in named else None)
        if replay.ended == "running":
            return self._match(replay, message.seats, message.seats, seed)
        n = replay.game.num_players
        return self._match(replay, ["recorded"] * n, ["random"] * n, seed)

    def _match(self, replay: Replay, names: list[str], players: list[str], seed: int) -> Match:
        agents = agents_of(players, replay.game, seed, self.arguments.allow_other_options)
        return Match(replay, names, agents, self.arguments.show_estimate)

    def _welcome(self, page: Page) -> dict[str, Any]:
        """Return the first message to a page: everything that stays the same during a game."""
        room, match = page.room, page.room.match
        names = [
            f"player_{seat} (you)" if seat == page.seat else name for seat, name in enumerate(match.names)
        ]
        for_owners: dict[str, list[Any]] = {"links": [], "games": [], "agents": []}
        if page.owner:
            for_owners = {
                "links": [{"seat": seat, "key": key} for key, seat in room.links.items()],
                "games": [described(name) for name in self.games],
                "agents": [*dict.fromkeys([*OFFERED, *self.arguments.seats])],
            }
        return {
            "type": "welcome",
            "game": match.game.name,
            "title": match.game.title,
            "options": match.game.shown_options,
            "names": names,
            "seat": page.seat,
            "cooperative": match.game.cooperative,
            "people": match.people,
            "goal": match.game.summary.partition("\n\n")[0],
            "rules": rules_as_html(match.game.rules_text),
            **for_owners,
        }


@functools.lru_cache(8)
def rules_as_html(text: str) -> str:
    """Return a game's rules as HTML, without links and images, which names in a data file could have."""
    renderer = MarkdownIt("commonmark", {"html": False}).enable("table")
    return renderer.disable(["link", "image", "autolink"]).render(text)


def described(name: str) -> dict[str, Any]:
    """Return a game's options for a form, without data files, which pages cannot name."""
    kind = game_class(name)
    options = [
        asdict(option) for option in kind.options if not option.is_file and option.name != "max_decisions"
    ]
    return {"name": name, "title": kind.title, "options": options}


# --- the command ---


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens at `host` and `port`, 0 for any free one.

    Raises:
        SystemExit: for a port out of range, or an address that cannot be used.
    """
    if not 0 <= port <= 65535:
        raise SystemExit(f"error: --port must be 0 to 65535, not {port}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise SystemExit(f"error: the page cannot be served at {host}:{port}: {error}") from error


def runner(app: Starlette) -> uvicorn.Server:
    """Return the server of an application; start it by `run(sockets=[…])`."""
    return uvicorn.Server(
        uvicorn.Config(
            app, log_level="error", access_log=False, ws_max_size=MESSAGE_LIMIT, timeout_graceful_shutdown=2
        )
    )


def main(arguments: Arguments) -> None:
    """Serve the page until Ctrl-C.

    Raises:
        SystemExit: for arguments that are not valid, or an address that cannot be used.
    """
    host = arguments.host
    with listen(host, arguments.port) as listening:
        server = Server(set_up(arguments), arguments)
        name = "127.0.0.1" if host == "0.0.0.0" else f"[{host}]" if ":" in host else host
        address = f"http://{name}:{listening.getsockname()[1]}/?token={server.token}"
        print(f"play at {address}", flush=True)
        if arguments.open and sys.stdout.isatty():
            webbrowser.open(address)
        print("Ctrl-C ends the server and its games", flush=True)
        if host not in LOCAL:
            print(
                "other computers in your network reach it at this machine's name or address, by the links on the page"
            )
        with contextlib.suppress(KeyboardInterrupt):
            runner(server.app).run(sockets=[listening])
