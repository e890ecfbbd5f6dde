"""Prompts: a position as chat messages for a language model."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from garden_core.checks import as_seat, as_seed, check_choice
from garden_core.game import Game
from garden_core.jit.rng import game_seed, seed_rng, shuffle

Message = dict[str, str]
"""A chat message: `{"role": "system" | "user" | "assistant", "content": …}`."""
Mode = Literal["legal", "form"]
Rules = Literal["short", "full", "none"]
FORMS: dict[Mode, str] = {"legal": "ACTION: <number or name>", "form": "ACTION: <name>"}
"""The line with which an answer ends."""
MODES: tuple[Mode, ...] = ("legal", "form")
RULES: tuple[Rules, ...] = ("short", "full", "none")

_LISTED = 12  # largest number of actions that the description of a notation lists
_UNLISTED = ("num_players", "reward")  # options that the prompt states elsewhere, or that no player needs


def prompt(
    game: Game,
    state: Any,
    seat: int,
    history: tuple[np.ndarray, np.ndarray] | None = None,
    *,
    mode: Mode = "legal",
    rules: Rules = "short",
    disguise: Callable[[str], str] | None = None,
    order: int = 0,
) -> list[Message]:
    """Return a system and a user message that ask a language model for the decision of the player to move.

    The text depends only on what `seat` may know.

    Args:
        game: the game with its options.
        state: a state record in which `seat` is the player to move.
        seat: the model's seat.
        history: state records (k,) before each decision of the game so far, and actions, int64 (k,), as
            `Batch.history.of(row)`; the prompt reports those since the seat's last decision. None: it reports none.
        mode: what the prompt says about actions. "legal": it lists and describes the legal actions. "form": it explains how
            actions are written, but not which ones are legal.
        rules: "short": the game's summary; "full": all rules but those of rewards; "none": no rules.
        disguise: renames the game's things, see `Disguise`; None: they have their names.
        order: seed by which the list of legal actions is shuffled, so that the place in the list says nothing; `parse` takes
            the same one.

    Raises:
        ValueError: for an unknown mode or kind of rules, a seat that does not exist or is not the player to move, a seed out
            of range.

    Example:
        >>> from garden_agents.text import prompt
        >>> from garden_core import Batch, make
        >>> game = make("cacti")
        >>> batch = Batch(game, 1)
        >>> batch.reset(seed=1)
        >>> system, user = prompt(game, batch.states[0], seat=0)
        >>> print(user["content"].partition("legal actions:")[2].split("\\n")[1])
        1. special saguaro: put 1 saguaro (1 from the middle) under the Special Planter: 1 point, for good
    """
    check_choice(mode, "mode", MODES)
    check_choice(rules, "rules", RULES)
    seat = as_seat(seat, game.num_players)
    if state["terminated"] or state["truncated"] or seat != state["current_player"]:
        raise ValueError(f"player_{seat} is not the player to move")
    contents = [_system(game, seat, mode, rules), _user(game, state, seat, history, mode, order)]
    if disguise is not None:
        contents = [disguise(text) for text in contents]
    return [{"role": role, "content": text} for role, text in zip(("system", "user"), contents, strict=True)]


def _system(game: Game, seat: int, mode: Mode, rules: Rules) -> str:
    """Return the part of the prompt that is the same in the whole game."""
    players = "1 player" if game.num_players == 1 else f"{game.num_players} players"
    blocks = [f"You are player_{seat} in the board game {game.title} with {players}."]
    if rules == "short":
        blocks += ["Rules in short:", *_paragraphs(game.summary)]
    elif rules == "full":
        blocks += ["Rules:", _full_rules(game)]
    if game.data and rules == "short":  # all the rules end with them
        blocks += ["This game has its own cards and values:", game.tables_text.strip()]
    variant = [
        f"- {option.name} = {value}: {option.help}"
        for option in game.options
        if (value := game.shown_options.get(option.name, option.default)) != option.default
        and option.name not in _UNLISTED
        and not option.is_file
    ]
    if variant:
        blocks += ["Options of this game:\n" + "\n".join(variant)]
    if mode == "form":
        blocks += [
            "Actions are written as follows. Not all of them are legal in every position.\n" + forms(game)
        ]
    choice = {
        "legal": "Choose one of the legal actions that are listed with the position.",
        "form": "Choose a legal action.",
    }[mode]
    what = (
        "the number before an action in the list, or its whole name"
        if mode == "legal"
        else "the action, as above"
    )
    blocks += [
        f"{choice} You may think first. End your answer with one line of this form, with {what}; nothing else counts:\n{FORMS[mode]}"
    ]
    return "\n\n".join(blocks)


def listed(game: Game, state: Any, seat: int, order: int) -> list[dict[str, Any]]:
    """Return the legal actions of the player to move as in `Game.seat_view`, shuffled by the seed `order`."""
    rng_state, offered = np.zeros(4, np.uint64), game.seat_view(state, seat)["legal"]
    seed_rng(rng_state, as_seed(order))
    places = np.arange(len(offered))
    shuffle(rng_state, places, len(offered))
    return [offered[place] for place in places]


def order_of(seed: int, deal: int, state: Any) -> int:
    """Return a seed of the order of the list of actions, for a player's `seed`, the seed of the deal and a position."""
    return int(game_seed(np.uint64(seed), np.uint64(deal), np.uint64(state["decisions"])))


def _user(
    game: Game, state: Any, seat: int, history: tuple[np.ndarray, np.ndarray] | None, mode: Mode, order: int
) -> str:
    """Return the part of the prompt that describes the position."""
    blocks = []
    if history is not None and (lines := since_last_decision(game, history, seat)):
        blocks += ["Since your last decision:\n" + "\n".join(lines)]
    blocks += [f"The position (you are player_{seat}):\n\n{game.text(state, seat, legal=False).strip()}"]
    if mode == "legal":
        lines = [
            f"{number}. {described(offered['label'], offered['description'])}"
            for number, offered in enumerate(listed(game, state, seat, order), 1)
        ]
        blocks += ["Your legal actions:\n" + "\n".join(lines)]
    return "\n\n".join(blocks)


def since_last_decision(game: Game, history: tuple[np.ndarray, np.ndarray], seat: int) -> list[str]:
    """Return a line for each decision from the last one of `seat` on, without what is hidden from it."""
    states, actions = history
    own = np.flatnonzero(states["current_player"] == seat)
    first = int(own[-1]) if len(own) else 0
    lines = []
    for state, action in zip(states[first:], actions[first:].tolist(), strict=True):
        mover = int(state["current_player"])
        who = "you" if mover == seat else f"player_{mover}"
        lines.append(f"- {who}: {described(game.labels[action], game.describe_to(state, action, seat))}")
    return lines


def described(label: str, description: str) -> str:
    """Return an action as its label and its description, once if they are the same."""
    return label if description == label else f"{label}: {description.removeprefix(label).lstrip(': ')}"


def forms(game: Game) -> str:
    """Return how actions are written, one line per kind of action."""
    labels, lines = iter(game.labels), []
    for part in game.action_parts:
        names = list(itertools.islice(labels, part.size))
        shown = names if len(names) <= _LISTED else [*names[:2], "…", names[-1]]
        lines.append(f"- {' | '.join(shown)}: {part.meaning}")
    return "\n".join(lines) or "- " + " | ".join(game.labels)


def _paragraphs(text: str) -> list[str]:
    return [" ".join(paragraph.split()) for paragraph in textwrap.dedent(text).strip().split("\n\n")]


def _full_rules(game: Game) -> str:
    """Return the rules without the section about rewards."""
    sections = re.split(r"^(?=## )", game.rules_text.strip(), flags=re.MULTILINE)
    return "".join(section for section in sections if not re.match(r"## [\d. ]*Rewards\b", section)).strip()
