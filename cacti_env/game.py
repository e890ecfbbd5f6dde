"""Cacti as a Game: options, metadata, labels, snapshot, pictures."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

import msgspec

from cacti_env import cards, describing, drawing, rules, snapshots
from cacti_env.cards import MAX_OF_TYPE, MAX_POINTS, NUM_PLAYERS, Cards
from cacti_env.snapshots import HALVES
from cacti_env.state import MOST_COUNTED, PARAMS_FIELDS, STATE_FIELDS
from garden_core.game import Game, Part
from garden_core.options import Option
from garden_core.presentation import Table
from garden_core.render.svg import Look


class Cacti(Game):
    """Cacti for two players: hidden hands and a shuffled deck.

    Options: see `Cacti.options`. With the packaged cards the observation is int8 (113,) and there are 35
    actions; docs/cacti.md has the tables.

    Raises:
        ValueError: for an option out of range, or a data file that cannot be read or is invalid; it names the line
            or key at fault.

    Example:
        >>> from cacti_env import Cacti
        >>> game = Cacti()
        >>> game.observation_shape, game.num_actions
        ((113,), 35)
    """

    name = "cacti"
    title = "Cacti"
    chance = "play"
    information = "imperfect"
    summary = """\
Two players collect cacti in their Nurseries and plant them in Arrangements for points. Cacti that are left over at the
end cost points. The higher score wins.

Five cacti are open in the middle. Each player has a Starting Arrangement, a Basic Arrangement that the other does not
see, a Special Planter and a secret Bonus Planter for one type of cactus. The other Basic Arrangements are a deck; only
its top card is open.

Your turn begins with the top card of the Cacti deck, which comes to your Nursery. Then you do one of three things:

Grow: take all cacti of one type from the middle into your Nursery. The other player must then respond with a Grow or a
Plant, if possible. No player responds to a response.

Plant: discard from your Nursery the cacti that an Arrangement asks for and score its points. It may be one from
your hand or the open one on the deck; of a Basic Arrangement you plant one half, the upper or the lower, and lose the
other. No Arrangements are drawn during the game.

Special, once a game: put all cacti of one type, those in the middle and those in your Nursery, under your Special
Planter. They stay there and are worth 1 point each.

After your turn the middle is filled up to five from the deck. When that is no longer possible after the turn of the
second player, player_1, the game ends. When it is not possible after the first player's turn, the discards are
shuffled into a new deck and the second player has one last turn, in which the card at the beginning may be declined.
An empty deck alone does not end the game.

At the end your Bonus Planter takes the cacti of its type from your Nursery, 1 point each. For the rest of your Nursery
you lose the number of its cacti times the number of its types: 4 cacti of 2 types cost 8 points. Level scores are
decided by who has more cacti under both planters.
"""
    options = (
        Option("num_players", NUM_PLAYERS, "players", low=NUM_PLAYERS, high=NUM_PLAYERS),
        Option("max_decisions", 200, "cap at which a game is truncated", low=1, high=2**31 - 1),
        Option("cards", "", "TOML file with other cards; the packaged ones if empty"),
        Option(
            "memory",
            "none",
            "history: observations also count what the players have taken and passed up so far",
            choices=("none", "history"),
        ),
        Option(
            "cards_shown",
            "places",
            "how observations and actions name Arrangements: by their places in the file, or by cost and points",
            choices=("places", "values"),
        ),
    )
    state_fields = STATE_FIELDS
    params_fields = PARAMS_FIELDS
    rules: ClassVar[Any] = rules

    @functools.cached_property
    def cards(self) -> Cards:
        """The printed cards of this game."""
        try:
            return cards.load(self.data.get("cards", cards.PACKAGED))
        except ValueError as error:
            raise ValueError(f"cards: {error}") from None

    @functools.cached_property
    def file_places(self) -> tuple[int, ...]:
        """The place in the data file of each Basic Arrangement that states number; with values they are in ascending order.

        So the order in the file changes nothing there.

        Example:
            >>> from cacti_env import Cacti
            >>> Cacti().file_places[:3], Cacti(cards_shown="values").file_places[:3]
            ((0, 1, 2), (11, 10, 9))
        """
        places = range(len(self.cards.basic))
        return tuple(sorted(places, key=self.cards.basic.__getitem__) if self._by_value else places)

    @functools.cached_property
    def _numbered(self) -> Cards:
        """The printed cards, with the Basic Arrangements as states number them."""
        basic = tuple(self.cards.basic[k] for k in self.file_places)
        return msgspec.structs.replace(self.cards, basic=basic)

    def fill_params(self, params: Any) -> None:
        """Write the printed cards."""
        types = len(self.cards.types)
        params["memory"] = self._remembers
        params["cards_shown"] = self._by_value
        params["num_types"] = types
        params["num_basic"] = len(self.cards.basic)
        params["num_bonus"] = len(self.cards.bonus)
        params["count"][:types] = self.cards.count
        params["bonus"][: len(self.cards.bonus)] = self.cards.bonus_types
        for number, half in enumerate(self._numbered.halves):
            params["cost"][number, :types] = half.cost
            params["points"][number] = half.points

    @property
    def _remembers(self) -> bool:
        """Whether observations count what the players have taken and passed up."""
        return self.option_values["memory"] == "history"

    @property
    def _by_value(self) -> bool:
        """Whether observations and actions name Arrangements by what they cost and score."""
        return self.option_values["cards_shown"] == "values"

    @property
    def _remembered(self) -> dict[str, int]:
        """The state's fields of the memory, and how many counts each seat has there; none without memory.

        Halves are not counted where observations have no places for them.
        """
        types = len(self.cards.types)
        counted = {"grown": types, "passed_by": types}
        if not self._by_value:
            counted["not_planted"] = len(self.cards.halves)
        return counted if self._remembers else {}

    @property
    def max_game_length(self) -> int:
        """The cap on decisions, or what the cards allow if that is less.

        A Grow takes at least one card from the middle, where each appears once before the last turn, which has
        two at most; every Arrangement is planted once, each Special used once, one opening card asked for.
        """
        grows = sum(self.cards.count) + 2
        plants = len(self.cards.basic) + NUM_PLAYERS
        return min(self.option_values["max_decisions"], grows + plants + NUM_PLAYERS + 1)

    @property
    def reward_divisor(self) -> float:
        """10 [7.2]."""
        return 10

    @functools.cached_property
    def labels(self) -> tuple[str, ...]:
        """`grow TYPE`, `plant basic k upper`, `plant starting`, `special TYPE`, `take card`, `leave card`.

        With values, `plant hand upper` and `plant open upper` instead.
        """
        grow, special = ([f"{verb} {name}" for name in self.cards.types] for verb in ("grow", "special"))
        cards = ("hand", "open") if self._by_value else [f"basic {k}" for k in range(len(self.cards.basic))]
        basic = [f"plant {card} {half}" for card in cards for half in HALVES]
        return (*grow, *basic, "plant starting", *special, "take card", "leave card")

    @property
    def action_parts(self) -> tuple[Part, ...]:
        """The blocks of actions."""
        types = len(self.cards.types)
        basic: tuple[Part, ...] = (
            Part(
                "plant basic",
                2 * len(self.cards.basic),
                "Plant this half of this Basic Arrangement, which is in the hand or on top of the deck",
            ),
        )
        if self._by_value:
            basic = (
                Part(
                    "plant hand", 2, "Plant the upper or the lower half of the Basic Arrangement in the hand"
                ),
                Part(
                    "plant open", 2, "Plant the upper or the lower half of the Arrangement on top of the deck"
                ),
            )
        return (
            Part("grow", types, "Grow: take all cacti of this type from the middle"),
            *basic,
            Part("plant starting", 1, "Plant the Starting Arrangement"),
            Part(
                "special",
                types,
                "Special: put all cacti of this type from the middle and the Nursery under the Special Planter",
            ),
            Part("opening card", 2, "in the last turn: take or leave the opening card"),
        )

    @property
    def observation_parts(self) -> tuple[Part, ...]:
        """The parts of an observation, in order."""
        types = len(self.cards.types)
        plain = (
            Part("middle", types, "cacti in the middle, by type", "0 … 5"),
            Part("own nursery", types, "cacti in the observer's Nursery, by type", "≥ 0"),
            Part("opponent's nursery", types, "cacti in the opponent's Nursery, by type", "≥ 0"),
            Part("own special", types, "cacti under the observer's Special Planter, by type", "≥ 0"),
            Part("opponent's special", types, "cacti under the opponent's Special Planter, by type", "≥ 0"),
            Part("special used", 2, "Special Planter used: the observer's, the opponent's"),
            Part("own bonus", types, "the observer's Bonus Planter, one-hot by type", private=True),
            Part("own starting", 1, "Starting Arrangement in the observer's hand"),
            *(self._values if self._by_value else self._places),
            Part("opponent's arrangements", 1, "Arrangements in the opponent's hand", "0 … 2"),
            Part("deck left", 1, "cards left in the Cacti deck", "≥ 0"),
            Part("discards", types, "discards, by type", "≥ 0"),
            Part("arrangements left", 1, "cards left in the Arrangement deck", "≥ 0"),
            Part(
                "decision",
                3,
                "the decision to make, one-hot: action, response, opening card of the last turn",
            ),
            Part("seat", 1, "the observer's seat"),
            Part("last turn", 1, "whether this is the last turn"),
        )
        done = {
            "grown": ("grown", "took each type with Grow"),
            "passed_by": ("not grown", "did something else while the type was in the middle"),
            "not_planted": (
                "not planted",
                "did not plant what the Nursery could pay for: each half, then Starting",
            ),
        }
        return plain + tuple(
            Part(f"{whose}: {done[field][0]}", size, f"how often the {whose} {done[field][1]}", "≥ 0")
            for whose in ("observer", "opponent")
            for field, size in self._remembered.items()
        )

    @property
    def _places(self) -> tuple[Part, ...]:
        """The parts of an observation that name Arrangements by their places in the data file."""
        basics = len(self.cards.basic)
        halves = "each Basic Arrangement's upper and lower half, Starting"
        return (
            Part("own basic", basics, "the Basic Arrangement in the observer's hand, one-hot", private=True),
            Part("open arrangement", basics, "top of the Arrangement deck, one-hot"),
            Part("planted by observer", 2 * basics + 1, f"planted by the observer: {halves}"),
            Part("planted by opponent", 2 * basics + 1, f"planted by the opponent: {halves}"),
        )

    @property
    def _values(self) -> tuple[Part, ...]:
        """The parts of an observation that show Arrangements by cost and points, and how many cards there are."""
        types = len(self.cards.types)
        half, basics = types + 1, len(self.cards.basic)
        cost, counted = f"0 … {MAX_POINTS}", f"0 … {MOST_COUNTED}"
        both = "upper half's cost by type and points, then the lower's"
        planted = f"Arrangements planted by the {{}}: their number, and their points, at most {MOST_COUNTED}"
        return (
            Part("opponent's starting", 1, "Starting Arrangement in the opponent's hand"),
            Part("starting", half, "Starting Arrangement: cost by type, points", cost),
            Part(
                "own basic",
                2 * half,
                f"the Basic Arrangement in the observer's hand: {both}; zeros for none",
                cost,
                private=True,
            ),
            Part("open arrangement", 2 * half, f"top of the Arrangement deck: {both}; zeros for none", cost),
            Part("planted by observer", 2, planted.format("observer"), counted),
            Part("planted by opponent", 2, planted.format("opponent"), counted),
            Part(
                "unseen arrangements",
                basics * 2 * half,
                f"the Basic Arrangements in ascending order, each one's {both}; zeros for those that the observer has seen",
                cost,
                private=True,
            ),
            Part("cacti", types, "Cacti cards in the game, by type", f"1 … {MAX_OF_TYPE}"),
            Part("bonus planters", types, "Bonus Planters in the game, by type", "≥ 0"),
        )

    @property
    def hidden_parts(self) -> tuple[Part, ...]:
        """The parts of what is hidden from a seat, in order."""
        types, basics = len(self.cards.types), len(self.cards.basic)
        half, cost = types + 1, f"0 … {MAX_POINTS}"
        basic = Part(
            "opponent's basic",
            basics,
            "the Basic Arrangement in the opponent's hand, one-hot; zeros for none",
        )
        below = Part(
            "arrangement deck",
            basics,
            "the Arrangement deck below its open top: Basic Arrangement + 1, 0 for none",
            f"0 … {basics}",
        )
        if self._by_value:
            both = "both halves' costs by type and points; zeros for none"
            basic = Part(basic.name, 2 * half, f"the Basic Arrangement in the opponent's hand: {both}", cost)
            below = Part(
                below.name, basics * 2 * half, f"the Arrangement deck below its open top: {both}", cost
            )
        return (
            Part("opponent's bonus", types, "the opponent's Bonus Planter, one-hot by type"),
            basic,
            Part(
                "deck",
                types * MAX_OF_TYPE if self._by_value else sum(self.cards.count),
                "the Cacti deck from its top: type + 1, 0 for none",
                f"0 … {types}",
            ),
            below,
        )

    @property
    def data_tables(self) -> dict[str, Table]:
        """The printed cards."""
        types, bonus = self.cards.types, self.cards.bonus_types
        head = ("card", *types, "points")
        names = [f"Basic {k}, {half}" for k in range(len(self.cards.basic)) for half in HALVES]
        *basic, starting = self.cards.halves
        named = zip(("Starting", *names), (starting, *basic), strict=True)
        rows = [(name, *half.cost, half.points) for name, half in named]
        counts = [
            ("Cacti cards", *self.cards.count),
            ("Bonus Planters", *map(bonus.count, range(len(types)))),
        ]
        return {"cards": (("", *types), counts), "arrangements": (head, rows)}

    def own_snapshot(self, state: Any) -> dict[str, Any]:
        """Return the state as plain JSON values; keys as in docs/cacti.md."""
        return snapshots.written(
            state, self._numbered, self.file_places, self.scores(state), self._remembered
        )

    def seen(self, snapshot: dict[str, Any], seat: int) -> dict[str, Any]:
        """Return a snapshot without what `seat` does not see."""
        return snapshots.seen(snapshot, self.cards, seat)

    def fill_state(self, state: Any, snapshot: dict[str, Any]) -> None:
        """Write the position of a snapshot into a zeroed state."""
        snapshots.fill(state, snapshot, self._numbered, self.file_places, self._remembered)

    def describe(self, state: Any, action: int) -> str:
        """Return what a legal action does in this position, in one line; without hidden information."""
        return describing.describe(state, self._numbered, action, self.labels[action], self._by_value)

    def score_sheet(self, snapshot: dict[str, Any]) -> list[dict[str, int]]:
        """Return the points by seat: "planted", "special", "bonus" and, not above 0, "left_over"."""
        return describing.score_sheet(snapshot, self.cards)

    def own_text(self, view: dict[str, Any], seat: int | None, legal: Sequence[str]) -> str:
        """Return the position as text that `seat` can play from; an onlooker (None) sees all cards."""
        return drawing.text(self._drawn(view, seat), self.cards, legal)

    def own_svg(self, view: dict[str, Any], seat: int | None, look: Look) -> str:
        """Return the picture of a position as `seat` sees it; an onlooker (None) sees all cards."""
        return drawing.svg(self._drawn(view, seat), self.cards, look, self._by_value)

    def _drawn(self, view: dict[str, Any], seat: int | None) -> SimpleNamespace:
        """Return a view with its keys as attributes, an onlooker's with the keys that `seen` adds."""
        return SimpleNamespace(**snapshots.seen(view, self.cards, None) if seat is None else view)
