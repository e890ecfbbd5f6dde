"""Games on web pages: rooms, the pages that show them, and the messages of a page.

Each seat of a person has a secret link. A page of that seat receives only what the seat may see: pictures whose parts carry
the numbers of actions, the legal actions, and moves in words.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
import time
from typing import Annotated, Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket, WebSocketDisconnect

from garden_agents.play.match import Match
from garden_agents.play.shown import SHOW_SECONDS, RefusedError
from garden_core.checks import one_line

QUEUE_LIMIT = 100
"""Largest number of messages in the queue of a page."""
LOG = logging.getLogger(__name__)


# --- messages of a page ---


class _Message(msgspec.Struct, forbid_unknown_fields=True, tag_field="type", tag=str.lower):
    """A message of a page."""


class PictureStyle(_Message, tag="look"):
    """Set how the page's pictures are drawn."""

    dark: bool = False
    compact: bool = False
    names: bool = False


class _Move(_Message):
    """A message about the position number `at`, see `Room.changes`."""

    at: int


class Act(_Move):
    """Take an action."""

    action: int


class Go(_Move):
    """Let the next agent choose, in a game without people."""


class Undo(_Move):
    """Take back the last decision."""


class Hint(_Move):
    """Ask for a strong agent's choice."""


class New(_Message):
    """Start a new game or continue a replay; requires the server's token."""

    game: str
    seats: list[str]
    options: dict[str, bool | int | str] = {}
    seed: Annotated[str, msgspec.Meta(pattern="^[0-9]{1,20}$")] | None = None
    """a text, as JavaScript rounds large numbers"""
    replay: str | None = None


decode = msgspec.json.Decoder(PictureStyle | Act | Go | Undo | Hint | New).decode


# --- pages and rooms ---


class Page:
    """An open page of a seat; seat None is an onlooker, who sees everything."""

    def __init__(self, socket: WebSocket, room: Room, seat: int | None, owner: bool) -> None:
        self.socket, self.room, self.seat, self.owner = socket, room, seat, owner
        self.style = PictureStyle()
        self.moves = 0
        """Number of moves that the page has received."""
        self._queue: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue(QUEUE_LIMIT)
        """Messages; None for the position at the time of sending."""
        self._position_queued = False

    def send(self, message: dict[str, Any] | None) -> None:
        """Queue a message; a page whose queue is full is closed, so that no other page waits."""
        try:
            self._queue.put_nowait(message)
        except asyncio.QueueFull:
            self.room.pages.discard(self)

    def show(self) -> None:
        """Queue the position; it is drawn when it is sent, so that outdated positions are skipped."""
        if not self._position_queued:
            self._position_queued = True
            self.send(None)

    async def deliver(self) -> None:
        """Send the queued messages until the page is closed."""
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):  # the reading side handles it
            while True:
                message = await self._queue.get()
                if message is None:
                    self._position_queued = False
                    await self.socket.send_text(await self._position())
                else:
                    await self.socket.send_text(json.dumps(message))

    async def _position(self) -> str:
        """Return the position as a message, made in a thread, as it takes longer in a long game."""
        try:
            async with self.room.still:
                return await run_in_threadpool(lambda: json.dumps(self.room.position(self)))
        except Exception as error:  # of third-party games; other pages and games continue
            LOG.exception("a position of %r cannot be shown", self.room.match.game)
            return json.dumps({"type": "error", "text": f"the position cannot be shown: {one_line(error)}"})


class Room:
    """A game with its links and the pages that show it.

    Attributes:
        match: the game.
        links: seat by secret key; a game without people has one link, for an onlooker (None).
        pages: the open pages.
        used: time of the last use, `time.monotonic`.
        failed: error message of the agent that failed; "" if none did.
        changes: number of the current position: how often the game has changed, undo included.
        lock: held from before a choice until it is carried out.
        still: held while the match changes, and while a position is drawn.
    """

    def __init__(self, match: Match) -> None:
        self.match = match
        seats: list[int | None] = [*match.people] or [None]
        self.links = {secrets.token_urlsafe(12): seat for seat in seats}
        self.pages: set[Page] = set()
        self.lock, self.still = asyncio.Lock(), asyncio.Lock()
        self.used = time.monotonic()
        self.failed = ""
        self.changes = 0
        self._playing: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Let agents move until it is a person's turn."""
        if self.match.agent_moves and (self._playing is None or self._playing.done()):
            self._playing = asyncio.create_task(self._play())

    async def _play(self) -> None:
        shown = time.monotonic()
        while not self.failed:
            async with self.lock:
                if not self.match.agent_moves:
                    break
                await self._ask()
            if time.monotonic() - shown > SHOW_SECONDS:
                self.show()
                shown = time.monotonic()
        self.show()

    async def _ask(self) -> None:
        """Ask the agent to move for an action and carry it out; requires the lock.

        Only the choice is made in a thread, and changes nothing, so the position can be shown meanwhile.
        """
        try:
            choice = await run_in_threadpool(self.match.choose)
            async with self.still:
                self.match.act(*choice)
        except Exception as error:  # of third-party agents; other games continue
            mover = self.match.names[self.match.seat]
            LOG.exception("%s failed", mover)
            self.failed = f"{mover} failed: {one_line(error)}"
        self.changes += 1

    async def answer(self, page: Page, message: Act | Go | Undo | Hint) -> None:
        """Carry out a message about the current position, and let the game continue.

        Raises:
            RefusedError: if that is not possible.
        """
        async with self.lock:
            if message.at != self.changes:
                raise RefusedError("the game has gone on since; look again")
            if self.failed:
                raise RefusedError(self.failed)
            if isinstance(message, Hint):
                await self._hint(page)
                return
            await self._carry_out(page, message)
        self.show()
        self.wake()

    async def _carry_out(self, page: Page, message: Act | Go | Undo) -> None:
        match = self.match
        if isinstance(message, Go):
            if match.people or match.over:
                raise RefusedError("agents move automatically here" if match.people else "the game is over")
            await self._ask()
            return
        if isinstance(message, Undo):
            if page.seat is None or not match.can_undo:
                raise RefusedError("nothing can be taken back here")
        elif match.over:
            raise RefusedError("the game is over")
        elif page.seat != match.seat:
            raise RefusedError(f"it is the turn of {match.names[match.seat]}")
        elif not 0 <= message.action < match.game.num_actions:
            raise RefusedError("there is no such action")
        elif message.action not in match.legal:
            raise RefusedError(f"{match.game.labels[message.action]!r} is not legal now")
        async with self.still:
            if isinstance(message, Act):
                match.act(message.action)
            else:
                match.undo()
                for each in self.pages:
                    each.moves = min(each.moves, len(match.moves))
            self.changes += 1

    async def _hint(self, page: Page) -> None:
        match = self.match
        if match.over or page.seat != match.seat:
            raise RefusedError("hints are for the player to move")
        try:
            advice = await run_in_threadpool(match.advise)
        except Exception as error:  # of third-party games
            LOG.exception("no hint in %r", match.game)
            raise RefusedError(f"there is no hint: {one_line(error)}") from None
        page.send(
            {
                "type": "hint",
                "at": self.changes,
                "by": advice.by,
                "action": advice.action,
                "shares": {str(action): round(float(advice.shares[action]), 3) for action in match.legal},
                "value": None if advice.value is None else round(advice.value, 2),
            }
        )

    def show(self) -> None:
        """Show the position on all pages."""
        for each in list(self.pages):
            each.show()

    def position(self, page: Page) -> dict[str, Any]:
        """Return the position for a page, with the moves that it has not received yet."""
        first, page.moves = page.moves, len(self.match.moves)
        shown = self.match.position(page.seat, msgspec.structs.asdict(page.style), first)
        return shown | {"at": self.changes} | ({"status": self.failed} if self.failed else {})
