"""The server of `garden play --web` in a thread of the tests, and pages without a browser that speak to it."""

import contextlib
import json
import socket
import threading
import time
import urllib.error
import urllib.request

from garden_agents.play.match import Arguments, set_up
from garden_agents.play.web import Server, runner
from websockets.sync.client import connect


@contextlib.contextmanager
def running(app):
    """Run an application in a thread; yield its port."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = runner(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()


@contextlib.contextmanager
def serving(*words, **arguments):
    """Serve a new game of `arguments`; yield the Server, with its `port`."""
    arguments = Arguments(*words, **({"seed": 1, "web": True} | arguments))
    server = Server(set_up(arguments), arguments)
    with running(server.app) as server.port:
        yield server


def address(server, path="/", **query):
    words = "&".join(f"{key}={value}" for key, value in query.items())
    return f"http://127.0.0.1:{server.port}{path}?{words}"


def get(url, **headers):
    """Return status, headers and text of a page."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=20) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def first_room(server):
    """The room of the first game."""
    return next(iter(server.rooms.values()))


def keys(server):
    """The keys of the first game, by seat."""
    return {seat: key for key, seat in first_room(server).links.items()}


class Page:
    """A seat's page, without a browser."""

    def __init__(self, server, seat=0, *, key=None, owner=True, origin=None):
        key = key or keys(server)[seat]
        token = f"&token={server.token}" if owner else ""
        url = f"ws://127.0.0.1:{server.port}/socket?seat={key}{token}"
        self.frames = []
        self.open = contextlib.ExitStack()
        self.socket = self.open.enter_context(connect(url, origin=origin, max_size=None))
        self.now = None
        try:
            self.welcome = self.wait("welcome")
            self.send(type="look")
            self.wait("position")
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.open.close()

    def send(self, **message):
        self.socket.send(json.dumps(message))

    def receive(self):
        frame = self.socket.recv(timeout=60)
        self.frames.append(frame)
        message = json.loads(frame)
        if message["type"] == "position":
            self.now = message
        return message

    def wait(self, kind):
        """Return the next message of a kind."""
        while True:
            message = self.receive()
            if message["type"] == kind:
                return message

    def wait_turn(self):
        """Wait until this seat has the move or the game is over; return whether it has the move."""
        while not (self.now["mine"] or self.now["over"]):
            self.receive()
        return self.now["mine"]

    def act(self, action):
        """Take an action and wait for the position after it."""
        at = self.now["at"]
        self.send(type="act", at=at, action=action)
        while self.now["at"] <= at:
            self.wait("position")

    def refused(self, **message):
        """Send a message that must be refused; return the reason."""
        self.send(**message)
        return self.wait("error")["text"]
