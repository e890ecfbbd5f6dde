"""Connecting to a Ray cluster, for the commands that take `--ray`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

LOCAL = "local"
"""In place of an address: start a cluster on this machine."""


@contextlib.contextmanager
def connected(address: str) -> Iterator[None]:
    """Connect to a cluster by its address, or start one on this machine; disconnect in the end.

    A connection that stands already is used, and left.

    Raises:
        ModuleNotFoundError: without Ray.
        ConnectionError: if there is no such cluster.
    """
    import ray

    if ray.is_initialized():
        yield
        return
    quiet = {"log_to_driver": False, "configure_logging": False}
    if address == LOCAL:
        ray.init(include_dashboard=False, **quiet)
    else:
        ray.init(address, **quiet)
    try:
        yield
    finally:
        ray.shutdown()
