"""A local server that answers like OpenAI's chat completions: with the first in the list, or with a reply that a test sets."""

import http.server
import json
import threading


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(request)
        endpoint = self.server.endpoint
        if endpoint.fails_after is not None and len(self.server.requests) > endpoint.fails_after:
            self.send_error(500)
            return
        usage = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}
        about = {"id": "1", "object": "chat.completion", "created": 0, "model": "scripted"}
        message = {"role": "assistant", "content": "I take the first.\nACTION: 1"}
        choice = {"index": 0, "finish_reason": "stop"}
        if endpoint.reply is not None:
            message, choice = (
                endpoint.reply["message"],
                {**choice, "finish_reason": endpoint.reply["finish_reason"]},
            )
        if request.get("stream"):
            about["object"] = "chat.completion.chunk"
            parts = [
                {**about, "choices": [{**choice, "delta": message}]},
                {**about, "choices": [], "usage": usage},
            ]
            body = "".join(f"data: {json.dumps(part)}\n\n" for part in parts) + "data: [DONE]\n\n"
        else:
            body = json.dumps({**about, "choices": [{**choice, "message": message}], "usage": usage})
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if request.get("stream") else "application/json")
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


class ScriptedEndpoint:
    """A server on a free port; `requests` has the bodies of all requests.

    Attributes:
        reply: its message and finish_reason, None for the first action.
        fails_after: the number of requests that it answers, None for all.
    """

    reply = fails_after = None

    def __enter__(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self.server.requests, self.server.endpoint = [], self
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    @property
    def requests(self):
        return self.server.requests

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}/v1"

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
