"""Presentation: what people see of a game, as snapshot, description of an action, score sheet, text and picture."""

from __future__ import annotations

import json
import secrets
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from garden_core.checks import as_integer, as_seat, as_seed, short
from garden_core.errors import PositionError
from garden_core.jit import kernels
from garden_core.jit.rng import seed_rng
from garden_core.positions import require
from garden_core.render.svg import Look

_DRAWS = 200
"""Redraws that are tried, to find out whether a description depends on hidden information."""

Table = tuple[tuple[str, ...], list[tuple[Any, ...]]]
"""A table for people: its head, its rows."""


class Presentation(ABC):
    """How a position is shown to people, and read back from a snapshot. `garden_core.Game` is one.

    Only `own_snapshot` is required. A game with hidden information also defines `seen`.
    """

    name: ClassVar[str]
    information: ClassVar[Literal["perfect", "imperfect"]]
    max_players: ClassVar[int]
    labels: Any
    num_actions: Any
    new_states: Callable[[int], np.ndarray]
    num_players: int
    option_values: dict[str, Any]
    params: np.ndarray

    summary: ClassVar[str] = ""
    """The rules in short, for people: plain text in paragraphs, which the game's page in docs shows as well."""
    # --- what a game defines ---

    @abstractmethod
    def own_snapshot(self, state: Any) -> dict[str, Any]:
        """Return the game's own keys of `snapshot`, as plain JSON values; `current_player` and `scores` among them."""

    def fill_state(self, state: Any, snapshot: dict[str, Any]) -> None:
        """Write the position of a snapshot, the core's keys included, into a zeroed state: the inverse of `own_snapshot`.

        The core writes the generator, `decisions`, `terminated` and `truncated`.

        Raises:
            ValueError: for a position that cannot be (`garden_core.positions`), and here: the game reads no snapshots.
        """
        raise ValueError(f"{self.name} reads no snapshots: its class has no fill_state")

    def seen(self, snapshot: dict[str, Any], seat: int) -> dict[str, Any]:
        """Return a snapshot without what `seat` does not see; all of it where information is perfect.

        Raises:
            ValueError: if information is imperfect and the game does not say what is hidden.
        """
        if self.information == "perfect":
            return snapshot
        raise ValueError(f"{self.name} does not say what a seat sees of a snapshot: its class has no seen")

    def describe(self, state: Any, action: int) -> str:
        """Return what a legal action does in this position, for people; by what its player knows, one line.

        Here the action's label. Labels stay the same in all positions; a description may name amounts and points.
        """
        return self.labels[action]

    def score_sheet(self, snapshot: dict[str, Any]) -> list[dict[str, int]]:
        """Return how every seat's score comes about: by seat the parts by name, which sum to `scores`.

        Args:
            snapshot: the whole state, as `snapshot` gives it.

        A game without parts of its own has the one part "score", from the snapshot's key "scores".
        """
        return [{"score": score} for score in snapshot["scores"]]

    def own_text(self, view: dict[str, Any], seat: int | None, legal: Sequence[str]) -> str:
        """Return a position in words.

        Args:
            view: what `seat` sees of the snapshot, by `seen`; the whole snapshot for an onlooker.
            seat: who looks; None: an onlooker.
            legal: labels of the legal actions, if the seat is to move, and for an onlooker.
        """
        return "\n".join(f"{key}: {value}" for key, value in view.items())

    def own_svg(self, view: dict[str, Any], seat: int | None, look: Look) -> str:
        """Return the picture of a position as an SVG document; `view` and `seat` as for `own_text`."""
        raise ValueError(f"{self.name} has no picture; use render_mode='ansi'")

    @property
    def data_tables(self) -> dict[str, Table]:
        """The printed data that the game is played with, as tables by name."""
        return {}

    # --- what follows ---

    @property
    def rules_text(self) -> str:
        """The full rules, for people: the file `rules.md` beside the class's module, else `summary`."""
        module = getattr(sys.modules.get(type(self).__module__), "__file__", None)
        path = Path(module).with_name("rules.md") if module else None
        return path.read_text("utf-8") if path and path.is_file() else self.summary

    def describe_to(self, state: Any, action: int, seat: int | None) -> str:
        """Return `describe` for an action that the player to move has taken, if `seat` may know all of it, else the label.

        A description that is the same in many redraws of what is hidden from the seat tells nothing hidden. An onlooker
        (None) may know all.
        """
        description, label = self.describe(state, action), self.labels[action]
        if self.information == "perfect" or seat in (None, state["current_player"]) or description == label:
            return description
        redrawn, mask = self.new_states(1), np.zeros(self.num_actions, np.int8)
        for draw in range(_DRAWS):
            redrawn[0] = state
            kernels.resample(redrawn[0], self.params[0], seat, draw)
            kernels.legal_actions(redrawn[0], self.params[0], mask)
            if mask[action] and self.describe(redrawn[0], action) != description:
                return label
        return description

    def snapshot(self, state: Any) -> dict[str, Any]:
        """Return the whole state as plain JSON values; see the game's page for the keys.

        All games have `game`, `current_player`, `scores`, `decisions`, `terminated` and `truncated`.
        """
        return {
            "game": self.name,
            **self.own_snapshot(state),
            "decisions": int(state["decisions"]),
            "terminated": bool(state["terminated"]),
            "truncated": bool(state["truncated"]),
        }

    def from_snapshot(self, snapshot: dict[str, Any], seed: int | None = None) -> Any:
        """Return the position of a snapshot as a state record that can be played on (`Batch.set_states`).

        Args:
            snapshot: the whole state, as `snapshot` gives it, or written by hand.
            seed: of what chance does from here on; None for a random one.

        Raises:
            ValueError: for a position that cannot be, with the reason: keys or values that do not fit, cards or pieces
                that are missing or there twice, values that do not follow from the others, or no legal action although
                the game is not over.
        """
        if not isinstance(snapshot, dict):
            raise PositionError(f"a snapshot is a dict, not {short(snapshot)}")
        require(
            snapshot.get("game") == self.name,
            f"game must be {self.name!r}, not {short(snapshot.get('game'))}",
        )
        state = self.new_states(1)[0]
        seed_rng(state["rng"], np.uint64(secrets.randbits(64)) if seed is None else as_seed(seed))
        self.fill_state(state, snapshot)
        for name in ("decisions", "terminated", "truncated"):
            state[name] = snapshot[name]
        self._check_end(snapshot)
        found = self.snapshot(state)
        for key, value in snapshot.items():
            given = json.loads(json.dumps(value))
            require(
                given == found.get(key),
                f"{key} is {short(given)}, but by the rest it is {short(found.get(key))}",
            )
        if not (state["terminated"] or state["truncated"]):
            require(self.legal_labels(state), "no action is legal, but the game is not over")
        if self.option_values["reward"] == "margin":
            count = kernels.points if state["terminated"] or state["truncated"] else kernels.public_points
            count(state, self.params[0], state["paid"])
        return state

    def checked_state(self, state: Any) -> Any:
        """Return a state record with the position and generator of `state` that is safe to play on.

        It is built from the snapshot, so that nothing which no snapshot shows is taken over. Of a game that reads no
        snapshots the record is returned as it is; only its generator is checked.

        Raises:
            ValueError: for a state that was never dealt, or a position that cannot be, with the reason.
        """
        require(kernels.is_dealt(state), "the state was never dealt")
        if type(self).fill_state is Presentation.fill_state:
            return state
        try:
            checked = self.from_snapshot(self.snapshot(state), 0)
        except (IndexError, KeyError) as error:  # codes that no name stands for
            raise PositionError(f"the state holds what no rule can bring about: {error!r}") from None
        checked["rng"] = state["rng"]
        return checked

    def _check_end(self, snapshot: dict[str, Any]) -> None:
        """Raise PositionError unless the number of decisions fits how the game has ended, or not."""
        cap, made = self.option_values["max_decisions"], snapshot["decisions"]
        require(not (snapshot["terminated"] and snapshot["truncated"]), "a game ends in one way")
        if snapshot["truncated"]:
            require(made >= cap, f"truncated means that all {cap} decisions were made, not {made}")
        elif not snapshot["terminated"]:
            require(made < cap, f"after {cap} decisions the game is truncated")

    def seat_view(self, state: Any, seat: int) -> dict[str, Any]:
        """Return what one seat sees, as plain JSON values: the snapshot without what is hidden, and what it may do.

        Beside the snapshot's keys it has `seat` and `legal`, a list of `action`, `label` and `description` for each
        legal action, empty where the seat is not to move.

        Raises:
            ValueError: for a seat that does not exist.
        """
        number = as_seat(seat, self.num_players)
        legal = [
            {"action": action, "label": self.labels[action], "description": self.describe(state, action)}
            for action in self._offered(state, number)
        ]
        return {**self._view(state, number), "seat": number, "legal": legal}

    def _view(self, state: Any, seat: int | None) -> dict[str, Any]:
        """Return what `seat` sees of the snapshot; None: all of it. Whatever is shown to a seat is made from this."""
        snapshot = self.snapshot(state)
        return snapshot if seat is None else self.seen(snapshot, as_seat(seat, self.num_players))

    def _offered(self, state: Any, seat: int | None) -> list[int]:
        """Return the legal actions if `seat` is to move, or for an onlooker, None."""
        return self._legal_actions(state) if seat in (None, state["current_player"]) else []

    def text(self, state: Any, seat: int | None = None) -> str:
        """Return the position in words, as much of it as `seat` may see (None: an onlooker sees all).

        Raises:
            ValueError: for a seat that does not exist.
        """
        view = self._view(state, seat)
        return self.own_text(view, seat, [self.labels[action] for action in self._offered(state, seat)])

    def svg(
        self,
        state: Any,
        seat: int | None = None,
        *,
        legal: bool = False,
        last: tuple[int, int] | None = None,
        dark: bool = False,
        compact: bool = False,
        names: bool = False,
    ) -> str:
        """Return the picture of a position as an SVG document that needs nothing from outside.

        Args:
            state: a state record.
            seat: who looks, and sees nothing hidden from this seat; None: an onlooker, who sees all.
            legal: mark what the player to move may do, for this player and onlookers: what one clicks for an action has its
                number as `data-action` and its description as title.
            last: the last decision, seat and action, whose place is marked.
            dark: light on dark.
            compact: for a width of about 400 pixels.
            names: write on places the names that labels use for them.

        Raises:
            ValueError: for a seat or an action that does not exist, or a game that has no picture.
        """
        view = self._view(state, seat)
        offered = {self.labels[action]: action for action in self._offered(state, seat)} if legal else {}
        says = {label: self.describe(state, action) for label, action in offered.items()}
        look = Look(offered, dark=dark, compact=compact, names=names, says=says)
        if last is not None:
            by, action = as_seat(last[0], self.num_players), as_integer(last[1], "the last action")
            if not 0 <= action < self.num_actions:
                raise ValueError(f"the last action must be 0 to {self.num_actions - 1}, not {short(action)}")
            look = look._replace(last=self.labels[action], by=by)
        return self.own_svg(view, seat, look)

    def legal_labels(self, state: Any) -> list[str]:
        """Return the labels of what the player to move may do; none when the game is over."""
        return [self.labels[action] for action in self._legal_actions(state)]

    def _legal_actions(self, state: Any) -> list[int]:
        mask = np.zeros(self.num_actions, np.int8)
        kernels.legal_actions(state, self.params[0], mask)
        return np.flatnonzero(mask).tolist()
