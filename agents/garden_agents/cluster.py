"""Connecting to a Ray cluster, for the commands that take `--ray`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

LOCAL = "local"
"""Address that starts a cluster on this machine."""


@contextlib.contextmanager
def connected(address: str) -> Iterator[None]:
    """Connect to a cluster by its address, or start one on this machine; disconnect at the end.

    An existing connection is used and stays open.

    Raises:
        ModuleNotFoundError: without Ray.
        ConnectionError: if there is no cluster at the address.
    """
    import ray

    if ray.is_initialized():
        yield
        return
    place = {"include_dashboard": False} if address == LOCAL else {"address": address}
    ray.init(**place, log_to_driver=False, configure_logging=False)
    try:
        yield
    finally:
        ray.shutdown()
