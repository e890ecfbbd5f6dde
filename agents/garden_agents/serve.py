"""Local web servers: the address, the secret token in it, and the headers of all answers."""

from __future__ import annotations

import secrets
import socket
import sys
import webbrowser
from collections.abc import Mapping

import uvicorn
from starlette.applications import Starlette

LOCAL = ("127.0.0.1", "localhost")
"""Names of this machine for itself."""
LONGEST = 4_000_000
"""Bytes of the longest message to a WebSocket; it holds a replay."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
"""Of every answer: pages run the server's own scripts alone, load nothing from elsewhere, and leave no trace."""
OWN_SCRIPTS = HEADERS | {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
}
"""Of pages that contain their scripts and need nothing else."""


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens at `host` and `port`, 0 for any free one.

    Raises:
        SystemExit: if that cannot be.
    """
    if not 0 <= port <= 65535:
        raise SystemExit(f"error: --port must be 0 to 65535, not {port}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise SystemExit(f"error: the page cannot be served at {host}:{port}: {error}") from error


def runner(app: Starlette) -> uvicorn.Server:
    """Return what runs an application: `run(sockets=[…])`."""
    return uvicorn.Server(
        uvicorn.Config(
            app, log_level="error", access_log=False, ws_max_size=LONGEST, timeout_graceful_shutdown=2
        )
    )


def holds(token: str, query: Mapping[str, str]) -> bool:
    """Whether a query has the token."""
    return secrets.compare_digest(query.get("token", "").encode(), token.encode())


def announce(host: str, listening: socket.socket, token: str, open_it: bool) -> None:
    """Print the address with its token, and open it in the browser if a person reads along."""
    port = listening.getsockname()[1]
    shown = "127.0.0.1" if host == "0.0.0.0" else f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{port}/?token={token}"
    print(f"play at {address}", flush=True)
    if open_it and sys.stdout.isatty():
        webbrowser.open(address)
