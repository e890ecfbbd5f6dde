"""The agent `openai:MODEL`: a language model behind a server with OpenAI's chat completions. Needs the extra `llm`."""

from __future__ import annotations

import inspect
import os
from typing import Any

from garden_agents.text.agent import SECONDS, TextAgent
from garden_agents.text.prompts import Message
from garden_agents.text.transcripts import Completion
from garden_core.checks import as_integer, is_number, short
from garden_core.game import Game
from garden_core.plugins import EXTRA

RETRIES = 8
"""How often a request is repeated that the server refuses for a reason that may pass."""


def served(
    name: str,
    game: Game,
    seed: int = 0,
    *,
    base_url: str | None = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
    reasoning_effort: str | None = None,
    **settings: Any,
) -> TextAgent:
    """Return a language model as a policy.

    The key is in the environment variable OPENAI_API_KEY; a server that is named without one needs none.

    Args:
        name: the model, as the server calls it.
        game: the game to play.
        seed: as for `TextAgent`.
        base_url: address of the server, such as http://localhost:8000/v1; None: the environment variable OPENAI_BASE_URL, or
            OpenAI's.
        temperature, reasoning_effort: as the server knows them; None: its own.
        max_tokens: largest number of tokens of an answer, thoughts included; None: the server's.
        **settings: arguments of `TextAgent`; for `structured`, the server must know JSON schemas.

    Raises:
        ModuleNotFoundError: if `openai` is not installed.
        ValueError: if there is neither key nor address, for an unknown argument, or a value out of range.
    """
    known = {*inspect.signature(TextAgent).parameters} - {"complete", "game", "seed", "model"}
    if unknown := [name for name in settings if name not in known]:
        own = {"base_url", "temperature", "max_tokens", "reasoning_effort"}
        raise ValueError(
            f"openai:{name} has no setting {short(unknown[0])}; it has {', '.join(sorted(own | known))}"
        )
    try:
        import openai
    except ModuleNotFoundError:
        needed = f"openai:{name} needs the package openai: {EXTRA.format('llm')}"
        raise ModuleNotFoundError(needed, name="openai") from None
    if max_tokens is not None:
        as_integer(max_tokens, "max_tokens", "at least 1", 1)
    if temperature is not None and not (is_number(temperature) and temperature >= 0):
        raise ValueError(f"temperature must be a number of at least 0, not {short(temperature)}")
    server = base_url or os.environ.get("OPENAI_BASE_URL")
    key = os.environ.get("OPENAI_API_KEY") or ("none" if server else "")
    if not key:
        raise ValueError(
            f"openai:{name} needs a key in OPENAI_API_KEY, or the address of a server: --base-url, or ?base_url="
        )
    client: Any = openai.OpenAI(
        api_key=key, base_url=server, max_retries=RETRIES, timeout=settings.get("seconds", SECONDS)
    )
    chosen = {
        "temperature": temperature,
        "max_completion_tokens": max_tokens,
        "reasoning_effort": reasoning_effort,
    }
    given: dict[str, Any] = {key: value for key, value in chosen.items() if value is not None}

    def complete(messages: list[Message], schema: dict[str, Any] | None = None) -> Completion:
        held = {}
        if schema is not None:
            shape = {"name": "action", "schema": schema, "strict": True}
            held = {"response_format": {"type": "json_schema", "json_schema": shape}}
        try:
            reply = client.chat.completions.create(model=name, messages=messages, **given, **held)
        except openai.OpenAIError as error:
            raise ConnectionError(f"{client.base_url}: {error}") from error
        if not getattr(reply, "choices", None) or reply.choices[0].message is None:
            raise ConnectionError(f"{client.base_url} replied without a message")
        choice, usage = reply.choices[0], reply.usage
        said = choice.message
        thoughts = next(
            (t for key in ("reasoning_content", "reasoning") if (t := getattr(said, key, None))), ""
        )
        asked, answered = (None, None) if usage is None else (usage.prompt_tokens, usage.completion_tokens)
        return Completion(said.content or "", asked, answered, choice.finish_reason or "", thoughts)

    model = {"name": name, "server": str(client.base_url), **given}
    return TextAgent(complete, game, seed, model=model, **settings)
