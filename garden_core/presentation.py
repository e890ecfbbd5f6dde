"""Presentation: snapshots, descriptions of actions, score sheets, text and pictures."""

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
"""Number of redraws that test whether a description depends on hidden information."""

Table = tuple[Sequence[str], Sequence[Sequence[Any]]]
"""A table for people: column names and rows."""


def as_markdown(table: Table) -> list[str]:
    """Return the lines of a table in Markdown."""
    head, rows = table
    lines = [[str(cell).replace("|", r"\|") for cell in line] for line in (head, ["---"] * len(head), *rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


class Presentation(ABC):
    """Shows positions to people and reads snapshots; the base class of `garden_core.Game`.

    A game must define `own_snapshot`, and with hidden information also `seen`.
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

    what_differs: ClassVar[str] = ""
    """Of a variant, what differs from the game above it: its docstring."""

    # --- what a game defines ---

    @abstractmethod
    def own_snapshot(self, state: Any) -> dict[str, Any]:
        """Return the game's part of `snapshot`, as plain JSON values.

        It must have the keys `current_player`, `scores`, and `phase` (or `asked`), which is "over" at the end.
        """

    def fill_state(self, state: Any, snapshot: dict[str, Any]) -> None:
        """Write the position of a snapshot into a state of zeros: the inverse of `own_snapshot`.

        The core writes the random state, `decisions`, `terminated` and `truncated`.

        Args:
            state: a state record of zeros.
            snapshot: the whole state, as from `snapshot`; it may be written by hand.

        Raises:
            ValueError: for an impossible position (`garden_core.positions`); by default always, as the game reads no
                snapshots.
        """
        raise ValueError(f"{self.name} reads no snapshots: its class has no fill_state")

    def seen(self, snapshot: dict[str, Any], seat: int) -> dict[str, Any]:
        """Return a snapshot without the parts that are hidden from `seat`; must not change `snapshot`.

        Required where information is imperfect; with perfect information nothing is hidden.

        Raises:
            ValueError: if information is imperfect and the game does not override this method.
        """
        if self.information == "perfect":
            return snapshot
        raise ValueError(f"{self.name} does not say what a seat sees of a snapshot: its class has no seen")

    def describe(self, state: Any, action: int) -> str:
        """Describe in one line what a legal action does in this position, from what its player knows.

        By default the action's label. A label is the same in all positions; a description may state amounts and points.
        """
        return self.labels[action]

    def score_sheet(self, snapshot: dict[str, Any]) -> list[dict[str, int]]:
        """Return the parts of each seat's score: for each seat a dict from name to points, whose sum is its score.

        By default the only part is "score".

        Args:
            snapshot: the whole state, as from `snapshot`.
        """
        return [{"score": score} for score in snapshot["scores"]]

    def own_text(self, view: dict[str, Any], seat: int | None, legal: Sequence[str]) -> str:
        """Return a position as text.

        Args:
            view: the snapshot as `seen` returns it for `seat`; for an onlooker all of it.
            seat: the seat that looks, or None for an onlooker.
            legal: labels of the legal actions; empty for a seat that is not the player to move.
        """
        return "\n".join(f"{key}: {value}" for key, value in view.items())

    def own_svg(self, view: dict[str, Any], seat: int | None, look: Look) -> str:
        """Return the picture of a position as an SVG document; `view` and `seat` as for `own_text`."""
        raise ValueError(f"{self.name} has no picture; use render_mode='ansi'")

    @property
    def summary(self) -> str:
        """The rules in brief, for people: plain text in paragraphs."""
        return ""

    @property
    def data_tables(self) -> dict[str, Table]:
        """Tables of what is printed on cards and boards, by name; the full rules end with them."""
        return {}

    # --- provided for all games ---

    @property
    def rules_text(self) -> str:
        """The full rules, for people: the file `rules.md` in the folder of the class's module, else `summary`; then `tables_text`.

        Those of a variant begin with what differs from the game's.
        """
        text = self.summary
        for kind in type(self).__mro__:
            module = getattr(sys.modules.get(kind.__module__), "__file__", None)
            path = Path(module).with_name("rules.md") if module else None
            if path and path.is_file():
                text = self.what_differs + path.read_text("utf-8")
                break
        return f"{text.rstrip()}\n\n{self.tables_text}" if self.data_tables else text

    @property
    def tables_text(self) -> str:
        """The section of the rules with the tables of this game's own data; "" if it has none."""
        tables = [
            "\n".join([f"### {name.capitalize()}", "", *as_markdown(each)])
            for name, each in self.data_tables.items()
        ]
        return "\n\n".join(["## Tables of values", *tables]) + "\n" if tables else ""

    def describe_to(self, state: Any, action: int, seat: int | None) -> str:
        """Return the description of an action that the player to move takes, or its label if the description reveals secrets.

        A description that stays the same in many redraws of what is hidden from `seat` reveals nothing. From an onlooker
        (None) nothing is hidden.
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
        """Return the whole state as plain JSON values; the game's page lists the keys.

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
        """Return the position of a snapshot as a state record, from which the game can continue (`Batch.set_states`).

        Args:
            snapshot: the whole state, as from `snapshot`; it may be written by hand.
            seed: seed of chance from here on; None for a random one.

        Raises:
            ValueError: for an impossible position, with the reason: wrong keys or values, missing or repeated cards or
                pieces, values that contradict others, or no legal action although the game is not over.
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
        implied = self.snapshot(state)
        for key, value in snapshot.items():
            given, expected = json.loads(json.dumps(value)), implied.get(key)
            require(given == expected, f"{key} is {short(given)}, but by the rest it is {short(expected)}")
        over = state["terminated"] or state["truncated"]
        require(over or self.legal_labels(state), "no action is legal, but the game is not over")
        if self.option_values["reward"] == "margin":
            count = kernels.points if over else kernels.public_points
            count(state, self.params[0], state["paid"])
        return state

    def checked_state(self, state: Any) -> Any:
        """Return a valid state record with the position and random state of `state`.

        It is built from the snapshot, so only what a snapshot shows is copied. If the game reads no snapshots, `state` is
        returned unchecked, unless it was never dealt.

        Raises:
            ValueError: for a state that was never dealt, or an impossible position, with the reason.
        """
        require(kernels.is_dealt(state), "the state was never dealt")
        if type(self).fill_state is Presentation.fill_state:
            return state
        try:
            checked = self.from_snapshot(self.snapshot(state), 0)
        except (IndexError, KeyError) as error:  # codes without a name
            raise PositionError(f"the state holds what no rule can bring about: {error!r}") from None
        checked["rng"], checked["variant"] = state["rng"], state["variant"]
        return checked

    def _check_end(self, snapshot: dict[str, Any]) -> None:
        """Raise PositionError if `decisions`, `terminated` and `truncated` contradict each other."""
        cap, made = self.option_values["max_decisions"], snapshot["decisions"]
        require(not (snapshot["terminated"] and snapshot["truncated"]), "a game ends in one way")
        if snapshot["truncated"]:
            require(made >= cap, f"truncated means that all {cap} decisions were made, not {made}")
        elif not snapshot["terminated"]:
            require(made < cap, f"after {cap} decisions the game is truncated")

    def seat_view(self, state: Any, seat: int) -> dict[str, Any]:
        """Return what one seat sees, as plain JSON values: the snapshot without what is hidden, and its legal actions.

        It adds the keys `seat` and `legal`, a list with `action`, `label` and `description` of each legal action, which is
        empty if another seat is the player to move.

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
        """Return the snapshot as `seat` sees it (None: all of it). All that is shown to a seat is made from this."""
        snapshot = self.snapshot(state)
        return snapshot if seat is None else self.seen(snapshot, as_seat(seat, self.num_players))

    def _offered(self, state: Any, seat: int | None) -> list[int]:
        """Return the legal actions for the player to move and for an onlooker (None), else []."""
        return self._legal_actions(state) if seat in (None, state["current_player"]) else []

    def text(self, state: Any, seat: int | None = None, *, legal: bool = True) -> str:
        """Return the position as text, as `seat` sees it (None: an onlooker, who sees all).

        Args:
            state: a state record.
            seat: the seat that looks, or None.
            legal: mark and list the legal actions, for the player to move and for onlookers.

        Raises:
            ValueError: for a seat that does not exist.
        """
        view = self._view(state, seat)
        offered = self._offered(state, seat) if legal else []
        return self.own_text(view, seat, [self.labels[action] for action in offered])

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
        """Return the picture of a position as a self-contained SVG document.

        Args:
            state: a state record.
            seat: the seat that looks; None: an onlooker, who sees all.
            legal: mark the legal actions, for the player to move and for onlookers: the element to click for an action has
                its number as `data-action` and its description as title.
            last: the last decision, (seat, action), to be marked.
            dark: light on dark.
            compact: for a width of about 400 pixels.
            names: label places with the names that action labels use.

        Raises:
            ValueError: for a seat or an action that does not exist, or a game that has no picture.
        """
        view = self._view(state, seat)
        offered = {self.labels[action]: action for action in self._offered(state, seat)} if legal else {}
        says = {label: self.describe(state, action) for label, action in offered.items()}
        look = Look(offered, dark=dark, compact=compact, names=names, says=says)
        if last is not None:
            most = self.num_actions - 1
            action = as_integer(last[1], "the last action", f"0 to {most}", 0, most)
            look = look._replace(last=self.labels[action], by=as_seat(last[0], self.num_players))
        return self.own_svg(view, seat, look)

    def legal_labels(self, state: Any) -> list[str]:
        """Return the labels of the legal actions; none when the game is over."""
        return [self.labels[action] for action in self._legal_actions(state)]

    def _legal_actions(self, state: Any) -> list[int]:
        mask = np.zeros(self.num_actions, np.int8)
        kernels.legal_actions(state, self.params[0], mask)
        return np.flatnonzero(mask).tolist()
