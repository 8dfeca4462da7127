"""Logging in through a small OIDC provider of our own, on loopback."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from curation_app.service.labelling import Desk

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

joserfc_jwk = pytest.importorskip("joserfc.jwk", reason="needs the extra [login]")


class Provider:
    """Discovery, authorize, token and keys; whoever comes is logged in as `email`."""

    def __init__(self, email: str) -> None:
        self.email = email
        self.key = joserfc_jwk.RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})
        self.nonces: dict[str, str] = {}
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.get(self)

            def do_POST(self) -> None:
                provider.token(self)

            def log_message(self, *_: Any) -> None:
                """Keep quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def get(self, request: BaseHTTPRequestHandler) -> None:
        address = urlsplit(request.path)
        if address.path == "/.well-known/openid-configuration":
            self.answer(request, self.metadata())
        elif address.path == "/keys":
            self.answer(request, {"keys": [self.key.as_dict(private=False)]})
        else:
            asked = {name: values[0] for name, values in parse_qs(address.query).items()}
            code = f"code-{len(self.nonces)}"
            self.nonces[code] = asked.get("nonce", "")
            request.send_response(302)
            back = urlencode({"code": code, "state": asked["state"]})
            request.send_header("Location", f"{asked['redirect_uri']}?{back}")
            request.end_headers()

    def token(self, request: BaseHTTPRequestHandler) -> None:
        from joserfc import jwt

        body = request.rfile.read(int(request.headers["Content-Length"])).decode()
        code = parse_qs(body)["code"][0]
        now = int(time.time())
        claims = {
            "iss": self.url, "sub": "1", "aud": "errata", "iat": now, "exp": now + 600,
            "nonce": self.nonces[code], "email": self.email, "name": "Ann B.",
        }  # fmt: skip
        signed = jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.key)
        self.answer(request, {"access_token": "any", "token_type": "Bearer", "expires_in": 600, "id_token": signed})

    def metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }

    def answer(self, request: BaseHTTPRequestHandler, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        request.send_response(200)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)


@pytest.fixture
def provider() -> Iterator[Provider]:
    made = Provider("ann@example.org")
    yield made
    made.server.shutdown()


@pytest.fixture
def login_server(desk: Desk, server: Any, provider: Provider, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Serves the app from a folder whose secrets name the provider."""
    secrets = desk.workspace.root / ".streamlit" / "secrets.toml"
    secrets.parent.mkdir()
    lines = {
        "redirect_uri": f"{server.url}/oauth2callback",
        "cookie_secret": "a long secret for the tests of the login",
        "client_id": "errata",
        "client_secret": "known to the provider",
        "server_metadata_url": f"{provider.url}/.well-known/openid-configuration",
    }
    secrets.write_text("[auth]\n" + "".join(f'{name} = "{value}"\n' for name, value in lines.items()), encoding="utf-8")
    monkeypatch.chdir(desk.workspace.root)
    server.start()
    return server


def test_whoever_logs_in_labels_under_the_address_that_the_provider_vouches_for(
    desk: Desk, login_server: Any, chromium: Any, add_candidates: Callable[[int], None]
) -> None:
    add_candidates(2)
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    # A name that a browser remembers from before counts for nothing once a login is asked for.
    context.add_cookies([{"name": "errata_reviewer", "value": "Mallory", "url": login_server.url}])
    page = context.new_page()
    page.goto(f"{login_server.url}/label")
    page.get_by_role("button", name="Log in").click()
    page.locator(".st-key-errata-who").get_by_text("ann@example.org").wait_for(timeout=30_000)
    page.goto(f"{login_server.url}/label")
    page.wait_for_selector(".errata-question", timeout=30_000)
    page.wait_for_function(
        "() => window.__errataLabel?.token && performance.now() - window.__errataLabel.renderedAt > 200"
    )
    before = page.evaluate("window.__errataLabel.token")
    page.keyboard.press("n")
    page.wait_for_function("before => window.__errataLabel.token !== before", arg=before)
    context.close()
    assert [event.author.name for event in desk.store.events()] == ["ann@example.org"]
