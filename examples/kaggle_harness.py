"""The three functions that the harness of Kaggle's `kaggle-environments` asks of a game.

`kaggle_environments.core_harness.create_agent_fn` takes an object with `get_legal_moves(observation)`,
`make_prompt(observation, move_history, …)` and `parse_response(response, legal_action_strings)`; a harness module defines
the second as `generate_prompt`. `observe` returns the observation, plain JSON values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from garden_agents.text.answers import AnswerError, match, named
from garden_agents.text.prompts import FORMS, Rules, prompt

from garden_core.game import Game


class ParseResult(NamedTuple):
    """The move that a response names.

    Attributes:
        legal_action: one of the legal moves, or None.
        raw_action: the words that name the action, legal or not; None if there are none.
    """

    legal_action: str | None = None
    raw_action: str | None = None


def observe(
    game: Game,
    state: Any,
    seat: int,
    history: tuple[np.ndarray, np.ndarray] | None = None,
    *,
    rules: Rules = "short",
    disguise: Callable[[str], str] | None = None,
) -> dict[str, Any]:
    """Return the observation of a seat as plain JSON values; the arguments are those of `garden_agents.text.prompt`.

    Responses name legal moves only by name, so the mode of the prompt is "form".

    Example:
        >>> from garden_core import Batch, make
        >>> batch = Batch(make("cacti"), 1)
        >>> batch.reset(seed=1)
        >>> observation = observe(batch.game, batch.states[0], seat=0)
        >>> moves = get_legal_moves(observation)
        >>> parse_response("ACTION: Grow star.", list(moves.values()))
        ParseResult(legal_action='grow star', raw_action='Grow star.')
    """
    over = bool(state["terminated"] or state["truncated"])
    current = -1 if over else int(state["current_player"])
    observation: dict[str, Any] = {
        "playerId": seat,
        "currentPlayer": current,
        "isTerminal": over,
        "legalMoves": {},
        "prompt": "",
    }
    if current == seat:
        hide = disguise or str
        messages = prompt(game, state, seat, history, mode="form", rules=rules, disguise=disguise)
        observation["prompt"] = "\n\n".join(message["content"] for message in messages)
        offered = game.seat_view(state, seat)["legal"]
        observation["legalMoves"] = {str(entry["action"]): hide(entry["label"]) for entry in offered}
    return observation


def get_legal_moves(observation: Mapping[str, Any]) -> dict[int, str]:
    """Return the legal actions of an observation, number to label; none unless its player is to move."""
    return {int(action): label for action, label in observation["legalMoves"].items()}


def generate_prompt(
    observation: Mapping[str, Any],
    move_history: Sequence[str],
    previous_response: str | None = None,
    previous_action: str | None = None,
) -> str:
    """Return the prompt for an observation of the player to move.

    Args:
        observation: as from `observe`.
        move_history: not used; the observation contains the decisions since the player's last one.
        previous_response: the model's response to the same prompt, if it named no legal move.
        previous_action: the words in it that named an action, if any.
    """
    text = observation["prompt"]
    if previous_response is not None:
        named = f" ({previous_action!r})" if previous_action else ""
        text += (
            f"\n\nYour last answer{named} named no legal action. Choose a legal one, and name exactly one."
        )
    return text


def parse_response(
    response: str, legal_action_strings: Sequence[str], *, observation: Mapping[str, Any] | None = None
) -> ParseResult:
    """Return the legal move that a response names, and the words that name it.

    Args:
        response: the model's text.
        legal_action_strings: the legal moves, the values of `get_legal_moves`.
        observation: not used; some versions of the harness pass it.
    """
    raw = next(iter(named(response, FORMS["form"])), None)
    try:
        move = match(legal_action_strings, range(len(legal_action_strings)), response, "form")
        return ParseResult(legal_action_strings[move], raw)
    except AnswerError:
        return ParseResult(None, raw)
