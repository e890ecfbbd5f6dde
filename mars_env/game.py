"""Gardens of Mars as a Game: options, metadata, labels, snapshot, pictures."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, ClassVar

from garden_core.game import Game, Part
from garden_core.options import Option
from garden_core.render.svg import Look
from mars_env import drawing, rules, snapshots
from mars_env.board import COLOURS, HEXES, MAX_DIE, NUM_COLOURS, NUM_HEXES, WIDTH
from mars_env.describing import describe
from mars_env.state import MAX_PLAYERS, PARAMS_FIELDS, PHASES, STATE_FIELDS

_TEAM_DIVISOR = {1: 200, 2: 100, 3: 60, 4: 50, 5: 40}  # a good team score, by players [9.3]


SPECIAL_SHOWN = "flat+special"
"""The flat view for networks that play with and without special actions."""


class Mars(Game):
    """Gardens of Mars (Néstor Romeral Andrés) for 2 to 5 players, 1 to 5 in the cooperative variant.

    Options: see `Mars.options`. Observation: int8, (1335,) in the view "flat", (1336,) in "flat+special" or (75, 11, 11) in "planes";
    103 actions, 194 with two gardeners. docs/mars.md has the tables.

    Raises:
        ValueError: for an option out of range or options that exclude each other.

    Example:
        >>> from mars_env import Mars
        >>> game = Mars(num_players=3)
        >>> game.observation_shape, game.num_actions
        ((1335,), 103)
    """

    name = "mars"
    title = "Gardens of Mars"
    chance = "play"
    information = "perfect"
    summary = """\
You walk a gardener over a garden of 91 hexes and plant flowers; the larger the group of its colour that a flower
joins, the more points it scores. The highest score wins.

Each player puts a gardener on a free hex other than the centre. Only then are the 60 flowers, ten of each of six
colours, dealt out evenly at random; they are open. Then turns go round.

Your turn: if dice are on the table, use one of them. If none are, first roll as many dice as there are hexes without a
flower next to your gardener, the centre and peaks included; if there are none, your turn is over. The dice that you do
not use stay for the players after you, and no player rolls before all are used.

Using a die: your gardener goes exactly as many hexes as the die shows, in a straight line. It may pass flowers and the
centre, but not gardeners, peaks or the edge, and it may not stop on the centre. On a hex without a flower you plant
one of yours, of any colour you have left, and gain as many points as there are flowers in its group: the flowers of
its colour that are connected with it, no matter who planted them, and itself. On a hex with a flower you plant
nothing and lose 1 point. A die with which you cannot move may be given up, even if you can move with
another one; this costs 1 point too. Scores do not fall below 0.

The score track has room for one player on each space above 0: a player who would end on a taken space goes on, in
the same direction, to the next free one.

The game ends as soon as a player has planted their last flower, or when no dice are left and no player can roll.

Variants, of which plain games have none: peaks block the way; with two gardeners each, the larger of the
two counts is rolled, a die may move either, and it is given up only if neither can move with it; with special actions
you have another turn, if dice are left, when you plant the tenth flower of a colour or your points lead to a taken
space above 25; in the cooperative game the team's score is the lowest of its players', which all try to raise.
"""
    options = (
        Option("num_players", 2, "players", low=1, high=MAX_PLAYERS, note="1 only with cooperative=True"),
        Option("peaks", 0, "peaks on the board", low=0, high=MAX_PLAYERS - 1, note="at most 5 - num_players"),
        Option("special_actions", False, "variant: extra turns"),
        Option("gardeners", 1, "gardeners of each player", low=1, high=2, note="2 only with num_players=2"),
        Option("cooperative", False, "variant: all players receive the lowest score"),
        Option("max_decisions", 1000, "cap at which a game is truncated", low=1, high=2**31 - 1),
        Option(
            "view",
            "flat",
            "form of the observation; flat+special has one more entry, whether there are special actions",
            choices=("flat", "planes", SPECIAL_SHOWN),
        ),
    )
    state_fields = STATE_FIELDS
    params_fields = PARAMS_FIELDS
    rules: ClassVar[Any] = rules

    def check_options(self, options: dict[str, Any]) -> dict[str, Any]:
        """Check the options, also their combination [1.4, 7.1, 8]."""
        chosen = super().check_options(options)
        n, peaks = chosen["num_players"], chosen["peaks"]
        if n == 1 and not chosen["cooperative"]:
            raise ValueError("num_players must be 2 to 5, or 1 to 5 with cooperative=True, not 1")
        if peaks > MAX_PLAYERS - n:
            raise ValueError(f"peaks must be 0 to {MAX_PLAYERS - n} with num_players={n}, not {peaks}")
        if chosen["gardeners"] == 2 and n != 2:
            raise ValueError(f"gardeners must be 1 with num_players={n}; 2 is for two players only")
        return chosen

    def fill_params(self, params: Any) -> None:
        """Write the options that the rules read."""
        super().fill_params(params)
        params["num_peaks"] = self.option_values["peaks"]
        params["planes"] = self.option_values["view"] == "planes"

    @property
    def cooperative(self) -> bool:
        """Whether the variant is on."""
        return self.option_values["cooperative"]

    @property
    def reward_divisor(self) -> float:
        """25 with two players, 10 with more; 200 … 40 in the cooperative variant [9.2, 9.3]."""
        if self.cooperative:
            return _TEAM_DIVISOR[self.num_players]
        return 25 if self.num_players == 2 else 10

    @property
    def reward_range(self) -> tuple[float, float]:
        """[-1, 1] for outcome rewards, from 0 on in the cooperative variant; unbounded for margins."""
        if self.cooperative:
            return (0.0, float("inf"))
        return super().reward_range

    @property
    def observation_parts(self) -> tuple[Part, ...]:
        """The parts of the flat views, in order; () for the view "planes", which has the same parts as planes."""
        if self.option_values["view"] == "planes":
            return ()
        each = self.option_values["gardeners"]
        seats = MAX_PLAYERS if each == 1 else 2
        special = (Part("special actions", 1, "whether there are special actions"),)
        return (
            Part("flowers", NUM_COLOURS * NUM_HEXES, f"flowers by colour and hex: {', '.join(COLOURS)}"),
            Part(
                "gardeners",
                seats * each * NUM_HEXES,
                f"gardeners by seat and hex: {seats} seats, {each} each",
            ),
            Part("peaks", NUM_HEXES, "peaks"),
            Part(
                "reachable hexes",
                each * NUM_HEXES,
                "hexes that the observer can reach in this decision, for each gardener",
            ),
            Part("hex to plant on", NUM_HEXES, "the hex on which a flower must be planted now"),
            Part(
                "seats",
                MAX_PLAYERS * rules.SEAT_SCALARS,
                "for each of 5 seats: flowers left by colour (6), score div 16, score mod 16",
                "≥ 0",
            ),
            Part("player to move", MAX_PLAYERS, "the player to move, one-hot, counted from the observer"),
            Part("dice", MAX_DIE, "dice on the table, by value", "0 … 6"),
            Part("phase", len(PHASES), "phase, one-hot: place, move, plant"),
            Part("number of players", 1, "number of players", "1 … 5"),
            Part("planted", NUM_COLOURS, "flowers planted so far, by colour", "0 … 10"),
            *(special if self.option_values["view"] == SPECIAL_SHOWN else ()),
        )

    @property
    def action_parts(self) -> tuple[Part, ...]:
        """The blocks of actions."""
        second = Part("second hex", NUM_HEXES, "place the second gardener on this hex, or go there with it")
        return (
            Part("hex", NUM_HEXES, "place a gardener on this hex, or go there with the (first) gardener"),
            *[second] * (self.option_values["gardeners"] == 2),
            Part("give up die", MAX_DIE, "give up the die of this value, with which no gardener can move"),
            Part("plant", NUM_COLOURS, "plant a flower of this colour"),
        )

    @functools.cached_property
    def labels(self) -> tuple[str, ...]:
        """`hex q,r`, with two gardeners `second hex q,r`, `give up die v`, `plant COLOUR`."""
        hexes = [f"hex {q},{r}" for q, r in HEXES]
        if self.option_values["gardeners"] == 2:
            hexes += [f"second {label}" for label in hexes]
        dice = [f"give up die {value}" for value in range(1, MAX_DIE + 1)]
        return (*hexes, *dice, *(f"plant {colour}" for colour in COLOURS))

    @functools.cached_property
    def observation_shape(self) -> tuple[int, ...]:
        """(1335,), (1336,) or (75, 11, 11)."""
        if self.option_values["view"] == "planes":
            return (rules.NUM_PLANES, WIDTH, WIDTH)
        return super().observation_shape

    def own_snapshot(self, state: Any) -> dict[str, Any]:
        """Return the state as plain JSON values; keys as in docs/mars.md."""
        return snapshots.written(state, self.num_players, self.option_values["gardeners"])

    def fill_state(self, state: Any, snapshot: dict[str, Any]) -> None:
        """Write the position of a snapshot into a zeroed state."""
        gardeners, peaks = self.option_values["gardeners"], self.option_values["peaks"]
        snapshots.fill(state, snapshot, self.num_players, gardeners, peaks)

    def describe(self, state: Any, action: int) -> str:
        """Return what a legal action does in this position, in one line; nothing is hidden from any seat."""
        return describe(state, self.params[0], action)

    def score_sheet(self, snapshot: dict[str, Any]) -> list[dict[str, int]]:
        """Return the space on the score track, by seat: only the whole score is kept."""
        return [{"score track": score} for score in snapshot["scores"]]

    def own_text(self, view: dict[str, Any], seat: int | None, legal: Sequence[str]) -> str:
        """Return the position as text that a person can play from."""
        return drawing.text(view, legal, self.cooperative)

    def own_svg(self, view: dict[str, Any], seat: int | None, look: Look) -> str:
        """Return the picture of a position."""
        return drawing.svg(view, self.cooperative, look)
