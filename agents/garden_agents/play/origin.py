"""Servers on this machine answer their own pages and programs only, not pages of other sites in a browser here."""

from __future__ import annotations

from typing import Any

from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse

LOCAL = ("127.0.0.1", "localhost")
"""Names of this machine for itself."""


class SameOrigin:
    """ASGI middleware that refuses requests of other sites' pages, over HTTP and WebSockets.

    Args:
        app: the application.
        host: the address that it listens at. At a local one it also answers to local names only, as another name can
            be made to lead to it (DNS rebinding).
    """

    def __init__(self, app: Any, host: str) -> None:
        hosts = LOCAL if host in LOCAL else ("*",)
        self.app = TrustedHostMiddleware(app, allowed_hosts=hosts, www_redirect=False)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        headers = dict(scope.get("headers", ()))
        origin, host = headers.get(b"origin"), headers.get(b"host", b"")
        if origin is None or origin in (b"http://" + host, b"https://" + host):
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": "wrong origin"})
        else:
            await PlainTextResponse("wrong origin", 403)(scope, receive, send)
