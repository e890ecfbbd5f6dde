"""TextAgent: a language model as a policy."""

from __future__ import annotations

import collections
import contextlib
import itertools
import json
import queue
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from garden_agents.text.answers import LIMIT, AnswerError, parse, spoken
from garden_agents.text.disguises import Disguise
from garden_agents.text.prompts import MODES, RULES, Message, Mode, Rules, prompt
from garden_agents.text.transcripts import Line, Reply, Transcript, key_of
from garden_core.batch.batch import Batch
from garden_core.batch.policies import FORFEIT
from garden_core.checks import SEEDS, as_integer, as_seed, check_choice, short
from garden_core.files.game_files import content_of
from garden_core.game import Game
from garden_core.jit.rng import bounded, seed_rng

SECONDS = 600.0
"""Default time for an answer."""
_SENT_BACK = 4000  # largest number of characters of a wrong answer that the model sees again


class Completion(NamedTuple):
    """A model's answer with the numbers of tokens, None where unknown.

    Example:
        >>> from garden_agents.text import Completion
        >>> Completion("ACTION: pass", prompt_tokens=900, completion_tokens=3).completion_tokens
        3
    """

    text: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


Complete = Callable[[list[Message]], "str | Completion"]
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
    messages: list[Message]
    attempt: int = 0
    action: int | None = None

    @property
    def place(self) -> tuple[int, int, int, int]:
        """Game seed, seat, number of decisions made before, and attempt."""
        return self.game_seed, self.seat, int(self.state["decisions"]), self.attempt


def _checked_model(model: Any) -> str | dict[str, Any]:
    """Return a copy of a model's name or dictionary, as it is in files.

    Raises:
        ValueError: if it is neither, or has other values than those of JSON.
    """
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

    Each decision is a new conversation (`garden_agents.text.prompt`). An answer that names no legal action is sent back with
    the reason.

    Args:
        complete: `complete(messages) -> text`, or a `Completion`. It is called in up to `limit` threads at once. Its
            exceptions end the match; with a transcript, it ends after the other requests, and the same command continues.
        game: the game to play.
        seed: seed of the random actions after wrong answers.
        mode: what prompts say about actions, see `prompt`.
        rules: which rules they contain, see `prompt`.
        disguise: seed of a `Disguise` of the game, None for none.
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
        self.retries = as_integer(retries, "retries", "at least 0", 0)
        self.limit = as_integer(limit, "limit", "at least 1", 1)
        if not 0 < seconds <= threading.TIMEOUT_MAX:
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
        """Return the messages with which the agent asks for a decision in a row."""
        return prompt(
            self.game,
            batch.states[row],
            int(batch.current_player[row]),
            None if batch.history is None else batch.history.of(row),
            mode=self.mode,
            rules=self.rules,
            disguise=self.disguise,
        )

    def _decision(self, batch: Batch, row: int) -> _Decision:
        state, seat = batch.states[row].copy(), int(batch.current_player[row])
        return _Decision(state, seat, batch.game_seed(row), self.prompt(batch, row))

    def _key(self, decision: _Decision) -> str:
        return key_of(self.model, self._game, decision.place, decision.messages, self.seconds)

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
                arguments = number, decision.messages, replies
                threading.Thread(target=self._request, args=arguments, daemon=True).start()
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
            if decision is not None and isinstance(reply, Reply) and reply.text is not None:
                self._settle(decision, reply)

    def _request(self, number: int, messages: list[Message], replies: queue.Queue[Any]) -> None:
        """Ask the model, in a thread; put its reply or its exception into `replies`."""
        begun, reply = time.monotonic(), None
        with contextlib.suppress(BaseException):
            try:
                answer = self.complete([dict(message) for message in messages])
                if isinstance(answer, str):
                    answer = Completion(answer)
                if not isinstance(answer, Completion) or not isinstance(answer.text, str):
                    raise TypeError(
                        f"complete must return a text or a Completion, not {type(answer).__name__}"
                    )
                tokens = [
                    None if count is None else as_integer(count, "the number of tokens", "at least 0", 0)
                    for count in (answer.prompt_tokens, answer.completion_tokens)
                ]
                text = answer.text[: LIMIT + 1].encode("utf-8", "replace").decode()  # without lone surrogates
                reply = Reply(text, time.monotonic() - begun, *tokens)
            finally:
                replies.put((number, sys.exception() or reply))

    def _next(
        self, running: dict[int, tuple[_Decision, float]], replies: queue.Queue[Any]
    ) -> tuple[int, Reply | BaseException]:
        """Return the number of a request and its reply, which has no text if it is late."""
        first = min(running, key=lambda number: running[number][1])
        try:
            return replies.get(timeout=max(0.0, running[first][1] - time.monotonic()))
        except queue.Empty:
            return first, Reply(None, self.seconds)

    def _settle(self, decision: _Decision, reply: Reply) -> bool:
        """Read a reply, add it to counts and transcript; return whether the decision has its action now."""
        action, error, counts = None, "", self.counts
        if reply.text is None:
            outcome, error = "late", f"You did not answer within {self.seconds:g} seconds."
        else:
            try:
                action = parse(
                    self.game,
                    decision.state,
                    decision.seat,
                    reply.text,
                    mode=self.mode,
                    disguise=self.disguise,
                )
                outcome = "legal"
            except AnswerError as wrong:
                outcome, error = "illegal" if wrong.illegal else "unreadable", str(wrong)
        counts.answers += reply.text is not None
        counts.legal_at_once += outcome == "legal" and decision.attempt == 0
        counts.illegal += outcome == "illegal"
        counts.unreadable += outcome == "unreadable"
        counts.late += outcome == "late"
        counts.seconds += reply.seconds
        counts.prompt_tokens += reply.prompt_tokens or 0
        counts.completion_tokens += reply.completion_tokens or 0
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
                messages=decision.messages,
                answer=reply.text,
                outcome=outcome,
                error=error,
                action=label,
                fallback=gives_up,
                seconds=reply.seconds,
                prompt_tokens=reply.prompt_tokens,
                completion_tokens=reply.completion_tokens,
                game=self._game,
                allowed=self.seconds,
            )
        )
        counts.decisions += action is not None
        counts.fallbacks += gives_up
        decision.action = action
        if action is None:
            said = spoken(reply.text or "")[-_SENT_BACK:].strip() or "…"
            decision.messages = [
                *decision.messages,
                {"role": "assistant", "content": said},
                {"role": "user", "content": error},
            ]
            decision.attempt += 1
        return action is not None

    def _random(self, decision: _Decision) -> int:
        """Return a random legal action, which depends only on the agent's seed and on the decision."""
        game_seed, seat, made, _ = decision.place
        rng_state = np.zeros(4, np.uint64)
        seed_rng(rng_state, np.uint64((game_seed + self.seed * 2**32 + made * 8 + seat) % SEEDS))
        legal = [
            entry["action"] for entry in self.game.seat_view(decision.state, seat=decision.seat)["legal"]
        ]
        return legal[int(bounded(rng_state, len(legal)))]
