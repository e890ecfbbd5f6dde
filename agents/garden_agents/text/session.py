"""Session: one game of language models, one message at a time."""

from __future__ import annotations

import functools
from collections.abc import Container, Mapping
from typing import Any, get_args

import numpy as np

from garden_agents.text.answers import AnswerError, Outcome, parse
from garden_agents.text.conversations import MAX_PROMPT_TOKENS, Conversation
from garden_agents.text.disguises import Disguise
from garden_agents.text.prompts import Message, Mode, Rules, order_of, prompt
from garden_agents.untrusted import untrusted_agent
from garden_core.batch.batch import Batch
from garden_core.batch.policies import FORFEIT, RandomPolicy, ask
from garden_core.batch.seats import FORFEITED
from garden_core.checks import as_integer, as_seat, short
from garden_core.game import Game
from garden_core.plugins import load_agent
from garden_core.registry import untrusted_game


class Session:
    """A game in which a language model has one seat and an opponent all others, or language models have all seats.

    It is what environments for training language models need: the messages of a conversation for each seat, and rewards.
    `examples/openenv` and `examples/verifiers` are such environments.

    Args:
        game: the game; its option `reward` says what `rewards` are: "outcome" or "margin".
        opponent: the opponent's name, see `load_agent`; None: a language model has every seat.
        seat: the model's seat, if there is an opponent.
        seed: seed of the game, of the order of the listed actions, and of the opponent's choices.
        mode: what prompts say about actions, see `prompt`.
        rules: which rules they contain, see `prompt`.
        disguise: seed of a `Disguise` of the game, None for none.
        retries: how many wrong answers of a decision may be repeated; with the next one the model forfeits the game.
        max_prompt_tokens: about how many tokens a conversation has at most, see `Conversation`.

    Attributes:
        seat: the seat that must answer; once the game is over, the one that answered last.
        done: whether the game is over.
        rewards: sums of each seat's rewards, float64 (num_players,). A forfeited game is finished at random: the reward of
            the seat that forfeited is -1 at most, those of the others are 1.
        outcomes: for each of the models' seats, how many of its answers were legal, illegal, unreadable and truncated.
        forfeited: the seat that forfeited the game, None for none.

    Raises:
        ValueError: for an argument out of range.

    Example:
        >>> from garden_agents.text.session import Session
        >>> from garden_core import make
        >>> session = Session(make("cacti"), opponent="random", seed=1)
        >>> while not session.done:
        ...     session.answer("ACTION: 1")
        >>> session.rewards.tolist(), session.outcomes[0]["legal"], len(session.messages)
        ([-1.0, 1.0], 13, 27)
    """

    def __init__(
        self,
        game: Game,
        opponent: str | None = "greedy",
        seat: int = 0,
        seed: int = 0,
        *,
        mode: Mode = "legal",
        rules: Rules = "short",
        disguise: int | None = None,
        retries: int = 2,
        max_prompt_tokens: int = MAX_PROMPT_TOKENS,
    ) -> None:
        self.game, self.seat = game, as_seat(seat, game.num_players)
        self.seed, self.retries = seed, as_integer(retries, "retries", "at least 0", 0)
        renamed = None if disguise is None else Disguise(game, disguise)
        self._prompt = functools.partial(prompt, game, mode=mode, rules=rules, disguise=renamed)
        self._parse = functools.partial(parse, game, mode=mode, disguise=renamed)
        self._opponent = None if opponent is None else load_agent(opponent, game, seed)
        seats = range(game.num_players) if opponent is None else (self.seat,)
        self._conversations = {each: Conversation(max_prompt_tokens) for each in seats}
        self.outcomes: dict[int, dict[Outcome, int]] = {
            each: dict.fromkeys(get_args(Outcome), 0) for each in seats
        }
        self._batch = Batch(game, 1, autoreset=False, history=True)
        self._batch.reset(seed)
        self.done, self.rewards = False, np.zeros(game.num_players)
        self.forfeited: int | None = None
        self._wrong = 0  # answers in this decision
        self._let_others_move()

    @property
    def messages(self) -> list[Message]:
        """The conversation of `seat`, whose last message it must answer unless the game is over."""
        return self.conversation(self.seat)

    def conversation(self, seat: int) -> list[Message]:
        """Return the conversation of a language model's seat, empty before its first decision."""
        return self._conversations[seat].messages

    @classmethod
    def requested(
        cls,
        game: str,
        options: Mapping[str, Any],
        opponent: str | None,
        own: Container[str] = (),
        **arguments: Any,
    ) -> Session:
        """Return the session that a stranger asks a server for: of an installed game, without files, against a built-in agent.

        Args:
            game: name of the game.
            options: its options.
            opponent: the opponent's name; None: a language model has every seat.
            own: further opponents that the server allows.
            **arguments: as for the class; at most 10 retries.

        Raises:
            UntrustedError: as `garden_core.untrusted_game` and `garden_agents.untrusted_agent`.
            TypeError, ValueError: for other arguments, or one out of range.
        """
        known = ("seat", "seed", "mode", "rules", "disguise", "retries", "max_prompt_tokens")
        if unknown := [name for name in arguments if name not in known]:
            raise TypeError(f"a session has no argument {short(unknown[0])}; it has {', '.join(known)}")
        made = untrusted_game(game, options)
        retries = as_integer(arguments.pop("retries", 2), "retries", "0 to 10", 0, 10)
        named = None if opponent is None else untrusted_agent(opponent, own)
        return cls(made, named, retries=retries, **arguments)

    def answer(self, text: str, finish: str = "stop") -> None:
        """Take the answer of `seat`: play to the next decision or to the end, or add the reason why the answer is wrong.

        Args:
            text: the answer.
            finish: why it ended, as the server says; "length": at its limit of tokens, so that it does not count.

        Raises:
            RuntimeError: if the game is over.
            TypeError: if the answer is not a text.
        """
        if self.done:
            raise RuntimeError("the game is over")
        if not isinstance(text, str):
            raise TypeError(f"an answer is a text, not {type(text).__name__}")
        conversation, outcomes = self._conversations[self.seat], self.outcomes[self.seat]
        try:
            action = self._parse(self._batch.states[0], self.seat, text, finish=finish, order=self._order)
        except AnswerError as error:
            outcomes[error.outcome] += 1
            self._wrong += 1
            gives_up = self._wrong > self.retries
            conversation.answer(text, None if gives_up else str(error))
            if gives_up:
                self.forfeit()
            return
        conversation.answer(text)
        outcomes["legal"] += 1
        self._wrong = 0
        self._step(action)
        self._let_others_move()

    def forfeit(self) -> None:
        """End the game, which `seat` loses: it is finished with random actions of all players.

        Raises:
            RuntimeError: if the game is over.
        """
        if self.done:
            raise RuntimeError("the game is over")
        policy, rows = RandomPolicy(self._order), np.zeros(1, np.int64)
        while not self.done:
            self._step(int(policy(self._batch, rows)[0]))
        self._end(self.seat)

    @property
    def result(self) -> str:
        """The scores in words, once the game is over; before that "".

        They include the random end of a forfeited game.
        """
        if not self.done:
            return ""
        scores = ", ".join(f"player_{seat} {score}" for seat, score in enumerate(self._scores))
        ended = (
            "The game is over." if self.forfeited is None else f"player_{self.forfeited} forfeited the game."
        )
        return f"{ended} Scores: {scores}."

    @property
    def _scores(self) -> list[int]:
        return self.game.snapshot(self._batch.states[0])["scores"]

    @property
    def _order(self) -> int:
        """The seed of the order of the list of actions in this decision."""
        return order_of(self.seed, self._batch.game_seed(0), self._batch.states[0])

    def _step(self, action: int) -> None:
        self._batch.step([action])
        self.rewards += self._batch.rewards[0]
        self.done = bool(self._batch.over[0])

    def _end(self, forfeited: int) -> None:
        """End a game that a seat has forfeited."""
        own = min(float(self.rewards[forfeited]), FORFEITED)
        self.rewards[:] = 1.0
        self.rewards[forfeited] = own
        self.done, self.forfeited = True, forfeited

    def _let_others_move(self) -> None:
        """Play until a model must decide, and add the prompt to its conversation."""
        while not self.done and (mover := int(self._batch.current_player[0])) not in self._conversations:
            assert self._opponent is not None
            action = int(ask(self._opponent, self._batch, np.zeros(1, np.int64), may_forfeit=True)[0])
            if action == FORFEIT:
                self._end(mover)
            else:
                self._step(action)
        if self.done:
            return
        assert self._batch.history is not None
        self.seat = mover
        asked = self._prompt(self._batch.states[0], mover, self._batch.history.of(0), order=self._order)
        self._conversations[mover].ask(*asked)
