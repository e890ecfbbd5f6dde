"""Calls in forked processes."""

from __future__ import annotations

import contextlib
import os
import pickle
import warnings
from collections.abc import Callable
from typing import Any


def in_children(call: Callable[[], Any], number: int = 2) -> list[Any]:
    """Return what `call` returns in each of some children, forked now.

    Raises:
        EOFError: if it raises an exception.
    """
    results = []
    for _ in range(number):
        read, write = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other libraries' threads, which no child uses
            child = os.fork()
        if not child:
            with (
                contextlib.suppress(BaseException),
                open(write, "wb") as pipe,
            ):  # no child runs the rest of the tests
                pickle.dump(call(), pipe)
            os._exit(0)
        os.close(write)
        with open(read, "rb") as pipe:
            results.append(pickle.load(pipe))
        os.waitpid(child, 0)
    return results
