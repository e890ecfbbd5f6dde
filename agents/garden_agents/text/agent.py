"""TextAgent: a language model as a policy."""

from __future__ import annotations

import collections
import contextlib
import functools
import itertools
import json
import queue
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np

from garden_agents.text.answers import LIMIT, AnswerError, parse, spoken
from garden_agents.text.conversations import MAX_PROMPT_TOKENS, Conversation
from garden_agents.text.disguises import Disguise
from garden_agents.text.prompts import MODES, RULES, Message, Mode, Rules, listed, order_of, prompt
from garden_agents.text.transcripts import LATE, Completion, Line, Reply, Transcript, key_of
from garden_core.batch.batch import Batch
from garden_core.batch.policies import FORFEIT
from garden_core.checks import as_integer, as_seed, check_choice, is_number, short
from garden_core.game import Game
from garden_core.recorded.game_files import content_of

SECONDS = 600.0
"""Default time for an answer."""
_SENT_BACK = 4000  # largest number of characters of a wrong answer that the model sees again


Complete = Callable[..., "str | Completion"]
"""A language model: chat messages to its answer. It may run in several threads at once."""


@dataclass
class Counts:
    """Counts of a model's answers so far.

    Example:
        >>> from garden_agents.text import TextAgent
        >>> from garden_core import Batch, make
        >>> batch = Batch(make("cacti"), 1)
        >>> batch.reset(seed=1)
        >>> agent = TextAgent(lambda messages: "ACTION: 99", batch.game, retries=1)
        >>> _ = agent(batch, batch.all_rows)
        >>> agent.counts.decisions, agent.counts.illegal, agent.counts.fallbacks
        (1, 2, 1)
    """

    decisions: int = 0
    answers: int = 0
    """answers including repeated attempts"""
    legal_at_once: int = 0
    """decisions in which the first answer named a legal action"""
    illegal: int = 0
    """answers that named an action that was not legal"""
    unreadable: int = 0
    """answers that named no action, or several"""
    truncated: int = 0
    """answers cut off at the limit of tokens"""
    late: int = 0
    """requests without an answer in time"""
    fallbacks: int = 0
    """decisions without a legal answer: random actions or forfeited games"""
    seconds: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass
class _Decision:
    """A decision that a model is asked for."""

    state: Any
    seat: int
    game_seed: int
    order: int
    conversation: Conversation
    attempt: int = 0
    action: int | None = None

    @property
    def place(self) -> tuple[int, int, int, int]:
        """Game seed, seat, number of decisions made before, and attempt."""
        return self.game_seed, self.seat, int(self.state["decisions"]), self.attempt


def _checked_model(model: Any) -> str | dict[str, Any]:
    """Return a copy of a model's name or dictionary, as it is in files."""
    try:
        if isinstance(model, str):
            return model
        if isinstance(model, Mapping) and (same := json.loads(json.dumps(dict(model)))) == dict(model):
            return same
    except (TypeError, ValueError, RecursionError):
        pass
    raise ValueError(f"model must be a name, or a dictionary of plain JSON values, not {short(model)}")


class TextAgent:
    """A policy that asks a language model for its actions.

    Each decision is a new conversation (`garden_agents.text.prompt`), or with `history` each game. An answer that names no
    legal action is sent back with the reason.

    Args:
        complete: `complete(messages) -> text`, or a `Completion`. It is called in up to `limit` threads at once. Its
            exceptions, such as that of a server, are no play: they end the match; with a transcript, it ends after the other
            requests, and the same command continues.
        game: the game to play.
        seed: seed of the order of the listed actions, and of the random actions after wrong answers.
        mode: what prompts say about actions, see `prompt`.
        rules: which rules they contain, see `prompt`.
        disguise: seed of a `Disguise` of the game, None for none.
        history: whether a game is one conversation, with all earlier moves.
        max_prompt_tokens: with `history`, about how many tokens it has at most (`Conversation`).
        structured: `complete` is called as `complete(messages, schema)`, with the JSON schema of a legal answer, to which the
            model can be held.
        retries: how many wrong or late answers of a decision may be repeated, at least 0.
        fallback: after them, "forfeit" the game or take a "random" legal action.
        limit: largest number of requests at the same time, at least 1; late ones, which go on, are not counted.
        seconds: time for an answer; a later one counts as wrong.
        transcript: JSON Lines file to which every answer is appended, None for none. Answers that it already has are not
            requested again, if `model`, game, messages and `seconds` are the same.
        model: name of the model, or a dictionary with all on which its answers depend, such as name, server and
            temperature, as plain JSON values. Required with a transcript.

    Raises:
        ValueError: for an argument out of range, a transcript that is damaged, or one without `model`.

    Example:
        >>> from garden_agents import load_agent, meet
        >>> from garden_agents.text import TextAgent
        >>> from garden_core import make
        >>> game = make("cacti")
        >>> model = TextAgent(lambda messages: "ACTION: 1", game)
        >>> result = meet(game, ("model", "greedy"), (model, load_agent("greedy", game)), games=4)
        >>> model.counts.decisions == model.counts.legal_at_once > 20
        True
    """

    needs_history = True

    def __init__(
        self,
        complete: Complete,
        game: Game,
        seed: int = 0,
        *,
        mode: Mode = "legal",
        rules: Rules = "short",
        disguise: int | None = None,
        history: bool = False,
        max_prompt_tokens: int = MAX_PROMPT_TOKENS,
        structured: bool = False,
        retries: int = 2,
        fallback: Literal["forfeit", "random"] = "forfeit",
        limit: int = 8,
        seconds: float = SECONDS,
        transcript: str | Path | None = None,
        model: str | Mapping[str, Any] = "",
    ) -> None:
        self.model = _checked_model(model)
        if transcript is not None and not model:
            raise ValueError(
                "a transcript needs model=, the name of the model, or a dictionary with its name, server and settings: "
                "the answers of another one must not be taken for its own"
            )
        self.complete, self.game, self.seed = complete, game, int(as_seed(seed))
        check_choice(mode, "mode", MODES)
        check_choice(rules, "rules", RULES)
        check_choice(fallback, "fallback", ("random", "forfeit"))
        self.mode, self.rules, self.fallback = mode, rules, fallback
        self.disguise = None if disguise is None else Disguise(game, disguise)
        self.disguise_seed = disguise
        self._prompt = functools.partial(prompt, game, mode=mode, rules=rules, disguise=self.disguise)
        self._parse = functools.partial(parse, game, mode=mode, disguise=self.disguise)
        self.history, self.structured = history, structured
        self.max_prompt_tokens = as_integer(max_prompt_tokens, "max_prompt_tokens", "at least 1", 1)
        self._conversations: WeakKeyDictionary[Batch, dict[Any, tuple[int, Conversation]]] = (
            WeakKeyDictionary()
        )
        self.retries = as_integer(retries, "retries", "at least 0", 0)
        self.limit = as_integer(limit, "limit", "at least 1", 1)
        for name, flag in (("history", history), ("structured", structured)):
            if type(flag) is not bool:
                raise ValueError(f"{name} must be true or false, not {short(flag)}")
        if structured and mode != "legal":
            raise ValueError(
                "structured holds the model to the legal actions, which mode 'form' does not tell it"
            )
        if not (is_number(seconds) and 0 < seconds <= threading.TIMEOUT_MAX):
            raise ValueError(f"seconds must be positive and finite, not {short(seconds)}")
        self.seconds = float(seconds)
        self.transcript = Transcript(None if transcript is None else Path(transcript))
        self.counts = Counts()
        content = content_of(game)
        self._game = {key: content[key] for key in ("game", "version", "options", "data")}

    @property
    def settings(self) -> dict[str, Any]:
        """All settings on which results depend, as plain JSON values."""
        return {
            "model": self.model,
            "mode": self.mode,
            "rules": self.rules,
            "disguise": self.disguise_seed,
            "max_prompt_tokens": self.max_prompt_tokens if self.history else None,
            "structured": self.structured,
            "retries": self.retries,
            "fallback": self.fallback,
            "seconds": self.seconds,
        }

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Return an action for the player to move in each of `rows`, or FORFEIT, int64 (len(rows),).

        Raises what `complete` raises, and as `Batch.asked`.
        """
        decisions = [self._decision(batch, int(row)) for row in batch.asked(rows)]
        self._decide(decisions)
        return np.array([decision.action for decision in decisions], np.int64)

    def prompt(self, batch: Batch, row: int) -> list[Message]:
        """Return the messages with which the agent asks for a decision in a row, without earlier moves."""
        history = None if batch.history is None else batch.history.of(row)
        seat, order = int(batch.current_player[row]), self._order(batch, row)
        return self._prompt(batch.states[row], seat, history, order=order)

    def _order(self, batch: Batch, row: int) -> int:
        """Return the seed of the order of the list of actions in a decision."""
        return order_of(self.seed, batch.game_seed(row), batch.states[row])

    def _decision(self, batch: Batch, row: int) -> _Decision:
        state, seat, seed = batch.states[row].copy(), int(batch.current_player[row]), batch.game_seed(row)
        conversation = Conversation(self.max_prompt_tokens)
        if self.history:
            kept = self._conversations.setdefault(batch, {})
            before, earlier = kept.get((row, seat), (seed, conversation))
            conversation = earlier if before == seed else conversation
            kept[row, seat] = seed, conversation
        conversation.ask(*self.prompt(batch, row))
        return _Decision(state, seat, seed, self._order(batch, row), conversation)

    def _key(self, decision: _Decision) -> str:
        asked = decision.place, decision.conversation.messages
        return key_of(self.model, self._game, *asked, self.seconds, self.structured)

    def _decide(self, decisions: list[_Decision]) -> None:
        """Set the action of each decision."""
        waiting = collections.deque(decisions)
        running: dict[int, tuple[_Decision, float]] = {}  # by number, with the deadline
        replies: queue.Queue[tuple[int, Reply | BaseException]] = queue.Queue()
        numbers = itertools.count()
        while waiting or running:
            while waiting and len(running) < self.limit:
                decision = waiting.popleft()
                known = self.transcript.get(self._key(decision))
                if known is not None:
                    if not self._settle(decision, known):
                        waiting.appendleft(decision)
                    continue
                number = next(numbers)
                running[number] = decision, time.monotonic() + self.seconds
                threading.Thread(target=self._request, args=(number, decision, replies), daemon=True).start()
            if not running:
                continue
            number, reply = self._next(running, replies)
            if number not in running:  # it was late
                continue
            decision, _ = running.pop(number)
            if isinstance(reply, BaseException):
                self._keep(running, replies)
                raise reply
            if not self._settle(decision, reply):
                waiting.appendleft(decision)

    def _keep(self, running: dict[int, tuple[_Decision, float]], replies: queue.Queue[Any]) -> None:
        """After an exception, wait for the other requests, and add their answers to the transcript."""
        while running and self.transcript.path is not None:
            number, reply = self._next(running, replies)
            decision, _ = running.pop(number, (None, 0.0))
            if decision is not None and isinstance(reply, Reply) and reply.completion.finish != LATE:
                self._settle(decision, reply)

    def _request(self, number: int, decision: _Decision, replies: queue.Queue[Any]) -> None:
        """Ask the model, in a thread; put its reply or its exception into `replies`."""
        begun, reply = time.monotonic(), None
        with contextlib.suppress(BaseException):
            try:
                messages = [dict(message) for message in decision.conversation.messages]
                schema = [self._schema(decision)] if self.structured else []
                completion = _checked(self.complete(messages, *schema))
                reply = Reply(completion, time.monotonic() - begun)
            finally:
                replies.put((number, sys.exception() or reply))

    def _next(
        self, running: dict[int, tuple[_Decision, float]], replies: queue.Queue[Any]
    ) -> tuple[int, Reply | BaseException]:
        """Return the number of a request and its reply."""
        first = min(running, key=lambda number: running[number][1])
        try:
            return replies.get(timeout=max(0.0, running[first][1] - time.monotonic()))
        except queue.Empty:
            return first, Reply(Completion("", finish=LATE), self.seconds)

    def _settle(self, decision: _Decision, reply: Reply) -> bool:
        """Read a reply, add it to counts and transcript; return whether the decision has its action now."""
        action, error, counts, said = None, "", self.counts, reply.completion
        outcome: str = "legal"
        if said.finish == LATE:
            outcome, error = "late", f"You did not answer within {self.seconds:g} seconds."
        else:
            try:
                asked = decision.state, decision.seat
                action = self._parse(*asked, said.text, finish=said.finish, order=decision.order)
            except AnswerError as wrong:
                outcome, error = wrong.outcome, str(wrong)
        counts.answers += outcome != "late"
        counts.legal_at_once += outcome == "legal" and decision.attempt == 0
        if outcome != "legal":
            setattr(counts, outcome, getattr(counts, outcome) + 1)
        counts.seconds += reply.seconds
        counts.prompt_tokens += said.prompt_tokens or 0
        counts.completion_tokens += said.completion_tokens or 0
        gives_up = action is None and decision.attempt == self.retries
        if gives_up:
            action = FORFEIT if self.fallback == "forfeit" else self._random(decision)
        label = None if action is None else "forfeit" if action == FORFEIT else self.game.labels[action]
        self.transcript.add(
            Line(
                key=self._key(decision),
                model=self.model,
                game_seed=decision.game_seed,
                seat=decision.seat,
                decision=int(decision.state["decisions"]),
                attempt=decision.attempt,
                messages=decision.conversation.messages,
                order=decision.order,
                answer=said.text,
                reasoning=said.reasoning,
                finish=said.finish,
                outcome=outcome,
                error=error,
                action=label,
                fallback=gives_up,
                seconds=reply.seconds,
                prompt_tokens=said.prompt_tokens,
                completion_tokens=said.completion_tokens,
                game=self._game,
                allowed=self.seconds,
            )
        )
        counts.decisions += action is not None
        counts.fallbacks += gives_up
        decision.action = action
        shown = spoken(said.text)[-_SENT_BACK:].strip() or "…"
        decision.conversation.answer(shown, error if action is None else None)
        decision.attempt += 1
        return action is not None

    def _random(self, decision: _Decision) -> int:
        """Return a random legal action, which depends only on the agent's seed and on the decision."""
        action: int = listed(self.game, decision.state, decision.seat, decision.order)[0]["action"]
        return action

    def _schema(self, decision: _Decision) -> dict[str, Any]:
        """Return the JSON schema of the legal answers of a decision: an object with the name of an action."""
        names = [entry["label"] for entry in listed(self.game, decision.state, decision.seat, decision.order)]
        shown = names if self.disguise is None else [*map(self.disguise, names)]
        properties = {"action": {"type": "string", "enum": shown}}
        return {
            "type": "object",
            "properties": properties,
            "required": ["action"],
            "additionalProperties": False,
        }


def _checked(answer: Any) -> Completion:
    """Return what a model's function has returned, without lone surrogates, texts cut behind the limit."""
    completion = Completion(answer) if isinstance(answer, str) else answer
    if not isinstance(completion, Completion) or not isinstance(completion.text, str):
        raise TypeError(f"complete must return a text or a Completion, not {type(answer).__name__}")
    for name, value in completion._asdict().items():
        if name.endswith("tokens"):
            checked: Any = None if value is None else as_integer(value, name, "at least 0", 0)
        else:
            checked = str(value)[: LIMIT + 1].encode("utf-8", "replace").decode()
        completion = completion._replace(**{name: checked})
    return completion
