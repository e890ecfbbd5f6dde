"""Play on a page in the browser: `garden play mars --web`.

The server keeps games (`Room`), each with one secret link for every person's seat. A page holds a WebSocket to its seat and
receives only what this seat may see: pictures whose parts carry the numbers of actions, legal actions, moves in words. It
answers with one of the messages below. A page with the server's token, which is in the address that the command prints,
can also begin new games and sees all their links.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import logging
import secrets
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
from markdown_it import MarkdownIt
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from garden_agents.play.match import PERSON, Arguments, Match, agents_of, new_replay, set_up
from garden_agents.registry import is_built_in
from garden_agents.serve import HEADERS, LOCAL, OWN_SCRIPTS, announce, holds, listen, runner
from garden_core.checks import as_seed, one_line, short
from garden_core.files.replay import Replay
from garden_core.game import Game
from garden_core.options import REWARD
from garden_core.registry import game_class, list_games
from garden_core.render.film import page

IDLE = 3600.0
"""Seconds after which a game without pages is given up."""
ROOMS = 500
"""Most games at the same time."""
QUICK = 0.1
"""Seconds within which several moves of agents are shown as one position."""
WAITING = 100
"""Most messages that wait for a page to take them."""
PAGES = 16
"""Most pages that show the same seat at the same time."""
AGENTS = ("network", "network-mcts:100", "greedy", "mcts:100", "mcts:400", "mcts:1600", "random")
"""Agents that the page offers. Others are taken by name if they are built in, or were named on the command line."""
HERE = Path(__file__).parent
LOG = logging.getLogger(__name__)


# --- messages of a page ---


class _Message(msgspec.Struct, forbid_unknown_fields=True, tag_field="type"):
    """A message of a page."""


class Look(_Message, tag="look"):
    """How the page wants its pictures."""

    dark: bool = False
    compact: bool = False
    names: bool = False


class _Move(_Message):
    """A message about the position of number `at`, see `Room.changes`."""

    at: int


class Act(_Move, tag="act"):
    """Take an action."""

    action: int


class Go(_Move, tag="go"):
    """Have the agent that must move choose, where no people play."""


class Undo(_Move, tag="undo"):
    """Take back the last decision."""


class Hint(_Move, tag="hint"):
    """Ask what a strong agent would do."""


class New(_Message, tag="new"):
    """Begin a game, or go on with a replay; only with the server's token."""

    game: str
    seats: list[str]
    options: dict[str, bool | int | str] = {}
    seed: int | None = None
    replay: str | None = None


_decode = msgspec.json.Decoder(Look | Act | Go | Undo | Hint | New).decode


class _RefusedError(Exception):
    """Why a message is not carried out, in words for the person."""


# --- games ---


class _Page:
    """A page that shows a seat of a room; seat None is an onlooker's, who sees all."""

    def __init__(self, socket: WebSocket, room: Room, seat: int | None, owner: bool) -> None:
        self.socket, self.room, self.seat, self.owner = socket, room, seat, owner
        self.look = Look()
        self.moves = 0
        """How many moves it knows."""
        self._waiting: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue(WAITING)
        """Messages, and None for the position as it will be then."""
        self._position_waits = False

    def send(self, message: dict[str, Any] | None) -> None:
        """Send a message when the page takes it; a page that takes none for long is cut off, so that no other waits."""
        try:
            self._waiting.put_nowait(message)
        except asyncio.QueueFull:
            self.room.pages.discard(self)

    def show(self) -> None:
        """Send the position when the page takes it, as it is then: positions that are out of date are not drawn."""
        if not self._position_waits:
            self._position_waits = True
            self.send(None)

    async def deliver(self) -> None:
        """Send what waits, until the page is gone."""
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):  # which its reader will notice
            while True:
                message = await self._waiting.get()
                if message is None:
                    self._position_waits = False
                    await self.socket.send_text(await self._position())
                else:
                    await self.socket.send_text(json.dumps(message))

    async def _position(self) -> str:
        """Return the position as a message, made in a thread: of a long game that takes seconds."""
        try:
            async with self.room.still:
                return await run_in_threadpool(lambda: json.dumps(self.room.position(self)))
        except Exception as error:  # of a game by anybody; the other pages and games go on
            LOG.exception("a position of %r cannot be shown", self.room.match.game)
            return json.dumps({"type": "error", "text": f"the position cannot be shown: {one_line(error)}"})


class Room:
    """A game with its links and the pages that show it.

    Attributes:
        match: the game.
        links: by secret key the seat whose link it is; None for onlookers, of whom there are only any if no people play.
        pages: the pages that are open.
        used: when somebody last did something here, by `time.monotonic`.
    """

    def __init__(self, match: Match) -> None:
        self.match = match
        seats: list[int | None] = [*match.people] or [None]
        self.links = {secrets.token_urlsafe(12): seat for seat in seats}
        self.pages: set[_Page] = set()
        self.lock = asyncio.Lock()  # held from before a choice until it is carried out
        self.still = asyncio.Lock()  # held while the match changes, and while a position is made of it
        self.used = time.monotonic()
        self.failed = ""
        self.changes = 0
        """Number of the present position: how often the game has changed, also backwards."""
        self._playing: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Have agents move until a person must."""
        idle = self._playing is None or self._playing.done()
        if idle and not self.match.over and self.match.people and self.match.seat not in self.match.people:
            self._playing = asyncio.create_task(self._play())

    async def _play(self) -> None:
        shown = time.monotonic()
        while not self.failed:
            async with self.lock:
                if self.match.over or self.match.seat in self.match.people:
                    break
                await self.ask()
            if time.monotonic() - shown > QUICK:
                self.show()
                shown = time.monotonic()
        self.show()

    async def ask(self) -> None:
        """Have the agent that must move choose, and carry it out; the lock is held.

        Only the choice is made in a thread, and changes nothing, so that the position can be shown meanwhile.
        """
        try:
            choice = await run_in_threadpool(self.match.choose)
            async with self.still:
                self.match.take(*choice)
        except Exception as error:  # of an agent by anybody; the other games go on
            LOG.exception("%s failed", self.match.names[self.match.seat])
            self.failed = f"{self.match.names[self.match.seat]} failed: {one_line(error)}"
        self.changes += 1

    def show(self) -> None:
        """Show the position on all pages."""
        for each in list(self.pages):
            each.show()

    def position(self, page: _Page) -> dict[str, Any]:
        """Return the message for a page: as much as its seat may know, and the moves that it does not have yet."""
        match, seat = self.match, page.seat
        mine = not match.over and seat == match.seat
        choices = match.choices() if mine else []
        last = (match.moves[-1].seat, match.moves[-1].action) if match.moves else None
        look = msgspec.structs.asdict(page.look)
        try:
            svg = match.game.svg(match.state, seat, legal=mine, last=last, **look)
        except ValueError:  # a game without pictures
            svg = ""
        first, page.moves = page.moves, len(match.moves)
        moves = [
            {"seat": move.seat, "text": match.in_words(number, [seat]), "estimate": move.estimate}
            for number, move in enumerate(match.moves[first:], first)
        ]
        return {
            "type": "position",
            "at": self.changes,
            "svg": svg,
            "text": "" if svg else match.game.text(match.state, seat),
            "mine": mine,
            "mover": match.seat,
            "legal": [
                {"action": action, "label": match.game.labels[action], "text": words}
                for action, words in choices
            ],
            "status": self._status(seat),
            "first": first,
            "moves": moves,
            "points": match.points(),
            "over": match.over,
            "places": [place._asdict() for place in match.places()] if match.over else [],
            "undo": match.can_undo and seat is not None,
        }

    def _status(self, seat: int | None) -> str:
        """Return in a few words what happens now, or how the game ended."""
        match = self.match
        if self.failed:
            return self.failed
        if match.over:
            places = match.places()
            if match.game.cooperative:
                return f"The team has {min(place.score for place in places)} points"
            firsts = [place.seat for place in places if place.place == 1]
            if seat in firsts:
                return "You won" if len(firsts) == 1 else "You share the first place"
            return f"{' and '.join(match.names[first] for first in firsts)} won"
        if seat == match.seat:
            return "Your turn"
        verb = "is to move" if match.seat in match.people or not match.people else "is thinking"
        return f"{match.names[match.seat]} {verb}"


# --- the server ---


class Server:
    """Serves pages on which games are played.

    Args:
        match: the first game.
        arguments: of the command: agents that they name may be named by pages too.
    """

    def __init__(self, match: Match, arguments: Arguments) -> None:
        self.token = secrets.token_urlsafe(16)
        self.arguments = arguments
        self.rooms: dict[str, Room] = {}
        """By key the room that it is a link to."""
        self.first = match
        # at a local address only local host names are accepted, against DNS rebinding
        names = [*LOCAL] if arguments.host in LOCAL else ["*"]
        self.app = Starlette(
            routes=[
                Route("/", self._page),
                Route("/page.js", self._file),
                Route("/page.css", self._file),
                Route("/font/{weight}", self._font),
                Route("/replay.json", self._replay),
                Route("/replay.html", self._replay),
                WebSocketRoute("/socket", self._socket),
            ],
            middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=names, www_redirect=False)],
            lifespan=self._lifespan,
        )

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        self.open(self.first)
        sweeper = asyncio.create_task(self._sweep())
        yield
        sweeper.cancel()

    def open(self, match: Match) -> Room:
        """Give a game a room.

        Raises:
            _RefusedError: if there are too many.
        """
        if len(set(self.rooms.values())) >= ROOMS:
            raise _RefusedError(f"{ROOMS} games are going on already; try again later")
        room = Room(match)
        self.rooms |= dict.fromkeys(room.links, room)
        return room

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(IDLE / 60)
            self.free_idle()

    def free_idle(self) -> None:
        """Give up the games that had no page for a while."""
        now = time.monotonic()
        for key, room in list(self.rooms.items()):
            if not room.pages and now - room.used > IDLE:
                del self.rooms[key]

    # --- pages ---

    async def _page(self, request: Request) -> Response:
        """The page of a seat; with the token alone, that of the newest game's first person."""
        query = request.query_params
        if query.get("seat") in self.rooms:
            return FileResponse(HERE / "page.html", headers=HEADERS)
        if holds(self.token, query):
            if not self.rooms:
                game, names = self.first.game, self.arguments.seats
                agents = agents_of(names, game, secrets.randbits(64))
                self.open(Match(new_replay(game, secrets.randbits(64)), names, agents))
            key = next(iter(list(self.rooms.values())[-1].links))
            return RedirectResponse(f"/?token={self.token}&seat={key}", headers=HEADERS)
        gone = "This link is not one of this server's: it is wrong, or its game was given up, as nobody looked at it for an hour."
        return HTMLResponse(f"<!doctype html><title>No game</title><p>{gone}", 404, HEADERS)

    async def _file(self, request: Request) -> Response:
        return FileResponse(HERE / request.url.path[1:], headers=HEADERS)

    async def _font(self, request: Request) -> Response:
        import font_lato

        name = {"regular": "Lato", "bold": "LatoBold"}.get(request.path_params["weight"])
        if name is None:
            return Response(status_code=404)
        cached = HEADERS | {"Cache-Control": "max-age=86400"}
        return FileResponse(font_lato.font_files[name], headers=cached)

    async def _replay(self, request: Request) -> Response:
        """The game's record, as a file or as a page."""
        room = self.rooms.get(request.query_params.get("seat", ""))
        # the record, which shows all that is hidden, is not sent while several people play
        if room is None or (len(room.match.people) > 1 and not room.match.over):
            why = "no such game" if room is None else "several people play: the record can be had at the end"
            return Response(why, 403, HEADERS, "text/plain")
        async with room.still:
            replay = await run_in_threadpool(room.match.replay)
        if request.url.path == "/replay.json":
            name = replay.game.name.rpartition(":")[2]
            save = {"Content-Disposition": f'attachment; filename="{name}.json"'}
            return JSONResponse(replay.content(), headers=HEADERS | save)
        made = await run_in_threadpool(page, replay, dark=request.query_params.get("dark") == "1")
        return HTMLResponse(made, headers=OWN_SCRIPTS)

    # --- messages ---

    async def _socket(self, socket: WebSocket) -> None:
        """Answer the messages of a page."""
        origin, host = socket.headers.get("origin"), socket.headers.get("host")
        room = self.rooms.get(socket.query_params.get("seat", ""))
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            await socket.close(1008, "wrong origin")
            return
        await socket.accept()
        seat = None if room is None else room.links[socket.query_params["seat"]]
        if room is None or sum(each.seat == seat for each in room.pages) >= PAGES:
            await socket.close(4404, "no such game" if room is None else "too many pages")
            return
        page = _Page(socket, room, seat, holds(self.token, socket.query_params))
        room.pages.add(page)
        delivering = asyncio.create_task(page.deliver())
        try:
            page.send(self._welcome(page))
            room.wake()
            while page in room.pages:
                await self._answer(page, await socket.receive_text())
        except (WebSocketDisconnect, KeyError, RuntimeError):  # gone; or sent bytes, which are no text
            pass
        finally:
            delivering.cancel()
            room.pages.discard(page)
            room.used = time.monotonic()

    async def _answer(self, page: _Page, text: str) -> None:
        """Carry out a message, or send the page the reason why not."""
        room = page.room
        room.used = time.monotonic()
        try:
            message = _decode(text)
            if isinstance(message, New):
                await self._begin(page, message)
            elif isinstance(message, Look):
                async with room.still:
                    page.look, page.moves = message, 0
                page.show()
            else:
                async with room.lock:
                    if message.at != room.changes:
                        raise _RefusedError("the game has gone on since; look again")
                    if room.failed:
                        raise _RefusedError(room.failed)
                    await self._carry_out(page, message)
                if not isinstance(message, Hint):
                    room.show()
                    room.wake()
        except _RefusedError as refusal:
            page.send({"type": "error", "text": str(refusal)})
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            page.send({"type": "error", "text": f"not a message: {one_line(error)}"})

    async def _carry_out(self, page: _Page, message: Act | Go | Undo | Hint) -> None:
        """Carry out a message about the present position; the room's lock is held."""
        room, match = page.room, page.room.match
        if isinstance(message, Hint):
            await self._hint(page)
        elif isinstance(message, Go):
            if match.people or match.over:
                raise _RefusedError("agents move by themselves here" if match.people else "the game is over")
            await room.ask()
        elif isinstance(message, Undo):
            if page.seat is None or not match.can_undo:
                raise _RefusedError("nothing can be taken back here")
            async with room.still:
                match.undo()
                room.changes += 1
                for each in room.pages:
                    each.moves = min(each.moves, len(match.moves))
        else:
            action, labels = message.action, match.game.labels
            if match.over:
                raise _RefusedError("the game is over")
            if page.seat != match.seat:
                raise _RefusedError(f"it is the turn of {match.names[match.seat]}")
            if not 0 <= action < len(labels):
                raise _RefusedError("there is no such action")
            if action not in match.legal:
                raise _RefusedError(f"{labels[action]!r} is not legal now")
            async with room.still:
                match.act(action)
                room.changes += 1

    async def _hint(self, page: _Page) -> None:
        match = page.room.match
        if match.over or page.seat != match.seat:
            raise _RefusedError("hints are for whoever is to move")
        advice = await run_in_threadpool(match.advise)
        shares = {str(action): round(float(advice.shares[action]), 3) for action in match.legal}
        page.send(
            {
                "type": "hint",
                "at": page.room.changes,
                "by": advice.by,
                "action": advice.action,
                "shares": shares,
                "value": None if advice.value is None else round(advice.value, 2),
            }
        )

    async def _begin(self, page: _Page, message: New) -> None:
        """Open a new game, and send its link to the page."""
        if not page.owner:
            raise _RefusedError("only whoever started the server can begin new games")
        try:
            match = await run_in_threadpool(self._match, message)
        except (ValueError, TypeError) as error:
            raise _RefusedError(one_line(error)) from None
        room = self.open(match)
        page.send({"type": "opened", "seat": next(iter(room.links))})

    def _match(self, message: New) -> Match:
        """Return the game that a message describes."""
        for name in message.seats:
            if name != PERSON and not is_built_in(name) and name not in self.arguments.seats:
                raise ValueError(
                    f"no agent {short(name)} can be had here; name it on the command line of the server"
                )
        seed = secrets.randbits(64) if message.seed is None else message.seed
        as_seed(seed)
        if message.replay is None:
            if message.game not in self.games():
                raise ValueError(f"there is no game {short(message.game)} here")
            kind = game_class(message.game)
            for option in kind.options:
                if option.is_file and message.options.get(option.name):
                    raise ValueError(f"{option.name} is a file of the server, which pages cannot name")
            replay = new_replay(kind(**message.options), seed)
        else:
            own = self.arguments.game if ":" in self.arguments.game else None
            replay = Replay.parse(message.replay.encode(), game=own)
        if replay.ended == "running":
            names, players = message.seats, message.seats
        else:
            names, players = (["recorded"] * replay.game.num_players, ["random"] * replay.game.num_players)
        agents = agents_of(players, replay.game, seed, self.arguments.allow_other_options)
        return Match(replay, names, agents, self.arguments.show_estimate)

    def _welcome(self, page: _Page) -> dict[str, Any]:
        """Return the first message to a page, about what does not change during a game."""
        room, match = page.room, page.room.match
        names = [
            f"player_{seat} (you)" if seat == page.seat else name for seat, name in enumerate(match.names)
        ]
        links = [{"seat": seat, "key": key} for key, seat in room.links.items()] if page.owner else []
        return {
            "type": "welcome",
            "game": match.game.name,
            "title": match.game.title,
            "options": match.game.shown_options,
            "names": names,
            "seat": page.seat,
            "cooperative": match.game.cooperative,
            "people": match.people,
            "links": links,
            "rules": _rules(type(match.game)),
            "games": [_described(name) for name in self.games()] if page.owner else [],
            "agents": [PERSON, *dict.fromkeys([*AGENTS, *self.arguments.seats])] if page.owner else [],
        }

    def games(self) -> list[str]:
        """Return the names of the games that can be begun here."""
        return list(dict.fromkeys([self.arguments.game, *list_games()]))


@functools.cache
def _rules(kind: type[Game]) -> str:
    """Return a game's rules as HTML."""
    return MarkdownIt("commonmark", {"html": False}).enable("table").render(kind().rules_text)


def _described(name: str) -> dict[str, Any]:
    """Return a game's options for a form; data files are left out, as a page cannot name files of the server."""
    kind = game_class(name)
    fields = ("name", "default", "help", "low", "high", "choices", "note")
    options = [
        {field: getattr(option, field) for field in fields}
        for option in (*kind.options, REWARD)
        if not option.is_file and option.name not in ("reward", "max_decisions")
    ]
    return {"name": name, "title": kind.title, "options": options}


def main(arguments: Arguments) -> None:
    """Serve the page until Ctrl-C.

    Raises:
        SystemExit: for arguments that are not valid, or an address that cannot be had.
    """
    with listen(arguments.host, arguments.port) as listening:
        server = Server(set_up(arguments), arguments)
        announce(arguments.host, listening, server.token, arguments.open)
        print("Ctrl-C ends the server and its games", flush=True)
        if arguments.host not in LOCAL:
            print(
                "others in your network reach it at this machine's name or address, by the links on the page"
            )
        with contextlib.suppress(KeyboardInterrupt):
            runner(server.app).run(sockets=[listening])
