"""Reporting errors of commands in one line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from garden_core.checks import one_line


@contextlib.contextmanager
def one_line_errors(stopped: str = "stopped", *also: type[Exception]) -> Iterator[None]:
    """Convert exceptions for wrong arguments, files or Ctrl-C to a SystemExit with a one-line message.

    Args:
        stopped: the message after Ctrl-C.
        *also: other exceptions to treat like a ValueError.

    Raises:
        SystemExit: instead of ValueError, TypeError, OSError, MemoryError and KeyboardInterrupt.
        BrokenPipeError: unchanged; the command ends quietly.
    """
    wrong: tuple[type[Exception], ...] = (ValueError, TypeError, *also)
    try:
        yield
    except BrokenPipeError:
        raise
    except wrong as error:
        raise SystemExit(f"error: {error}") from error
    except OSError as error:
        notes = "".join(f"\n{note}" for note in getattr(error, "__notes__", ()))
        raise SystemExit(f"error: {error.filename or 'writing'}: {error.strerror or error}{notes}") from error
    except MemoryError as error:
        raise SystemExit(f"error: there is not enough memory: {one_line(error)}") from error
    except KeyboardInterrupt:
        raise SystemExit(stopped) from None
