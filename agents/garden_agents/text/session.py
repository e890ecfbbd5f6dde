"""Session: one game of a language model against an opponent, one message at a time."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

import numpy as np

from garden_agents.registry import load_agent
from garden_agents.text.answers import AnswerError, parse
from garden_agents.text.disguises import Disguise
from garden_agents.text.prompts import Message, Mode, Rules, prompt
from garden_agents.untrusted import untrusted_agent
from garden_core.batch.batch import Batch
from garden_core.batch.policies import FORFEIT, RandomPolicy, ask
from garden_core.checks import as_integer, as_seat, short
from garden_core.game import Game
from garden_core.registry import untrusted_game


class Session:
    """A game in which a language model has one seat, and the opponent all others.

    It is what environments for training language models need: the messages of a conversation, and a reward at its end.
    `examples/openenv` and `examples/verifiers` are such environments.

    Args:
        game: the game; its option `reward` says what `reward` is: "outcome" or "margin".
        opponent: the opponent's name, see `load_agent`.
        seat: the model's seat.
        seed: seed of the game and of the opponent's choices.
        mode: what prompts say about actions, see `prompt`.
        rules: which rules they contain, see `prompt`.
        disguise: seed of a `Disguise` of the game, None for none.
        retries: how many wrong answers of a decision may be repeated; with the next one the model forfeits the game.

    Attributes:
        messages: the conversation so far, which the model must answer unless the game is over.
        done: whether the game is over.
        reward: the sum of the model's rewards. A forfeited game is finished at random, and its reward is -1 at most.
        decisions: number of the model's decisions.
        errors: number of its wrong answers.
        forfeited: whether it forfeited the game.

    Raises:
        ValueError: for an argument out of range.

    Example:
        >>> from garden_agents.text.session import Session
        >>> from garden_core import make
        >>> session = Session(make("cacti"), opponent="random", seed=1)
        >>> while not session.done:
        ...     session.answer("ACTION: 1")
        >>> session.reward, session.decisions, len(session.messages)
        (-1.0, 12, 25)
    """

    def __init__(
        self,
        game: Game,
        opponent: str = "greedy",
        seat: int = 0,
        seed: int = 0,
        *,
        mode: Mode = "legal",
        rules: Rules = "short",
        disguise: int | None = None,
        retries: int = 2,
    ) -> None:
        self.game, self.seat = game, as_seat(seat, game.num_players)
        self.mode, self.rules = mode, rules
        self.retries = as_integer(retries, "retries", "at least 0", 0)
        self._disguise = None if disguise is None else Disguise(game, disguise)
        self._opponent = load_agent(opponent, game, seed)
        self._batch = Batch(game, 1, autoreset=False, history=True)
        self._batch.reset(seed)
        self.messages: list[Message] = []
        self.done, self.reward, self.forfeited = False, 0.0, False
        self.decisions, self.errors = 0, 0
        self._wrong = 0  # answers in this decision
        self._let_others_move()

    @classmethod
    def requested(
        cls,
        game: str,
        options: Mapping[str, Any],
        opponent: str,
        own: Container[str] = (),
        **arguments: Any,
    ) -> Session:
        """Return the session that a stranger asks a server for: of an installed game, without files, against a built-in agent.

        Args:
            game: name of the game.
            options: its options.
            opponent: the opponent's name.
            own: further opponents that the server allows.
            **arguments: as for the class; at most 10 retries.

        Raises:
            UntrustedError: as `garden_core.untrusted_game` and `garden_agents.untrusted_agent`.
            TypeError, ValueError: for other arguments, or one out of range.
        """
        known = ("seat", "seed", "mode", "rules", "disguise", "retries")
        if unknown := [name for name in arguments if name not in known]:
            raise TypeError(f"a session has no argument {short(unknown[0])}; it has {', '.join(known)}")
        made = untrusted_game(game, options)
        retries = as_integer(arguments.pop("retries", 2), "retries", "0 to 10", 0, 10)
        return cls(made, untrusted_agent(opponent, own), retries=retries, **arguments)

    def answer(self, text: str) -> None:
        """Take the model's answer: play to its next decision or to the end, or add the reason why the answer is wrong.

        Raises:
            RuntimeError: if the game is over.
            TypeError: if the answer is not a text.
        """
        if self.done:
            raise RuntimeError("the game is over")
        if not isinstance(text, str):
            raise TypeError(f"an answer is a text, not {type(text).__name__}")
        self.messages = [*self.messages, {"role": "assistant", "content": text}]
        state = self._batch.states[0]
        try:
            action = parse(self.game, state, self.seat, text, mode=self.mode, disguise=self._disguise)
        except AnswerError as error:
            self.errors, self._wrong = self.errors + 1, self._wrong + 1
            if self._wrong > self.retries:
                self.forfeit()
            else:
                self.messages.append({"role": "user", "content": str(error)})
            return
        self.decisions, self._wrong = self.decisions + 1, 0
        self._step(action)
        self._let_others_move()

    def forfeit(self) -> None:
        """End the game: it is finished with random actions of all players, and its reward is -1 at most.

        Raises:
            RuntimeError: if the game is over.
        """
        if self.done:
            raise RuntimeError("the game is over")
        policy, rows = RandomPolicy(self.decisions), np.zeros(1, np.int64)
        while not self.done:
            self._step(int(policy(self._batch, rows)[0]))
        self.forfeited, self.reward = True, min(self.reward, -1.0)

    @property
    def result(self) -> str:
        """The scores in words, once the game is over; before that "".

        They include the random end of a forfeited game.
        """
        if not self.done:
            return ""
        scores = ", ".join(f"player_{seat} {score}" for seat, score in enumerate(self._scores))
        ended = "You forfeited the game. " if self.forfeited else "The game is over. "
        return f"{ended}Scores: {scores}."

    @property
    def _scores(self) -> list[int]:
        return self.game.snapshot(self._batch.states[0])["scores"]

    def _step(self, action: int) -> None:
        self._batch.step([action])
        self.reward += float(self._batch.rewards[0, self.seat])
        self.done = bool(self._batch.over[0])

    def _let_others_move(self) -> None:
        """Play until the model must decide, and add the prompt to the conversation."""
        while not self.done and self._batch.current_player[0] != self.seat:
            action = int(ask(self._opponent, self._batch, np.zeros(1, np.int64), may_forfeit=True)[0])
            if action == FORFEIT:
                self.done, self.reward = True, 1.0
            else:
                self._step(action)
        if self.done:
            return
        assert self._batch.history is not None
        system, user = prompt(
            self.game,
            self._batch.states[0],
            self.seat,
            self._batch.history.of(0),
            mode=self.mode,
            rules=self.rules,
            disguise=self._disguise,
        )
        self.messages = [*(self.messages or [system]), user]
