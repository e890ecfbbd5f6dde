"""Conversations: the messages of a seat in a game, with a limit of their length."""

from __future__ import annotations

from collections.abc import Sequence

from garden_agents.text.prompts import Message
from garden_core.checks import as_integer

MAX_PROMPT_TOKENS = 16_000
"""Default limit of a conversation."""
LEFT_OUT = "(Earlier moves of this conversation are left out.)"
_CHARACTERS = 3  # per token, at least; measured: 3.7 with the tokens of SmolLM2


def tokens_of(messages: Sequence[Message]) -> int:
    """Return about how many tokens messages have; most models count fewer.

    Example:
        >>> from garden_agents.text.conversations import tokens_of
        >>> tokens_of([{"role": "user", "content": "Your move."}])
        4
    """
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
        content = others[0]["content"]
        marked = content if content.startswith(LEFT_OUT) else f"{LEFT_OUT}\n\n{content}"
        self.messages = [system, {**others[0], "content": marked}, *others[1:]]
