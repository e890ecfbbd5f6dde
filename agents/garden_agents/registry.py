"""Games and agents by their names on command lines."""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import re
from collections.abc import Callable, Mapping
from os.path import exists, isfile
from pathlib import Path
from types import MappingProxyType
from typing import Any

from garden_agents.networks import NETWORK, ONNX, SUFFIX
from garden_agents.programs import SECONDS, ProgramAgent
from garden_agents.random_moves import WithRandomMoves
from garden_agents.search.agent import MCTSAgent
from garden_core.batch.policies import GreedyPolicy, Policy, RandomPolicy
from garden_core.checks import short
from garden_core.files.data import DataFile
from garden_core.game import Game
from garden_core.plugins import imported
from garden_core.registry import game_class, untrusted_game

SHIPPED = ("network", "ppo")
"""Names of a game's pretrained network; the second is the older name."""
FIELDS = Path(__file__).parent / "evaluation" / "fields"
"""Folder of the benchmark's networks."""
_PROGRAM = re.compile(
    r"program(?:\*(?P<processes>\d{1,9}))?(?:@(?P<seconds>\d+(?:\.\d+)?)s)?:(?P<command>.*)", re.DOTALL
)
_SERVED = re.compile(r"openai:(?P<model>[^?]+)(?:\?.*)?", re.DOTALL)
_JSON_STRING = re.compile(r'(?<==)("(?:[^"\\]|\\.)*")(?=&|$)')
_MEMBER = re.compile(r"(?P<task>[a-z]\w*-\w{1,20}):(?P<network>[a-z]\w*)")
_SHARE = re.compile(r"(?P<agent>.+)~(?P<share>0(?:\.\d+)?|1)", re.DOTALL)
_SEARCH = re.compile(r"(?:(?P<network>.+)-)?mcts:(?:(?P<count>\d+)|(?P<seconds>\d+(?:\.\d+)?)s)")


def make_game(
    name: str,
    num_players: int | None,
    options: dict[str, str],
    data_files: Mapping[str, DataFile] | None = None,
) -> Game:
    """Return the game with options given as text on a command line.

    Args:
        name: name of an installed game, or "module:Class".
        num_players: number of players; the game's default if None.
        options: other options of the game, by name.
        data_files: pass them, by option, if `options` come from a file: see `untrusted_game`.

    Raises:
        ValueError, TypeError: as `garden_core.make`.
    """
    values = {key: value_of(text) for key, text in options.items()}
    if num_players is not None:
        values["num_players"] = num_players
    if data_files is not None:
        return untrusted_game(name, values, data_files, own=name)
    return game_class(name)(**values)


def code_of(name: str) -> str:
    """Return the `module:attribute` that an agent of this name imports, "" for none."""
    if inner := _inner(name):
        return code_of(inner)
    other = (_PROGRAM, _SERVED, _MEMBER, _SEARCH)
    is_other = any(each.fullmatch(name) for each in other) or _is_network(Path(name))
    is_code = name.partition(":")[2] and not is_other
    return name.partition("?")[0] if is_code else ""


def _inner(name: str) -> str:
    """Return the name of the agent that another one contains: `NAME~0.3`, or a search `NAME-mcts:100`; "" for none."""
    if _PROGRAM.fullmatch(name) or _SERVED.fullmatch(name):
        return ""
    share, search = _SHARE.fullmatch(name), _SEARCH.fullmatch(name)
    return share["agent"] if share else (search["network"] or "") if search else ""


def _is_network(path: Path) -> bool:
    return isfile(path / NETWORK) or (path.suffix in (SUFFIX, ONNX) and isfile(path))


def value_of(text: str) -> object:
    """Return the JSON value of a text, for which true, false and null can be capitalised; the text itself if it is no JSON."""
    for json_text in (text, text.lower()) if text.lower() in ("true", "false", "null") else (text,):
        with contextlib.suppress(ValueError, RecursionError):  # also an integer of thousands of digits
            return json.loads(json_text, parse_constant=_no_json)
    return text


def _no_json(text: str) -> None:
    raise ValueError(f"{text} is no JSON")


def arguments_of(name: str) -> dict[str, Any]:
    """Return the keyword arguments in an agent's name, `module:attribute?a=1&b="R&D"`.

    Raises:
        ValueError: for anything else after the `?`, or a repeated argument.
    """
    if inner := _inner(name):
        return arguments_of(inner)
    text = name.partition("?")[2]
    pairs = [part.partition("=") for part in _split(text)] if text else []
    if not all(key.isidentifier() and equals for key, equals, _ in pairs):
        raise ValueError(
            f"agent {short(name)}: arguments are ?NAME=VALUE, and further ones &NAME=VALUE; a value with & is in quotes"
        )
    arguments = {key: value_of(value) for key, _, value in pairs}
    if len(arguments) < len(pairs):
        raise ValueError(f"agent {short(name)}: an argument is repeated")
    return arguments


def _split(text: str) -> list[str]:
    """Split arguments at each & that is not inside a JSON string."""
    parts = _JSON_STRING.split(text)  # outside and inside of strings, in turn
    pieces = [""]
    for number, part in enumerate(parts):
        first, *others = part.split("&") if number % 2 == 0 else [part]
        pieces[-1] += first
        pieces += others
    return pieces


def accepts(function: Any, argument: str) -> bool:
    """Return whether a function of a user takes a keyword argument of this name; False if nothing is known of it."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    known = parameters.get(argument)
    if known is not None and known.kind in (known.KEYWORD_ONLY, known.POSITIONAL_OR_KEYWORD):
        return True
    return any(each.kind == each.VAR_KEYWORD for each in parameters.values())


def maker_of(name: str) -> Callable[..., Any] | None:
    """Return the function `make(game, seed, **arguments)` of an agent `openai:MODEL` or `module:attribute`, None for others.

    Raises:
        ValueError: if it cannot be imported.
    """
    if served := _SERVED.fullmatch(name):
        from garden_agents.text import served as language_models

        return functools.partial(language_models.served, served["model"])
    code = code_of(name)
    return imported(code, "agent") if code else None


def _made(name: str, make: Callable[..., Any], game: Game, seed: int, arguments: Mapping[str, Any]) -> Any:
    """Call the function that makes an agent, if it takes the arguments in its name and these."""
    arguments = arguments_of(name) | dict(arguments)
    try:
        signature = inspect.signature(make)
    except (TypeError, ValueError):  # not known, as of some functions in C
        return make(game, seed, **arguments)
    try:
        signature.bind(game, seed, **arguments)
    except TypeError as error:
        made = name.partition("?")[0]
        raise ValueError(f"agent {short(name)} cannot be made as {made}(game, seed, …): {error}") from None
    return make(game, seed, **arguments)


def load_agent(
    name: str,
    game: Game,
    seed: int = 0,
    allow_other_options: bool = False,
    threads: int = 1,
    check: bool = False,
    arguments: Mapping[str, Any] = MappingProxyType({}),
) -> Policy:
    """Return the agent called `name`.

    - "random" and "greedy": the built-in policies;
    - "mcts:400" or "mcts:0.5s": tree search with 400 simulations, or half a second, per move;
    - "network", also "ppo": the game's pretrained network; "network-mcts:100": tree search guided by it;
    - "cacti-2:main": a network in the field of a task of the benchmark (`garden_agents.evaluation`), which never changes;
    - the folder of a training run, or a network's file (.safetensors, or .onnx with the extra `onnx`); with "-mcts:100"
      appended, tree search guided by that network;
    - any of these and of module:attribute with "~0.3" appended: a share of 0.3 of its moves is random;
    - "program:COMMAND": a program that reads positions from its standard input (`garden_agents.programs`), with
      10 seconds per move; "program@2s:COMMAND" sets another time, "program*8:COMMAND" runs eight processes of it;
    - "openai:MODEL": a language model behind a server, with the extra `llm`; "openai:MODEL?temperature=0&mode=form" passes
      arguments of `garden_agents.text.served.served` and `TextAgent`;
    - "module:attribute": a callable `make(game, seed) -> policy`, where a policy is a callable
      `policy(batch, rows) -> actions`; "module:attribute?width=64&best=true" passes keyword arguments, too, as JSON
      or plain text (text with & in quotes, as `?file="R&D.pt"`); with "-mcts:100" appended, tree search guided by its method
      `evaluate` (`garden_agents.search.beliefs.Evaluator`).

    Args:
        name: as above.
        game: the game to play.
        seed: seed of the agent's random choices.
        allow_other_options: accept a network that was trained with other options or data.
        threads: threads of a search without a network.
        check: start a program once and ask it for a move, to report one that does not run before any game.
        arguments: further keyword arguments for `openai:MODEL` and `module:attribute`, of any type; they replace those in the name.

    Raises:
        ValueError: if there is no such agent, its network was trained for another game, other options or data, a
            checked program does not start, or the agent does not take the arguments.

    Example:
        >>> from garden_agents import load_agent
        >>> from garden_core import Batch, make
        >>> game = make("cacti")
        >>> agent, batch = load_agent("mcts:20", game, seed=0), Batch(game, 2)
        >>> batch.reset(seed=1)
        >>> batch.step(agent(batch, batch.all_rows))
    """
    if arguments and not (code_of(name) or _SERVED.fullmatch(name)):
        raise ValueError(f"only openai:MODEL and module:attribute take arguments, not {short(name)}")
    share = None if _PROGRAM.fullmatch(name) or _SERVED.fullmatch(name) else _SHARE.fullmatch(name)
    if share:
        weakened = load_agent(share["agent"], game, seed, allow_other_options, threads, check, arguments)
        return WithRandomMoves(weakened, float(share["share"]), seed)
    if name == "random":
        return RandomPolicy(seed)
    if name == "greedy":
        return GreedyPolicy(seed)
    if search := _SEARCH.fullmatch(name):
        seconds, count = search["seconds"], search["count"]
        limit = {"seconds": float(seconds)} if seconds else {"simulations": int(count)}
        network: Any = None
        if search["network"]:
            network = load_agent(search["network"], game, seed, allow_other_options, arguments=arguments)
            if not hasattr(network, "evaluate"):
                raise ValueError(
                    f"{name}: only a network, or an agent with the method `evaluate`, can guide search, not {search['network']!r}"
                )
            if getattr(network, "value_target", None) == "margin":
                raise ValueError(
                    f"{name}: its value head predicts margins, as its reward was mostly margin when it was kept; search "
                    "needs one that predicts outcomes: train with a higher --outcome"
                )
        return MCTSAgent(**limit, threads=threads, network=network, seed=seed)
    if program := _PROGRAM.fullmatch(name):
        limits = float(program["seconds"] or SECONDS), int(program["processes"] or 1)
        agent = ProgramAgent(program["command"], game, seed, *limits)
        if check:
            agent.check()
        return agent
    member = _MEMBER.fullmatch(name)
    path = FIELDS / member["task"] / f"{member['network']}{SUFFIX}" if member else Path(name)
    if name in SHIPPED or _is_network(path):
        if path.suffix == ONNX:
            from garden_agents.networks.onnx_files import OnnxAgent

            return OnnxAgent(path, game, allow_other_options)
        from garden_agents.networks import network_agent

        if name in SHIPPED:
            return network_agent.load(game, seed=seed, allow_other_options=allow_other_options)
        return network_agent.NetworkAgent.load(path, game, seed, allow_other_options=allow_other_options)
    if make := maker_of(name):
        return _made(name, make, game, seed, arguments)
    if member:
        raise ValueError(f"unknown agent {short(name)}: no field of the benchmark has such a network")
    if path.suffix or len(path.parts) > 1:
        what = "that is no run's folder or network" if exists(path) else "there is no such file or folder"
        raise ValueError(
            f"unknown agent {short(name)}: {what}; a network's file ends in {SUFFIX} or {ONNX}, and an agent in your own code is "
            "named module:attribute"
        )
    raise ValueError(
        f"unknown agent {short(name)}; known are random, greedy, mcts:400 (simulations per move), mcts:0.5s (time per "
        "move), network, network-mcts:100, the folder of a finished run, a network's file (.safetensors or .onnx), program:COMMAND, openai:MODEL and module:attribute"
    )
