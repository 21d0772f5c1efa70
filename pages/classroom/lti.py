"""Launch a lesson or a room from a learning platform such as Moodle, and send grades back: LTI 1.3, and its Assignment and Grade
Services 2.0, as 1EdTech specifies them.

Nothing needs a cookie, which browsers keep from a page in another site's frame: `state` and the ticket that leads a student into
the room are sealed texts in the address, good for minutes, once. So a launch is not bound to the browser that began it: whoever
could make somebody open a launch of their own would get the other's guesses graded as theirs.

Imported only where TX_LTI_FILE names platforms.
"""

import asyncio
import base64
import hashlib
import hmac
import json
import logging
import secrets
import threading
import time
import tomllib
import urllib.request
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from functools import cache, partial
from html import escape
from http.client import HTTPException
from typing import TYPE_CHECKING, Annotated, NamedTuple
from urllib.error import HTTPError
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit
from uuid import uuid4

import jwt
from cachetools import TTLCache, cached
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from jwt.algorithms import RSAAlgorithm
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from pages.classroom import texts
from pages.classroom.events import host_store
from pages.contents import page, page_address
from pages.ui.shell.address import LEAD, LESSON, ROOM, TICKET
from pages.ui.shell.admission import counted_address
from tx_core.errors import ExplorerError, RoomGone, RoomProblem, SettingsProblem
from tx_core.settings import host_settings, variable

if TYPE_CHECKING:
    from tx_core.classroom.rooms import Room

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
GRADES_CLAIM = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
SCORE_SCOPE = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
RESULT_SCOPE = "https://purl.imsglobal.org/spec/lti-ags/scope/result.readonly"
INSTRUCTOR = "membership#Instructor"
STATE_SECONDS, TICKET_SECONDS, LEEWAY_SECONDS = 600, 60, 60
MAX_FORM_BYTES, MAX_ANSWER_BYTES = 100_000, 1_000_000
FETCH_SECONDS, LOOK_SECONDS, ACCESS_SECONDS = 10, 5.0, 300
"""Time for an answer of a platform, between looks for due grades, and for which its access tokens are kept."""
KEYS_SECONDS, FAILURE_SECONDS = 60, 15
"""Time from one fetch of a platform's keys to the next, and to the next after one that failed."""
MAX_WAITING = 200
"""Launches that wait for keys; more are refused."""
LAUNCHERS, FETCHERS = ThreadPoolExecutor(4, "lti"), ThreadPoolExecutor(8, "lti-keys")
"""Threads of launches alone, and of fetching keys alone: classes of the same server use asyncio's."""
REFUSALS = (400, 401, 403, 404, 405)
"""By which a platform says that it does not let grades be read; any other failure passes, and the grade is sent later."""
ODD = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""What an address that is none raises, or an answer of a platform that is not as specified, such as a maximum of 0."""
HEADERS = {"Cache-Control": "no-store"}
PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    "<title>{title}</title><style>:root {{ color-scheme: light dark; font: 18px/1.5 sans-serif }}</style>"
    "<main><p>{text}</p></main>"
)
Address = Annotated[str, StringConstraints(pattern=r"^https?://[^\s@#]+$")]


class Platform(BaseModel):
    """A learning platform, as the host's file names it. Addresses: of its login, its access tokens, its keys, and its grade
    book, where that is at another host than the access tokens."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    issuer: str
    client_id: str
    deployments: tuple[str, ...]
    login: Address
    token: Address
    keys: Address
    grades: Address | None = None

    @property
    def name(self) -> str:
        """The name under which grades are kept."""
        return f"{self.issuer} {self.client_id}"


class LtiFile(BaseModel):
    """The file of TX_LTI_FILE. key: file of the private key of this tool, in the same folder."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    key: str
    platforms: tuple[Platform, ...] = Field(min_length=1)


class Tool(NamedTuple):
    """This server as a tool of platforms. secret: what tokens and sealed texts are made with, the same on all servers."""

    by_name: Mapping[str, Platform]
    key: RSAPrivateKey
    secret: bytes

    def token(self, *names: str) -> str:
        """Return the token of a member of a room, the same for the same names."""
        made = hmac.new(self.secret, json.dumps(names).encode(), "sha256").digest()
        return base64.urlsafe_b64encode(made).decode().rstrip("=")

    def seal(self, *parts: str) -> str:
        """Write texts so that only a server with this secret can read them."""
        return Fernet(base64.urlsafe_b64encode(self.secret)).encrypt(json.dumps(parts).encode()).decode()

    def unseal(self, written: str, kind: str, seconds: int) -> list[str]:
        """Read the texts behind the first, which is their kind. Raises RoomProblem for others, and for those that are too old."""
        try:
            first, *parts = json.loads(Fernet(base64.urlsafe_b64encode(self.secret)).decrypt(written.encode(), seconds))
        except (InvalidToken, ValueError):
            first, parts = "", []
        if first != kind:
            raise RoomProblem(texts.LAUNCH_IS_OVER)
        return parts


@cache
def host_tool() -> Tool:
    """Read the host's file. Raises SettingsProblem, whose one line says what is wrong."""
    path = host_settings().lti_file
    try:
        file = LtiFile.model_validate(tomllib.loads(path.read_text("utf-8")))
        pem = path.with_name(file.key).read_bytes()
        key = load_pem_private_key(pem, None)
    except ValidationError as problem:
        wrong = "; ".join(f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in problem.errors())
        raise SettingsProblem(f"{variable('lti_file')}={path} cannot be used: {wrong}") from None
    except (OSError, ValueError, TypeError) as problem:
        said = str(problem).partition("\n")[0]
        raise SettingsProblem(f"{variable('lti_file')}={path} cannot be used: {said}") from None
    if not isinstance(key, RSAPrivateKey):
        raise SettingsProblem(f"{variable('lti_file')}={path} cannot be used: its key is no RSA key")
    return Tool({one.name: one for one in file.platforms}, key, hashlib.sha256(b"lti " + pem).digest())


def public_key() -> dict[str, str]:
    """Return the public key of this tool as a JSON Web Key."""
    written = RSAAlgorithm.to_jwk(host_tool().key.public_key(), as_dict=True)
    return written | {"kid": hashlib.sha256(written["n"].encode()).hexdigest()[:16], "alg": "RS256", "use": "sig"}


async def login(request: Request, asked: Mapping[str, str]) -> Response:
    """Begin a launch: send the browser to its platform, which knows who it is."""
    issuer, client = asked.get("iss"), asked.get("client_id")
    known = [one for one in host_tool().by_name.values() if one.issuer == issuer and client in (None, "", one.client_id)]
    if not known:
        raise RoomProblem(texts.UNKNOWN_PLATFORM)
    platform = known[0]
    nonce = secrets.token_urlsafe(32)
    back = request.url.replace(path=request.url.path.removesuffix("login") + "launch", query="", fragment="")
    sent = {name: asked[name] for name in ("login_hint", "lti_message_hint") if name in asked} | {
        "scope": "openid",
        "response_type": "id_token",
        "response_mode": "form_post",
        "prompt": "none",
        "client_id": platform.client_id,
        "redirect_uri": str(back),
        "state": host_tool().seal("state", platform.name, nonce),
        "nonce": nonce,
    }
    joint = "&" if urlsplit(platform.login).query else "?"
    return RedirectResponse(f"{platform.login}{joint}{urlencode(sent)}", 303, HEADERS)


async def launch(request: Request, sent: Mapping[str, str]) -> Response:
    """Verify who comes from where, let them into the room, and lead the browser there."""
    tool = host_tool()
    name, nonce = tool.unseal(sent.get("state", ""), "state", STATE_SECONDS)
    if (platform := tool.by_name.get(name)) is None:
        raise RoomProblem(texts.UNKNOWN_PLATFORM)
    keys = await keys_of(platform)

    def let_in() -> tuple[Mapping[str, object], tuple[str, str, str]]:
        claims = verified(platform, keys, sent.get("id_token", ""), nonce)
        return claims, enter(platform, claims, counted_address(request.client.host if request.client else "local"))

    claims, (role, code, token) = await asyncio.get_running_loop().run_in_executor(LAUNCHERS, let_in)
    shown = claims.get(f"{CLAIM}launch_presentation")
    is_framed = isinstance(shown, dict) and shown.get("document_target") in ("iframe", "frame")
    query = {ROOM: code, TICKET: tool.seal("ticket", role, code, token, secrets.token_urlsafe(32))} | (
        {"embed": "true"} if is_framed else {}
    )
    return RedirectResponse(f"../{page_address(page('classroom'))}?{urlencode(query)}", 303, HEADERS)


def open_ticket(written: str) -> tuple[str, str, str]:
    """Return role, code and token of a ticket. Raises RoomProblem for what is none, and for one that was opened before."""
    from tx_core.classroom.launches import use_nonce

    role, code, token, nonce = host_tool().unseal(written, "ticket", TICKET_SECONDS)
    if not use_nonce(host_store(), hashlib.sha256(nonce.encode()).hexdigest(), TICKET_SECONDS + LEEWAY_SECONDS):
        raise RoomProblem(texts.LAUNCH_IS_OVER)
    return role, code, token


def verified(platform: Platform, keys: jwt.PyJWKSet, id_token: str, nonce: str) -> dict[str, object]:
    """Return what a platform says of a launch. Raises RoomProblem unless it says so to us, now, and for the first time."""
    from tx_core.classroom.launches import use_nonce

    try:
        claims = jwt.decode(
            id_token,
            keys[str(jwt.get_unverified_header(id_token).get("kid"))],
            ["RS256"],
            {"require": ["exp", "iat", "nonce", "sub"]},
            audience=platform.client_id,
            issuer=platform.issuer,
            leeway=LEEWAY_SECONDS,
        )
    except (jwt.PyJWTError, ValueError, KeyError) as problem:
        reason = texts.LAUNCH_PROBLEMS.get(type(problem).__name__, texts.LAUNCH_INVALID)
        raise RoomProblem(texts.LAUNCH_REFUSED.format(reason=reason)) from None
    several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    demands = {
        "azp": claims.get("azp", None if several else platform.client_id) == platform.client_id,
        "nonce": claims["nonce"] == nonce,
        "message_type": claims.get(f"{CLAIM}message_type") == "LtiResourceLinkRequest",
        "version": claims.get(f"{CLAIM}version") == "1.3.0",
        "deployment_id": claims.get(f"{CLAIM}deployment_id") in platform.deployments,
    }
    if wrong := [name for name, is_met in demands.items() if not is_met]:
        raise RoomProblem(texts.LAUNCH_REFUSED.format(reason=texts.LAUNCH_LACKS.format(names=", ".join(wrong))))
    if not use_nonce(host_store(), hashlib.sha256(nonce.encode()).hexdigest(), STATE_SECONDS + LEEWAY_SECONDS):
        raise RoomProblem(texts.LAUNCH_IS_OVER)
    return claims


def enter(platform: Platform, claims: Mapping[str, object], client: str) -> tuple[str, str, str]:
    """Enter the room that a launch is about, opened for its course if it names a lesson: role, code, token. Raises ExplorerError.

    The teacher of a course leads the rooms that lessons open there.
    """
    from tx_core.classroom.launches import keep_launch
    from tx_core.classroom.rooms import MAX_NICKNAME_CHARACTERS

    rooms, make_token = host_store(), partial(host_tool().token, platform.issuer, platform.client_id)
    query = parse_qs(urlsplit(str(claims.get(f"{CLAIM}target_link_uri"))).query)
    if ROOM in query:
        room, lead = rooms.of_code(query[ROOM][0], client), None
    elif LESSON in query:
        name, link = query[LESSON][0], claims.get(f"{CLAIM}resource_link")
        activity = str(link.get("id")) if isinstance(link, dict) else ""
        lead = make_token("lead", claims[f"{CLAIM}deployment_id"], activity, name)
        room = room_for(name, lead)
    else:
        raise RoomProblem(texts.NO_TARGET)
    roles = claims.get(f"{CLAIM}roles")
    is_teacher = isinstance(roles, list) and any(str(role).endswith(INSTRUCTOR) for role in roles)
    if is_teacher and lead:
        return LEAD, room.code, lead
    name = claims.get("given_name")
    nickname = " ".join(name.split())[:MAX_NICKNAME_CHARACTERS] if isinstance(name, str) else ""
    token = rooms.join(room.code, nickname, client, make_token("student", str(room.id), claims["sub"]))
    grades = claims.get(GRADES_CLAIM)
    scopes = grades.get("scope") if isinstance(grades, dict) else None
    if not is_teacher and isinstance(scopes, list) and SCORE_SCOPE in scopes:
        lineitem = str(grades.get("lineitem"))
        if origin(lineitem) == origin(platform.grades or platform.token):  # no other address is asked for anything
            keep_launch(rooms, rooms.student(token), platform.name, claims["sub"], lineitem)
    return ROOM, room.code, token


def room_for(name: str, token: str) -> "Room":
    """Return the room of a teacher's activity for a lesson, taken at one's own pace; opened if there is none.

    Raises ExplorerError where the lesson cannot be read or no room is free.
    """
    from pages.ui.panels.lesson import linked_lesson  # it takes long to import
    from tx_core.classroom.lesson_file import write_lesson

    try:
        return host_store().of_teacher(token)
    except RoomGone:
        lesson = linked_lesson(name)
        options = {"together": False, "nicknames": True, "alone": True}
        return host_store().open(write_lesson(lesson), len(lesson.steps), fixed_token=token, **options)[0]


def origin(address: str) -> tuple[str, str]:
    """Return the scheme and the host with its port of an address, "" for both of one that is none."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "", ""
    return parts.scheme, parts.netloc


# --- What is fetched from a platform: only the addresses that the host's file names, and columns of its grade book.


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, which could lead anywhere."""

    def redirect_request(self, *_arguments: object) -> None:
        """Follow none: the answer counts as an error."""


def fetch(address: str, data: bytes | None = None, **headers: str) -> bytes:
    """Get or post. Raises OSError, also for an answer that comes too slowly, and HTTPException."""
    end, read = time.monotonic() + FETCH_SECONDS, bytearray()
    asked = urllib.request.Request(address, data, {name.replace("_", "-"): value for name, value in headers.items()})
    with urllib.request.build_opener(_NoRedirects).open(asked, timeout=FETCH_SECONDS) as answer:
        while len(read) < MAX_ANSWER_BYTES and (part := answer.read1(MAX_ANSWER_BYTES)):
            read += part
            if time.monotonic() > end:
                raise TimeoutError
    return bytes(read[:MAX_ANSWER_BYTES])


class KeyFetch(NamedTuple):
    """A fetch of a platform's keys. begun: when, by the monotonic clock."""

    begun: float
    keys: Future[jwt.PyJWKSet]

    def is_over(self) -> bool:
        """Return whether its answer, or its failure, is too old to be used."""
        kept = FAILURE_SECONDS if self.keys.done() and self.keys.exception() else KEYS_SECONDS
        return self.keys.done() and time.monotonic() - self.begun > kept


_fetches: dict[str, KeyFetch] = {}
"""The last fetch of each platform of the host's file, by its address of keys; used in the thread of the server's loop."""
_waiting = asyncio.Semaphore(MAX_WAITING)


async def keys_of(platform: Platform) -> jwt.PyJWKSet:
    """Return the public keys of a platform, fetched once for all who wait, and no sooner again whatever keys launches name.

    Raises RoomProblem where the platform does not send them.
    """
    last = _fetches.get(platform.keys)
    if last is None or last.is_over():
        fetching = FETCHERS.submit(lambda: jwt.PyJWKSet.from_json(fetch(platform.keys).decode()))
        last = _fetches[platform.keys] = KeyFetch(time.monotonic(), fetching)
    if _waiting.locked():
        raise RoomProblem(texts.PLATFORM_SILENT)
    try:
        async with _waiting:
            return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(last.keys)), FETCH_SECONDS)
    except (jwt.PyJWTError, OSError, HTTPException, *ODD):  # no answer in time, or none that is a set of keys
        raise RoomProblem(texts.PLATFORM_SILENT) from None


@cached(TTLCache(64, ACCESS_SECONDS), key=lambda platform: platform.name, lock=threading.Lock())
def access_token(platform: Platform) -> str:
    """Ask a platform for the token by which its grade book is written and, where the platform grants that, read."""
    try:
        return ask_token(platform, f"{SCORE_SCOPE} {RESULT_SCOPE}")
    except HTTPError as problem:  # some refuse both for one that they do not grant
        if problem.code not in REFUSALS:
            raise
        return ask_token(platform, SCORE_SCOPE)


def ask_token(platform: Platform, scope: str) -> str:
    """Ask for an access token with scopes. Raises what `fetch` raises."""
    now, key = int(time.time()), public_key()
    claims = {"iss": platform.client_id, "sub": platform.client_id, "aud": platform.token, "jti": str(uuid4())}
    signed = jwt.encode(claims | {"iat": now, "exp": now + 60}, host_tool().key, "RS256", {"kid": key["kid"]})
    asked = {
        "grant_type": "client_credentials",
        "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        "client_assertion": signed,
        "scope": scope,
    }
    return str(json.loads(fetch(platform.token, urlencode(asked).encode()))["access_token"])


def send_grades() -> None:
    """Send the grades that are due. Raises RoomProblem where the database is away."""
    from tx_core.classroom.launches import claim_due, forget

    rooms = host_store()
    for grade in claim_due(rooms):
        try:
            if platform := host_tool().by_name.get(grade.platform):  # else the host has taken it out of the file
                send_score(platform, grade.user, grade.lineitem, grade.share)
        except (OSError, HTTPException, *ODD) as problem:
            said = problem.code if isinstance(problem, HTTPError) else type(problem).__name__
            left = "given up" if grade.is_last else "tried again later"
            logging.getLogger(__name__).warning("A grade could not be sent to %s (%s): %s.", platform.issuer, said, left)
            if not grade.is_last:
                continue
        forget(rooms, grade)


def send_score(platform: Platform, user: str, lineitem: str, share: float) -> None:
    """Write a grade, of 100, into a column of a platform's grade book, unless a better one stands there. Raises as `fetch`."""
    if known_share(platform, user, lineitem) > share:
        return
    score = {
        "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "userId": user,
        "scoreGiven": round(100 * share, 2),
        "scoreMaximum": 100,
        "activityProgress": "Completed",
        "gradingProgress": "FullyGraded",
    }
    column = urlsplit(lineitem)
    address = column._replace(path=f"{column.path}/scores", fragment="").geturl()
    kind = "application/vnd.ims.lis.v1.score+json"
    fetch(address, json.dumps(score).encode(), Authorization=f"Bearer {access_token(platform)}", Content_Type=kind)


def known_share(platform: Platform, user: str, lineitem: str) -> float:
    """Return a student's share in a column; 0 where there is none, or the platform does not let it be read. Raises as `fetch`."""
    column = urlsplit(lineitem)
    query = "&".join(filter(None, (column.query, urlencode({"user_id": user}))))
    address = column._replace(path=f"{column.path}/results", query=query, fragment="").geturl()
    kind = "application/vnd.ims.lis.v2.resultcontainer+json"
    try:
        results = json.loads(fetch(address, Authorization=f"Bearer {access_token(platform)}", Accept=kind))
    except HTTPError as problem:
        if problem.code not in REFUSALS:
            raise
        return 0.0
    own = [one for one in results if str(one.get("userId") or user) == user]  # some platforms return those of all students
    return max((one["resultScore"] / one.get("resultMaximum", 1) for one in own if "resultScore" in one), default=0.0)


def start_sending() -> threading.Event:
    """Send grades as they become due, in a thread, until the event is set."""
    over = threading.Event()

    def follow() -> None:
        while not over.wait(LOOK_SECONDS):
            try:
                send_grades()
            except ExplorerError:  # the database is away, which is logged there
                continue

    threading.Thread(target=follow, name="grades", daemon=True).start()
    return over


def answering(act: Callable[[Request, Mapping[str, str]], Awaitable[Response]]) -> Callable:
    """Return an endpoint that answers a form or a query, with a page where that cannot be."""

    async def answer(request: Request) -> Response:
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > MAX_FORM_BYTES:
                return Response(None, 413)
        try:
            form = dict(parse_qsl(body.decode(), max_num_fields=50)) if request.method == "POST" else {}
            return await act(request, dict(request.query_params) | form)
        except (ExplorerError, ValueError) as problem:
            said = str(problem) if isinstance(problem, ExplorerError) else texts.LAUNCH_IS_OVER
            return HTMLResponse(PAGE.format(title=texts.LAUNCH, text=escape(said)), 400, HEADERS)

    return answer


async def keys(_request: Request) -> JSONResponse:
    """Serve the public key by which platforms verify what this tool signs."""
    return JSONResponse({"keys": [public_key()]})


ROUTES = (
    Route("/lti/login", answering(login), methods=["GET", "POST"]),
    Route("/lti/launch", answering(launch), methods=["POST"]),
    Route("/lti/keys", keys),
)
