"""Safe reading of untrusted files, atomic writing, new names, and locks."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import stat
import sys
import weakref
from collections.abc import Callable
from io import FileIO
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


def open_to_append(path: Path) -> FileIO:
    """Open a regular file to append to it, and make it if there is none; until it is closed, other processes wait here.

    Processes do not wait on Windows.

    Raises:
        OSError: if it cannot be opened, or is no regular file; `strerror` gives the reason.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    file = FileIO(os.open(path, flags, 0o666), "ab+")
    try:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
        if sys.platform != "win32":
            import fcntl

            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX)
    except BaseException:
        file.close()
        raise
    return file


def append(file: FileIO, content: bytes) -> None:
    """Write at the end of a file, all or nothing.

    Raises:
        OSError: if the disk is full.
    """
    size = file.seek(0, os.SEEK_END)
    try:
        while content:
            content = content[file.write(content) :]
    except OSError:
        file.truncate(size)
        raise


def new_folder(path: Path) -> Path:
    """Make a folder, with a number after its name if that exists; return its path. No two processes get the same one."""
    return _new(path, lambda free: free.mkdir(parents=True))


def new_file(path: Path) -> Path:
    """Make an empty file, with a number after its name if that exists; return its path. No two processes get the same one."""
    return _new(path, lambda free: free.touch(exist_ok=False))


def _new(path: Path, make: Callable[[Path], object]) -> Path:
    free, number = path, 1
    while True:
        try:
            make(free)
        except FileExistsError:
            number += 1
            free = path.with_name(f"{path.stem}-{number}{path.suffix}")
        else:
            return free


class Lock:
    """A lock of a file or folder, released by `close` or when this object or the process ends.

    It has no effect on Windows, and on file systems without locks.

    Args:
        path: an existing file or folder; it must not be replaced while it is locked.

    Raises:
        ValueError: if it is locked already.
        OSError: if it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._handles: list[weakref.finalize] = []
        if sys.platform == "win32":
            return
        import fcntl  # here, as Pyodide, which runs this module too, has none

        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise ValueError(f"{path} is in use by another process") from None
        except OSError:
            os.close(handle)
            return
        self._handles = [weakref.finalize(self, os.close, handle)]

    def close(self) -> None:
        """Release the lock."""
        for close in self._handles:
            close()
