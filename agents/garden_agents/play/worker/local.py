"""Games in the browser alone: what `garden_agents.play.web` is on a server, for one page.

A worker runs this by Pyodide. Rules and agents are the objects of `game.js`; pictures and words are made here, by the same files
as everywhere.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import time
import zlib
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import stand_ins
from garden_agents.play.shown import (
    ADVISER,
    AGENTS,
    OTHER_ADVISER,
    PERSON,
    SHOW_SECONDS,
    Move,
    RefusedError,
    Shown,
)
from garden_agents.untrusted import untrusted_agent
from pyodide.ffi import JsException, to_js

from garden_core.checks import SEEDS, as_seed
from garden_core.errors import UntrustedError
from garden_core.files.formats import REPLAY, checksum, digest_of_params, ended

MOST_ACTIONS = 20_000
"""Largest number of decisions of a game that is opened."""
LIMIT = 200_000
"""Largest size of the content of a link, bytes."""
WRONG = ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, zlib.error
"""What a link or a file from a stranger can raise."""


class Rules:
    """The rules for any state: a game in JavaScript that is not shown."""

    def __init__(self, game: Any) -> None:
        self.game = game

    def _set(self, content: bytes) -> Any:
        self.game.state = to_js(content)
        return self.game

    def legal(self, content: bytes) -> list[int]:
        return self._set(content).legal().to_py()

    def apply(self, content: bytes, action: int) -> bytes:
        self._set(content).apply(action)
        return self.game.state.to_bytes()

    def resample(self, content: bytes, seat: int, seed: int) -> bytes:
        self._set(content).resample(seat, seed)
        return self.game.state.to_bytes()

    def count(self, name: str, content: bytes) -> list[int]:
        return self._set(content).ofSeats(name).to_py()


class Local(Shown):
    """A game on the page.

    Args:
        game: the game, as stand-ins make it.
        js: a game of `game.js`, dealt.
        another: the same, for any state.
        names: name of each seat's player.
        agents: the agents in JavaScript, None for a person.
        seed: of the deal.
    """

    def __init__(
        self, game: Any, js: Any, another: Any, names: Sequence[str], agents: Sequence[Any], seed: int
    ) -> None:
        super().__init__(game, names, [seat for seat, agent in enumerate(agents) if agent is None])
        self.js, self.players, self.agents, self.seed = js, list(names), agents, seed
        self.rules = Rules(another)
        self._read()

    def _read(self) -> None:
        self.state = stand_ins.State(self.game.about["state"], self.js.state.to_bytes(), self.rules)

    @property
    def legal(self) -> list[int]:
        return [] if self.over else self.js.legal().to_py()

    @property
    def can_undo(self) -> bool:
        return any(move.seat in self.people for move in self.moves)

    def act(self, action: int) -> None:
        """Carry out a legal action."""
        move = Move(self.state, self.seat, action, "", {})
        try:
            self.js.apply(action)
        except JsException as error:
            raise RefusedError(str(error).removeprefix("Error: ")) from None
        self.moves.append(move)
        self._read()

    def undo(self) -> None:
        """Go back to the position of the last decision of a person."""
        while self.moves:
            self.js.undo()
            if self.moves.pop().seat in self.people:
                break
        self._read()

    def free(self) -> None:
        """Give the memory back."""
        for each in (*self.agents, self.rules.game, self.js):
            if each is not None:
                each.free()

    def replay(self) -> dict[str, Any]:
        """Return the content of a replay's file, which `garden replay` verifies."""
        content = {
            "format": REPLAY,
            "game": self.game.name,
            "version": self.game.version,
            "options": self.game.option_values,
            "data": self.game.about["data"],
            "seed": self.seed,
            "actions": [self.game.labels[move.action] for move in self.moves],
            "scores": self.game.scores(self.state),
            "ended": ended(self.state),
        }
        return content | {"checksum": checksum(content)}

    def link(self) -> str:
        """Return the game as the end of an address."""
        content = [
            self.game.name,
            self.game.option_values,
            self.seed,
            self.players,
            [m.action for m in self.moves],
        ]
        packed = zlib.compress(json.dumps(content, separators=(",", ":")).encode(), 9)
        return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def parsed(text: str) -> Any:
    """Return the JSON value of a stranger's text; deep nesting would end Pyodide."""
    depth = 0
    outside = re.sub(r'"(?:[^"\\]|\\.)*"', "", text)  # of strings
    for bracket in re.findall(r"[][{}]", outside):
        depth += 1 if bracket in "[{" else -1
        _require(depth < 10, "it is nested too deeply")
    return json.loads(text)


class Page:
    """The page's side of the worker.

    Args:
        tools: of the worker, in JavaScript: `load(name)` returns the class of a game, `post(text)` sends a message.
        games: the games' descriptions for the form, with module and class in Python, by name.
    """

    def __init__(self, tools: Any, games: str) -> None:
        self.tools, self.games = tools, {game["name"]: game for game in json.loads(games)}
        self.match: Any = None
        self.style = {"dark": False, "compact": False, "names": False}
        self.changes = self.sent = 0
        self.viewer: int | None = None
        self.adviser: Any = None

    def post(self, kind: str, **message: Any) -> None:
        self.tools.post(json.dumps({"type": kind, **message}))

    async def handle(self, text: str) -> None:
        """Carry out a message of the page, or say why not; see `garden_agents.play.rooms` for messages."""
        message = json.loads(text)
        try:
            await getattr(self, f"_{message['type']}")(message)
        except (RefusedError, UntrustedError) as refusal:
            self.post("error", text=str(refusal)[:300])
        except JsException as error:
            self.post("error", text=str(error).removeprefix("Error: ")[:300])

    # --- the messages ---

    async def _look(self, message: dict[str, Any]) -> None:
        self.style = {name: message[name] for name in self.style}
        if self.match:
            self.show()

    async def _open(self, message: dict[str, Any]) -> None:
        """Show the game of a link, or a new one."""
        usual: Any = next(iter(self.games)), {}, None, [PERSON, "network"], []
        if not message["link"]:
            return await self._begin(await self._made(*usual))
        try:
            packed = base64.urlsafe_b64decode(message["link"] + "===")
            content = parsed(zlib.decompressobj().decompress(packed, LIMIT).decode())
            await self._begin(await self._made(*content))
        except (*WRONG, RefusedError, JsException) as error:
            await self._begin(await self._made(*usual))
            self.post("error", text=f"This link holds no game that can be played here: {error}"[:300])

    async def _new(self, message: dict[str, Any]) -> None:
        seed, seats = message["seed"], message["seats"]
        if message["replay"] is None:
            dealt = None if seed is None else int(self.match.js.dealSeed(int(seed)))
            return await self._begin(await self._made(message["game"], message["options"], dealt, seats, []))
        try:
            content = parsed(message["replay"])
            _require(isinstance(content, dict) and content.get("format") == REPLAY, "this is no replay")
            _require(content.pop("checksum", "") == checksum(content), "this replay was changed or damaged")
            options = {name: value for name, value in content["options"].items() if value != ""}
            players = seats if content["ended"] == "running" else None
            match = await self._made(content["game"], options, content["seed"], players, content["actions"])
            try:
                found = match.replay()
                same = ("version", "data", "scores", "ended")
                _require(all(found[name] == content[name] for name in same), "other rules made it")
            except BaseException:
                match.free()
                raise
        except WRONG as error:
            raise RefusedError(f"this file cannot be opened: {error}"[:300]) from None
        await self._begin(match)

    async def _act(self, message: dict[str, Any]) -> None:
        self._check(message)
        if self.match.seat not in self.match.people:
            raise RefusedError("it is not a person's turn")
        self.match.act(message["action"])
        await self._go_on()

    async def _undo(self, message: dict[str, Any]) -> None:
        self._check(message)
        if not self.match.can_undo:
            raise RefusedError("nothing can be taken back here")
        self.match.undo()
        self.sent = min(self.sent, len(self.match.moves))
        self.changes += 1
        self.show()

    async def _go(self, message: dict[str, Any]) -> None:
        self._check(message)
        if self.match.people or self.match.over:
            raise RefusedError("agents move automatically here" if self.match.people else "the game is over")
        self._choose()
        self.show()

    async def _hint(self, message: dict[str, Any]) -> None:
        self._check(message)
        match = self.match
        if self.adviser is None:
            try:
                self.adviser = await match.js.agent(ADVISER)
            except JsException:  # no network for the game with these options
                self.adviser = await match.js.agent(OTHER_ADVISER)
        advice = self.adviser.evaluate().to_py()
        shares = {str(action): round(advice["chances"][action], 3) for action in match.legal}
        value = round(advice["values"][0], 2) if len(shares) > 1 else None
        self.post(
            "hint", at=self.changes, by=self.adviser.kind, action=advice["action"], shares=shares, value=value
        )

    async def _save(self, message: dict[str, Any]) -> None:
        self.post("saved", name=f"{self.match.game.name}.json", text=json.dumps(self.match.replay()))

    # --- the game ---

    def _check(self, message: dict[str, Any]) -> None:
        if message["at"] != self.changes:
            raise RefusedError("the game has gone on since; look again")

    async def _made(self, name: Any, options: Any, seed: Any, players: Any, actions: Any) -> Local:
        """Return a game with the decisions so far.

        Args:
            name, options: the game.
            seed: of the deal; None for a random one.
            players: name of each seat's player; None for a finished game.
            actions: the decisions, numbers or labels.

        Raises:
            ValueError: for an invalid seed.
            RefusedError, JsException: if it cannot be played.
        """
        _require(isinstance(name, str) and name in self.games, "there is no such game here")
        _require(isinstance(options, dict) and isinstance(actions, list) and len(actions) <= MOST_ACTIONS)
        if players is not None:
            _require(isinstance(players, list), "it has no players")
            players = [untrusted_agent(each, own=(PERSON,)) for each in players]
        about, kind = self.games[name], await self.tools.load(name)
        made: list[Any] = []
        try:
            for _ in range(2):
                made.append(self.tools.make(kind, json.dumps(options)))
            return await self._played(about, kind, made, seed, players, actions)
        except BaseException:
            for each in reversed(made):
                each.free()
            raise

    async def _played(
        self,
        about: dict[str, Any],
        kind: Any,
        made: list[Any],
        seed: Any,
        players: Any,
        actions: Sequence[Any],
    ) -> Local:
        """Return a game of two objects in `made`, to which its agents are added."""
        js, another = made
        game = getattr(import_module(about["module"]), about["class"])(**js.options.to_py())
        params = js.params.to_bytes()
        game.about = {"state": js.kind.state.to_py(), "data": digest_of_params(params)}
        game.params = [stand_ins.State(kind.description.params.to_py(), params)]
        game.max_players = about["max_players"]
        seed, n = int(self.tools.random()) if seed is None else seed, game.num_players
        as_seed(seed)
        names = ["recorded"] * n if players is None else players
        _require(len(names) == n, f"{n} seats need {n} players")
        js.deal(seed)
        kinds = ["random"] * n if players is None else names
        agents: list[Any] = []
        for k, each in enumerate(kinds):
            agents.append(None if each == PERSON else await js.agent(each, seed=(seed + k) % SEEDS))
            made += agents[-1:] if agents[-1] else []
        match = Local(game, js, another, names, agents, seed)
        for action in actions:
            match.act(game.labels.index(action) if isinstance(action, str) else action)
        return match

    async def _begin(self, match: Local) -> None:
        """Show another game, and let its agents move."""
        if self.adviser is not None:
            self.adviser.free()
        if self.match:
            self.match.free()
        self.match, self.adviser, self.sent, self.viewer = match, None, 0, None
        self._welcome()
        await self._go_on()

    def _choose(self) -> None:
        self.match.act(self.match.agents[self.match.seat].act())
        self.changes += 1

    async def _go_on(self) -> None:
        """Let agents move until it is a person's turn."""
        self.changes += 1
        self.show()
        shown = time.monotonic()
        while self.match.agent_moves:
            await asyncio.sleep(0)
            self._choose()
            if not self.match.agent_moves or time.monotonic() - shown > SHOW_SECONDS:
                self.show()
                shown = time.monotonic()

    def _welcome(self) -> None:
        match, about = self.match, self.games[self.match.game.name]
        self.post(
            "welcome",
            game=match.game.name,
            title=match.game.title,
            options=match.game.option_values,
            names=match.names,
            seat=match.people[0] if match.people else None,
            cooperative=match.game.cooperative,
            people=match.people,
            goal=match.game.summary.partition("\n\n")[0],
            rules=about["rules"],
            links=[],
            games=list(self.games.values()),
            agents=AGENTS,
        )

    def show(self) -> None:
        """Send the position, as the person to move sees it, or the last person who moved."""
        match, before = self.match, self.viewer
        if not match.people:
            self.viewer = None
        elif match.seat in match.people and not match.over:
            self.viewer = match.seat
        elif before is None:
            self.viewer = match.people[0]
        turns = len(match.people) > 1 and match.game.information == "imperfect" and not match.over
        hand_over = match.names[match.seat] if turns and self.viewer not in (None, before) else ""
        position = match.position(self.viewer, self.style, self.sent)
        self.sent = len(match.moves)
        position |= {"at": self.changes, "seat": self.viewer, "link": match.link(), "hand_over": hand_over}
        self.post(**{"kind": position.pop("type"), **position})


def _require(condition: Any, why: str = "it is damaged") -> None:
    if not condition:
        raise RefusedError(why)
