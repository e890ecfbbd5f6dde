"""A training run on a page that follows it: `garden train … --web`, or `garden report RUN --web` for any run.

The page is served by a separate process, so that it does not slow the training down.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import secrets
import subprocess
import sys
import threading
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from garden_agents.evaluation import report, report_games
from garden_agents.evaluation.run_files import CONFIG, EVALUATIONS, METRICS, RESULTS
from garden_agents.networks import NETWORK
from garden_agents.serve import HEADERS, OWN_SCRIPTS, announce, application, holds, listen, runner

HERE = Path(__file__).parent


def watch(folder: Path, game: str) -> None:
    """Serve a run's page in a separate process until this process ends, also if it is killed."""
    words = [sys.executable, "-m", "garden_agents.evaluation.live", str(folder), game]
    process = subprocess.Popen(words, stdin=subprocess.PIPE)
    assert process.stdin is not None
    atexit.register(process.stdin.close)


def main(arguments: report.Arguments, until_input_ends: bool = False) -> None:
    """Serve a run's page until Ctrl-C, or until standard input ends; the run may still be empty.

    Raises:
        SystemExit: if the address cannot be used.
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

    def answer(request: Request) -> Response:  # in a thread, as it is no coroutine
        path = request.url.path
        if not holds(token, request.query_params):
            return Response("the address lacks its token", 403, HEADERS, "text/plain")
        try:
            if path == "/report":
                return HTMLResponse(report.page(folder, 0, game, dark), headers=OWN_SCRIPTS)
            if path == "/game":
                return HTMLResponse(report_games.sample(folder, game, dark), headers=OWN_SCRIPTS)
        except (ValueError, TypeError) as error:
            return Response(f"nothing to show yet: {error}", 200, HEADERS, "text/plain")
        if path == "/state":
            return JSONResponse(_state(folder), headers=HEADERS)
        return FileResponse(HERE / "live.html", headers=HEADERS)

    def script(request: Request) -> Response:
        return FileResponse(HERE / "live.js", headers=HEADERS)

    guarded = [Route(path, answer) for path in ("/", "/state", "/report", "/game")]
    return application([Route("/live.js", script), *guarded], host)


def _state(folder: Path) -> dict[str, str]:
    """Return when the run's files were written, and what the page says of it."""
    written = {}
    for name in (CONFIG, METRICS, EVALUATIONS, RESULTS, NETWORK):
        with contextlib.suppress(OSError):
            written[name] = (folder / name).stat().st_mtime_ns
    words = "The training is finished." if RESULTS in written else "The training is running."
    if NETWORK not in written:
        words += " No network was evaluated yet."
    files = "-".join(map(str, written.values()))
    return {"files": files, "network": str(written.get(NETWORK, "")), "words": words}


if __name__ == "__main__":
    main(report.Arguments(Path(sys.argv[1]), game=sys.argv[2]), until_input_ends=True)
