"""The token server over HTTP."""

from __future__ import annotations

import base64
import json
import threading
import time
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlencode

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers
from cryptography.hazmat.primitives.hashes import SHA256

from kgroups.sandbox.security.certificates import openssl
from kgroups.sandbox.security.token_server import serve

GRANT = {"grant_type": "client_credentials"}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("tokens")
    openssl(folder, "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", "signing.key")
    (folder / "clients.json").write_text(json.dumps({"ann": "a b:c", "ann-short": "s"}))
    threading.Thread(target=serve, args=(folder,), daemon=True).start()
    until = time.monotonic() + 30
    while not (folder / "port").exists() and time.monotonic() < until:
        time.sleep(0.01)
    return f"http://127.0.0.1:{(folder / 'port').read_text()}"


def ask(url: str, form: dict[str, str] | None = None, **headers: str) -> tuple[int, Any]:
    data = urlencode(form).encode() if form is not None else None
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def basic(text: str) -> str:
    return f"Basic {base64.b64encode(text.encode()).decode()}"


def part(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "==")


def test_token_is_signed_by_the_served_key(url: str) -> None:
    code, answer = ask(f"{url}/token", {**GRANT, "scope": "kafka"}, Authorization=basic("ann:a+b%3Ac"))
    head, claims, signature = answer["access_token"].split(".")
    _, served = ask(f"{url}/jwks")
    key = served["keys"][0]
    numbers = RSAPublicNumbers(*(int.from_bytes(part(key[name])) for name in ("e", "n")))
    signed = f"{head}.{claims}".encode()
    numbers.public_key().verify(part(signature), signed, PKCS1v15(), SHA256())
    with pytest.raises(InvalidSignature):
        numbers.public_key().verify(part(signature), signed + b"x", PKCS1v15(), SHA256())
    result = json.loads(part(claims))
    assert (code, result["sub"], result["scope"], result["exp"] - result["iat"]) == (200, "ann", "kafka", 3600)
    assert json.loads(part(head))["kid"] == key["kid"]


def test_token_client_may_send_its_secret_in_the_form(url: str) -> None:
    code, answer = ask(f"{url}/token", {**GRANT, "client_id": "ann-short", "client_secret": "s"})
    assert (code, answer["expires_in"]) == (200, 5)


@pytest.mark.parametrize(
    ("form", "authorization", "code"),
    [
        (GRANT, "", 401),
        (GRANT, basic("ann:wrong"), 401),
        (GRANT, basic("nobody:"), 401),
        ({"grant_type": "password"}, basic("ann:a+b%3Ac"), 400),
    ],
)
def test_token_request_with_wrong_credentials_is_rejected(
    url: str, form: dict[str, str], authorization: str, code: int
) -> None:
    found, answer = ask(f"{url}/token", form, Authorization=authorization)
    assert found == code and "access_token" not in answer


def test_token_server_other_paths_are_404(url: str) -> None:
    assert ask(f"{url}/")[0] == ask(f"{url}/jwks", GRANT)[0] == 404
