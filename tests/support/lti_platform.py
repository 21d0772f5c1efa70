"""A learning platform with keys of its own: a course that shows a tool in a frame, single sign-on, and a grade book (LTI 1.3)."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from jwt.algorithms import RSAAlgorithm

from tests.support.serving import fetch

CLIENT, DEPLOYMENT, KID = "attention", "1", "platform-key"
CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
ROLE = "http://purl.imsglobal.org/vocab/lis/v2/membership#"
GRADES = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
SCORE = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
RESULT = "https://purl.imsglobal.org/spec/lti-ags/scope/result.readonly"


def private_key() -> rsa.RSAPrivateKey:
    """Make a key."""
    return rsa.generate_private_key(65537, 2048)


class Platform:
    """A platform at an address.

    app: the tool's address. folder: of the host's file. status: of all answers; 307 leads elsewhere. scores: what the grade book
    was sent, each with its path. shares: what it has of each user, by name. maximum: of these, as it says.
    """

    def __init__(self, address: str):
        self.address, self.app, self.key, self.folder = address, "", private_key(), Path()
        self.status, self.maximum = 200, 5
        self.scores: list[tuple[str, dict[str, object]]] = []
        self.access_tokens: set[str] = set()
        self.shares: dict[str, float] = {}

    def file(self, folder: Path) -> Path:
        """Write the file by which a host names this platform, with a key of the tool; return where it is."""
        self.folder = folder
        pem = private_key().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        (folder / "lti.pem").write_bytes(pem)
        lines = [f'{name} = "{self.address}/{name}"' for name in ("login", "token", "keys")]
        lines = ['key = "lti.pem"', "[[platforms]]", f'issuer = "{self.address}"', f'client_id = "{CLIENT}"', *lines]
        (folder / "lti.toml").write_text("\n".join([*lines, f'deployments = ["{DEPLOYMENT}"]']), "utf-8")
        return folder / "lti.toml"

    def course(self, user: str, role: str, link: str) -> str:
        """Return the address of the page of an activity, whose tool URL is a link, as somebody opens it."""
        return f"{self.address}/course?{urlencode({'user': user, 'role': role, 'link': link})}"

    def start(self, user: str, role: str, link: str) -> str:
        """Return the address at which a launch begins at the tool."""
        asked = {"iss": self.address, "client_id": CLIENT, "target_link_uri": link, "login_hint": f"{user} {role} {link}"}
        return f"{self.app}/lti/login?{urlencode(asked)}"

    def claims(self, user: str, role: str, link: str, nonce: str) -> dict[str, object]:
        """Return what the platform says of a launch."""
        now = int(time.time())
        grades = {"scope": [SCORE], "lineitem": f"{self.address}/column?item=7"}
        return {
            "iss": self.address,
            "aud": CLIENT,
            "sub": user,
            "given_name": user.partition("-")[0].title(),
            "nonce": nonce,
            "iat": now,
            "exp": now + 60,
            f"{CLAIM}message_type": "LtiResourceLinkRequest",
            f"{CLAIM}version": "1.3.0",
            f"{CLAIM}deployment_id": DEPLOYMENT,
            f"{CLAIM}target_link_uri": link,
            f"{CLAIM}resource_link": {"id": "activity-1"},
            f"{CLAIM}roles": [ROLE + role],
            f"{CLAIM}launch_presentation": {"document_target": "iframe"},
            GRADES: grades,
        }

    def sign(self, claims: Mapping[str, object]) -> str:
        """Write claims as an id_token."""
        return jwt.encode(dict(claims), self.key, "RS256", {"kid": KID})

    def get(self, path: str, query: Mapping[str, str]) -> tuple[str, str]:
        """Answer with a content type and a body."""
        if path == "/course":
            frame = f'<iframe src="{escape(self.start(**query))}" width="1200" height="850"></iframe>'
            return "text/html", f"<!doctype html><title>Course</title>{frame}"
        if path == "/login":
            assert query["redirect_uri"] == f"{self.app}/lti/launch" and query["client_id"] == CLIENT
            assert (query["response_mode"], query["response_type"], query["prompt"]) == ("form_post", "id_token", "none")
            token = self.sign(self.claims(*query["login_hint"].split(" ", 2), query["nonce"]))
            sent = {"id_token": token, "state": query["state"]}
            boxes = "".join(f'<input name="{name}" value="{value}">' for name, value in sent.items())
            form = f'<form method="post" action="{escape(query["redirect_uri"])}">{boxes}</form>'
            return "text/html", f"<!doctype html><title>Sign-on</title>{form}<script>document.forms[0].submit()</script>"
        if path == "/column/results":
            assert query["user_id"]  # which it does not heed
            each = self.shares.items()
            known = [{"userId": user, "resultScore": 5 * share, "resultMaximum": self.maximum} for user, share in each]
            return "application/vnd.ims.lis.v2.resultcontainer+json", json.dumps(known)
        assert path == "/keys"
        key = RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True) | {"kid": KID, "alg": "RS256", "use": "sig"}
        return "application/json", json.dumps({"keys": [key]})

    def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> str:
        """Grant an access token to whoever signs as the tool, and take scores from whoever has one."""
        if urlsplit(path).path == "/token":
            asked = {name: value for name, (value,) in parse_qs(body.decode()).items()}
            assert (asked["grant_type"], asked["scope"]) == ("client_credentials", f"{SCORE} {RESULT}")
            key = jwt.PyJWKSet.from_json(fetch(f"{self.app}/lti/keys")[2].decode()).keys[0]
            said = jwt.decode(asked["client_assertion"], key, ["RS256"], audience=f"{self.address}/token", issuer=CLIENT)
            self.access_tokens.add(said["jti"])
            return json.dumps({"access_token": said["jti"], "token_type": "Bearer", "expires_in": 3600, "scope": SCORE})
        assert headers["Authorization"].removeprefix("Bearer ") in self.access_tokens
        assert headers["Content-Type"] == "application/vnd.ims.lis.v1.score+json"
        self.scores.append((path, json.loads(body)))
        return ""


@contextmanager
def platform() -> Iterator[Platform]:
    """Run a platform as another site than the app's: by the name localhost."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Answer a browser."""
            parts = urlsplit(self.path)
            self.answer(*here.get(parts.path, {name: value for name, (value,) in parse_qs(parts.query).items()}))

        def do_POST(self) -> None:
            """Answer the tool."""
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.answer("application/json", here.post(self.path, body, self.headers))

        def answer(self, kind: str, body: str) -> None:
            self.send_response(here.status)
            self.send_header("Content-Type", kind)
            self.send_header("Location", f"{here.address}/elsewhere")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_arguments: object) -> None:
            """Write nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        here = Platform(f"http://localhost:{server.server_port}")
        Thread(target=server.serve_forever, daemon=True).start()
        yield here
        server.shutdown()
