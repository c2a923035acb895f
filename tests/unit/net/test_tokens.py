from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import socket
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from kgroups.config.secret import Secret
from kgroups.config.security import Assertion, AwsIam, ClientCredentials, Credentials, TokenFile, UnsecuredToken
from kgroups.errors import AuthenticationFailed, ConfigError, MissingPackage, Reason
from kgroups.net import tokens
from kgroups.net.token import Token
from kgroups.net.token_endpoint import TokenEndpoint
from kgroups.net.tokens import Tokens, tokens_of
from tests.fakes.certificates import Certificates

SECRET = "s3cret+/&=:é"
Serve = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


def answering(body: str, status: str = "200 OK", **headers: str) -> Serve:
    lines = {"Content-Type": "application/json", "Content-Length": str(len(body.encode())), **headers}

    async def serve(request: bytes, writer: asyncio.StreamWriter) -> None:
        head = "".join(f"{key.replace('_', '-')}: {value}\r\n" for key, value in lines.items())
        writer.write(f"HTTP/1.1 {status}\r\n{head}\r\n{body}".encode())

    return serve


def sending(*pieces: bytes, pause: float = 0.0, hang: bool = False) -> Serve:
    async def serve(request: bytes, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)
        if hang:
            await asyncio.Event().wait()

    return serve


def fetched(
    serve: Serve,
    requests: list[bytes] | None = None,
    context: Any = None,
    path: str = "/oauth/token?key=hidden",
    **change: Any,
) -> Token:
    """A token from an endpoint that does so."""

    async def run() -> Token:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            open_tasks.add(asyncio.current_task())
            try:
                head = await reader.readuntil(b"\r\n\r\n")
                size = int(head.lower().partition(b"content-length:")[2].split()[0])
                request = head + await reader.readexactly(size)
                if requests is not None:
                    requests.append(request)
                await serve(request, writer)
                await writer.drain()
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass
            finally:
                writer.close()

        open_tasks: set[Any] = set()
        server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=context)
        port = server.sockets[0].getsockname()[1]
        scheme = "https" if context else "http"
        where = f"{scheme}://eve:hidden@127.0.0.1:{port}{path}"
        credentials = ClientCredentials(where, "my client", Secret(SECRET), timeout=30.0)
        try:
            return await TokenEndpoint(credentials._replace(**change)).fetch()
        finally:
            server.close()
            for task in open_tasks:
                task.cancel()
            await asyncio.gather(*open_tasks, return_exceptions=True)

    return asyncio.run(run())


def test_token_endpoint_returns_token_for_client_credentials() -> None:
    requests: list[bytes] = []
    serve = answering('{"access_token": "abc.def", "token_type": "Bearer", "expires_in": 3600}')
    token = fetched(serve, requests, scope="kafka read")
    assert (token.value.reveal(), token.lifetime) == ("abc.def", 3600.0)
    head, _, body = requests[0].partition(b"\r\n\r\n")
    first, *headers = head.decode().split("\r\n")
    assert first == "POST /oauth/token?key=hidden HTTP/1.1"
    basic = base64.b64encode(f"my client:{SECRET}".encode()).decode()
    assert f"Authorization: Basic {basic}" in headers
    assert body == b"grant_type=client_credentials&scope=kafka+read"


@pytest.mark.parametrize(
    ("bearer", "expected"),
    [
        (
            False,
            {
                "grant_type": ["client_credentials"],
                "client_assertion_type": ["urn:ietf:params:oauth:client-assertion-type:jwt-bearer"],
                "client_assertion": ["a.b.c"],
                "client_id": ["my client"],
                "scope": ["s"],
            },
        ),
        (
            True,
            {"grant_type": ["urn:ietf:params:oauth:grant-type:jwt-bearer"], "assertion": ["a.b.c"], "scope": ["s"]},
        ),
    ],
)
def test_assertion_replaces_the_secret(tmp_path: Path, bearer: bool, expected: dict[str, list[str]]) -> None:
    file = tmp_path / "jwt"
    file.write_text("a.b.c")
    requests: list[bytes] = []
    assertion = Assertion(str(file))
    fetched(answering('{"access_token": "t"}'), requests, scope="s", assertion=assertion, bearer=bearer)
    head, _, body = requests[0].partition(b"\r\n\r\n")
    assert b"Authorization" not in head
    assert parse_qs(body.decode(), strict_parsing=True) == expected


def test_rejected_assertion_is_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "jwt"
    file.write_text("aaaa.bbbb.cccc")
    body = '{"error": "invalid_client", "error_description": "bad aaaa.bbbb.cccc"}'
    with pytest.raises(AuthenticationFailed, match="HTTP 401, invalid_client: bad") as caught:
        fetched(answering(body, "401 Unauthorized"), assertion=Assertion(str(file)))
    assert "aaaa" not in str(caught.value)


def test_client_credentials_are_url_encoded_on_request() -> None:
    requests: list[bytes] = []
    fetched(answering('{"access_token": "t"}'), requests, url_encode=True)
    basic = base64.b64encode(b"my+client:s3cret%2B%2F%26%3D%3A%C3%A9")
    assert b"Authorization: Basic " + basic in requests[0]
    assert b"scope" not in requests[0]


@pytest.mark.parametrize(
    ("message", "lifetime"),
    [
        ("3600", 3600.0),
        ('"60"', 60.0),
        ("1.5", 1.5),
        ("0", None),
        ("-1", None),
        ("true", None),
        ("null", None),
        ('"x"', None),
    ],
)
def test_token_lifetime_is_read_from_expires_in(message: str, lifetime: float | None) -> None:
    assert fetched(answering(f'{{"access_token": "t", "expires_in": {message}}}')).lifetime == lifetime


def jwt(**claims: Any) -> str:
    body = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    return f"eyJhbGciOiJub25lIn0.{body}.c2ln"


@pytest.mark.parametrize("rest", [{}, {"expires_in": 60}, {"expires_in": 86_400}])
def test_token_lifetime_of_jwt_overrides_expires_in(rest: dict[str, Any]) -> None:
    """As Java's client has it, and the brokers, which end a sign-in with its token."""
    token = jwt(exp=time.time() + 1800)
    lifetime = fetched(answering(json.dumps({"access_token": token, **rest}))).lifetime
    assert lifetime and 1700 < lifetime <= 1800


@pytest.mark.parametrize(
    "token",
    [
        jwt(sub="me"),
        jwt(exp="soon"),
        jwt(exp=True),
        jwt(exp=float("nan")),
        jwt(exp=10**400),
        jwt(exp=1_600_000_000),  # over by our clock, which is wrong then: it was given just now
        f"eyJhbGciOiJub25lIn0.{'[' * 100_000}.c2ln",
        "a.b.c",
        "a..c",
        "opaque",
    ],
    ids=range(10),
)
def test_token_lifetime_without_jwt_expiry_is_expires_in(token: str) -> None:
    assert fetched(answering(json.dumps({"access_token": token, "expires_in": 600}))).lifetime == 600.0
    assert fetched(answering(json.dumps({"access_token": token}))).lifetime is None


@pytest.mark.parametrize(("token", "shown_again"), [(jwt(exp=time.time() + 7200), True), ("opaque", False)])
def test_token_without_lifetime_is_refetched_after_a_minute(
    token: str, shown_again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    got: list[int] = []

    async def run() -> None:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            got.append(1)
            await reader.readuntil(b"\r\n\r\n")
            await answering(json.dumps({"access_token": token}))(b"", writer)
            await writer.drain()
            writer.close()

        async with await asyncio.start_server(connected, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            source = tokens_of(ClientCredentials(f"http://127.0.0.1:{port}/", "c", Secret("s")), "b1")
            assert source
            await source.token()
            loop = asyncio.get_running_loop()
            now = loop.time()
            with monkeypatch.context() as later:
                later.setattr(loop, "time", lambda: now + tokens.LONG + 1)
                task = source._task
                asking = asyncio.ensure_future(source.token())
                await asyncio.sleep(0)
                assert (source._task is task) == shown_again
            await asking

    asyncio.run(run())
    assert len(got) == (1 if shown_again else 2)


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "serve",
    [
        sending(b'HTTP/1.1 200 OK\r\n\r\n{"access_token": "t"}'),
        sending(CHUNKED, b'9;x=y\r\n{"access_\r\n', b'c\r\ntoken": "t"}\r\n', b"0\r\n\r\n"),
        sending(b'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 OK\r\nContent-Length: 21\r\n\r\n{"access_token": "t"}'),
        sending(*(bytes((byte,)) for byte in b'HTTP/1.1 200 OK\r\ncontent-length: 21\r\n\r\n{"access_token": "t"}')),
    ],
    ids=["to the end", "chunked", "continue", "byte by byte"],
)
def test_token_endpoint_responses_in_valid_http_forms_are_read(serve: Serve) -> None:
    assert fetched(serve).value.reveal() == "t"


def failing(serve: Serve, words: str, **change: Any) -> None:
    began = time.monotonic()
    with pytest.raises(AuthenticationFailed, match=words) as caught:
        fetched(serve, **change)
    assert time.monotonic() - began < 20
    assert caught.value.reason in (Reason.TOKEN_UNAVAILABLE, Reason.AUTHENTICATION_FAILED)
    output = str(caught.value)
    assert output.startswith("token endpoint http") and "127.0.0.1" in output and len(output) < 1_000
    for hidden in (SECRET, "hidden", "abc.def", base64.b64encode(f"my client:{SECRET}".encode()).decode()):
        assert hidden not in output


@pytest.mark.parametrize(
    ("serve", "words"),
    [
        (
            answering('{"error": "invalid_client", "error_description": "no"}', "401 No"),
            "HTTP 401, invalid_client: no$",
        ),
        (
            answering(json.dumps({"error": "no", "error_description": f"{SECRET} is wrong"}), "401 No"),
            r"HTTP 401, no: \*\*\*\* is wrong$",
        ),
        (answering('{"error": "invalid_scope"}', "400 Bad"), "HTTP 400, invalid_scope$"),
        (answering("<html>go away</html>", "503 Busy"), "HTTP 503 without an OAuth error response"),
        (answering("<html>sign in</html>"), "not JSON with an access_token"),
        (answering('{"access_token": ""}'), "not JSON with an access_token"),
        (answering('{"access_token": ["abc.def"]}'), "not JSON with an access_token"),
        (answering("[" * 100_000), "not JSON with an access_token"),
        (answering('"abc.def"'), "not JSON with an access_token"),
        (answering("", "302 Found", Location="http://evil.example/"), "HTTP 302, a redirect, which is not followed"),
        (answering('{"error": "' + "x" * 5000 + '"}', "400 Bad"), "HTTP 400, x"),
        (sending(b"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n"), "more than 1,048,576 bytes"),
        (sending(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n"), "an invalid length"),
        (sending(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 2_000_000), "more than 1,048,576 bytes"),
        (sending(CHUNKED, b"fffffff\r\n"), "more than 1,048,576 bytes"),
        (sending(CHUNKED, b"zz\r\n"), "an invalid length"),
        (sending(b"HTTP/1.1 200 OK\r\nX: ", b"x" * 2_000_000), "not valid HTTP"),
        (sending("HTTP/1.1 \u00b2\u00b2\u00b2 OK\r\n\r\n".encode("latin-1")), "the response is not HTTP"),
        (sending(b"SSH-2.0-OpenSSH\r\n\r\n"), "the response is not HTTP"),
        (
            sending(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"),
            "closed the connection before the response was complete",
        ),
        (sending(), "closed the connection before the response was complete"),
    ],
)
def test_token_endpoint_errors_are_reported(serve: Serve, words: str) -> None:
    failing(serve, words)


@pytest.mark.parametrize(
    "serve",
    [
        sending(hang=True),
        sending(b"HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n{", hang=True),
        sending(*[b"H"] * 1000, pause=0.01),
        sending(b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n", *[b" "] * 1000, pause=0.01),
    ],
    ids=["hangs", "hangs in the body", "drips its head", "drips its body"],
)
def test_token_endpoint_that_is_slow_times_out(serve: Serve) -> None:
    failing(serve, r"no complete response within 0\.3 s", timeout=0.3)


def test_token_endpoint_timeout_leaves_no_thread() -> None:
    """The socket is shut down: an endpoint that drips would hold the thread for as long as it likes."""
    over = threading.Event()

    def drip() -> None:
        with server.accept()[0] as peer, contextlib.suppress(OSError):
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            while not over.wait(0.01):
                peer.sendall(b" ")

    with socket.create_server(("127.0.0.1", 0)) as server:
        dripping = threading.Thread(target=drip)
        dripping.start()
        credentials = ClientCredentials(f"http://127.0.0.1:{server.getsockname()[1]}/", "c", Secret("s"), timeout=0.3)
        with pytest.raises(AuthenticationFailed, match="no complete response"):
            asyncio.run(TokenEndpoint(credentials).fetch())
        waiting = [each for each in threading.enumerate() if each.name.startswith("get a token from")]
        for thread in waiting:
            thread.join(10)
        left = [thread for thread in waiting if thread.is_alive()]
        over.set()
        dripping.join()
    assert not left


def test_token_endpoint_path_is_percent_encoded() -> None:
    requests: list[bytes] = []
    fetched(answering('{"access_token": "t"}'), requests, path="/töken%20a b")
    assert requests[0].startswith(b"POST /t%C3%B6ken%20a%20b HTTP/1.1\r\n")


def test_token_endpoint_tls_is_verified(certificates: Certificates) -> None:
    made, serve = certificates.made, answering('{"access_token": "t"}')
    assert fetched(serve, context=certificates.server(), tls=certificates.trusting).value.reveal() == "t"
    failing(serve, "certificate is not accepted", context=certificates.server())
    wrong = certificates.server(made.wrong_name)
    failing(serve, "certificate is not accepted: .*127.0.0.1", context=wrong, tls=certificates.trusting)
    with pytest.raises(AuthenticationFailed, match=r"token endpoint https://127\.0\.0\.1:1/: connection refused"):
        asyncio.run(TokenEndpoint(ClientCredentials("https://127.0.0.1:1/", "c", Secret("s"))).fetch())


@pytest.mark.parametrize("url", ["ftp://h/", "https://", "nonsense", "http://h:port/", "https://[::1/"])
def test_token_endpoint_url_that_is_invalid_is_a_config_error(url: str) -> None:
    with pytest.raises(ConfigError, match=r"sasl\.oauthbearer\.token\.endpoint\.url"):
        TokenEndpoint(ClientCredentials(url, "c", Secret("s")))


# One token for all, until it nears its end.


def test_concurrent_token_requests_share_one_fetch() -> None:
    got: list[int] = []

    async def get() -> Token:
        got.append(1)
        await asyncio.sleep(0.01)
        return Token(Secret(f"t{len(got)}"), lifetime)

    async def run() -> None:
        source = Tokens(get, {}, keep=True)
        assert {token.reveal() for token in await asyncio.gather(*(source.token() for _ in range(9)))} == {"t1"}
        assert (await source.token()).reveal() == "t1"

    lifetime = 3600.0
    asyncio.run(run())


def test_token_near_expiry_is_refetched(monkeypatch: pytest.MonkeyPatch) -> None:
    got: list[int] = []

    async def get() -> Token:
        got.append(1)
        return Token(Secret(f"t{len(got)}"), 3600.0)

    async def run() -> None:
        source = Tokens(get, {}, keep=True)
        assert (await source.token()).reveal() == "t1"
        now = asyncio.get_running_loop().time()
        monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now + 3600.0 * tokens.USED_UP + 1)
        assert (await source.token()).reveal() == "t2"

    asyncio.run(run())


def test_token_failure_is_cached_briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []

    async def get() -> Token:
        tries.append(1)
        raise AuthenticationFailed("none")

    async def run() -> None:
        source = Tokens(get, {}, keep=True)
        for _ in range(3):
            with pytest.raises(AuthenticationFailed):
                await source.token()
        assert len(tries) == 1
        monkeypatch.setattr(tokens, "GRACE", 0.0)
        source = Tokens(get, {}, keep=True)
        for _ in range(2):
            with pytest.raises(AuthenticationFailed):
                await source.token()
        assert len(tries) == 3

    asyncio.run(run())


def ask(credentials: Credentials) -> str:
    async def run() -> str:
        source = tokens_of(credentials, "b1")
        assert source
        return (await source.token()).reveal()

    return asyncio.run(run())


def test_token_file_is_read_each_time(tmp_path: Path) -> None:
    path = tmp_path / "token"

    async def run() -> None:
        source = tokens_of(TokenFile(str(path)), "b1")
        assert source
        for text in ("one\n", " two"):
            path.write_text(text)
            assert (await source.token()).reveal() == text.strip()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot read .*no such file|No such file"),
        (b"", "is empty"),
        (b"x" * 2**21, "is too long"),
        (b"\xff", "characters that are not allowed in a token"),
    ],
)
def test_token_file_without_token_is_an_error(tmp_path: Path, content: bytes | None, words: str) -> None:
    path = tmp_path / "token"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(AuthenticationFailed, match=words):
        ask(TokenFile(str(path)))


def test_unsecured_token_is_a_jws_without_algorithm() -> None:
    made = ask(UnsecuredToken("bob", "name", 60.0, {"scope": ["a"]}))
    head, claims, signature = made.split(".")
    assert signature == "" and json.loads(base64.urlsafe_b64decode(head + "==")) == {"alg": "none"}
    output = json.loads(base64.urlsafe_b64decode(claims + "=="))
    assert (output["name"], output["scope"]) == ("bob", ["a"])
    assert abs(output["iat"] - time.time()) < 60 <= output["exp"] - output["iat"] < 61


# AWS.


def signed(wanted: AwsIam) -> Token:
    async def run() -> Token:
        source = tokens_of(wanted, "b1")
        assert source
        return await source._get()

    return asyncio.run(run())


def test_aws_token_is_a_signed_url_without_the_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("aws_msk_iam_sasl_signer")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI")
    token, lifetime = signed(AwsIam("eu-west-1"))
    url = base64.urlsafe_b64decode(token.reveal() + "==").decode()
    assert url.startswith("https://kafka.eu-west-1.amazonaws.com/?Action=kafka-cluster%3AConnect")
    assert "wJalrXUtnFEMI" not in url and lifetime and 600 < lifetime <= 900


def test_aws_token_without_credentials_or_library_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("aws_msk_iam_sasl_signer")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(AuthenticationFailed, match="AWS MSK IAM: no token: "):
        signed(AwsIam("eu-west-1"))
    with pytest.raises(AuthenticationFailed, match=r"AWS MSK IAM: no token: .*nobody"):
        signed(AwsIam("eu-west-1", profile="nobody"))
    monkeypatch.setitem(__import__("sys").modules, "aws_msk_iam_sasl_signer", None)
    with pytest.raises(MissingPackage, match=r"kgroups\[aws\]"):
        signed(AwsIam("eu-west-1"))
