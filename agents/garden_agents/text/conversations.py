"""Conversations: the messages of a seat in a game, with a limit of their length, and those of recorded games."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from garden_agents.text.prompts import Message, order_of, prompt
from garden_core.checks import as_integer
from garden_core.recorded.dataset import Dataset

MAX_PROMPT_TOKENS = 16_000
"""Default limit of a conversation."""
LEFT_OUT = "(Earlier moves of this conversation are left out.)"
_CHARACTERS = 3  # per token, at least; measured: 3.7 with the tokens of SmolLM2


def tokens_of(messages: Sequence[Message]) -> int:
    """Return about how many tokens messages have; most models count fewer."""
    return sum(-(-len(message["content"]) // _CHARACTERS) for message in messages)


class Conversation:
    """The messages of a seat in a game.

    Args:
        max_prompt_tokens: what a model is asked has at most about so many tokens (`tokens_of`): the oldest moves are left out,
            never the rules or the position of the decision.

    Attributes:
        messages: the messages to which the model must answer: the rules, and the moves so far.

    Raises:
        ValueError: if the limit is below 1.
    """

    def __init__(self, max_prompt_tokens: int = MAX_PROMPT_TOKENS) -> None:
        self._limit = as_integer(max_prompt_tokens, "max_prompt_tokens", "at least 1", 1)
        self._prompt = 1  # place of the message that asks for the decision
        self.messages: list[Message] = []

    def ask(self, system: Message, user: Message) -> None:
        """Add a decision: messages as from `garden_agents.text.prompt`."""
        self._prompt = max(1, len(self.messages))
        self.messages = [*(self.messages or [system]), user]
        self._shorten()

    def answer(self, text: str, reason: str | None = None) -> None:
        """Add an answer, and the reason if it is wrong."""
        self.messages = [*self.messages, {"role": "assistant", "content": text}]
        if reason is not None:
            self.messages = [*self.messages, {"role": "user", "content": reason}]
            self._shorten()

    def _shorten(self) -> None:
        system, *others = self.messages
        if tokens_of(self.messages) <= self._limit or self._prompt == 1:
            return
        while self._prompt > 1 and tokens_of([system, *others]) > self._limit:
            others, self._prompt = others[2:], self._prompt - 2
        marked = f"{LEFT_OUT}\n\n{others[0]['content']}"
        self.messages = [system, {**others[0], "content": marked}, *others[1:]]


def recorded(dataset: Dataset) -> Iterator[dict[str, Any]]:
    """Yield the decisions of a dataset's games as conversations, for fine-tuning: each is a prompt and the answer.

    The answer is the strict line with the label of the action that the player took. Agent, seat, the number of the game and
    the sum of the seat's rewards stand beside the messages.

    Example:
        >>> from garden_agents.text.conversations import recorded
        >>> from garden_core import Dataset
        >>> line = next(recorded(Dataset.load("games.safetensors")))
        >>> line["messages"][-1]
        {'role': 'assistant', 'content': 'ACTION: ...'}
    """
    game = dataset.game
    for number in range(len(dataset)):
        replay = dataset.replay(number)
        states = np.stack([*replay.states()])
        actions = np.array([game.labels.index(label) for label in replay.actions], np.int64)
        for at, label in enumerate(replay.actions):
            state = states[at]
            seat, order = int(state["current_player"]), order_of(dataset.seed, replay.seed, state)
            asked = prompt(game, state, seat, (states[:at], actions[:at]), order=order)
            yield {
                "messages": [*asked, {"role": "assistant", "content": f"ACTION: {label}"}],
                "game": number,
                "agent": dataset.agents[dataset.record.lineups[number, seat]],
                "seat": seat,
                "reward": float(dataset.returns[number, seat]),
            }
