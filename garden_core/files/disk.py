"""Safe reading of untrusted files, and atomic writing."""

from __future__ import annotations

import errno
import json
import os
import secrets
import stat
from pathlib import Path
from typing import Any


def read_regular(path: str | Path, limit: int) -> bytes:
    """Return the content of a regular file.

    Devices, pipes and folders are refused unread, because reading them might never end.

    Args:
        path: the file.
        limit: maximum size in bytes.

    Raises:
        OSError: if it cannot be read, is no regular file or is larger; `strerror` gives the reason.
        ValueError: for a path with a NUL character.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
        if (size := status.st_size) > limit:
            raise OSError(errno.EFBIG, f"it has {size:,} bytes; {limit:,} are allowed", os.fspath(path))
        return file.read(limit)


def write_atomically(path: Path, content: bytes) -> None:
    """Write to a temporary file next to `path` and rename it, so that a crash never leaves half a file.

    Raises:
        OSError: if the disk is full or the folder cannot be written; it names `path`.
    """
    # An unpredictable name and a new file: a link in someone else's folder must not be followed.
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        temporary.touch(exist_ok=False)
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: Path, content: Any) -> None:
    """Write plain data as JSON; see `write_atomically`."""
    write_atomically(path, (json.dumps(content, indent=1) + "\n").encode())
