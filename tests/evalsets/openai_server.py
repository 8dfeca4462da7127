"""A local server that speaks as much of the OpenAI chat protocol as a judge needs, with answers the test chooses."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Reply(NamedTuple):
    """What the server answers one request with; `body` None makes it a chat completion of `content`."""

    content: str = ""
    status: int = 200
    body: str | None = None
    headers: tuple[tuple[str, str], ...] = ()


class Served(NamedTuple):
    """Where the server listens, and the requests it has seen, parsed."""

    base_url: str
    requests: list[dict[str, Any]]


@contextmanager
def serve(answer: Callable[[dict[str, Any]], Reply]) -> Iterator[Served]:
    """Serve on the loopback at a free port until the block ends."""
    seen: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            seen.append(request)
            reply = answer(request)
            body = (reply.body if reply.body is not None else _completion(reply.content)).encode()
            self.send_response(reply.status)
            for name, value in (("content-type", "application/json"), *reply.headers):
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep the test output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Served(f"http://127.0.0.1:{server.server_address[1]}/v1", seen)
    finally:
        server.shutdown()
        server.server_close()


def _completion(content: str) -> str:
    return json.dumps(
        {
            "id": "one",
            "object": "chat.completion",
            "created": 1,
            "model": "local",
            "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}},
            ],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        },
    )
