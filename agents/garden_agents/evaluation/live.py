"""A training run on a page that follows it: `garden train … --web`, or `garden report RUN --web` for any run.

The page is served by a process of its own, so that the training loses nothing to it.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from garden_agents.evaluation import report, report_games
from garden_agents.evaluation.run_files import CONFIG, EVALUATIONS, METRICS, RESULTS
from garden_agents.networks import NETWORK
from garden_agents.serve import HEADERS, announce, application, holds, listen, runner

__all__ = ["main", "pages", "watch"]

HERE = Path(__file__).parent
OWN_SCRIPTS = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""For pages that bring their scripts along and need nothing else."""


def watch(folder: Path, game: str) -> None:
    """Serve a run's page in a process of its own until this process ends, however it ends."""
    words = [sys.executable, "-m", "garden_agents.evaluation.live", str(folder), game]
    process = subprocess.Popen(words, stdin=subprocess.PIPE)
    assert process.stdin is not None
    atexit.register(process.stdin.close)


def main(arguments: report.Arguments, until_input_ends: bool = False) -> None:
    """Serve a run's page until Ctrl-C, or until standard input ends; the run may be empty yet.

    Raises:
        SystemExit: for an address that cannot be had.
    """
    a = arguments
    with listen(a.host, a.port) as listening:
        token = secrets.token_urlsafe(16)
        server = runner(pages(a.run, token, a.game, a.dark, a.host))

        def end_with_input() -> None:
            while os.read(0, 1024):
                pass
            server.should_exit = True

        if until_input_ends:
            threading.Thread(target=end_with_input, daemon=True).start()
        announce("watch the training", a.host, listening, token, a.open)
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listening])


def pages(folder: Path, token: str, game: str | None, dark: bool, host: str) -> Starlette:
    """Return the application: the page, the report in it, a sample game, and what the run's files look like now."""

    def guarded(answer: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def answered(request: Request) -> Response:
            if not holds(token, request.query_params):
                return Response("the address lacks its token", 403, HEADERS, "text/plain")
            return await answer(request)

        return answered

    async def page(request: Request) -> Response:
        return FileResponse(HERE / "live.html", headers=HEADERS)

    async def script(request: Request) -> Response:
        return FileResponse(HERE / "live.js", headers=HEADERS)

    async def state(request: Request) -> Response:
        return JSONResponse(_state(folder), headers=HEADERS)

    async def made(make: Callable[[], str]) -> Response:
        try:
            return HTMLResponse(
                await run_in_threadpool(make), headers=HEADERS | {"Content-Security-Policy": OWN_SCRIPTS}
            )
        except (ValueError, TypeError) as error:
            return Response(f"nothing to show yet: {error}", 200, HEADERS, "text/plain")

    async def show_report(request: Request) -> Response:
        return await made(lambda: report.page(folder, 0, game, dark))

    async def show_game(request: Request) -> Response:
        return await made(lambda: report_games.sample(folder, game, dark))

    routes = [Route("/live.js", script)] + [
        Route(path, guarded(answer))
        for path, answer in {"/": page, "/state": state, "/report": show_report, "/game": show_game}.items()
    ]
    return application(routes, host)


def _state(folder: Path) -> dict[str, str]:
    """Return when the run's files were written, and what the page says of it."""
    written = {}
    for name in (CONFIG, METRICS, EVALUATIONS, RESULTS, NETWORK):
        with contextlib.suppress(OSError):
            written[name] = (folder / name).stat().st_mtime_ns
    kept = str(written.get(NETWORK, ""))
    evaluated = NETWORK in written
    words = "The training is finished." if RESULTS in written else "The training is running."
    if not evaluated:
        words += " No network was evaluated yet."
    return {"files": "-".join(map(str, written.values())), "network": kept, "words": words}


if __name__ == "__main__":
    main(report.Arguments(Path(sys.argv[1]), game=sys.argv[2]), until_input_ends=True)
