"""Digests of agents, to detect when an agent has changed since its results were computed.

A digest covers the file of the agent's module, for our own agents all files beside it, and the weights of a network of ours.
An agent `module:attribute` also depends on what it imports and reads: it offers a string `digest`, an attribute of its policy
that its author changes with it, such as a checksum of its weights. Without one it can change unseen, as can a program, and
its games are played again each time.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import sys
from os.path import isfile
from pathlib import Path
from typing import NamedTuple

from garden_agents.networks.network import Network
from garden_agents.networks.network_agent import NetworkAgent
from garden_agents.programs import ProgramAgent
from garden_agents.registry import code_of, load_agent
from garden_agents.text.agent import TextAgent
from garden_core.batch.policies import Policy
from garden_core.checks import short
from garden_core.game import Game

UNSEEN = "?"
"""First character of the digest of an agent that can change unseen."""


class Identity(NamedTuple):
    """The identity of an agent.

    Attributes:
        digest: 16 hexadecimal digits, after UNSEEN if the agent can change without changing them.
        unseen: the reason, "" if it cannot.
    """

    digest: str
    unseen: str


def identity_of(name: str, game: Game, allow_other_options: bool = False) -> Identity:
    """Make an agent, as `load_agent` does with `check`, and return its identity.

    Raises:
        ValueError: as `load_agent`, and for an attribute `digest` that is not a string.
        ImportError: if a module that the agent imports is missing.
    """
    policy = load_agent(name, game, 0, allow_other_options, check=True)
    network = getattr(policy, "network", None)
    network = policy if network is None else network
    target = network.value_target if isinstance(network, NetworkAgent) else ""  # search depends on it
    digest, unseen = hashlib.sha256(repr((weights_digest(policy), target)).encode()), ""
    modules = dict.fromkeys((code_of(name).partition(":")[0], policy.__module__, network.__module__))
    for file in itertools.chain(*map(_files, modules)):
        digest.update(_digest_of(os.fspath(file)))
    own = getattr(policy, "digest", getattr(network, "digest", None))
    if own is not None:
        if not isinstance(own, str):
            raise ValueError(f"agent {name}: its digest must be a string, not {short(own)}")
        digest.update(hashlib.sha256(own.encode()).digest())
    elif isinstance(policy, ProgramAgent):
        unseen = "it is a program"
        for word in policy.command:  # digests have one length, so that no two commands give the same bytes
            digest.update(_digest_of(word) if isfile(word) else hashlib.sha256(word.encode()).digest())
    elif code_of(name):
        unseen = "its policy has no attribute `digest`"
    if isinstance(policy, TextAgent):
        digest.update(json.dumps(policy.settings, sort_keys=True).encode())
    return Identity(UNSEEN * bool(unseen) + digest.hexdigest()[:16], unseen)


def weights_digest(policy: Policy) -> str:
    """Return a digest of the weights of an agent's network, or of the one that guides its search; "" without a network."""
    network = getattr(policy, "network", None)
    network = getattr(network, "network", network)
    if not isinstance(network, Network):
        return ""
    digest = hashlib.sha256()
    for name in sorted(network.weights):
        digest.update(name.encode() + network.weights[name].tobytes())
    return digest.hexdigest()[:16]


def _digest_of(path: str) -> bytes:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _files(module: str) -> list[Path]:
    """Return the file of a module; for one of `garden_agents`, all files of its folder."""
    path = Path(getattr(sys.modules.get(module), "__file__", None) or "")
    if module.partition(".")[0] == __name__.partition(".")[0]:
        return sorted(path.parent.glob("*.py"))
    return [path] if isfile(path) else []
